"""`Member`: this gateway in the federation: what it tells others, and what it knows of them.

    its own changes -> a stream for each member that needs some of them
    streams of others -> replicas -> mirrors -> notifications of federated subscriptions

Place: above all parts of the federation; for one thread, and sans-I/O: a carrier brings messages,
`tick` is called now and then. A federated SUBSCRIBE is answered in two steps: `ask` has the members
tell what the query needs, `begin` answers once they have, or once nobody waits any more.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from random import Random, SystemRandom

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.compound.event import CompoundEvent
from gateway.engine.limits import UNLIMITED, Limits
from gateway.engine.lutt import LuttEntry, LuttIndex
from gateway.errors import NotFoundError
from gateway.federation.carrier import Carrier, Channel, Received
from gateway.federation.entries import entries_of
from gateway.federation.event_home import EventHome, EventSubscription
from gateway.federation.event_parts import Happened
from gateway.federation.event_source import EventSource
from gateway.federation.guard import Guard
from gateway.federation.incoming_events import Gap
from gateway.federation.limits import REPLICA_QUADS, GuardLimits, OutgoingLimits
from gateway.federation.mirror import Mirror, Share
from gateway.federation.needs import Filter, Needs
from gateway.federation.outgoing import Outgoing
from gateway.federation.outgoing_events import History, OutgoingEvents
from gateway.federation.own_share import OwnShare
from gateway.federation.replica import Learnt, Replica, Step
from gateway.federation.wire import Batch, Part, WireError
from gateway.journal.event_position import EventPosition
from gateway.rdf.delta import Delta
from gateway.rdf.rights import Graphs
from gateway.rdf.terms import DEFAULT_GRAPH

log = logging.getLogger(__name__)

Told = Callable[[Notification], None]

_DEFAULT_ALONE: Graphs = frozenset({DEFAULT_GRAPH})


@dataclass(frozen=True, slots=True)
class MemberSettings:
    """What others may read of this gateway, by their names; `read_else` where none stands.

    `guard` bounds what one of them may do here, `outgoing` what waits for it, `replica_quads`
    what is known of it, `limits` first answers and those to events. `history` knows earlier events
    of this gateway, None where none are kept.
    """

    read: Mapping[str, Graphs] = field(default_factory=dict)
    read_else: Graphs = _DEFAULT_ALONE
    guard: GuardLimits = field(default_factory=GuardLimits)
    outgoing: OutgoingLimits = field(default_factory=OutgoingLimits)
    replica_quads: int = REPLICA_QUADS
    history: Callable[[], History] | None = None
    limits: Limits = UNLIMITED


@dataclass(frozen=True, slots=True)
class Asked:
    """A federated query that the members of a `scope` are asked for; None is all of them."""

    request: SubscribeRequest
    scope: frozenset[str] | None
    entries: frozenset[LuttEntry]


class Member:
    """One gateway; `position` tells where its engine stands. `away` are members that are not up.

    `guard` keeps it from members that send what no member sends, or ask for too much.
    """

    def __init__(
        self,
        name: str,
        engine: Engine,
        carrier: Carrier,
        settings: MemberSettings | None = None,
        random: Random | SystemRandom = SystemRandom(),  # noqa: B008  # it has no state
    ) -> None:
        self.name = name
        self.away: set[str] = set()
        self._engine = engine
        self._carrier = carrier
        self._settings = settings or MemberSettings()
        self.guard = Guard(self._settings.guard)
        self._random = random
        self._life = self._new_life()
        self._needs = Needs()
        self._own = OwnShare(engine.store)
        self._index: LuttIndex[str] = LuttIndex()
        self._outgoing: dict[str, Outgoing] = {}
        self._replicas: dict[str, Replica] = {}
        self._mirrors: dict[frozenset[str] | None, list[Mirror]] = {}
        self._subscribed: dict[str, tuple[Mirror, Asked, Told]] = {}
        self._event_source = EventSource(self._settings.limits)
        self.events = EventHome(self._needs, self._settings.limits)

    def start(self) -> None:
        """Be up, where the carrier speaks in the thread of this member."""
        self._carrier.listen(self.receive, self.presence)

    @property
    def links_closed(self) -> Mapping[str, str]:
        """The members that are not listened to, and why."""
        return self.guard.closed

    def waiting(self, member: str) -> int:
        """Quads of changes that wait for an acknowledgement of a member."""
        outgoing = self._outgoing.get(member)
        return 0 if outgoing is None else outgoing.waiting

    @property
    def known(self) -> Mapping[str, Replica]:
        """What is known of others, by their names."""
        return self._replicas

    @property
    def heard(self) -> frozenset[str]:
        """The members that are up, and whose stream is followed."""
        following = (name for name, replica in self._replicas.items() if replica.is_following)
        return frozenset(following) - self.away - self.links_closed.keys()

    # what this gateway tells others -----------------------------------------------------------

    def changed(self, delta: Delta) -> None:
        """Tell of a change that the engine's store has, all whom it concerns."""
        position = self.position
        for name, artq in self._index.match(delta).items():
            told = Delta(tuple(artq.added), tuple(artq.removed))
            self._outgoing[name].changed(told, position)
        self._learn_own(self._own.changed(delta))

    def happened(self, event: CompoundEvent) -> None:
        """Tell of an event of this gateway whom it concerns, each member once; before `changed`."""
        for name, ids in self._event_source.reached(event).items():
            if name == self.name:
                self.events.happened(name, event, ids)
            else:
                self._outgoing[name].happened(event, ids)
        self._listen()

    def _listen(self) -> None:
        """Hear of the engine's events while somebody wants them."""
        self._engine.events.listener = self.happened if len(self._event_source) else None

    def tick(self) -> None:
        """Have losses noticed, on both sides."""
        for name in self.guard.reopened():
            if name not in self.away:
                self._replica(name).hello()
        closed = self.links_closed
        for name, outgoing in self._outgoing.items():
            if name not in self.away and name not in closed:
                outgoing.beat(self.position)
        for name, replica in self._replicas.items():
            if name not in self.away and name not in closed:
                replica.tick()
                self._acknowledge(name)

    @property
    def position(self) -> EventPosition:
        """Where this gateway stands."""
        return self._engine.events.places.now()

    # what others tell it ----------------------------------------------------------------------

    def presence(self, member: str, is_up: bool) -> None:
        """Know that a member came or went."""
        if not is_up:
            self.away.add(member)
            return
        self.away.discard(member)
        if not self.guard.is_closed(member):
            self._replica(member).hello()

    def leave(self, member: str) -> None:
        """Have nothing more of one that is a member no longer: its quads leave, as one step."""
        self.guard.forget(member)
        self.away.discard(member)
        outgoing, replica = self._outgoing.pop(member, None), self._replicas.pop(member, None)
        if outgoing is not None:
            outgoing.close()
        if replica is not None:
            for mirrors in self._mirrors.values():
                for mirror in mirrors:
                    self._tell(mirror.leave(member))
        self._listen()

    def receive(self, message: Received) -> None:
        """Take a message; what no member sends closes the link to whom it is from."""
        sender = message.sender
        if message.channel is Channel.MEMBERS or self.guard.is_closed(sender):
            return
        try:
            if message.channel is Channel.DATA:
                self._take(sender, Batch.decode(message.payload))
            else:
                with self.guard.working(sender):
                    for part in Batch.decode(message.payload).parts:
                        self._answer(sender, part)
        except WireError as error:
            self.close_link(sender, str(error))

    def close_link(self, member: str, reason: str) -> None:
        """Read nothing of a member for a while, and tell it nothing."""
        self.guard.close(member, reason)
        outgoing = self._outgoing.get(member)
        if outgoing is not None:
            outgoing.close()

    def _take(self, sender: str, batch: Batch) -> None:
        replica = self._replica(sender)
        resyncs = replica.resyncs
        self._learn(sender, replica.take(batch))
        if replica.resyncs != resyncs:
            self.guard.missed(sender)
        self._acknowledge(sender)

    def _answer(self, sender: str, part: Part) -> None:
        outgoing = self._outgoing_to(sender)
        match part.kind:
            case "hello":
                outgoing.hello(part, self.position)
            case "needs":
                outgoing.needs(part, self.position)
            case "ack":
                outgoing.acknowledge(part, self.position)
            case _:  # of a later version
                pass
        self._listen()

    def _learn(self, member: str, learnt: Iterable[Learnt]) -> None:
        for step in learnt:
            if isinstance(step, Happened):
                self.events.happened(member, step.event, step.ids)
                continue
            if isinstance(step, Gap):
                self.events.missed(member, step)
                continue
            for scope, mirrors in self._mirrors.items():
                if scope is None or member in scope:
                    self._step(mirrors, member, step)
        for scope, mirrors in self._mirrors.items():
            if scope is None or member in scope:
                self._join_where_ready(mirrors, member)

    def _learn_own(self, delta: Delta) -> None:
        """What this gateway has is known at once."""
        step = Step(delta, self.position)
        for scope, mirrors in self._mirrors.items():
            if scope is None or self.name in scope:
                self._step(mirrors, self.name, step)

    def _step(self, mirrors: Iterable[Mirror], member: str, step: Step) -> None:
        for mirror in mirrors:
            if member in mirror.members:
                self._tell(mirror.step(member, step.delta, step.position))

    def _join_where_ready(
        self,
        mirrors: Iterable[Mirror],
        member: str,
        needed: frozenset[LuttEntry] | None = None,
    ) -> None:
        """Let a member be in the mirrors that need of it what is known."""
        replica = self._replicas[member]
        for mirror in mirrors:
            entries = mirror.entries if needed is None else needed
            if member in mirror.members or not replica.has_in_force(entries):
                continue
            if replica.position is not None:
                self._tell(mirror.join(member, Share(replica.quads, replica.position)))

    def _tell(self, notifications: Iterable[Notification]) -> None:
        for each in notifications:
            found = self._subscribed.get(each.spuid)
            if found is not None:
                found[2](each)

    # who asks here ----------------------------------------------------------------------------

    def ask(self, request: SubscribeRequest, scope: frozenset[str] | None = None) -> Asked:
        """Have the members of a scope tell what a query needs; None is all, now and later.

        Raises SparqlSyntaxError, UnsupportedQueryError.
        """
        entries = entries_of(request.text, request.dataset)
        new = self._needs.want(entries)
        if new:
            self._learn_own(self._own.want(new))
            for name, replica in self._replicas.items():
                if name not in self.away:
                    replica.need(new, frozenset())
        return Asked(request, scope, entries)

    def missing(self, asked: Asked) -> frozenset[str]:
        """The members of the scope that have not told yet what the query needs."""
        names = self._replicas.keys() if asked.scope is None else asked.scope - {self.name}
        return frozenset(
            name
            for name in names
            if name not in self._replicas or not self._replicas[name].has_in_force(asked.entries)
        )

    def begin(self, asked: Asked, told: Told) -> Notification:
        """The first notification; who is missing is in the answer later, as one step."""
        mirror = self._mirror_for(asked)
        first = mirror.subscribe(asked.request, asked.entries)
        self._subscribed[first.spuid] = (mirror, asked, told)
        return first

    def unsubscribe(self, spuid: str) -> None:
        """End a subscription; what nobody needs any more is forgotten. Raises NotFoundError."""
        found = self._subscribed.pop(spuid, None)
        if found is None:
            raise NotFoundError(f"there is no subscription {spuid}", "it may have ended already")
        mirror, asked, _ = found
        mirror.unsubscribe(spuid)
        if mirror.is_idle:
            mirror.close()
            self._mirrors[asked.scope].remove(mirror)
        self.give_up(asked)

    def give_up(self, asked: Asked) -> None:
        """Need no more what a query needed that never began, or has ended."""
        gone = self._needs.unwant(asked.entries)
        if gone:
            self._learn_own(self._own.unwant(gone))
            for name, replica in self._replicas.items():
                if name not in self.away:
                    replica.need(frozenset(), gone)

    def ask_events(
        self,
        request: SubscribeRequest,
        told: Told,
        scope: frozenset[str] | None = None,
    ) -> EventSubscription:
        """Have the members of a scope tell of events; those after a position that is asked for too.

        Raises SparqlSyntaxError, UnsupportedQueryError.
        """
        subscription = self.events.ask(request, scope, told)
        if subscription.is_about(self.name):
            self._event_source.add(self.name, subscription.id, request.text, request.rights.read)
            self._listen()
        for name, replica in self._replicas.items():
            if subscription.is_about(name):
                replica.events.want(subscription.id)
            if name not in self.away:
                replica.need_events([subscription.id], ())
        return subscription

    def missing_events(self, subscription: EventSubscription) -> frozenset[str]:
        """The members of the scope that do not tell of events yet."""
        return frozenset(
            name
            for name, replica in self._replicas.items()
            if subscription.is_about(name) and not replica.events.is_in_force(subscription.id)
        )

    def begin_events(self, subscription: EventSubscription) -> Notification:
        """The first notification of one, which says from where on members tell of events."""
        positions = {}
        if subscription.is_about(self.name):
            positions[self.name] = str(self.position)
        for name, replica in self._replicas.items():
            position = replica.events.position(subscription.id)
            if position is not None and subscription.is_about(name):
                positions[name] = str(position)
        return self.events.first(subscription, self._engine.time(), positions)

    def end_events(self, subscription: EventSubscription) -> None:
        """End a subscription to events."""
        self.events.forget(subscription)
        self._event_source.remove(self.name, subscription.id)
        self._listen()
        for name, replica in self._replicas.items():
            replica.events.forget(subscription.id)
            if name not in self.away:
                replica.need_events((), [subscription.id])

    def _mirror_for(self, asked: Asked) -> Mirror:
        """A mirror whose members have all told what the query needs, or a new one."""
        missing = self.missing(asked)
        mirrors = self._mirrors.setdefault(asked.scope, [])
        for mirror in mirrors:
            if mirror.members.isdisjoint(missing):
                self._complete(mirror, asked)
                return mirror
        mirror = Mirror(Engine.open(clock=self._engine.time, limits=self._settings.limits))
        mirrors.append(mirror)
        self._complete(mirror, asked)
        return mirror

    def _complete(self, mirror: Mirror, asked: Asked) -> None:
        """Have in a mirror all who can be: this gateway always can."""
        is_here = asked.scope is None or self.name in asked.scope
        if is_here and self.name not in mirror.members:
            self._tell(mirror.join(self.name, Share(self._own.quads, self.position)))
        needed = mirror.entries | asked.entries
        for name in self._replicas:
            if asked.scope is None or name in asked.scope:
                self._join_where_ready((mirror,), name, needed)

    # ------------------------------------------------------------------------------------------

    def _replica(self, member: str) -> Replica:
        found = self._replicas.get(member)
        if found is None:

            def say(part: Part) -> None:
                payload = Batch(self._life, 0, (part,)).encode()
                self._carrier.send(member, Channel.NEEDS, payload)

            most = self._settings.replica_quads
            found = self._replicas[member] = Replica(member, self._needs, say, most)
        return found

    def _outgoing_to(self, member: str) -> Outgoing:
        found = self._outgoing.get(member)
        if found is None:
            settings = self._settings
            graphs = settings.read.get(member, settings.read_else)
            found = self._outgoing[member] = Outgoing(
                self._engine.store,
                lambda payload: self._carrier.send(member, Channel.DATA, payload),
                self._new_life,
                in_force=Filter((), self._index, member, graphs),
                events=OutgoingEvents(self._event_source, member, graphs, settings.history),
                limits=settings.outgoing,
            )
        return found

    def _acknowledge(self, member: str) -> None:
        part = self._replicas[member].acknowledged()
        if part is not None:
            payload = Batch(self._life, 0, (part,)).encode()
            self._carrier.send(member, Channel.ACK, payload)

    def _new_life(self) -> str:
        return f"{self._random.getrandbits(64):016x}"
