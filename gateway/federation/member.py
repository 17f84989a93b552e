"""`Member`: this gateway in the federation: what it tells others, and what it knows of them.

    its own changes -> a stream for each member that needs some of them
    streams of others -> replicas -> `asking`, `events` -> notifications of federated subscriptions

Place: above all parts of the federation; for one thread, and sans-I/O: a carrier brings messages,
`tick` is called now and then, and `flush` soon after something `waits`.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from random import Random, SystemRandom
from time import thread_time

from gateway.engine import Engine, Limits, Notification, SubscribeRequest
from gateway.engine.compound.event import CompoundEvent
from gateway.engine.lutt import LuttEntry, LuttIndex
from gateway.federation.asking.asking import Asked, Asking, Known
from gateway.federation.asking.attendance import Attendance
from gateway.federation.asking.counting import Counting
from gateway.federation.carrier import Carrier, Channel, Received
from gateway.federation.events.event_home import EventHome, EventSubscription
from gateway.federation.events.event_parts import Happened
from gateway.federation.events.event_source import EventSource
from gateway.federation.events.incoming_events import Gap
from gateway.federation.events.outgoing_events import History, Lost, OutgoingEvents, told_again
from gateway.federation.guard import Guard
from gateway.federation.limits import DROP_S, NEAR, REPLICA_QUADS, GuardLimits, OutgoingLimits
from gateway.federation.needs import Filter, Needs, Scope
from gateway.federation.outgoing import Outgoing
from gateway.federation.overtaken import Overtaken
from gateway.federation.replica import Learnt, Replica
from gateway.federation.watching.half_open import HalfOpen
from gateway.federation.watching.status import AWAY, CLOSED, UP, MemberStatus, TrafficCount
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

    `guard` bounds what one of them may do here, `outgoing` what is on its way to one of them,
    `replica_quads` what is known of one, and `limits` first answers and those to events. `history`
    knows earlier events of this gateway, None where none are kept; `logged` tells how many bytes of
    them were kept since the start. Who is away for `drop_s` leaves those answers that are to be
    without them. `overtaken` has this gateway go on behind a position, soon.
    """

    read: Mapping[str, Graphs] = field(default_factory=dict)
    read_else: Graphs = _DEFAULT_ALONE
    guard: GuardLimits = field(default_factory=GuardLimits)
    outgoing: OutgoingLimits = field(default_factory=OutgoingLimits)
    replica_quads: int = REPLICA_QUADS
    history: Callable[[], History] | None = None
    logged: Callable[[], int] = int
    limits: Limits = field(default_factory=Limits)
    drop_s: float = DROP_S
    overtaken: Callable[[EventPosition], None] | None = None


