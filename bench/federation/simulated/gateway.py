"""`SimulatedGateway`: an engine with its data and log of events, and one life after another.

    UPDATE -> the product's engine -> its member of the federation -> `MemberNet`

Place: what a fleet is made of. Data and events outlive a life, as on a disk; members, streams and
subscriptions do not: clients come again behind the last event that they had.
"""

from collections.abc import Iterator
from functools import partial
from random import Random

from pyoxigraph import NamedNode, Triple

from bench.federation.simulated.members import MemberCarrier, MemberNet
from gateway.engine import Engine, Notification
from gateway.engine.compound.event import CompoundEvent, term_of
from gateway.engine.spu import EVENT
from gateway.federation.guard import Guard
from gateway.federation.member import Member, MemberSettings
from gateway.journal.event_position import EventPosition
from gateway.journal.record import Origin
from gateway.rdf.terms import DEFAULT_GRAPH


class EventsOf:
    """All events of a gateway, in memory: in the place of its log, and what answers have to be."""

    def __init__(self, name: str) -> None:
        self.events: list[CompoundEvent] = []
        self._name = name

    def take(self, notification: Notification) -> None:
        """Have one more, as a local subscriber to everything is told of it."""
        (told,) = notification.events or ()
        triples = tuple(Triple(*row) for row in notification.results.added)  # type: ignore[arg-type]
        self.events.append(
            CompoundEvent(
                DEFAULT_GRAPH,
                term_of(DEFAULT_GRAPH, NamedNode(told.graph)),
                triples,
                gateway=self._name,
                position=EventPosition.parse(told.position),
                time=told.time,
            )
        )

    def between(self, after: EventPosition, until: EventPosition) -> Iterator[CompoundEvent]:
        """The events behind a position up to another, in order."""
        return (each for each in self.events if after < each.position <= until)

    def first_missing(self, _: EventPosition) -> EventPosition | None:
        """None: nothing is ever forgotten."""
        return None


class SimulatedGateway:
    """One of a fleet; `member` is its present life, None while it is away."""

    def __init__(self, name: str, links: MemberNet) -> None:
        self.name = name
        self.engine = Engine.open()
        self.history = EventsOf(name)
        self.member: Member | None = None
        self._links = links
        self._lives = 0
        self._carrier: MemberCarrier | None = None
        self.engine.subscribe("SELECT ?s ?p ?o { ?s ?p ?o }", mode=EVENT)

    def begin(self) -> Member:
        """A new life, which nobody hears yet."""
        self._lives += 1
        net, engine = self._links.net, self.engine
        engine.events.places.follow(Origin(self.name), self._lives, lambda: None)
        self._carrier = self._links.carrier(self.name)
        settings = MemberSettings(history=lambda: self.history)
        random = Random(f"{self.name} {self._lives}")  # noqa: S311 - the same lives each time
        member = self.member = Member(self.name, engine, self._carrier, settings, random)
        member.guard = Guard(settings.guard, lambda: net.now)
        member.attendance.steady = lambda: net.now
        engine.events.watcher = member.changed
        return member

    def end(self) -> None:
        """Be away."""
        self.member = self.engine.events.watcher = self.engine.events.listener = None
        if self._carrier is not None:
            self._carrier.close()

    def update(self, text: str) -> None:
        """Have an UPDATE done, of which the federation is told."""
        self._links.net.act(self.name, partial(self._update, text))

    def _update(self, text: str) -> None:
        for each in self.engine.update(text).notifications:
            self.history.take(each)
        if self.member is not None:
            self.member.flush()

    def tick(self) -> None:
        """Have losses noticed."""
        if self.member is not None:
            self._links.net.act(self.name, self.member.tick)
            self._links.net.act(self.name, self.member.flush)

    def close(self) -> None:
        """Forget all."""
        self.engine.close()
