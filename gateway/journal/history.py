"""The history of one stream: a walk over the journal from its end back, a stretch at a time.

Asked by people who look at a stream while the gateway runs, so segments may be sealed or removed
meanwhile, and one may be damaged. A stretch is whole segments, or the end of one: it ends when it
has enough observations, or when its time is over and at least one segment was read.
"""

import gzip
import json
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Protocol

from adapters.values.observation import StreamKey
from gateway.journal.names import SEALED, SegmentName, raw_start
from gateway.journal.reading import segments
from gateway.journal.record import Position, Record, is_observation, micros

AHEAD = timedelta(minutes=5)
"""An observation that came before a window by more than this is not in it, whatever its device's
clock said: else every window would begin at the journal's end."""

BUDGET_S = 2.0
_CHUNK = 1 << 20
_LOOKS = 5
"""How often the folder is listed anew because segments were sealed or removed meanwhile."""

Skips = Callable[[Position, Position], bool]
"""Whether all observations from one position to another are told elsewhere."""

LastTimes = Mapping[str, int]
"""When the newest line of a sealed segment came, in µs, by its name; those missing are read."""


@dataclass(frozen=True, slots=True)
class Window:
    """Times of observations, from `begin` up to and without `end`; None is without a bound."""

    begin: datetime | None = None
    end: datetime | None = None

    def has(self, record: Record) -> bool:
        """Whether an observation is in it, by its time and by when it came."""
        time = time_of(record)
        if self.begin is not None and (
            time < self.begin or record.ingested_at < self.begin - AHEAD
        ):
            return False
        return self.end is None or time < self.end

    def is_behind(self, last: int | None) -> bool:
        """Whether a segment with this newest line ended before anything in it came."""
        return last is not None and self.begin is not None and last < micros(self.begin - AHEAD)


@dataclass(frozen=True, slots=True)
class Seen:
    """An observation; `is_revised`: another value was told under the very time and counter.

    That is known of those that stand in one segment.
    """

    record: Record
    is_revised: bool


@dataclass(frozen=True, slots=True)
class Stretch:
    """Observations in the journal's order, oldest first.

    `before` is where the next stretch ends (without it), None at the journal's beginning.
    `damaged` names the segments that could not be read whole.
    """

    seen: tuple[Seen, ...]
    before: Position | None
    damaged: tuple[str, ...]


def time_of(record: Record) -> datetime:
    """The device's time, or the gateway's where it told none or is not believed."""
    time = record.observation.phenomenon_time
    return record.ingested_at if time is None or record.clock_suspect else time


def stretch(
    folder: Path,
    stream: StreamKey,
    window: Window,
    *,
    before: Position | None,
    most: int,
    last_times: LastTimes,
    look: Callable[[], None] = lambda: None,
    skips: Skips = lambda _first, _last: False,
    budget_s: float = BUDGET_S,
) -> Stretch:
    """The newest observations of a stream before a position (None: the end), at most `most`.

    Those that `skips` says are told elsewhere are left out. `look` is called between chunks of a
    file, and raises where nobody waits any more. Raises OSError where the folder cannot be read.
    """
    walk = _Walk(stream, window, most, look, skips)
    found, looks, until = segments(folder), 0, monotonic() + budget_s
    while (following := _last_before(found, before)) is not None:
        start, path = following
        if not window.is_behind(last_times.get(path.name)) and not _is_skipped(path, skips):
            if walk.is_full or (walk.has_read and monotonic() >= until):
                return walk.stretch(before)
            try:
                before = walk.read(start, path, before)
                continue
            except FileNotFoundError:
                looks += 1
                if looks < _LOOKS:
                    found = segments(folder)
                    if (start, path) not in found:
                        continue
        before = start
    return walk.stretch(None)


def _last_before(
    found: list[tuple[Position, Path]], before: Position | None
) -> tuple[Position, Path] | None:
    """The segment with the newest lines before a position; while one is sealed, either file."""
    for start, path in reversed(found):
        if before is None or start < before:
            return start, path
    return None


def _is_skipped(path: Path, skips: Skips) -> bool:
    """Whether all of a sealed segment is told elsewhere."""
    if not path.name.endswith(SEALED):
        return False
    name = SegmentName.parse(path.name)
    return skips(name.start, name.last)