class Member:
    """One gateway; `position` tells where its engine stands. `attendance` is who is up.

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
        self.attendance = Attendance()
        self._presence: dict[str, bool] = {}
        self._engine = engine
        self._carrier = carrier
        self._settings = settings or MemberSettings()
        self.guard = Guard(self._settings.guard)
        self._random = random
        self._life = self._new_life()
        self._overtaken = Overtaken(self._settings.overtaken)
        self._needs = Needs()
        self._half_open = HalfOpen(carrier.renew)
        self._index: LuttIndex[str] = LuttIndex()
        self._outgoing: dict[str, Outgoing] = {}
        self._replicas: dict[str, Replica] = {}
        self._event_source = EventSource(self._settings.limits)
        self._behind: set[str] = set()
        self._traffic: defaultdict[str, TrafficCount] = defaultdict(TrafficCount)
        self.events = EventHome(self._needs, self._settings.limits)
        known = Known(
            self._replicas,
            self._replica,
            self.attendance,
            lambda: self.position,
            self._settings.drop_s,
            self._settings.limits,
        )
        self.counting = Counting()
        self.asking = Asking(name, engine, self._needs, known)

    def start(self) -> None:
        """Be up, where the carrier speaks in the thread of this member."""

        def received(message: Received) -> None:
            self.receive(message)
            self.acknowledge()

        self._carrier.listen(received, self.presence)

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
    def streams(self) -> Mapping[str, Outgoing]:
        """What others are told, by their names."""
        return self._outgoing

    @property
    def heard(self) -> frozenset[str]:
        """The members that are up, and whose stream is followed, if anything is asked of them."""
        replicas = self._replicas
        return frozenset(
            name
            for name in self.attendance.up
            if name not in replicas or replicas[name].is_following
        )

    # what this gateway tells others -----------------------------------------------------------

    def changed(self, delta: Delta) -> None:
        """Tell of a change that the engine's store has, all whom it concerns."""
        position = self.position
        for name, artq in self._index.match(delta).items():
            told = Delta(tuple(artq.added), tuple(artq.removed))
            self._outgoing[name].changed(told, position)
        self.asking.changed(delta)

    def happened(self, event: CompoundEvent) -> None:
        """Tell of an event of this gateway whom it concerns, each member once; before `changed`."""
        for name, ids in self._event_source.reached(event).items():
            if name == self.name:
                self.events.happened(name, event, ids)
            else:
                self._outgoing[name].happened(event, ids)

    def _listen(self) -> None:
        """Hear of the engine's events while somebody wants them."""
        self._engine.events.listener = self.happened if len(self._event_source) else None

    def tick(self) -> None:
        """Have losses noticed, on both sides, and who is away for long.

        Some tell where they stand even if nothing is needed of them, and so hear in which life this
        gateway is: two of one name are found.
        """
        for name in self.guard.reopened():
            if self._presence.get(name):
                self._listen_to(name)
        for name in sorted(self.attendance.near(self.name, NEAR) - self._replicas.keys()):
            self._replica(name).hello()
        self._count_work()
        for name, outgoing in self._outgoing.items():
            if self.attendance.is_up(name):
                outgoing.beat(self.position)
        for name, replica in self._replicas.items():
            if self.attendance.is_up(name):
                replica.tick()
                if replica.acknowledges_again():
                    self._behind.add(name)
        asking = {name for name, outgoing in self._outgoing.items() if outgoing.is_open}
        self._half_open.tick(self.attendance.up, asking | self._replicas.keys())
        self.acknowledge()
        self.asking.tick()
        self._listen()

    def _count_work(self) -> None:
        """Have members answer for what asking their event queries has cost."""
        work_s = self._event_source.work_s
        for name in self._outgoing.keys() & work_s.keys():
            try:
                self.guard.spent_on_events(name, work_s[name])
            except WireError as error:
                self.close_link(name, str(error))
        work_s.clear()

    @property
    def waits(self) -> bool:
        """Whether something is to be flushed soon."""
        return any(outgoing.stream.waits for outgoing in self._outgoing.values())

    def flush(self) -> None:
        """Send what waits for more, as far as others acknowledge."""
        for outgoing in self._outgoing.values():
            outgoing.stream.flush()

    def acknowledge(self) -> None:
        """Tell those who told something how far it has come."""
        for name in sorted(self._behind - self.links_closed.keys()):
            part = self._replicas[name].acknowledged()
            if part is not None:
                self._send(name, Channel.ACK, Batch(self._life, 0, (part,)).encode())
        self._behind.clear()

    @property
    def position(self) -> EventPosition:
        """Where this gateway stands."""
        return self._engine.events.places.now()

    # what others tell it ----------------------------------------------------------------------

    def presence(self, member: str, is_up: bool) -> None:
        """Know that a member came or went."""
        self._presence[member] = is_up
        if not is_up:
            self.attendance.went(member)
        elif not self.guard.is_closed(member):
            self._listen_to(member)

    def _listen_to(self, member: str) -> None:
        """Have one that is up tell what is needed; of whom nothing is, few are asked (`tick`)."""
        self.attendance.came(member)
        is_needed = member in self._replicas or self._needs.is_about(member)
        if is_needed or len(self.attendance) <= NEAR:
            self._replica(member).hello()

    def leave(self, member: str) -> None:
        """Have nothing more of one that is a member no longer: its quads leave, as one step."""
        self.guard.forget(member)
        self.attendance.forget(member)
        self._traffic.pop(member, None)
        self._presence.pop(member, None)
        self._behind.discard(member)
        outgoing, replica = self._outgoing.pop(member, None), self._replicas.pop(member, None)
        if outgoing is not None:
            outgoing.close()
        if replica is not None:
            self.asking.removed(member)
        self._listen()

    def receive(self, message: Received) -> None:
        """Take a message; what no member sends closes the link to whom it is from."""
        sender = message.sender
        self._traffic[sender].received += len(message.payload)
        if message.channel is Channel.MEMBERS or self.guard.is_closed(sender):
            return
        self._half_open.heard(sender)
        if self._presence.get(sender) is False:
            return  # of a link that has ended; where it is half open, even under a wrong key
        try:
            if message.channel is Channel.DATA:
                self._take(sender, Batch.decode(message.payload))
            else:
                with self.guard.working(sender):
                    batch = Batch.decode(message.payload)
                    self.guard.lived(sender, batch.life)
                    for part in batch.parts:
                        self._answer(sender, part)
        except WireError as error:
            self.close_link(sender, str(error))

    def close_link(self, member: str, reason: str) -> None:
        """Read nothing of a member for a while, and tell it nothing."""
        self.guard.close(member, reason)
        self.attendance.went(member)
        outgoing = self._outgoing.get(member)
        if outgoing is not None:
            outgoing.close()

    def _take(self, sender: str, batch: Batch) -> None:
        if batch.parts and batch.parts[0].kind == "counts":
            self.counting.take(sender, batch.parts[0])
            return
        replica = self._replica(sender)
        resyncs, begun = replica.resyncs, thread_time()
        self._behind.add(sender)
        self._learn(sender, replica.take(batch))
        if replica.resyncs != resyncs:
            self.guard.missed(sender)
            self.guard.spent(sender, thread_time() - begun)

    def _answer(self, sender: str, part: Part) -> None:
        outgoing = self._outgoing_to(sender)
        match part.kind:
            case "hello":
                if not self._overtaken.is_by(sender, part, self.position):
                    outgoing.hello(part, self.position)
            case "needs":
                outgoing.needs(part, self.position)
            case "ack":
                outgoing.acknowledge(part, self.position)
            case "count":
                outgoing.count(part)
            case _:  # of a later version
                pass
        self._listen()

    def _learn(self, member: str, learnt: Iterable[Learnt]) -> None:
        steps = []
        for each in learnt:
            if isinstance(each, Happened):
                if not self.events.happened(member, each.event, each.ids):
                    self._replicas[member].events.counts.useless += 1
            elif isinstance(each, Gap):
                self.events.missed(member, each)
            else:
                steps.append(each)
        self.asking.learn(member, steps)

    def status(self) -> tuple[MemberStatus, ...]:
        """How each other member is, by name."""
        return tuple(map(self._status_of, sorted(self.attendance.names)))

    def _status_of(self, name: str) -> MemberStatus:
        state, steady_s = self.attendance.of(name), self.attendance.steady()
        reason = self.links_closed.get(name, "")
        replica, outgoing = self._replicas.get(name), self._outgoing.get(name)
        found = MemberStatus(
            name,
            CLOSED if reason else UP if state.is_up else AWAY,
            state.since,
            reason,
            outbox_quads=0 if outgoing is None else outgoing.waiting,
            event_log_bytes=self._settings.logged() if outgoing is None else outgoing.unheard_bytes,
            traffic=self._traffic[name].now(steady_s),
        )
        if replica is None:
            return found
        return replace(
            found,
            lag_s=None if replica.current_at < 0 else max(0.0, steady_s - replica.current_at),
            position=None if replica.position is None else str(replica.position),
            entries=replica.entries,
            replica_quads=len(replica.quads),
            counted=replica.counted,
        )

    # who asks here ----------------------------------------------------------------------------

    def ask(self, request: SubscribeRequest, scope: Scope = None) -> Asked:
        """As `Asking.ask`."""
        return self.asking.ask(request, scope)

    def missing(self, asked: Asked) -> frozenset[str]:
        """As `Asking.missing`."""
        return self.asking.missing(asked)

    def begin(self, asked: Asked, told: Told) -> Notification:
        """As `Asking.begin`."""
        return self.asking.begin(asked, told)

    def give_up(self, asked: Asked) -> None:
        """As `Asking.give_up`."""
        self.asking.give_up(asked)

    def unsubscribe(self, spuid: str) -> None:
        """As `Asking.unsubscribe`."""
        self.asking.unsubscribe(spuid)

    def count(self, entries: Sequence[LuttEntry]) -> int:
        """Ask those who are up how many quads they have of each entry; the number to ask by."""
        ask, part = self.counting.ask(entries)
        for name in sorted(self.attendance.up):
            self._say(name, part)
        return ask

    def ask_events(
        self, request: SubscribeRequest, told: Told, scope: Scope = None
    ) -> EventSubscription:
        """Have the members of a scope tell of events; those after a position that is asked for too.

        Raises SparqlSyntaxError, UnsupportedQueryError.
        """
        subscription = self.events.ask(request, scope, told)
        if subscription.is_about(self.name):
            self._event_source.add(self.name, subscription.id, request.text, request.rights.read)
            self._listen()
            self._tell_own_again(subscription)
        for name in filter(subscription.is_about, sorted(self._others)):
            if self.attendance.is_up(name):
                self._replica(name).need_events([subscription.id], ())
        return subscription

    def _tell_own_again(self, subscription: EventSubscription) -> None:
        """What happened here behind the position that is asked for."""
        after, until = dict(subscription.request.after).get(self.name), self.position
        if after is None or after >= until:
            return
        ids = [subscription.id]
        for each in told_again(self._settings.history, after, until):
            if isinstance(each, Lost):
                self.events.missed(self.name, Gap(ids, each.after, each.until))
            else:
                self.events.happened(self.name, each, ids)

    def missing_events(self, subscription: EventSubscription) -> frozenset[str]:
        """The members of the scope that do not tell of events yet."""
        return frozenset(
            name
            for name in filter(subscription.is_about, self._others)
            if name not in self._replicas
            or not self._replicas[name].events.is_in_force(subscription.id)
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
            if subscription.is_about(name):
                replica.events.forget(subscription.id)
                if self.attendance.is_up(name):
                    replica.need_events((), [subscription.id])

    @property
    def _others(self) -> frozenset[str]:
        return self.attendance.names | self._replicas.keys()

    def _replica(self, member: str) -> Replica:
        found = self._replicas.get(member)
        if found is None:
            most, say = self._settings.replica_quads, partial(self._say, member)
            found = self._replicas[member] = Replica(
                member, self._needs, say, most, at_once=self._settings.outgoing.at_once
            )
        return found

    def _say(self, member: str, part: Part) -> None:
        self._send(member, Channel.NEEDS, Batch(self._life, 0, (part,)).encode())

    def _send(self, member: str, channel: Channel, payload: bytes) -> None:
        self._traffic[member].sent += len(payload)
        self._carrier.send(member, channel, payload)

    def _outgoing_to(self, member: str) -> Outgoing:
        found = self._outgoing.get(member)
        if found is None:
            settings = self._settings
            graphs = settings.read.get(member, settings.read_else)
            found = self._outgoing[member] = Outgoing(
                self._engine.store,
                partial(self._send, member, Channel.DATA),
                self._new_life,
                in_force=Filter((), self._index, member, graphs),
                events=OutgoingEvents(self._event_source, member, graphs, settings.history),
                limits=settings.outgoing,
                logged=settings.logged,
            )
        return found

    def _new_life(self) -> str:
        return f"{self._random.getrandbits(64):016x}"
