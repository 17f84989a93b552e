"""A walk over the journal from its end back, a segment at a time: what came lately.

The gateway is running, so segments may be sealed or removed meanwhile.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from gateway.errors import StorageError
from gateway.journal.reading import Located, segments
from gateway.journal.record import Position, Record
from gateway.journal.segment import read_segment

_LOOKS = 5
"""How often the folder is listed anew for one segment."""


class Visited(NamedTuple):
    """A segment: where it begins, the name of its file, its observations, oldest first."""

    start: Position
    name: str
    records: list[Record]


def walk_back(folder: Path, until: Position | None) -> Iterator[Visited]:
    """Segments from the newest to the oldest, with what they have up to a position.

    Raises StorageError where the folder cannot be read. What is not whole is passed over.
    """
    before: Position | None = None
    looks = 0
    try:
        found = segments(folder)
        while (place := _last_before(found, before)) is not None:
            start, path = place
            try:
                read = list(read_segment(path))
            except FileNotFoundError:  # sealed or removed since we looked
                looks += 1
                if looks >= _LOOKS:
                    raise
                found = segments(folder)
                continue
            looks = 0
            kept = [
                record
                for record in read
                if (before is None or record.position < before)
                and (until is None or record.position <= until)
            ]
            yield Visited(start, path.name, kept)
            before = start
    except OSError as error:
        raise StorageError(
            f"the journal in {folder} cannot be read: {error.strerror or error}", "mend the disk"
        ) from error


def _last_before(found: list[Located], before: Position | None) -> Located | None:
    """The segment with the newest lines before a position; while one is sealed, either file."""
    for start, path in reversed(found):
        if before is None or start < before:
            return start, path
    return None
