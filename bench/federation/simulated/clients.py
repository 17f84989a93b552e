"""Clients of a fleet: what each was told, beside what one gateway with all data would answer.

Place: at the gateways that are asked. A client of events comes again, where its gateway had
another life, behind the last event that it had; one of a union begins anew.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from pyoxigraph import Quad, Store

from bench.federation.simulated.gateway import SimulatedGateway
from gateway.engine import Notification, SubscribeRequest
from gateway.engine.spu import EVENT
from gateway.federation.events.event_home import EventSubscription
from gateway.federation.member import Member
from gateway.federation.needs import Scope
from gateway.journal.event_position import EventPosition
from gateway.rdf.solutions import Row

Gateways = Mapping[str, SimulatedGateway]


def row_text(row: Iterable[object]) -> str:
    """A row as text."""
    return " ".join("-" if term is None else str(term) for term in row)


@dataclass(slots=True)
class EventClient:
    """Asks events with a predicate of a scope; `had` counts each row that it was told."""

    home: str
    predicate: str
    scope: Scope
    had: Counter[str] = field(default_factory=Counter)
    since: dict[str, EventPosition] = field(default_factory=dict)
    last: dict[str, EventPosition] = field(default_factory=dict)
    _asked: EventSubscription | None = None

    @property
    def text(self) -> str:
        """The query: two patterns that join."""
        return f"SELECT * {{ ?a <{self.predicate}> ?b . ?b <urn:is> ?c }}"

    def ask(self, member: Member) -> None:
        """Subscribe, behind what it had."""
        after = tuple(sorted(self.last.items()))
        request = SubscribeRequest(self.text, mode=EVENT, after=after)
        self._asked = member.ask_events(request, self._take, self.scope)

    def begin(self, member: Member) -> None:
        """Learn where members stand; those that were heard of before go on from where they were."""
        if self._asked is None:
            raise LookupError("begin comes behind ask")
        first = member.begin_events(self._asked)
        for name, position in first.federation.positions.items() if first.federation else ():
            self.since.setdefault(name, EventPosition.parse(position))
            self.last.setdefault(name, EventPosition.parse(position))

    def end(self, member: Member) -> None:
        """Subscribe no more."""
        if self._asked is not None:
            member.end_events(self._asked)

    def expected(self, gateways: Gateways) -> Iterator[str]:
        """What it has to have been told, by a bare store with the quads of each event alone."""
        for name, gateway in gateways.items():
            if (self.scope is not None and name not in self.scope) or name not in self.since:
                continue
            for event in gateway.history.events:
                if event.position > self.since[name]:
                    yield from _answers(self.text, name, event.position, event.triples)

    def _take(self, notification: Notification) -> None:
        (event,) = notification.events or ()
        self.last[event.gateway] = EventPosition.parse(event.position)
        for row in notification.results.added:
            self.had[f"{event.gateway} {event.position} {row_text(row)}"] += 1


def _answers(
    text: str, name: str, position: EventPosition, triples: Iterable[object]
) -> Iterator[str]:
    store = Store()
    store.extend(Quad(each.subject, each.predicate, each.object) for each in triples)  # type: ignore[attr-defined]
    for solution in store.query(text):  # type: ignore[union-attr]
        yield f"{name} {position} {row_text(solution)}"


@dataclass(slots=True)
class UnionClient:
    """Asks what a scope has together: the rooms that one gateway has warm, and another empty."""

    home: str
    scope: Scope
    rows: Counter[Row] = field(default_factory=Counter)
    text: str = "SELECT ?room ?t { ?room <urn:warm> ?t ; <urn:empty> true }"

    def ask(self, member: Member) -> None:
        """Subscribe anew; members that have not told yet are in the answer later."""
        self.rows.clear()
        asked = member.ask(SubscribeRequest(self.text), self.scope)
        self._take(member.begin(asked, self._take))

    def told(self) -> Iterator[str]:
        """The answer, as it was told."""
        return map(row_text, (+self.rows).elements())

    def expected(self, gateways: Gateways) -> Iterator[str]:
        """The answer of one store with all data."""
        store = Store()
        for name, gateway in gateways.items():
            if self.scope is None or name in self.scope:
                store.extend(gateway.engine.store.match(None, None, None, None))
        return (row_text(solution) for solution in store.query(self.text))  # type: ignore[union-attr]

    def _take(self, notification: Notification) -> None:
        self.rows.update(notification.results.added)
        self.rows.subtract(notification.results.removed)
