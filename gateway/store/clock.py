"""`Clock`: the engine's clock, as SPARQL reads it: `gw:clock()`, Unix time in µs, and `NOW()`.

The store's own NOW() has another value in each query that we run. So a text that calls NOW() is
evaluated with a function of ours in its place, and all that is evaluated while the clock is held
(one UPDATE request, and the SPUs that process it) sees one value. Source: Roffia et al. 2016,
section II.C (docs/engine.md).
"""

import threading
import time as system_clock
from collections.abc import Callable
from contextlib import AbstractContextManager
from datetime import UTC, datetime, timedelta

from pyoxigraph import Literal, NamedNode

from gateway.rdf.namespaces import CLOCK, XSD
from gateway.sparql.clock_calls import replace_now
from gateway.store.delta_text import Functions

_NOW = NamedNode("https://sosa-gateway.example/ns#internal-date-time")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_DATE_TIME = NamedNode(XSD + "dateTime")


def microseconds() -> int:
    """The system's clock: µs since the Unix epoch."""
    return system_clock.time_ns() // 1000


class Clock:
    """Reads µs since the Unix epoch; stands still in a thread that holds it.

    >>> clock = Clock(iter(range(9)).__next__)
    >>> with clock.held() as time:
    ...     (time, clock(), clock())
    (0, 0, 0)
    >>> clock()
    1
    """

    def __init__(self, read: Callable[[], int] = microseconds) -> None:
        self._read = read
        self._thread = _OfThread()

    def __call__(self) -> int:
        """The time now, or the one that this thread holds."""
        held = self._thread.time
        return self._read() if held is None else held

    def hold(self) -> tuple[int, int | None]:
        """Stand still in this thread from now on: the time, and what `release` is to be given.

        As `held`, in a third of the time: each step of the engine does it.
        """
        thread = self._thread
        before = thread.time
        time = thread.time = self._read() if before is None else before
        return time, before

    def release(self, before: int | None) -> None:
        """End what `hold` began, which has returned `before`."""
        self._thread.time = before

    def held(self, time: int | None = None) -> AbstractContextManager[int]:
        """Let the clock stand still in this thread: at `time`, or where it is now."""
        return _Held(self._thread, self() if time is None else time)

    def functions(self) -> Functions:
        """The functions that read the clock, for the evaluation of one text: they stand still."""
        time = self()
        return {CLOCK: lambda: Literal(time), _NOW: lambda: date_time(time)}


class _OfThread(threading.local):
    """The time at which the clock stands still in a thread."""

    time: int | None = None


class _Held:
    """A generator would take thrice the time."""

    __slots__ = ("_before", "_thread", "_time")

    def __init__(self, thread: _OfThread, time: int) -> None:
        self._thread = thread
        self._time = time
        self._before: int | None = None

    def __enter__(self) -> int:
        self._before = self._thread.time
        self._thread.time = self._time
        return self._time

    def __exit__(self, *_: object) -> None:
        self._thread.time = self._before


def date_time(time: int) -> Literal:
    """An `xsd:dateTime` in UTC from µs since the epoch."""
    stamp = (_EPOCH + timedelta(microseconds=time)).replace(tzinfo=None).isoformat()
    return Literal(f"{stamp}Z", datatype=_DATE_TIME)


def with_clock(text: str) -> str:
    """The text with this clock's function in place of each NOW()."""
    return replace_now(text, str(_NOW))
