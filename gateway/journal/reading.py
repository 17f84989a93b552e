"""Reading a journal's folder in order, raw and sealed segments alike, without opening it.

Place on the way of the data: at a start, which replays; and for tools beside a running gateway,
whose segments may be sealed or removed meanwhile.
"""

from collections import deque
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from gateway.journal.names import raw_segments, raw_start, sealed_names
from gateway.journal.record import Position, Record
from gateway.journal.segment import read_segment

Located = tuple[Position, Path]


def segments(folder: Path) -> list[Located]:
    """Every segment with the position of its first line, in order.

    While one is sealed its lines are in two files; who reads skips positions that it has had.
    """
    raw = [(raw_start(path), path) for path in raw_segments(folder)]
    sealed = [(name.start, folder / str(name)) for name in sealed_names(folder) if not name.is_gap]
    return sorted(raw + sealed)


def records_after(found: list[Located], position: Position | None) -> Iterator[Record]:
    """The observations behind a position (None: all), oldest first.

    Linear in these, and in the sealed segment that the first one is in.
    """
    for index, (_, path) in enumerate(found):
        following = found[index + 1][0] if index + 1 < len(found) else None
        if position is not None and following is not None and following <= position:
            continue
        for record in read_segment(path, position):
            if position is None or record.position > position:
                position = record.position
                yield record


def first_time(folder: Path) -> datetime | None:
    """When the oldest observation came that the journal still has; None for an empty one."""
    first = next(records_after(segments(folder), None), None)
    return None if first is None else first.ingested_at


def record_at(folder: Path, position: Position) -> Record | None:
    """The observation at a position; linear in its segment."""
    for start, path in reversed(segments(folder)):
        if start > position:
            continue
        found = (each for each in read_segment(path) if each.position == position)
        return next(found, None)
    return None


def last_records(found: list[Located], count: int) -> list[Record]:
    """The last `count` observations, oldest first."""
    newest: deque[Record] = deque()
    before: Position | None = None
    for _, path in reversed(found):
        older = [each for each in read_segment(path) if before is None or each.position < before]
        newest.extendleft(reversed(older))
        before = older[0].position if older else before
        if len(newest) >= count:
            break
    return list(newest)[-count:]


def read_journal(folder: Path) -> Iterator[Record]:
    """Every observation in a journal's folder, in order; the gateway may be running."""
    position: Position | None = None
    while True:
        try:
            for record in records_after(segments(folder), position):
                position = record.position
                yield record
        except FileNotFoundError:  # sealed or removed since we looked
            continue
        return
