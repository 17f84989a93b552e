"""Gateways on a seeded carrier, with what each had at each of its positions: the oracle's memory.

Place: under the tests of the federation. What a subscriber has been told, added up, is compared at
each notification with the store's answer on the merge of what all members had at the positions that
the notification names.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from random import Random

from pyoxigraph import DefaultGraph, Literal, Quad, Store

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.spu import EACH, Subject, evaluate
from gateway.federation.asking.asking import Asked
from gateway.federation.limits import GuardLimits
from gateway.federation.loopback import LoopbackNet
from gateway.federation.member import Member, MemberSettings
from gateway.federation.replica import own_quad
from gateway.journal.event_position import EventPosition
from gateway.journal.record import Origin
from gateway.rdf.solutions import SolutionBag
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.engine_session import bag

Past = dict[str, frozenset[Quad]]
"""What a gateway had, by its positions."""


class Subscriber:
    """Adds up what a federated subscription is told, and compares it each time."""

    def __init__(
        self, net: "Gateways", home: str, request: SubscribeRequest, scope: frozenset[str]
    ) -> None:
        self.told = 0
        self.scope = scope
        self.spuid = ""
        self.vector: Mapping[str, str] = {}
        self._net = net
        self._home = home
        self._request = request
        self._subject = Subject(request.text)
        self._rows: SolutionBag = Counter()

    def take(self, notification: Notification) -> None:
        assert notification.federation is not None
        vector = notification.federation.positions
        for member, position in self.vector.items():
            if self._request.absent == "keep" or member in vector:
                assert EventPosition.parse(vector[member]) >= EventPosition.parse(position)
        self.vector = vector
        results = notification.results
        self._rows.update(results.added)
        self._rows.subtract(results.removed)
        assert min(self._rows.values(), default=0) >= 0
        self._rows += Counter()
        self.told += 1
        self._net.told += 1
        self.compare()

    def compare(self, vector: Mapping[str, str] | None = None) -> None:
        """What was told is the answer at the positions that the last notification named."""
        now = vector or self.vector
        if self._request.mode == EACH:
            expected = self._net.answer_of_each(self._subject, self._home, now)
            told = bag(self._subject, self._rows.elements())
            assert told == bag(self._subject, expected.elements()), self._subject.text
            return
        expected = self._net.answer(self._subject, self._home, now)
        assert bag(self._subject, self._rows.elements()) == expected, self._subject.text


def _patient(settings: MemberSettings) -> MemberSettings:
    """The net loses in a second what others lose in a day."""
    outgoing = replace(settings.outgoing, unheard=2**40)
    return replace(
        settings,
        outgoing=outgoing,
        guard=GuardLimits(misses=2**40, work_s=3600.0, event_work_s=3600.0),
    )


class Gateways:
    """Some gateways, `names`, that begin with nothing and hear each other."""

    def __init__(
        self, names: Iterable[str], random: Random, settings: Callable[[str], MemberSettings]
    ) -> None:
        self.random = random
        self.told = 0
        self.net = LoopbackNet(random)
        self.engines: dict[str, Engine] = {}
        self.members: dict[str, Member] = {}
        self.past: dict[str, Past] = {}
        self.subscribers: dict[str, list[Subscriber]] = {}
        self.rounds = Counter[str]()
        self._settings = settings
        self._listeners: dict[tuple[str, str], Callable[[Notification], None]] = {}
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """One more, with nothing."""
        self.engines[name] = Engine.open()
        self.past[name] = {}
        self.restart(name)

    def restart(self, name: str) -> None:
        """A new life of a gateway, on the store of the one before; its subscribers are gone."""
        engine = self.engines[name]
        self.rounds[name] += 1
        engine.events.places.follow(Origin(name), self.rounds[name], lambda: None)
        self.subscribers[name] = []
        carrier = self.net.carrier(name)
        member = self.members[name] = Member(
            name, engine, carrier, _patient(self._settings(name)), self.random
        )
        self.note(name)
        member.start()

    def update(self, name: str, text: str) -> None:
        """An UPDATE at a gateway, of which the federation is told."""
        engine = self.engines[name]
        before = engine.events.places.last
        outcome = engine.update(text)
        delta = outcome.delta
        for each in outcome.notifications:
            self._listeners[name, each.spuid](each)
        if not delta.is_empty:
            if engine.events.places.last == before:
                engine.events.places.next()
            self.note(name)
            self.members[name].changed(delta)

    def listen(self, name: str, spuid: str, told: Callable[[Notification], None]) -> None:
        """Hear of a local subscription of a gateway's engine."""
        self._listeners[name, spuid] = told

    def subscribe(
        self, name: str, request: SubscribeRequest, scope: frozenset[str] | None, wait: int
    ) -> None:
        """Subscribe; sequence 0 comes once all have told, or after so many messages."""
        member = self.members[name]
        asked = member.ask(request, scope)
        for _ in range(wait):
            if not member.missing(asked) or not self.net.step():
                break
        self._begin(name, asked)

    def _begin(self, name: str, asked: Asked) -> None:
        scope = frozenset(self.members) if asked.scope is None else asked.scope
        subscriber = Subscriber(self, name, asked.request, scope)
        first = self.members[name].begin(asked, subscriber.take)
        subscriber.spuid = first.spuid
        self.subscribers[name].append(subscriber)
        subscriber.take(first)

    def unsubscribe(self, name: str) -> None:
        """End one of a gateway's subscriptions."""
        if self.subscribers[name]:
            place = self.random.randrange(len(self.subscribers[name]))
            self.members[name].unsubscribe(self.subscribers[name].pop(place).spuid)

    def tick(self) -> None:
        for member in self.members.values():
            member.tick()

    def settle(self) -> None:
        """Mend everything, and let all that was missed come."""
        for one in self.members:
            for other in self.members:
                if one < other and self.net.is_cut(one, other):
                    self.net.mend(one, other)
        for _ in range(8):
            self.net.run()
            self.tick()
        self.net.run()

    def answer(self, subject: Subject, home: str, vector: Mapping[str, str]) -> SolutionBag:
        """The query on the merge of what members had, as far as the home may read it."""
        merged: dict[Quad, None] = {}
        for name, position in vector.items():
            merged.update(dict.fromkeys(self._seen(name, home, position)))
        store = QuadStore(Store())
        store.load(merged, [])
        return bag(subject, evaluate(store, subject).elements())

    def answer_of_each(self, subject: Subject, home: str, vector: Mapping[str, str]) -> SolutionBag:
        """The rows of each alone, with its name."""
        found: SolutionBag = Counter()
        for name, position in vector.items():
            store = QuadStore(Store())
            store.load(self._seen(name, home, position), [])
            rows = evaluate(store, subject).elements()
            found.update((*row, Literal(name)) for row in rows)
        return found

    def _seen(self, name: str, home: str, position: str) -> Iterable[Quad]:
        """What one had, as the home may read it."""
        quads = self.past[name][position]
        if name == home:
            return quads
        readable = (quad for quad in quads if isinstance(quad.graph_name, DefaultGraph))
        return dict.fromkeys(own_quad(quad, name) for quad in readable)

    def now(self, name: str) -> str:
        """Where a gateway stands."""
        return str(self.members[name].position)

    def note(self, name: str) -> None:
        """Remember what a gateway has where it stands now."""
        quads = self.engines[name].store.match(None, None, None, None)
        self.past[name][self.now(name)] = frozenset(quads)