class _Walk:
    """What a stretch has so far, collected from the newest segment to the oldest."""

    def __init__(
        self, stream: StreamKey, window: Window, most: int, look: Callable[[], None], skips: Skips
    ) -> None:
        self._skips = skips
        self._stream = stream
        self._lines = _Lines(stream, look)
        self._window = window
        self._most = most
        self._seen: deque[Seen] = deque()
        self._damaged: list[str] = []
        self.has_read = False

    @property
    def is_full(self) -> bool:
        """Whether there is no room for another observation."""
        return len(self._seen) >= self._most

    def read(self, start: Position, path: Path, before: Position | None) -> Position:
        """Take up a segment's observations before a position; gives that of the oldest looked at.

        Raises FileNotFoundError.
        """
        room = self._most - len(self._seen)
        kept: deque[Seen] = deque(maxlen=room + 1)
        is_damaged = False
        previous: Record | None = None
        for record in self._records(path):
            if record is None:
                is_damaged = True
                continue
            if before is not None and record.position >= before:
                break
            if self._window.has(record) and not self._skips(record.position, record.position):
                kept.append(Seen(record, _revises(record, previous)))
            previous = record
        self.has_read = True
        if is_damaged:
            self._damaged.append(path.name)
        has_more = len(kept) > room
        if has_more:
            kept.popleft()
        self._seen.extendleft(reversed(kept))
        return kept[0].record.position if has_more else start

    def stretch(self, before: Position | None) -> Stretch:
        """All of it."""
        return Stretch(tuple(self._seen), before, tuple(self._damaged))

    def _records(self, path: Path) -> Iterator[Record | None]:
        """The stream's; None stands for what cannot be read."""
        is_sealed = path.name.endswith(SEALED)
        epoch = (SegmentName.parse(path.name).start if is_sealed else raw_start(path)).epoch
        with gzip.open(path, "rb") if is_sealed else path.open("rb") as file:
            try:
                for line in self._lines.of(file):
                    try:
                        record = Record.decode(epoch, line)
                    except ValueError:
                        yield None
                        continue
                    if record.observation.stream == self._stream:
                        yield record
            except (EOFError, gzip.BadGzipFile, zlib.error):
                yield None


def _revises(record: Record, previous: Record | None) -> bool:
    seen = record.observation
    if previous is None or seen.phenomenon_time is None:
        return False
    earlier = previous.observation
    return (
        earlier.phenomenon_time == seen.phenomenon_time
        and earlier.device_sequence == seen.device_sequence
        and earlier.lexical != seen.lexical
    )


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes:
        """At most so many bytes, none at the end."""
        ...


class _Lines:
    """Finds the lines that may be of a stream without decoding all others."""

    def __init__(self, stream: StreamKey, look: Callable[[], None]) -> None:
        sensor, observed_property, _ = stream
        self._needles = _spellings(sensor)
        self._others = _spellings(observed_property)
        self._look = look

    def of(self, file: _Readable) -> Iterator[bytes]:
        """Whole lines in their order that name sensor and property."""
        rest = b""
        while chunk := file.read(_CHUNK):
            self._look()
            block, newline, tail = (rest + chunk).rpartition(b"\n")
            if not newline:
                rest = tail
                continue
            rest = tail
            yield from self._in(block + newline)

    def _in(self, block: bytes) -> Iterator[bytes]:
        at = 0
        while (found := self._find(block, at)) >= 0:
            begin, at = block.rfind(b"\n", 0, found) + 1, block.index(b"\n", found) + 1
            line = block[begin:at]
            if is_observation(line) and any(each in line for each in self._others):
                yield line

    def _find(self, block: bytes, at: int) -> int:
        """Where the sensor is named next, -1 for nowhere more."""
        found = [place for each in self._needles if (place := block.find(each, at)) >= 0]
        return min(found, default=-1)


def _spellings(iri: str) -> tuple[bytes, ...]:
    """How a line may have it: as it is, or where the line has a lone surrogate in ASCII alone."""
    ascii_ = json.dumps(iri).encode()
    try:
        plain = json.dumps(iri, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return (ascii_,)
    return (ascii_,) if plain == ascii_ else (plain, ascii_)
