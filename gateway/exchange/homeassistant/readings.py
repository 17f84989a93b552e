"""`Readings`: the newest reading of each stream, from the thread that stores it to the event loop.

Place on the way of the data: told by ingest of every message when the store has it, so it costs a
look-up and one entry a reading; many readings of a stream are one entry by the time they are taken.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache

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
    `passed_over` are those that are not. What is in neither is unknown, until somebody looks.
    `wake` is called when there is something to take, once until it is taken.
    """

    def __init__(self, wake: Callable[[], None]) -> None:
        self.interested: Mapping[StreamKey, bool] = {}
        self.passed_over: frozenset[StreamKey] = frozenset()
        self._times: dict[StreamKey, datetime] = {}
        self._wake = wake
        self._lock = threading.Lock()
        self._newest: dict[StreamKey, Record] = {}
        self._events: dict[StreamKey, list[Record]] = {}
        self._unknown: set[StreamKey] = set()
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

    def listen(
        self, interested: Mapping[StreamKey, bool], times: Mapping[StreamKey, datetime]
    ) -> None:
        """Take readings of these streams from now on; what is older than `times` is no news."""
        with self._lock:
            self._times = {each: self._times.get(each, times[each]) for each in interested}
            self.interested = interested

    def take(self) -> tuple[dict[StreamKey, Record], dict[StreamKey, list[Record]]]:
        """The newest readings since the last time, and each event."""
        with self._lock:
            newest, self._newest = self._newest, {}
            events, self._events = self._events, {}
            self._is_awake = False
        return newest, events

    @property
    def has_unknown(self) -> bool:
        """Whether streams were heard that nobody has looked for."""
        return bool(self._unknown)

    def take_unknown(self) -> set[StreamKey]:
        """These streams; the store has their readings."""
        with self._lock:
            unknown, self._unknown = self._unknown, set()
        return unknown

    def _later(self, stream: StreamKey, record: Record) -> None:
        """The newest of its stream is as gateway/store/retention.py has it."""
        time, before = result_time(record), self._times.get(stream)
        if before is None or time is record.ingested_at or time >= before:
            self._times[stream], self._newest[stream] = time, record

    def _event(self, stream: StreamKey, record: Record) -> None:
        how = record.observation.circumstances
        if how.seed or how.historical:
            return
        waiting = self._events.setdefault(stream, [])
        waiting.append(record)
        del waiting[:-_EVENTS]

    def _new(self, stream: StreamKey) -> None:
        if stream in self.passed_over or stream in self._unknown:
            return
        with self._lock:
            if len(self._unknown) < _UNKNOWN:
                self._unknown.add(stream)
        self._rouse()

    def _rouse(self) -> None:
        if not self._is_awake:
            self._is_awake = True
            self._wake()


def reading_of(record: Record) -> tuple[Literal, str | None]:
    """Value and unit, as the graph has them."""
    seen = record.observation
    return Literal(seen.lexical, datatype=_node(seen.datatype)), seen.unit


_node = lru_cache(maxsize=64)(NamedNode)
