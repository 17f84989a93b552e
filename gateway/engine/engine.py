"""`Engine`: UPDATE in, exact notifications out; synchronous, one writer (engine.md, 2 and 5).

    UPDATE -> net Delta -> store, atomically -> LUTT index -> ARTQ -> SPU -> Notification

One thread owns the engine and calls it; only `query` may be called from others: it sees the
snapshot of a whole update.
"""

import logging
import time as system_clock
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Self
from uuid import uuid4

from pyoxigraph import NamedNode

from gateway.engine.compile import compile_spu
from gateway.engine.lutt import LuttIndex
from gateway.engine.notification import Notification
from gateway.engine.spu import Spu, Subject
from gateway.errors import GatewayError, NotFoundError, UnsupportedQueryError
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta
from gateway.rdf.terms import Term
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import contains_service
from gateway.store.quad_store import QuadStore, QueryResults
from gateway.store.update import BoundUpdate, UpdatePlan, compile_update, evaluate

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an UPDATE did: its net change and whom it concerned. `time` is µs since the epoch."""

    delta: Delta
    notifications: tuple[Notification, ...]
    time: int


@dataclass(slots=True)
class Subscription:
    """One subscriber of an SPU; `sequence` is that of its last notification."""

    spuid: str
    alias: str | None
    spu: Spu
    sequence: int = 0


@dataclass(slots=True)
class EngineStatistics:
    """Counters since the start; `lutt_hits` counts SPUs that an update reached."""

    updates: int = 0
    quads_added: int = 0
    quads_removed: int = 0
    lutt_hits: int = 0
    lutt_misses: int = 0
    notifications: int = 0
    failures: int = 0
    subscriptions: int = 0
    spus: dict[str, int] = field(default_factory=dict)


def microseconds() -> int:
    """The engine's clock: µs since the Unix epoch."""
    return system_clock.time_ns() // 1000


