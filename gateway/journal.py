"""The journal: every accepted observation, on disk before it is acknowledged (engine.md, 3a).

Append-only JSON Lines in segments `<epoch>-<first sequence>.jsonl` of one folder. An epoch is one
life of the process; (gateway, epoch, sequence) is the identity of an observation everywhere. After
kill -9 the last line may be torn: it is cut at the next start, and was never acknowledged. A group
of appends is made durable by one fsync.
"""

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from errno import ENOSPC
from pathlib import Path
from types import TracebackType
from typing import Self

from adapters.observation import Observation
from gateway.errors import StorageError


@dataclass(frozen=True, slots=True, order=True)
class Position:
    """A place in the journal; also the identity of an observation within its gateway."""

    epoch: int
    sequence: int

    def __str__(self) -> str:
        return f"{self.epoch}-{self.sequence}"

    @classmethod
    def parse(cls, text: str) -> Self:
        """The reverse of `str`; raises ValueError."""
        epoch, sequence = text.split("-")
        return cls(int(epoch), int(sequence))


@dataclass(frozen=True, slots=True)
class Record:
    """An accepted observation with its identity.

    `message` is the sequence of the first record of the same MQTT message: those with the same
    `message` belong to one UPDATE. `delivery` names the MQTT delivery where nothing in the
    payload identifies the observation (see gateway.duplicates).
    """

    position: Position
    message: int
    observation: Observation
    ingested_at: datetime
    delivery: str = ""
    clock_suspect: bool = False

    def encode(self) -> bytes:
        """One line, without the epoch, which stands in the segment's name."""
        seen = self.observation
        fields: dict[str, object] = {
            "q": self.position.sequence,
            "m": self.message,
            "s": seen.sensor,
            "p": seen.observed_property,
            "f": seen.feature_of_interest,
            "v": seen.lexical,
            "d": seen.datatype,
            "i": self.ingested_at.isoformat(),
        }
        if seen.unit is not None:
            fields["u"] = seen.unit
        if seen.phenomenon_time is not None:
            fields["t"] = seen.phenomenon_time.isoformat()
        if seen.device_sequence is not None:
            fields["n"] = seen.device_sequence
        if self.delivery:
            fields["k"] = self.delivery
        if self.clock_suspect:
            fields["c"] = 1
        return json.dumps(fields, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def decode(cls, epoch: int, line: bytes) -> Self:
        """The reverse of `encode`; raises ValueError for a torn or foreign line."""
        try:
            fields = json.loads(line)
            time = fields.get("t")
            observation = Observation(
                fields["s"],
                fields["p"],
                fields["f"],
                fields["v"],
                fields["d"],
                fields.get("u"),
                None if time is None else datetime.fromisoformat(time),
                fields.get("n"),
            )
            return cls(
                Position(epoch, fields["q"]),
                fields["m"],
                observation,
                datetime.fromisoformat(fields["i"]).astimezone(UTC),
                fields.get("k", ""),
                bool(fields.get("c")),
            )
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"not a journal record: {line[:80]!r}") from error


