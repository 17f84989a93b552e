"""`Replica`: what this gateway knows of one member, exact at that one's position.

    batches of the member's stream -> quads that match what is in force -> steps for the mirrors

Place: at the gateway that asks, one for each other member; for one thread. Invariant: the quads are
those that the member had at `position` and that match the entries in force there. A batch of
another stream, one that came before, or behind one that is missing is not taken; where one is
missing a new stream is asked for, and its snapshot is taken as the difference to what is known:
as one step, once all of it is there.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from time import monotonic
from typing import NamedTuple

from pyoxigraph import BlankNode, Quad, Triple

from gateway.engine.lutt import LuttEntry
from gateway.federation.digests import digests
from gateway.federation.entries import written
from gateway.federation.events.event_parts import Happened, happened
from gateway.federation.events.incoming_events import Gap, IncomingEvents
from gateway.federation.greeting import in_parts, numbers_of
from gateway.federation.limits import AT_ONCE, LONGEST_PATIENCE, PATIENCE, REPEATED, SAID_AGAIN
from gateway.federation.needs import Filter, Needs
from gateway.federation.watching.status import Counted
from gateway.federation.wire import Batch, Part, WireError, own_label
from gateway.journal.event_position import EventPosition
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta
from gateway.rdf.terms import Term


class Step(NamedTuple):
    """A change of what is known of a member, and where it stands then; possibly empty.

    `is_merged`: it is several requests of the member together.
    """

    delta: Delta
    position: EventPosition
    is_merged: bool = False


Learnt = Step | Happened | Gap
"""What a batch tells of."""

Say = Callable[[Part], None]
Clock = Callable[[], float]


class _Change(NamedTuple):
    """What a version of the needs changed: entries, and numbers of event queries."""

    add: frozenset[LuttEntry] = frozenset()
    remove: frozenset[LuttEntry] = frozenset()
    events: tuple[int, ...] = ()
    forget: tuple[int, ...] = ()


@dataclass(slots=True)
class _Arriving:
    """A snapshot of which more is to come."""

    part: Part
    quads: list[Quad] = field(default_factory=list)


class Replica:
    """A member's quads; `needs` are this gateway's, `say` brings a part to the member.

    `current_at` is when it was last known that nothing is missing, by a steady clock.
    """

    def __init__(
        self,
        member: str,
        needs: Needs,
        say: Say,
        most: int = 200_000,
        *,
        clock: Clock = monotonic,
        at_once: int = AT_ONCE,
    ) -> None:
        self.member = member
        self.quads: dict[Quad, None] = {}
        self.position: EventPosition | None = None
        self.resyncs = 0
        self.events = IncomingEvents(member, needs.events)
        self._needs = needs
        self._say = say
        self._most = most
        self._ask = 0
        self._asked: tuple[LuttEntry, ...] = ()
        self._asked_version = self._told_version = 0
        self._is_asked = False
        self._life = ""
        self._expected = 0
        self._in_force = Filter()
        self._version = -1
        self._pending: dict[int, _Change] = {}
        self._asked_events: tuple[int, ...] = ()
        self._waited = 0
        self._patience = PATIENCE
        self.current_at = -1.0
        self._clock = clock
        self._at_once = at_once
        self._has_moved = False
        self._arriving: _Arriving | None = None
        self._has_nodes = self._has_types = True
        self._last_taken = ("", 0)
        self._repeated = self._unsaid = 0

    @property
    def entries(self) -> int:
        """How many of ours are in force there."""
        return len(self._in_force.entries)

    @property
    def is_following(self) -> bool:
        """Whether a stream of the member is being followed."""
        return bool(self._life)

    @property
    def counted(self) -> Counted:
        """What came, and what it made necessary."""
        counts = self.events.counts
        events = counts.received, counts.useless, counts.late, counts.duplicates
        return Counted(*events, self.resyncs, counts.gaps)

    def has_in_force(self, entries: Iterable[LuttEntry]) -> bool:
        """Whether all that the member has of these is known here, and will be from now on.

        What is not needed any more leaves with the member's answer, even if it is needed again.
        """
        if self.position is None:
            return False
        leaving = (change.remove for change in self._pending.values())
        return (self._in_force.entries - set[LuttEntry]().union(*leaving)).issuperset(entries)

    def hello(self) -> None:
        """Ask for a new stream: at the start, and where something is missing."""
        self._life, self._expected, self._arriving = "", 0, None
        self._pending.clear()
        self._waited = 0
        self._ask += 1
        self._is_asked = True
        self._asked, self._asked_version = tuple(self._needs.of(self.member)), self._told_version
        known = digests(self.quads, self._asked, own_label(self.member))
        told: dict[str, Sequence[object]] = {
            "entries": [written(entry) for entry in self._asked],
            "digests": [[number, *each] for number, each in known.items()],
            "events": self._wanted_events(),
        }
        asked = self._ask, self._asked_version
        for part in in_parts(*asked, told, self._at_once, self.position):
            self._say(part)

    def _wanted_events(self) -> list[list[object]]:
        wanted = self.events.wanted()
        self._asked_events = tuple(self._needs.events.of(self.member))
        return wanted

    def need(self, add: frozenset[LuttEntry], remove: frozenset[LuttEntry]) -> None:
        """Tell the member that entries came and went; with the next hello, or behind it."""
        if self.is_following:
            self._tell(_Change(add, remove))
        elif not self._is_asked:
            self.hello()

    def need_events(self, want: Sequence[int], forget: Sequence[int]) -> None:
        """Tell the member of event queries that came and went; as `need`."""
        if self.is_following:
            self._tell(_Change(events=tuple(want), forget=tuple(forget)))
        elif not self._is_asked:
            self.hello()

    def _tell(self, change: _Change) -> None:
        """Tell of a change, which makes a new version."""
        base, self._told_version = self._told_version, self._told_version + 1
        self._pending[self._told_version] = change
        members: dict[str, object] = {
            "life": self._life,
            "version": self._told_version,
            "base": base,
        }
        if change.add or change.remove:
            members["add"] = [written(entry) for entry in change.add]
            members["remove"] = [written(entry) for entry in change.remove]
        if change.events or change.forget:
            members["events"] = self.events.told(change.events)
            members["forget"] = list(change.forget)
        self._say(Part("needs", members))

    def _tell_meanwhile(self) -> None:
        """Tell what has changed since the hello that this stream answers."""
        entries, before = self._needs.of(self.member), frozenset(self._asked)
        queries, asked = self._needs.events.of(self.member), frozenset(self._asked_events)
        change = _Change(
            entries - before,
            before - entries,
            tuple(id_ for id_ in queries if id_ not in asked),
            tuple(sorted(asked - queries.keys())),
        )
        if any(change):
            self._tell(change)

    def tick(self) -> None:
        """Ask again for what is not confirmed, of which nothing came for long.

        What answers an earlier hello is none, so each is given twice the time of the one before: on
        a way that is longer than that one answer comes in time (compare RFC 6298, section 5).
        """
        is_late = not self.is_following or self._version != self._told_version
        self._waited = self._waited + 1 if is_late and not self._has_moved else 0
        self._has_moved = False
        if self._waited >= self._patience:
            self._patience = min(2 * self._patience, LONGEST_PATIENCE)
            self.hello()

    def acknowledges_again(self) -> bool:
        """At each tick: whether to say how far the stream was taken, for that may have been lost.

        What is as it was is said twice more, and then where nothing was said for five ticks: idle
        peers cost little, and who hears a beat of theirs has answered that.
        """
        taken = self._life, self._expected
        self._repeated = self._repeated + 1 if taken == self._last_taken else 0
        self._last_taken = taken
        self._unsaid += 1
        return self._repeated <= REPEATED or self._unsaid > SAID_AGAIN

    def acknowledged(self) -> Part | None:
        """How far the stream was taken."""
        if not self.is_following or not self._expected:
            return None
        self._unsaid = 0
        return Part("ack", {"life": self._life, "number": self._expected - 1})

    def take(self, batch: Batch) -> Sequence[Learnt]:
        """What a batch tells of. Raises WireError for what no member says."""
        first = batch.parts[0] if batch.parts else None
        if first is not None and first.kind == "beat":
            return self._beat(batch, first)
        if first is not None and first.kind == "snapshot":
            return self._begin(batch, first)
        if not self._life or batch.life != self._life or batch.number < self._expected:
            return []
        if batch.number > self._expected:
            self._miss()
            return []
        self._expected += 1
        self._has_moved = True
        self._has_nodes, self._has_types = batch.has_nodes, batch.has_types
        return [learnt for part in batch.parts for learnt in self._of(part)]

    def forget(self) -> Delta:
        """Have nothing of the member; what that removes."""
        gone = Delta((), tuple(self.quads))
        self.quads.clear()
        self.position, self._life, self._in_force = None, "", Filter()
        self._arriving, self._is_asked = None, False
        self._ask += 1  # what is on its way is about what was known
        return gone

    def _miss(self) -> None:
        self.resyncs += 1
        self.hello()

    def _beat(self, batch: Batch, part: Part) -> Sequence[Learnt]:
        if batch.life != self._life:
            if self._life:  # the stream that is followed has ended
                self._miss()
            return []
        if part.number("next") > self._expected:
            self._miss()
            return []
        if "position" not in part.members or part.number("next") < self._expected:
            return []
        self.events.complete(part.position())
        self.current_at = self._clock()
        return self._moved(Delta(), part.position())

    def _begin(self, batch: Batch, part: Part) -> Sequence[Learnt]:
        """Follow a new stream, if it is the one that was asked for last."""
        is_asked_for = self._ask > 0 and part.number("ask") == self._ask
        if not is_asked_for or batch.number != 0 or batch.life == self._life:
            return []
        self._life, self._expected, self._has_moved = batch.life, 1, True
        self._patience = min(max(PATIENCE, 2 * self._waited), LONGEST_PATIENCE)
        self._has_nodes, self._has_types = batch.has_nodes, batch.has_types
        self._is_asked = False
        self._tell_meanwhile()
        self._arriving = _Arriving(part)
        return self._more(part)

    def _more(self, part: Part) -> Sequence[Learnt]:
        """Take up more of a snapshot; all of it is one step."""
        arriving = self._arriving
        if arriving is None:
            raise WireError("a part of no snapshot")
        arriving.quads += self._own(part.added)
        known, whole = len(arriving.quads), arriving.part
        count = whole.number("n") if "n" in whole.members else known
        self._require_room(max(count, known))
        if known < count:
            return []
        self._arriving = None
        return self._known_anew(arriving.part, arriving.quads)

    def _known_anew(self, part: Part, told: Sequence[Quad]) -> Sequence[Learnt]:
        """Have what a snapshot says, and of those entries that are the same what is here."""
        same = _numbers(part, len(self._asked))
        kept = Filter(self._asked[number] for number in same)
        before = self.quads
        self._in_force, self._version = Filter(self._asked), self._asked_version
        self.events.begun(part.position(), self._asked_events)
        quads = dict.fromkeys(kept.let_through(before))
        self._require_asked_for(Delta(tuple(told)))
        quads.update(dict.fromkeys(told))
        self._require_room(len(quads))
        gone = tuple(quad for quad in before if quad not in quads)
        new = tuple(quad for quad in quads if quad not in before)
        return self._moved(Delta(new, gone), part.position(), is_merged=True, is_told=True)

    def _of(self, part: Part) -> Sequence[Learnt]:
        if part.kind == "more":
            return self._more(part)
        if self._arriving is not None:
            raise WireError(f"{part.kind:.40} within a snapshot")
        match part.kind:
            case "event":  # most are
                return self._event(part)
            case "delta":
                told = Delta(tuple(self._own(part.added)), tuple(self._own(part.removed)))
                self._require_asked_for(told)
                net = self._net(told)
                return self._moved(net, part.position(), is_merged="merged" in part.members)
            case "force":
                return self._in_force_now(part)
            case "through":
                self.events.complete(part.position())
                return []
            case "gap":
                return [self.events.gap(part)]
            case "again":
                self._miss()
                return []
            case _:  # a kind of a later version
                return []

    def _event(self, part: Part) -> Sequence[Learnt]:
        told = happened(part, self._own(part.added), self.member)
        found = self.events.take(told)
        return () if found is None else (found,)

    def _in_force_now(self, part: Part) -> Sequence[Learnt]:
        version = part.number("version")
        change = self._pending.pop(version, None)
        if change is None:
            raise WireError(f"version {version} was not asked for")
        self.events.begun(part.position(), change.events)
        self._in_force.change(change.add, change.remove)
        self._version = version
        kept = set(self._in_force.let_through(self.quads)) if change.remove else self.quads.keys()
        gone = tuple(quad for quad in self.quads if quad not in kept)
        told = dict.fromkeys(self._own(part.added))
        self._require_asked_for(Delta(tuple(told)))
        new = tuple(quad for quad in told if quad not in self.quads)
        return self._moved(Delta(new, gone), part.position(), is_told=True)

    def _net(self, delta: Delta) -> Delta:
        return Delta(
            tuple(quad for quad in dict.fromkeys(delta.added) if quad not in self.quads),
            tuple(quad for quad in dict.fromkeys(delta.removed) if quad in self.quads),
        )

    def _moved(
        self,
        delta: Delta,
        position: EventPosition,
        *,
        is_merged: bool = False,
        is_told: bool = False,
    ) -> list[Step]:
        """The step, where there is one: to be there for the first time is one, too.

        What `is_told` anyway are other entries in force: where nothing matches them is news.
        """
        if self.position is not None and position < self.position and not delta.is_empty:
            raise WireError(f"position {position} behind {self.position}")
        for quad in delta.removed:
            del self.quads[quad]
        self.quads.update(dict.fromkeys(delta.added))
        self._require_room(len(self.quads))
        is_first = self.position is None
        self.position = position if self.position is None else max(position, self.position)
        if not (is_first or is_told) and delta.is_empty:
            return []
        return [Step(delta, self.position, is_merged)]

    def _require_asked_for(self, told: Delta) -> None:
        """Raise WireError for quads that nobody asked for.

        Both ends have the same in force at each place of a stream, so none ever is in a true one.
        """
        found = self._in_force.of(told)
        for quads, matching in ((told.added, found.added), (told.removed, found.removed)):
            if quads and len(set(matching)) != len(set(quads)):
                raise WireError("quads that nobody asked for")

    def _require_room(self, count: int) -> None:
        if count > self._most:
            raise WireError(f"{count} quads are more than {self._most}")

    def _own(self, quads: Sequence[Quad]) -> Sequence[Quad]:
        """The quads as a store has them, with blank nodes that are this member's alone."""
        if self._has_nodes:
            return [canonical_quad(own_quad(quad, self.member)) for quad in quads]
        return list(map(canonical_quad, quads)) if self._has_types else quads


def _numbers(part: Part, count: int) -> Sequence[int]:
    """The entries of which a snapshot says that they are the same. Raises WireError."""
    value = part.members.get("same", b"")
    if not isinstance(value, bytes):
        raise WireError("entries that are the same, and none")
    found = numbers_of(value)
    if found and found[-1] >= count:
        raise WireError("entries that are the same, and were not asked for")
    return found


def own_quad(quad: Quad, member: str) -> Quad:
    """A quad of a member with blank nodes that no other member has."""
    graph = quad.graph_name
    subject, object_ = _own_node(quad.subject, member), _own_node(quad.object, member)
    named = _own_node(graph, member) if isinstance(graph, BlankNode) else graph
    if subject is quad.subject and object_ is quad.object and named is graph:
        return quad
    return Quad(subject, quad.predicate, object_, named)  # type: ignore[arg-type]


def _own_node(term: Term, member: str) -> Term:
    if isinstance(term, BlankNode):
        return BlankNode(own_label(member) + term.value)
    if isinstance(term, Triple):
        subject, object_ = _own_node(term.subject, member), _own_node(term.object, member)
        return Triple(subject, term.predicate, object_)  # type: ignore[arg-type]
    return term
