"""`Asking`: the federated queries of this gateway, each on the merge of what members have.

    query -> needs of members -> replicas, own quads -> mirrors -> notifications

Place: at the gateway where clients are, below `Member`; for one thread. A query is answered in two
steps: `ask` has the members tell what it needs, `begin` answers once they have, or once nobody
waits any more. In mode `each` a query has a mirror for each member (`EachSubscription`).
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from gateway.engine import Engine, Notification, SubscribeRequest
from gateway.engine.limits import Limits
from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import EACH, UNION
from gateway.errors import NotFoundError
from gateway.federation.asking.attendance import Attendance
from gateway.federation.asking.each import EachSubscription, require_each
from gateway.federation.asking.mirror import Mirror, Share
from gateway.federation.asking.own_share import OwnShare
from gateway.federation.entries import entries_of
from gateway.federation.needs import Needs, Scope
from gateway.federation.replica import Replica, Step
from gateway.journal.event_position import EventPosition
from gateway.rdf.delta import Delta
from gateway.sparql.parser import parse_query

Told = Callable[[Notification], None]


@dataclass(frozen=True, slots=True)
class Asked:
    """A federated query that the members of a `scope` are asked for; None is all of them."""

    request: SubscribeRequest
    scope: Scope
    entries: frozenset[LuttEntry]

    @property
    def place(self) -> "_Place":
        """Which mirrors answer it."""
        return self.scope, self.request.absent == "drop"

    def is_about(self, member: str) -> bool:
        """Whether a member is in its scope."""
        return self.scope is None or member in self.scope

    def within(self, member: str) -> "Asked":
        """The same, of one member alone."""
        return Asked(self.request, frozenset({member}), self.entries)


_Place = tuple[Scope, bool]
"""A scope, and whether who is away leaves."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of others: their `replicas`, who is up; `here` tells where this gateway is.

    A `replica` is made where something is asked of a member for the first time. Who is away for
    `drop_s` leaves those answers that are to be without them. First answers keep to the `limits`.
    """

    replicas: Mapping[str, Replica]
    replica: Callable[[str], Replica]
    attendance: Attendance
    here: Callable[[], EventPosition]
    drop_s: float
    limits: Limits


class Asking:
    """All of them, at the gateway `name`."""

    def __init__(self, name: str, engine: Engine, needs: Needs, known: Known) -> None:
        self._name = name
        self._engine = engine
        self._needs = needs
        self._known = known
        self._own = OwnShare(engine.store)
        self._mirrors: dict[_Place, list[Mirror]] = {}
        self._subscribed: dict[str, tuple[Mirror, Asked, Told]] = {}
        self._each: dict[str, tuple[EachSubscription, Asked]] = {}

    # what is learnt ---------------------------------------------------------------------------

    def changed(self, delta: Delta) -> None:
        """This gateway's own change, which is known at once."""
        if not self._own.is_idle:
            self._learn_own(self._own.changed(delta))

    def learn(self, member: str, steps: Iterable[Step]) -> None:
        """What came of a member; who can be in a mirror from now on is."""
        for step in steps:
            self._step(member, step)
        for (_, drops), mirrors in self._about(member):
            if not (drops and self._is_dropped(member)):
                self._join_where_ready(mirrors, member)
        for each, asked in list(self._each.values()):
            self._add_where_ready(each, asked, member)

    def tick(self) -> None:
        """Let those leave who are away for long, where the answer is to be without them."""
        for each, asked in self._each.values():
            if asked.place[1]:
                for member in [one for one in each.members if self._is_dropped(one)]:
                    self._end_one(each.drop(member))
        for (_, drops), mirrors in list(self._mirrors.items()):
            for mirror in list(mirrors) if drops else ():
                for member in [each for each in mirror.members if self._is_dropped(each)]:
                    self._tell(mirror.leave(member))

    def removed(self, member: str) -> None:
        """A member is none any more: what it had leaves every answer."""
        for each, _ in self._each.values():
            if member in each.members:
                self._end_one(each.drop(member))
        for _, mirrors in self._about(member):
            for mirror in mirrors:
                if mirror.has(member):
                    self._tell(mirror.leave(member))

    def _learn_own(self, delta: Delta) -> None:
        self._step(self._name, Step(delta, self._known.here()))

    def _step(self, member: str, step: Step) -> None:
        for _, mirrors in self._about(member):
            for mirror in mirrors:
                if mirror.has(member):
                    self._tell(mirror.step(member, step))

    def _about(self, member: str) -> list[tuple[_Place, list[Mirror]]]:
        return [
            (place, mirrors)
            for place, mirrors in self._mirrors.items()
            if place[0] is None or member in place[0]
        ]

    def _is_dropped(self, member: str) -> bool:
        attendance = self._known.attendance
        if member == self._name or attendance.is_up(member):
            return False
        return attendance.away_s(member) >= self._known.drop_s

    def _join_where_ready(
        self,
        mirrors: Iterable[Mirror],
        member: str,
        needed: frozenset[LuttEntry] | None = None,
    ) -> None:
        """Let a member be in the mirrors that need of it what is known."""
        replica = self._known.replicas[member]
        for mirror in mirrors:
            if mirror.has(member):  # as nearly always: nothing else is looked at then
                continue
            entries = mirror.entries if needed is None else needed
            if replica.position is not None and replica.has_in_force(entries):
                self._tell(mirror.join(member, Share(replica.quads, replica.position)))

    def _tell(self, notifications: Iterable[Notification]) -> None:
        for each in notifications:
            found = self._subscribed.get(each.spuid)
            if found is not None:
                found[2](self._dated(each))

    def _dated(self, notification: Notification) -> Notification:
        """The notification, with whose part of it is old."""
        place = notification.federation
        if place is None:
            return notification
        others = (name for name in place.positions if name != self._name)
        stale = self._known.attendance.stale(others)
        return (
            notification._replace(federation=place._replace(stale=stale)) if stale else notification
        )

    # who asks here ----------------------------------------------------------------------------

    def ask(self, request: SubscribeRequest, scope: Scope = None) -> Asked:
        """Have the members of a scope tell what a query needs; None is all, now and later.

        Raises SparqlSyntaxError, UnsupportedQueryError.
        """
        if request.mode == EACH:
            require_each(request.text)
        entries = entries_of(request.text, request.dataset)
        for name, new in self._needs.want(entries, scope, self._everybody).items():
            if name == self._name:
                self._learn_own(self._own.want(new))
            elif self._known.attendance.is_up(name):
                self._known.replica(name).need(new, frozenset())
        return Asked(request, scope, entries)

    def give_up(self, asked: Asked) -> None:
        """Need no more what a query needed that never began, or has ended."""
        unwanted = self._needs.unwant(asked.entries, asked.scope, self._everybody)
        for name, gone in unwanted.items():
            if name == self._name:
                self._learn_own(self._own.unwant(gone))
            elif self._known.attendance.is_up(name):
                self._known.replica(name).need(frozenset(), gone)

    def missing(self, asked: Asked) -> frozenset[str]:
        """The members of the scope that have not told yet what the query needs, or where it is.

        Where it is: not before the positions that it is to be `after`.
        """
        known = self._known
        names = (
            known.attendance.names | known.replicas.keys() if asked.scope is None else asked.scope
        )
        return frozenset(name for name in names if not self._has_told(name, asked))

    def _has_told(self, name: str, asked: Asked) -> bool:
        if name == self._name:
            return True
        replica = self._known.replicas.get(name)
        if replica is None or not replica.has_in_force(asked.entries):
            return False
        after = dict(asked.request.after).get(name)
        return after is None or (replica.position is not None and replica.position >= after)

    def shares(self, asked: Asked) -> Mapping[str, Share]:
        """What each member of the scope has of what a query needs, and more; of who is up."""
        found = {}
        if asked.is_about(self._name):
            found[self._name] = Share(tuple(self._own.quads), self._known.here())
        for name, replica in self._known.replicas.items():
            is_there = self._known.attendance.is_up(name) and self._has_told(name, asked)
            if asked.is_about(name) and is_there and replica.position is not None:
                found[name] = Share(tuple(replica.quads), replica.position)
        return found

    def begin(self, asked: Asked, told: Told) -> Notification:
        """The first notification; who is missing is in the answer later, as one step."""
        if asked.request.mode != EACH:
            return self._dated(self._begun(asked, told))
        variables = parse_query(asked.request.text).variables
        each = EachSubscription(
            variables, asked.request.alias, self._told_by(told), self._engine.time
        )
        found = self._each[each.spuid] = (each, asked)
        for name in (self._name, *self._known.replicas):
            self._add_where_ready(*found, name)
        return self._dated(each.first())

    def unsubscribe(self, spuid: str) -> None:
        """End a subscription; what nobody needs any more is forgotten. Raises NotFoundError."""
        found = self._each.pop(spuid, None)
        if found is not None:
            each, asked = found
            for inner in each.members.values():
                self._end_one(inner)
            self.give_up(asked)
            return
        if spuid not in self._subscribed:
            raise NotFoundError(f"there is no subscription {spuid}", "it may have ended already")
        asked = self._subscribed[spuid][1]
        self._end_one(spuid)
        self.give_up(asked)

    def _begun(self, asked: Asked, told: Told) -> Notification:
        mirror = self._mirror_for(asked)
        plain = replace(asked.request, mode=UNION)
        first = mirror.subscribe(plain, asked.entries)
        self._subscribed[first.spuid] = (mirror, asked, told)
        return first

    def _add_where_ready(self, each: EachSubscription, asked: Asked, member: str) -> None:
        """Let a member be in the answer, once all is known of it."""
        if not asked.is_about(member) or member in each.members:
            return
        if self._has_told(member, asked) and not (asked.place[1] and self._is_dropped(member)):
            inner = self._begun(asked.within(member), each.teller(member))
            each.add(member, inner)

    def _end_one(self, spuid: str) -> None:
        mirror, asked, _ = self._subscribed.pop(spuid)
        mirror.unsubscribe(spuid)
        if mirror.is_idle:
            mirror.close()
            self._mirrors[asked.place].remove(mirror)

    def _told_by(self, told: Told) -> Told:
        return lambda notification: told(self._dated(notification))

    def _mirror_for(self, asked: Asked) -> Mirror:
        """A mirror whose members have all told what the query needs, or a new one."""
        missing = self.missing(asked)
        mirrors = self._mirrors.setdefault(asked.place, [])
        for mirror in mirrors:
            if mirror.members.isdisjoint(missing) and self._can_have_all(mirror, asked, missing):
                self._complete(mirror, asked)
                return mirror
        mirror = Mirror(Engine.open(clock=self._engine.time, limits=self._known.limits))
        mirrors.append(mirror)
        self._complete(mirror, asked)
        return mirror

    def _can_have_all(self, mirror: Mirror, asked: Asked, missing: frozenset[str]) -> bool:
        """Whether all who have told are in a mirror, or can be, whatever else it is asked."""
        needed = mirror.entries | asked.entries
        return all(
            mirror.has(name) or replica.has_in_force(needed)
            for name, replica in self._known.replicas.items()
            if asked.is_about(name) and name not in missing
        )

    def _complete(self, mirror: Mirror, asked: Asked) -> None:
        """Have in a mirror all who can be: this gateway always can."""
        if asked.is_about(self._name) and not mirror.has(self._name):
            self._tell(mirror.join(self._name, Share(self._own.quads, self._known.here())))
        needed = mirror.entries | asked.entries
        for name in self._known.replicas:
            if asked.is_about(name) and not (asked.place[1] and self._is_dropped(name)):
                self._join_where_ready((mirror,), name, needed)

    @property
    def _everybody(self) -> list[str]:
        """All members that are known, this gateway among them, by name."""
        known = self._known
        return sorted(known.attendance.names | known.replicas.keys() | {self._name})
