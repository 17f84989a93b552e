"""`EventHome`: subscriptions of this gateway to the events of members, this one among them.

    SUBSCRIBE in mode event -> a number, wanted of members -> their events -> rows -> the subscriber

Place: at the gateway where clients are; for one thread. Members say which of the queries an event
answers, and rows are made here, from the event alone: what a member says falsely is no row.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from uuid import uuid4

from gateway.engine import Limits, Notification, SubscribeRequest
from gateway.engine.compound.event import CompoundEvent
from gateway.engine.compound.event_query import EventQuery
from gateway.engine.compound.event_view import told_of
from gateway.engine.notification import EventRows, Federated
from gateway.engine.spu import EVENT, Subject
from gateway.errors import GatewayError
from gateway.federation.events.incoming_events import Gap
from gateway.federation.needs import Needs
from gateway.rdf.solutions import ResultsDelta

Told = Callable[[Notification], None]


@dataclass(slots=True)
class EventSubscription:
    """One of a client, by the number that members know it by; `scope` None is all members."""

    id: int
    spuid: str
    request: SubscribeRequest
    scope: frozenset[str] | None
    query: EventQuery
    told: Told
    sequence: int = 0

    def is_about(self, member: str) -> bool:
        """Whether a member is in its scope."""
        return self.scope is None or member in self.scope


class EventHome:
    """All of them; `needs` are this gateway's, `ended` is told why one cannot go on."""

    def __init__(self, needs: Needs, limits: Limits) -> None:
        self.ended: Callable[[str, GatewayError], None] = lambda _spuid, _error: None
        self._needs = needs
        self._limits = limits
        self._by_id: dict[int, EventSubscription] = {}

    def __len__(self) -> int:
        return len(self._by_id)

    def ask(
        self, request: SubscribeRequest, scope: frozenset[str] | None, told: Told
    ) -> EventSubscription:
        """A new one, which members have to be told of. Raises as `EventQuery` does."""
        query = EventQuery(
            Subject(request.text, request.dataset, readable=request.rights.read, mode=EVENT)
        )
        id_ = self._needs.events.want(request.text, scope, dict(request.after))
        spuid = f"sepa://subscription/{uuid4()}"
        subscription = EventSubscription(id_, spuid, request, scope, query, told)
        self._by_id[id_] = subscription
        return subscription

    def forget(self, subscription: EventSubscription) -> None:
        """The reverse of `ask`."""
        del self._by_id[subscription.id]
        self._needs.events.unwant(subscription.id)

    def first(
        self, subscription: EventSubscription, time: int, positions: Mapping[str, str]
    ) -> Notification:
        """The first notification of one, which says where members stood when it began."""
        query = subscription.query
        known_as = (subscription.spuid, 0, subscription.request.alias)
        results = ResultsDelta(query.spu.variables)
        place = Federated(positions)
        return Notification(*known_as, time, results, query.spu.form, events=(), federation=place)

    def happened(self, member: str, event: CompoundEvent, ids: Iterable[int]) -> bool:
        """Tell of an event of a member that answers these queries, as it says; whether it does."""
        is_told = False
        for id_ in ids:
            subscription = self._by_id.get(id_)
            if subscription is not None and subscription.is_about(member):
                is_told |= self._tell(subscription, event)
        return is_told

    def missed(self, member: str, gap: Gap) -> None:
        """Tell of events of a member that nobody knows any more."""
        for id_ in gap.ids:
            subscription = self._by_id.get(id_)
            if subscription is not None:
                between = {member: (str(gap.after), str(gap.until))}
                place = Federated({member: str(gap.until)}, between)
                self._notify(
                    subscription, ResultsDelta(subscription.query.spu.variables), 0, (), place
                )

    def _tell(self, subscription: EventSubscription, event: CompoundEvent) -> bool:
        query = subscription.query
        if not query.may_read(event):
            return True  # its home alone says that the client may not read it
        try:
            rows = tuple(query.answer(event, self._limits))
        except GatewayError as error:
            self.ended(subscription.spuid, error)
            return True
        if rows:
            results = ResultsDelta(query.spu.variables, rows)
            self._notify(subscription, results, event.time, (told_of(event, len(rows)),))
        return bool(rows)

    def _notify(
        self,
        subscription: EventSubscription,
        results: ResultsDelta,
        time: int,
        events: tuple[EventRows, ...],
        place: Federated | None = None,
    ) -> None:
        subscription.sequence += 1
        known_as = (subscription.spuid, subscription.sequence, subscription.request.alias)
        form = subscription.query.spu.form
        told = Notification(*known_as, time, results, form, events=events, federation=place)
        subscription.told(told)
