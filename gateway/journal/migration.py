"""Journals of before schema 1.0: raw segments without a header and with ISO times.

Place on the way of the data: at the start, before anything is read. A segment is written anew
under the name of its first record and put in the place of the old one.
"""

import os
from pathlib import Path

from gateway.journal.names import raw_path, raw_segments
from gateway.journal.record import Origin, Position
from gateway.journal.segment import read_segment, sync_folder


def migrate(folder: Path, origin: Origin) -> None:
    """Bring every raw segment to schema 1.0; killed half-way it goes on at the next start."""
    for path in raw_segments(folder):
        with path.open("rb") as file:
            is_old = not file.readline().startswith(b'{"schema"')
        if is_old:
            _migrate(path, origin)


def _migrate(path: Path, origin: Origin) -> None:
    start: Position | None = None
    part = path.with_name(f"{path.name}.part")
    with part.open("wb") as file:
        for record in read_segment(path):
            if start is None:
                start = record.position
                file.write(origin.header(start.epoch, start.sequence))
            file.write(record.encode())
        file.flush()
        os.fsync(file.fileno())
    if start is None:
        part.unlink()
        path.rename(path.with_name(f"{path.name}.damaged"))
    else:
        target = raw_path(path.parent, start)
        os.replace(part, target)
        sync_folder(path.parent)
        if target != path:
            path.unlink()
    sync_folder(path.parent)
