"""`Absences`: streams that should have been heard of and were not, as facts in the graph.

Place on the way of the data: in ingest, beside the observations. A stream whose mapping or whose
sender promises another value in time (`gw:expiresAfter`, SenML `ut`, Home Assistant
`expire_after`) and keeps silent, or whose device says offline or has it said by its last will, gets
`gw:absentSince`; the next sign of life takes it away. A subscription to that is the alarm.

Silence is measured by a clock that does not jump; what the store says is by the wall clock.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from heapq import heapify, heappop, heappush
from time import monotonic

from pyoxigraph import Literal, NamedNode

from adapters.values.notice import Heartbeat, Liveness, Notice
from adapters.values.observation import Observation, StreamKey
from gateway.ingest.sosa import Identity
from gateway.profiles import Profiles, UpdateTemplates
from gateway.rdf.namespaces import GW, XSD
from gateway.store.update import BoundUpdate
from jsap.errors import BindingError

_SILENCE = NamedNode(GW + "Silence")
_OFFLINE = NamedNode(GW + "Offline")
_DATE_TIME = NamedNode(XSD + "dateTime")
_MOST_STREAMS = 100_000

Term = NamedNode | Literal


class AbsenceTemplates:
    """The templates WATCH_STREAM, RAISE_ABSENCE and CLEAR_ABSENCE of the profiles."""

    def __init__(self, profiles: Profiles, identity: Identity) -> None:
        """Raises ConfigurationError or SparqlSyntaxError for a template missing or wrong."""
        self._identity = identity
        names = ("WATCH_STREAM", "RAISE_ABSENCE", "CLEAR_ABSENCE")
        self._templates = UpdateTemplates(profiles, names)
        stream = ("urn:s", "urn:p", "urn:f")
        try:
            self.watch(stream, 1.0)
            self.raise_(stream, datetime.fromtimestamp(0, UTC), _SILENCE)
            self.clear(stream)
        except BindingError as error:
            raise profiles.lacking(error) from error

    def watch(self, stream: StreamKey, expires_after_s: float) -> BoundUpdate:
        """The stream is expected to be heard again within so many seconds."""
        value = Literal(f"{expires_after_s:.15g}", datatype=NamedNode(XSD + "decimal"))
        return self._templates.bind("WATCH_STREAM", {**self._node(stream), "expiresAfter": value})

    def raise_(self, stream: StreamKey, since: datetime, reason: NamedNode) -> BoundUpdate:
        """The stream has not been heard since then."""
        stamp = Literal(since.isoformat().replace("+00:00", "Z"), datatype=_DATE_TIME)
        return self._templates.bind(
            "RAISE_ABSENCE", {**self._node(stream), "since": stamp, "reason": reason}
        )

    def clear(self, stream: StreamKey) -> BoundUpdate:
        """The stream is there again."""
        return self._templates.bind("CLEAR_ABSENCE", {"stream": self._identity.stream(stream)})

    def _node(self, stream: StreamKey) -> dict[str, Term]:
        sensor, observed_property, feature = map(NamedNode, stream)
        return {
            "stream": self._identity.stream(stream),
            "sensor": sensor,
            "property": observed_property,
            "feature": feature,
        }


@dataclass(slots=True)
class _Watched:
    """A stream; `deadline` and `heard` are by the steady clock and the wall clock."""

    heard: datetime
    expires_after_s: float | None = None
    deadline: float | None = None
    is_queued: bool = False
    is_absent: bool = False


class Absences:
    """Knows of each watched stream when it has to be heard again; for the thread of ingest.

    `raised` and `cleared` count since the start, `absent` is how many are absent now. `templates`
    may be replaced.
    """

    def __init__(self, templates: AbsenceTemplates, clock: Callable[[], float] = monotonic) -> None:
        self.raised = 0
        self.cleared = 0
        self.absent = 0
        self.templates = templates
        self._clock = clock
        self._streams: dict[StreamKey, _Watched] = {}
        self._queue: list[tuple[float, StreamKey]] = []

    def recall(
        self, stream: StreamKey, expires_after_s: float | None, is_absent: bool, now: datetime
    ) -> None:
        """Take up a stream that the store knows; its time begins anew."""
        watched = self._streams.setdefault(stream, _Watched(now, expires_after_s))
        watched.is_absent = is_absent
        self.absent += is_absent
        if expires_after_s is not None and not is_absent:
            self._expect(stream, watched)

    def note(
        self, observations: Iterable[Observation], notices: Iterable[Notice], when: datetime
    ) -> list[BoundUpdate]:
        """What a message means for the absences of the streams that it is about."""
        updates: list[BoundUpdate] = []
        if self._streams:
            for seen in observations:
                how = seen.circumstances
                if not (how.seed or how.historical):
                    updates += self._hear(seen.stream, when)
        for notice in notices:
            if isinstance(notice, Heartbeat):
                updates += self._hear(notice.stream, when)
            elif isinstance(notice, Liveness):
                updates += self._told(notice, when)
        return updates

    def due(self) -> list[BoundUpdate]:
        """The streams whose time is over now."""
        updates = []
        now = self._clock()
        while self._queue and self._queue[0][0] <= now:
            _, stream = heappop(self._queue)
            watched = self._streams[stream]
            watched.is_queued = False
            if watched.deadline is None or watched.is_absent:
                continue
            if watched.deadline > now:
                self._expect(stream, watched, watched.deadline)
            else:
                updates.append(self._raise(stream, watched, watched.heard, _SILENCE))
        return updates

    @property
    def wait_s(self) -> float | None:
        """How long nothing can be due; None: for ever."""
        return max(0.0, self._queue[0][0] - self._clock()) if self._queue else None

    def _hear(self, stream: StreamKey, when: datetime) -> Iterator[BoundUpdate]:
        watched = self._streams.get(stream)
        if watched is None:
            return
        watched.heard = when
        if watched.expires_after_s is not None:
            self._expect(stream, watched)
        if watched.is_absent:
            watched.is_absent = False
            self.absent -= 1
            self.cleared += 1
            yield self.templates.clear(stream)

    def _told(self, notice: Liveness, when: datetime) -> Iterator[BoundUpdate]:
        stream = notice.stream
        watched = self._streams.get(stream)
        if watched is None:
            if len(self._streams) >= _MOST_STREAMS:
                return
            watched = self._streams[stream] = _Watched(when)
        if not notice.is_online:
            watched.deadline = None
            if not watched.is_absent:
                yield self._raise(stream, watched, when, _OFFLINE)
            return
        if notice.expires_after_s not in {None, watched.expires_after_s}:
            watched.expires_after_s = notice.expires_after_s
            self._forget_queued(stream, watched)
            yield self.templates.watch(stream, notice.expires_after_s or 0.0)
        yield from self._hear(stream, when)

    def _raise(
        self, stream: StreamKey, watched: _Watched, since: datetime, reason: NamedNode
    ) -> BoundUpdate:
        watched.is_absent = True
        self.absent += 1
        self.raised += 1
        return self.templates.raise_(stream, since, reason)

    def _expect(self, stream: StreamKey, watched: _Watched, deadline: float | None = None) -> None:
        """Have one place in the queue, that of an earlier deadline at worst."""
        if deadline is None:
            deadline = self._clock() + (watched.expires_after_s or 0.0)
        watched.deadline = deadline
        if not watched.is_queued:
            watched.is_queued = True
            heappush(self._queue, (deadline, stream))

    def _forget_queued(self, stream: StreamKey, watched: _Watched) -> None:
        """Give up a place that may be too late for a shorter promise.

        Linear, for promises change seldom.
        """
        if watched.is_queued:
            watched.is_queued = False
            self._queue = [each for each in self._queue if each[1] != stream]
            heapify(self._queue)
