"""`Readings`: the newest reading of each stream, from the thread that stores it to the event loop.

Place on the way of the data: told by ingest of every message when the store has it, so it costs a
look-up and one entry a reading; many readings of a stream are one entry by the time they are taken.
"""

import threading
from collections.abc import Callable, Sequence

from pyoxigraph import Literal, NamedNode

from adapters.values.observation import StreamKey
from gateway.ingest.sosa import result_time
from gateway.journal import Record

_EVENTS = 32
"""So many readings of one stream of events wait; then the oldest goes."""

_UNKNOWN = 10_000


class Readings:
    """`stored` is called in the scheduler's thread, the rest in the event loop.

    `interested` are the streams that are told, True for those of which each reading counts;
    `passed_over` are those that are not. What is in neither is `unknown`, until somebody looks.
    `wake` is called when there is something to take, once until it is taken.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self.interested: dict[StreamKey, bool] = {}
        self.unknown: set[StreamKey] = set()
        self.passed_over: frozenset[StreamKey] = frozenset()
        self._wake = wake
        self._lock = threading.Lock()
        self._newest: dict[StreamKey, Record] = {}
        self._events: dict[StreamKey, list[Record]] = {}
        self._is_awake = False

    def stored(self, records: Sequence[Record]) -> None:
        """The store has them."""
        for record in records:
            stream = record.observation.stream
            counts = self.interested.get(stream)
            if counts is None:
                self._new(stream)
                continue
            with self._lock:
                if counts:
                    self._event(stream, record)
                else:
                    self._later(stream, record)
            self._rouse()

    def take(self) -> tuple[dict[StreamKey, Record], dict[StreamKey, list[Record]]]:
        """The newest readings since the last time, and each event."""
        with self._lock:
            newest, self._newest = self._newest, {}
            events, self._events = self._events, {}
            self._is_awake = False
        return newest, events

    def _later(self, stream: StreamKey, record: Record) -> None:
        """A reading of a time before that of one that waits is no news."""
        before = self._newest.get(stream)
        if before is None or is_newer(record, before):
            self._newest[stream] = record

    def _event(self, stream: StreamKey, record: Record) -> None:
        how = record.observation.circumstances
        if how.seed or how.historical:
            return
        waiting = self._events.setdefault(stream, [])
        waiting.append(record)
        del waiting[:-_EVENTS]

    def _new(self, stream: StreamKey) -> None:
        if stream in self.passed_over or stream in self.unknown:
            return
        if len(self.unknown) < _UNKNOWN:
            self.unknown.add(stream)
            self._rouse()

    def _rouse(self) -> None:
        if not self._is_awake:
            self._is_awake = True
            self._wake()


def is_newer(record: Record, before: Record) -> bool:
    """Whether it is the newest of its stream, as gateway/store/retention.py says."""
    time = result_time(record)
    return time is record.ingested_at or time >= result_time(before)


def reading_of(record: Record) -> tuple[Literal, str | None]:
    """Value and unit, as the graph has them."""
    seen = record.observation
    return Literal(seen.lexical, datatype=NamedNode(seen.datatype)), seen.unit