class Engine:
    """The embedded SPARQL subscription engine.

    >>> engine = Engine.open()
    >>> first = engine.subscribe("SELECT ?o { <urn:s> <urn:p> ?o }")
    >>> outcome = engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    >>> [dict(row)["o"].value for row in outcome.notifications[0].added]
    ['1']
    >>> engine.close()
    """

    def __init__(
        self,
        store: QuadStore,
        clock: Callable[[], int] = microseconds,
        *,
        oracle: bool = False,
    ) -> None:
        """With `oracle`, every query is evaluated again after every update: slow and simple."""
        self.store = store
        self._oracle = oracle
        self.statistics = EngineStatistics()
        self._clock = clock
        self._lutt: LuttIndex[Spu] = LuttIndex()
        self._spus: dict[Subject, Spu] = {}
        self._subscriptions: dict[str, Subscription] = {}
        self._subscribers: dict[Spu, dict[str, Subscription]] = {}

    @classmethod
    def open(
        cls,
        path: Path | str | None = None,
        clock: Callable[[], int] = microseconds,
        *,
        oracle: bool = False,
    ) -> Self:
        """An engine on the folder `path`, or in memory. Raises StorageError."""
        return cls(QuadStore.open(None if path is None else Path(path)), clock, oracle=oracle)

    def close(self) -> None:
        """Hand the store to the disk and forget every subscription."""
        for spuid in list(self._subscriptions):
            self.unsubscribe(spuid)
        self.store.close()

    def prepare(self, text: str) -> UpdatePlan:
        """Compile an update once, to be run many times with forced bindings."""
        return compile_update(text)

    def update(
        self,
        update: str | UpdatePlan | Sequence[BoundUpdate],
        bindings: Mapping[str, Term] | None = None,
        *,
        using_graphs: Sequence[NamedNode] = (),
        using_named_graphs: Sequence[NamedNode] = (),
        deferred: bool = False,
    ) -> Outcome:
        """Run a text, a prepared update, or several bound ones as one request: all or nothing.

        `deferred` leaves writing to the disk to the next `flush`; it is for requests that the
        caller can repeat after a crash. Everybody sees their effect at once all the same.
        Raises a GatewayError when it cannot be done; then nothing has changed.
        """
        bound = _bound(update, bindings or {}, using_graphs, using_named_graphs)
        with self.store.writing:
            delta = evaluate(self.store, bound)
            time = self._clock()
            self.statistics.updates += 1
            if delta.is_empty:
                return Outcome(delta, (), time)
            (self.store.defer if deferred else self.store.apply)(delta)
            self.statistics.quads_added += len(delta.added)
            self.statistics.quads_removed += len(delta.removed)
            return Outcome(delta, tuple(self._notify(delta, time)), time)

    def flush(self) -> None:
        """Bring deferred updates to the disk. Raises StorageError; they are then still deferred."""
        self.store.flush()

    def query(
        self,
        text: str,
        *,
        default_graphs: Sequence[NamedNode] = (),
        named_graphs: Sequence[NamedNode] = (),
    ) -> QueryResults:
        """Evaluate a QUERY now, on whole updates only. May be called from any thread."""
        refuse_service(text)
        if default_graphs or named_graphs:
            return self.store.query(text, default_graphs, named_graphs)
        return self.store.query(text)

    def subscribe(
        self,
        text: str,
        *,
        default_graphs: Sequence[NamedNode] = (),
        named_graphs: Sequence[NamedNode] = (),
        alias: str | None = None,
    ) -> Notification:
        """Subscribe to a query; the first notification has sequence 0 and the whole answer.

        Raises SparqlSyntaxError or UnsupportedQueryError.
        """
        subject = Subject(text, tuple(default_graphs), tuple(named_graphs))
        spu = self._spus.get(subject) or compile_spu(self.store, subject, oracle=self._oracle)
        results = spu.initial()  # where this raises, nothing is registered yet
        if subject not in self._spus:
            self._register(spu)
        subscription = Subscription(f"sepa://subscription/{uuid4()}", alias, spu)
        self._subscriptions[subscription.spuid] = subscription
        self._subscribers[spu][subscription.spuid] = subscription
        self.statistics.subscriptions += 1
        return Notification(subscription.spuid, 0, alias, self._clock(), results, spu.form)

    def _register(self, spu: Spu) -> None:
        self._spus[spu.subject] = spu
        self._subscribers[spu] = {}
        self._count(spu, +1)
        for entry in spu.lutt:
            self._lutt.insert(entry, spu)

    def unsubscribe(self, spuid: str) -> None:
        """End a subscription; its SPU goes with its last subscriber. Raises NotFoundError."""
        subscription = self._subscriptions.pop(spuid, None)
        if subscription is None:
            raise NotFoundError(f"there is no subscription {spuid}")
        spu = subscription.spu
        self.statistics.subscriptions -= 1
        del self._subscribers[spu][spuid]
        if not self._subscribers[spu]:
            del self._subscribers[spu], self._spus[spu.subject]
            self._count(spu, -1)
            for entry in spu.lutt:
                self._lutt.remove(entry, spu)

    def _notify(self, delta: Delta, time: int) -> Iterator[Notification]:
        queues = self._lutt.match(delta)
        self.statistics.lutt_hits += len(queues)
        self.statistics.lutt_misses += len(self._spus) - len(queues)
        for spu, artq in queues.items():
            results: ResultsDelta | None = None
            with self._survive(spu):
                results = spu.process(artq)
            if results is not None and not results.is_empty:
                yield from self._address(spu, results, time)

    def _address(self, spu: Spu, results: ResultsDelta, time: int) -> Iterator[Notification]:
        for subscription in self._subscribers[spu].values():
            subscription.sequence += 1
            self.statistics.notifications += 1
            yield Notification(
                subscription.spuid,
                subscription.sequence,
                subscription.alias,
                time,
                results,
                spu.form,
            )

    @contextmanager
    def _survive(self, spu: Spu) -> Iterator[None]:
        """A query that fails on new data costs this step only: the next one adds up again."""
        try:
            yield
        except GatewayError as error:
            self.statistics.failures += 1
            log.error("spu_failed", extra={"query": spu.subject.text, "reason": str(error)})

    def _count(self, spu: Spu, difference: int) -> None:
        tiers = self.statistics.spus
        tiers[spu.tier] = tiers.get(spu.tier, 0) + difference


def _bound(
    update: str | UpdatePlan | Sequence[BoundUpdate],
    bindings: Mapping[str, Term],
    using_graphs: Sequence[NamedNode],
    using_named_graphs: Sequence[NamedNode],
) -> Sequence[BoundUpdate]:
    if isinstance(update, str):
        update = compile_update(update, tuple(using_graphs), tuple(using_named_graphs))
    return [(update, bindings)] if isinstance(update, UpdatePlan) else update


@lru_cache(maxsize=1024)
def refuse_service(text: str) -> None:
    """Raise UnsupportedQueryError for a query that would call another host."""
    if contains_service(parse_query(text)):
        raise UnsupportedQueryError(
            "SERVICE is not allowed", "query the other endpoint yourself and join the results"
        )
