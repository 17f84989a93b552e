"""Looking up observations of a journal by their positions.

Asked by people who want to know where an observation came from; the gateway may be running, so its
segments may be sealed or removed meanwhile.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from gateway.journal.reading import segments
from gateway.journal.record import Position, Record
from gateway.journal.segment import read_segment


@dataclass(frozen=True, slots=True)
class Found:
    """An observation and the name of the segment that it is in."""

    record: Record
    segment: str


def look_up(folder: Path, positions: Collection[Position]) -> dict[Position, Found]:
    """The observations that the journal still has. Linear in the segments they are in."""
    found: dict[Position, Found] = {}
    for path in _holding(folder, positions):
        try:
            for record in read_segment(path):
                if record.position in positions:
                    found.setdefault(record.position, Found(record, path.name))
        except FileNotFoundError:  # sealed or shipped since we looked
            continue
    return found


def _holding(folder: Path, positions: Collection[Position]) -> list[Path]:
    """The segments that positions may be in: the last that begins at or before each.

    While one is sealed its lines are in two files that begin alike.
    """
    located = segments(folder)
    starts = [start for start, _ in located]
    wanted = {max((s for s in starts if s <= position), default=None) for position in positions}
    return [path for start, path in located if start in wanted]
