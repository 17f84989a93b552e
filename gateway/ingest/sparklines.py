"""`Sparklines`: the last numbers of each stream, few of them and small, for a glance at it.

Place on the way of the data: beside ingest, which tells what it accepted. The history is in the
journal; these are lost with the process and filled from the journal's end at a start.
"""

import threading
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf

from adapters.values.observation import StreamKey
from adapters.values.result import BOOLEAN, NUMERIC
from gateway.journal import Record

POINTS = 64
TOTAL_BYTES = 1 << 20

STREAM_BYTES = 2 * POINTS * 4 + 528
"""What a stream takes at most: 64 times and values of four bytes each, and the frame around them.
"""

LONGEST_S = 86_400.0
"""Points thin out until they stand for so long, then the oldest ones leave."""

QUIET_S = 900.0
"""So long a stream is not heard of before it gives way to another one."""

_THINNED = POINTS // 4
_TOGETHER = 128
_LARGEST = 1e38
_WORDS = {"true": 1.0, "1": 1.0, "false": 0.0, "0": 0.0}


@dataclass(frozen=True, slots=True)
class Sparkline:
    """Points as (ms since 1970, value), oldest first, each the last of `resolution_s`."""

    points: tuple[tuple[int, float], ...] = ()
    resolution_s: float = 0.0
    unit: str | None = None


class _Line:
    """The points of one stream: seconds since `base_s` and value, in turns."""

    __slots__ = ("base_s", "begun_s", "heard_s", "numbers", "resolution_s", "unit")

    def __init__(self, unit: str | None, time_s: float) -> None:
        self.unit = unit
        self.numbers = array("f")
        self.base_s = time_s
        self.begun_s = -1.0
        self.heard_s = time_s
        self.resolution_s = 0.0

    def add(self, time_s: float, value: float) -> None:
        """Put a value at the end; what is older than the last point is not drawn."""
        numbers = self.numbers
        if numbers:
            passed_s = time_s - self.begun_s
            if passed_s < 0:
                return
            if passed_s < self.resolution_s:
                numbers[-1] = value
                return
            if len(numbers) >= 2 * POINTS:
                self._make_room(time_s)
        self.begun_s = time_s
        numbers.append(time_s - self.base_s)
        numbers.append(value)

    def _make_room(self, time_s: float) -> None:
        """Keep every second point, or the newest ones of what is long enough."""
        numbers = self.numbers
        first_s = self.base_s + numbers[0]
        if time_s - first_s < LONGEST_S:
            self.resolution_s = max(2 * self.resolution_s, (time_s - first_s) / (POINTS // 2))
            kept = [each for at in range(2, 2 * POINTS, 4) for each in numbers[at : at + 2]]
        else:
            kept = numbers[2 * _THINNED :].tolist()
        shift = kept[0]
        self.base_s += shift
        kept[::2] = [each - shift for each in kept[::2]]
        self.numbers = array("f", kept)

    def points(self) -> tuple[tuple[int, float], ...]:
        """As `Sparkline` has them; values to the seven digits that they are kept with."""
        numbers = self.numbers
        return tuple(
            (round((self.base_s + time_s) * 1000), float(f"{value:.7g}"))
            for time_s, value in zip(numbers[::2], numbers[1::2], strict=True)
        )


class Sparklines:
    """The lines of at most `total_bytes`; told in one thread, read in any.

    A stream that is new when all is taken has no line until another one is quiet.

    >>> Sparklines().of(("urn:s", "urn:p", "urn:f")).points
    ()
    """

    def __init__(self, total_bytes: int = TOTAL_BYTES) -> None:
        self._most = total_bytes // STREAM_BYTES
        self._lines: dict[StreamKey, _Line] = {}
        self._full_until_s = -inf
        self._waiting: list[Record] = []
        self._lock = threading.Lock()

    def __len__(self) -> int:
        with self._lock:
            self._draw_waiting()
            return len(self._lines)

    def take(self, records: Sequence[Record]) -> None:
        """Take up what was accepted, in its order; drawn many at once, which is cheaper."""
        waiting = self._waiting
        waiting += records
        if len(waiting) >= _TOGETHER:
            with self._lock:
                self._draw_waiting()

    def of(self, stream: StreamKey) -> Sparkline:
        """The line of a stream, empty where there is none."""
        with self._lock:
            self._draw_waiting()
            line = self._lines.get(stream)
            if line is None:
                return Sparkline()
            return Sparkline(line.points(), line.resolution_s, line.unit)

    def _draw_waiting(self) -> None:
        """What is told meanwhile waits for the next time."""
        waiting = self._waiting
        count = len(waiting)
        for record in waiting[:count]:
            self._draw(record)
        del waiting[:count]

    def _draw(self, record: Record) -> None:
        seen = record.observation
        value = number(seen.lexical, seen.datatype)
        if value is None:
            return
        time = seen.phenomenon_time
        heard_s = time_s = record.ingested_at.timestamp()
        if time is not None and not record.clock_suspect:
            time_s = time.timestamp()
        stream = seen.stream
        line = self._lines.get(stream)
        if line is None or line.unit != seen.unit:
            if line is None and len(self._lines) >= self._most and not self._room(heard_s):
                return
            line = self._lines[stream] = _Line(seen.unit, time_s)
        line.heard_s = heard_s
        line.add(time_s, value)

    def _room(self, now_s: float) -> bool:
        """Have the stream give way that was heard of longest ago, if that is long.

        Looked for no sooner than there can be one, since every new stream asks; a clock that went
        back is none to wait for.
        """
        if self._full_until_s - QUIET_S <= now_s < self._full_until_s:
            return False
        oldest = min(self._lines, key=lambda stream: self._lines[stream].heard_s)
        quiet_from_s = self._lines[oldest].heard_s + QUIET_S
        if now_s < quiet_from_s:
            self._full_until_s = min(quiet_from_s, now_s + QUIET_S)
            return False
        del self._lines[oldest]
        return True


def number(lexical: str, datatype: str) -> float | None:
    """What can be drawn: a finite number, or true and false as 1 and 0; None for all else.

    >>> number("21.50", "http://www.w3.org/2001/XMLSchema#decimal")
    21.5
    """
    if datatype == BOOLEAN:
        return _WORDS.get(lexical)
    if datatype not in NUMERIC:
        return None
    try:
        value = float(lexical)
    except ValueError:
        return None
    return value if abs(value) < _LARGEST else None
