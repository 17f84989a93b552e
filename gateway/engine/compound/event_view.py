"""`EventView`: who subscribes in mode `event`, and what each request tells them.

    stated quads, net Delta -> compound events -> index of required patterns -> rows -> subscribers

Place: beside the processing of the views; a step asks it once the store has the change. In parallel
mode too these queries are answered in the engine's process: they look at a handful of quads and at
nothing else. Source: Pellegrino et al. 2013, section 3 (one-step matching); docs/events.md.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from gateway.engine.compound.event import (
    CompoundEvent,
    events_of,
    message_events,
    term_of,
)
from gateway.engine.compound.event_keeping import EventKeeping
from gateway.engine.compound.event_places import EventPlaces
from gateway.engine.compound.event_queries import EventQueries
from gateway.engine.compound.event_query import EventQuery
from gateway.engine.delivery import Delivery
from gateway.engine.explain import Explanation, Standing
from gateway.engine.limits import Limits
from gateway.engine.notification import EventRows, Federated, Told
from gateway.engine.request import MessageEvent
from gateway.engine.spu import Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.subscriptions import Subscription, Subscriptions
from gateway.errors import GatewayError, SubscriptionFailedError
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta, Row
from gateway.store.update import Stated

log = logging.getLogger(__name__)


OnEvent = Callable[[CompoundEvent], None]
OnChange = Callable[[Delta], None]


class Made(NamedTuple):
    """The events of a request, and the message that it was, if it was one."""

    events: Sequence[CompoundEvent] = ()
    message: MessageEvent | None = None


NOTHING_MADE = Made()


class EventView:
    """All queries of mode `event`; `places` gives requests their positions.

    `keeping` is where they are kept, None for nowhere; a `listener` is told of each, once the store
    has it, and behind it a `watcher` of each change of the store, when `places` has its position.
    `events` counts those that were looked at.
    """

    def __init__(
        self,
        limits: Limits,
        statistics: EngineStatistics,
        subscriptions: Subscriptions,
        delivery: Delivery,
    ) -> None:
        self.events = 0
        self.keeping: EventKeeping | None = None
        self.listener: OnEvent | None = None
        self.watcher: OnChange | None = None
        self.places = EventPlaces()
        self._limits = limits
        self._statistics = statistics
        self._subscriptions = subscriptions
        self._delivery = delivery
        self._queries = EventQueries()

    @property
    def is_wanted(self) -> bool:
        """Whether anybody asks for events, so that requests must say what they state."""
        return bool(self._queries) or self.listener is not None or self.keeping is not None

    def place(self) -> Federated | None:
        """Where the gateway stands, for who comes again; None where no events are kept."""
        if self.keeping is None:
            return None
        return Federated({self.places.gateway: str(self.places.now())})

    # what makes SPUs and answers for them ---------------------------------------------------

    def add(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        """A new SPU and its first answer, which is empty: no event has come yet."""
        query = EventQuery(subject)
        self._queries.add(query)
        self._count(query, +1)
        return query.spu, ResultsDelta(query.spu.variables)

    def initial(self, spu: Spu) -> ResultsDelta:
        """The first answer of a known SPU: as of a new one."""
        return ResultsDelta(spu.variables)

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        self._count(self._queries.remove(spu), -1)

    def explain(self, subject: Subject, spu: Spu | None) -> Explanation:
        """How a query is served, or would be if it were subscribed."""
        query = EventQuery(subject) if spu is None else self._queries.of(spu)
        refused = {"event join": query.refused} if query.refused else {}
        return Explanation(
            subject.text,
            query.tier,
            refused,
            query.lutt,
            {},
            members=1,
            hits=query.hits,
            is_subscribed=spu is not None,
            mode=subject.mode,
        )

    def standing(self, subscription: Subscription) -> Standing:
        """How a subscription is served now."""
        spu = subscription.spu
        query = self._queries.of(spu)
        return Standing(
            subscription.spuid,
            subscription.alias,
            spu.subject.text,
            subscription.last_sequence,
            query.tier,
            lutt=len(query.lutt),
            members=1,
            hits=query.hits,
            mode=spu.subject.mode,
        )

    # a step ---------------------------------------------------------------------------------

    def made(
        self, stated: Stated | None, message: MessageEvent | None, delta: Delta, time: int
    ) -> Made:
        """The events of a request, which has its place then; none where nobody asks."""
        if not self.is_wanted:
            return NOTHING_MADE
        if message is None:
            found = list(events_of(stated or (), delta))
        else:
            found = list(message_events(message.quads))
        if not found:
            return Made((), message)
        position = self.places.next() if message is None else message.position
        default = self.places.term(position) if message is None else message.iri
        if message is not None:
            time = message.time
        gateway = self.places.gateway
        events = [
            CompoundEvent(
                graph,
                term_of(graph, default),
                triples,
                gateway=gateway,
                position=position,
                time=time,
            )
            for graph, triples in found
        ]
        return Made(events, message)

    def changed(self, delta: Delta, made: Made) -> None:
        """Have the watcher told of a step's change, with a position of its own."""
        if self.watcher is None:
            return
        if made.message is not None:
            self.places.take(made.message.position)
        elif not made.events:
            self.places.next()
        try:
            self.watcher(delta)
        except Exception:  # a defect of the watcher, which the one writer survives
            log.exception("change_not_taken")

    def told(self, events: Sequence[CompoundEvent], time: int) -> Told:
        """The notifications of a request's events, one for each subscriber and event it matches."""
        notifications = []
        for event in events:
            self.events += 1
            if self.listener is not None:
                self._hear(self.listener, event)
            changes = []
            for query, rows in self._answers(event):
                results = ResultsDelta(query.spu.variables, tuple(rows))
                changes.append((query.spu, results))
            for each in self._subscriptions.address(changes, time).notifications:
                rows_of = told_of(event, len(each.results.added))
                notifications.append(each._replace(events=(rows_of,)))
        return Told(notifications)

    @staticmethod
    def _hear(listener: OnEvent, event: CompoundEvent) -> None:
        try:
            listener(event)
        except Exception:  # a defect of the listener, which the one writer survives
            log.exception("event_not_taken")

    def _answers(self, event: CompoundEvent) -> Iterator[tuple[EventQuery, Sequence[Row]]]:
        for query in self._queries.reached(event):
            if not query.may_read(event):
                continue
            query.hits += 1
            try:
                rows = query.answer(event, self._limits)
            except Exception as error:
                self._fail(query, error)
                continue
            if rows:
                yield query, rows

    def _fail(self, query: EventQuery, error: Exception) -> None:
        """An event that a query cannot be answered on ends its subscriptions, and nothing else."""
        self._statistics.failures += 1
        spu = query.spu
        if not isinstance(error, GatewayError):
            log.error("event_query_failed", exc_info=error)
            reason = f"an event failed in this query: {error!r:.200}"
            error = SubscriptionFailedError(reason, "change the query and subscribe again")
        for spuid in self._subscriptions.spuids(spu):
            last = self._delivery.leave(spuid)
            self._delivery.ended(spuid, spu.subject.text, error)
            if last is not None:
                self.remove(last)

    def _count(self, query: EventQuery, difference: int) -> None:
        tiers = self._statistics.spus
        tiers[query.tier] = tiers.get(query.tier, 0) + difference


def told_of(event: CompoundEvent, rows: int) -> EventRows:
    """What a notification says of an event that gave so many rows."""
    return EventRows(event.name, event.gateway, str(event.position), event.time, rows)
