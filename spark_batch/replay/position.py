"""How far a replay has come: the last row that its receiver has acknowledged, in a file.

Place on the way of the data: beside `replay`. The file is written whole or not at all, at most once
a second; what was sent after it is sent again by the next run, never left out.
"""

import time
from dataclasses import asdict, dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from spark_batch.errors import ArchiveError
from spark_batch.files import read_json, write_json

_EVERY_S = 1.0


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """The place of a row in the order of a replay."""

    result_us: int
    gateway: str
    epoch: int
    sequence: int

    @property
    def day(self) -> date:
        """The UTC day of the row."""
        return datetime.fromtimestamp(self.result_us // 1_000_000, UTC).date()

    def __str__(self) -> str:
        moment = datetime.fromtimestamp(self.result_us // 1_000_000, UTC)
        return f"{moment:%Y-%m-%dT%H:%M:%SZ} {self.gateway} {self.epoch}-{self.sequence}"


class PositionFile:
    """A position that outlives a run; without a path it is only told."""

    def __init__(self, path: Path | None, selection: str) -> None:
        self._path = path
        self._selection = selection
        self._saved_at = 0.0
        self.position = self._read()

    @property
    def told(self) -> str | None:
        """The position for a person, None before the first row."""
        return None if self.position is None else str(self.position)

    def advance(self, position: Position) -> None:
        """Everything up to here is acknowledged."""
        self.position = position
        if time.monotonic() >= self._saved_at + _EVERY_S:
            self.save()

    def save(self) -> None:
        """Write it now; raises ArchiveError when the disk does not."""
        self._saved_at = time.monotonic()
        if self._path is not None and self.position is not None:
            write_json(self._path, {"selection": self._selection, **asdict(self.position)})

    def _read(self) -> Position | None:
        if self._path is None or not self._path.exists():
            return None
        fields = read_json(self._path)
        try:
            selection = fields.pop("selection")
            position = Position(**fields)
        except (AttributeError, KeyError, TypeError) as error:
            raise ArchiveError(
                f"{self._path} has no position of a replay", "remove it to begin anew"
            ) from error
        if selection != self._selection:
            raise ArchiveError(
                f"{self._path} belongs to a replay of another selection",
                "give the same --since, --until, --sensor …, or another --position",
            )
        return position
