"""Names of the journal's files: raw segments, sealed segments and gaps (docs/segments.md).

A name is taken whole or not at all: it may come from a peer, and it becomes a path.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from gateway.journal.record import Position

SEALED = ".jsonl.gz"
GAP = ".gap.json"

_SHIPPED = re.compile(
    r"(?P<gateway>[A-Za-z0-9][A-Za-z0-9_.-]{0,63})-(?P<epoch>[0-9]{8,12})-(?P<first>[0-9]{12,18})"
    r"-(?P<count>[0-9]{1,9})-(?P<sha12>[0-9a-f]{12})(?P<ending>\.jsonl\.gz|\.gap\.json)"
)
_RAW = re.compile(r"([0-9]{8,12})-([0-9]{12,18})\.jsonl")


@dataclass(frozen=True, slots=True)
class SegmentName:
    """The name of a sealed segment, or of a gap if `ending` is `GAP`.

    >>> SegmentName.parse("a-00000007-000000000001-250-0123456789ab.jsonl.gz").last.sequence
    250
    """

    gateway: str
    start: Position
    count: int
    sha12: str
    ending: str = SEALED

    def __str__(self) -> str:
        start = f"{self.start.epoch:08d}-{self.start.sequence:012d}"
        return f"{self.gateway}-{start}-{self.count}-{self.sha12}{self.ending}"

    @classmethod
    def parse(cls, name: str) -> Self:
        """The reverse of `str`; raises ValueError for every other text."""
        match = _SHIPPED.fullmatch(name)
        if match is None or not name.isascii():
            raise ValueError(f"{name[:200]!r} is not the name of a segment")
        start = Position(int(match["epoch"]), int(match["first"]))
        parsed = cls(match["gateway"], start, int(match["count"]), match["sha12"], match["ending"])
        if str(parsed) != name or parsed.count == 0:
            raise ValueError(f"{name!r} is not the name of a segment")
        return parsed

    @property
    def last(self) -> Position:
        """The position of the last line."""
        return Position(self.start.epoch, self.start.sequence + self.count - 1)

    @property
    def is_gap(self) -> bool:
        """Whether the file says what will never come."""
        return self.ending == GAP


def raw_path(folder: Path, start: Position) -> Path:
    """Where the raw segment that begins there is written."""
    return folder / f"{start.epoch:08d}-{start.sequence:012d}.jsonl"


def raw_start(path: Path) -> Position:
    """The position that the name of a raw segment tells."""
    match = _RAW.fullmatch(path.name)
    if match is None:
        raise ValueError(f"{path.name!r} is not the name of a raw segment")
    return Position(int(match[1]), int(match[2]))


def raw_segments(folder: Path) -> list[Path]:
    """The raw segments of a journal, in its order."""
    paths = [path for path in folder.glob("*.jsonl") if _RAW.fullmatch(path.name)]
    return sorted(paths, key=raw_start)


def sealed_names(folder: Path) -> list[SegmentName]:
    """The sealed segments and gaps of a journal, in its order."""
    names: list[SegmentName] = []
    for path in folder.iterdir():
        try:
            names.append(SegmentName.parse(path.name))
        except ValueError:
            continue
    return sorted(names, key=lambda name: (name.start, name.count))
