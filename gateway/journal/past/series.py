"""The past of one stream in an archive: observations, or buckets of its rollups, a page at a time.

    stream, window, grain -> the process of archives -> points, newest pages first

Place: behind the journal in `GET /streams/{id}/history`. Pages of one walk read one version of the
table, so that what is ingested meanwhile is on none of them twice; the journal leaves out what that
version has.
"""

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, TypeVar

from adapters.values.observation import StreamKey
from gateway.errors import StorageError
from gateway.journal.past.taken import Taken
from gateway.journal.record import Position
from gateway.runtime.confined import ConfinedProcesses

TIMEOUT_S = 20.0
_MINUTE_MS = 60_000

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class StateAsked:
    """Which version of which table a walk reads: None asks for the newest."""

    folder: Path
    memory_bytes: int
    every_ms: int
    version: int | None


class State(NamedTuple):
    """A version of a table, and which lines are in it.

    `waiting` batches were ingested when the walk began, and are not in it yet.
    """

    version: int
    taken: Taken
    waiting: int = 0


@dataclass(frozen=True, slots=True)
class SeriesAsked:
    """At most `most` points from `low` up to and without `high` (µs), of the newest ones."""

    state: StateAsked
    gateway: str
    stream: StreamKey
    low: int | None
    high: int | None
    most: int


@dataclass(frozen=True, slots=True)
class SeriesPoint:
    """An observation."""

    time_ms: int
    lexical: str
    datatype: str
    unit: str | None
    is_historical: bool
    is_suspect: bool


Bucket = tuple[int, str | None, float | None, float | None, float | None, int]
"""Begin in ms, unit, mean, least and greatest of its numbers, observations.

There are 43,200 minutes in a month: they go from process to process as they are read.
"""


class SeriesPage(NamedTuple):
    """Buckets or observations in the order of their times.

    Older ones end before `until_ms`, None where none are.
    """

    buckets: list[Bucket]
    points: list[SeriesPoint]
    until_ms: int | None


@dataclass(frozen=True, slots=True)
class Part:
    """At most `most` points from `low` up to and without `high` (µs), of a version of the archive.

    They are buckets so long, each observation with `every_ms` 0.
    """

    low: int | None
    high: int | None
    every_ms: int
    version: int
    most: int


def reads_rollups(every_ms: int) -> bool:
    """Whether minutes, hours or days add up to such buckets."""
    return every_ms > 0 and every_ms % _MINUTE_MS == 0


class ArchivedSeries:
    """The streams of one gateway in an archive; for any thread. Raises StorageError where away."""

    def __init__(
        self, processes: ConfinedProcesses, folder: Path, gateway: str, memory_bytes: int
    ) -> None:
        self._processes = processes
        self._folder = folder
        self._gateway = gateway
        self._memory_bytes = memory_bytes

    def state(self, every_ms: int, version: int | None) -> State:
        """What a walk reads that begins now, or that began with a version."""
        return self._asked(self._state(every_ms, version), State, lambda: True)

    def page(self, stream: StreamKey, part: Part, is_wanted: Callable[[], bool]) -> SeriesPage:
        """The newest points of a part of a stream's past."""
        state = self._state(part.every_ms, part.version)
        asked = SeriesAsked(state, self._gateway, stream, part.low, part.high, part.most)
        return self._asked(asked, SeriesPage, is_wanted)

    def has(self, state: State, first: Position, last: Position) -> bool:
        """Whether a run of the journal's lines is in a version."""
        return state.taken.covers(self._gateway, first.epoch, (first.sequence, last.sequence))

    def _state(self, every_ms: int, version: int | None) -> StateAsked:
        return StateAsked(self._folder, self._memory_bytes, every_ms, version)

    def _asked(self, asked: object, kind: type[T], is_wanted: Callable[[], bool]) -> T:
        answer = pickle.loads(self._processes.ask(asked, TIMEOUT_S, is_wanted))  # noqa: S301
        if isinstance(answer, str):
            raise StorageError(answer, "see that the archive is there; its pages come again then")
        assert isinstance(answer, kind)  # noqa: S101  # our own child wrote it
        return answer