class Journal:
    """The journal of one gateway, opened for appending in a new epoch.

    Every method raises StorageError when the disk does not do its work.
    """

    def __init__(self, folder: Path, *, fsync: bool = True, segment_observations: int = 100_000):
        self.folder = folder
        self.records = 0
        self.syncs = 0
        self._fsync = fsync
        self._segment_observations = segment_observations
        self._pending: list[bytes] = []
        self._sequence = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            segments = _segments(folder)
            for path in segments[-2:]:
                _cut_torn_tail(path)
            self.epoch = 1 + max((_epoch(path) for path in segments), default=0)
            self._segment = Segment(self._next_path())
        except OSError as error:
            raise _broken(folder, error) from error

    def next_position(self) -> Position:
        """The identity of the next observation."""
        self._sequence += 1
        return Position(self.epoch, self._sequence)

    def append(self, records: Iterable[Record]) -> None:
        """Take records up; they are in the file and durable after the next `sync`."""
        self._pending.extend(record.encode() for record in records)

    def sync(self) -> None:
        """Write what was appended and make it durable: all of it or, when this raises, nothing.

        What could not be written is forgotten; the caller, who has not acknowledged it, appends
        it again.
        """
        lines, self._pending = self._pending, []
        if not lines:
            return
        try:
            if self._segment.is_broken or self._segment.records >= self._segment_observations:
                self._segment.close()
                self._segment = Segment(self._next_path())
            self._segment.write(lines, fsync=self._fsync)
        except OSError as error:
            raise _broken(self.folder, error) from error
        self.records += len(lines)
        self.syncs += self._fsync

    def close(self) -> None:
        """Sync and close; an epoch without observations leaves no file."""
        self.sync()
        self._segment.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def tail(self, count: int) -> list[Record]:
        """The last `count` records of earlier epochs, oldest first."""
        newest: deque[Record] = deque()
        for path in reversed(_segments(self.folder)):
            if _epoch(path) < self.epoch:
                newest.extendleft(reversed(list(read_segment(path))))
                if len(newest) >= count:
                    break
        return list(newest)[-count:]

    def after(self, position: Position | None) -> Iterator[Record]:
        """The records of earlier epochs behind a position (None: all), oldest first."""
        segments = [path for path in _segments(self.folder) if _epoch(path) < self.epoch]
        for index, path in enumerate(segments):
            following = segments[index + 1] if index + 1 < len(segments) else None
            if position is not None and following is not None and _start(following) <= position:
                continue
            for record in read_segment(path):
                if position is None or record.position > position:
                    yield record

    def _next_path(self) -> Path:
        return self.folder / f"{self.epoch:08d}-{self._sequence + 1:012d}.jsonl"


class Segment:
    """One file of the journal, open for appending."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.records = 0
        self.is_broken = False
        self._size = 0
        self._file = path.open("ab", buffering=0)
        _sync_folder(path.parent)

    def write(self, lines: list[bytes], *, fsync: bool) -> None:
        """Append whole lines, durably; raises OSError and leaves the file as it was."""
        data = b"".join(lines)
        try:
            written = self._file.write(data)
            if written != len(data):
                raise OSError(ENOSPC, "the disk is full")
            if fsync:
                os.fsync(self._file.fileno())
        except OSError:
            # After a failed fsync the kernel may have dropped pages: never append here again.
            self.is_broken = True
            self._file.truncate(self._size)
            raise
        self._size += len(data)
        self.records += len(lines)

    def close(self) -> None:
        """Close the file; an empty one is removed."""
        self._file.close()
        if self._size == 0:
            self.path.unlink(missing_ok=True)


def read_segment(path: Path) -> Iterator[Record]:
    """The records of a segment, as far as its lines are whole."""
    epoch = _epoch(path)
    with path.open("rb") as lines:
        for line in lines:
            try:
                yield Record.decode(epoch, line)
            except ValueError:
                return


def _segments(folder: Path) -> list[Path]:
    return sorted(folder.glob("*-*.jsonl"))


def _epoch(path: Path) -> int:
    return int(path.stem.split("-")[0])


def _start(path: Path) -> Position:
    epoch, first = path.stem.split("-")
    return Position(int(epoch), int(first))


def _cut_torn_tail(path: Path) -> None:
    """Cut the file behind its last whole line."""
    with path.open("r+b") as file:
        size = file.seek(0, os.SEEK_END)
        position = size
        while position > 0:
            start = max(0, position - 65536)
            file.seek(start)
            newline = file.read(position - start).rfind(b"\n")
            if newline >= 0:
                position = start + newline + 1
                break
            position = start
        if position < size:
            file.truncate(position)
            os.fsync(file.fileno())


def _sync_folder(folder: Path) -> None:
    """Make a new file's name durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _broken(folder: Path, error: OSError) -> StorageError:
    return StorageError(
        f"the journal in {folder} cannot be written: {error.strerror or error}",
        "free disk space or mend the disk; nothing is acknowledged until then",
    )
