"""`Outgoing`: one member's stream of what this gateway has, as far as that one needs it.

    hello, needs -> entries in force -> a snapshot, then each change -> numbered batches

Place: at the gateway where data come from, one for each member; for one thread. A stream begins
with a snapshot and has every change behind it, filtered, in order: no gap and nothing twice. Who
missed something says hello, and a new stream begins: of what that one knows already, by its digest
of each entry, nothing is sent again. Of who acknowledges too little, changes are merged; where even
these are too many the stream ends, and begins again once that one says hello.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence

from pyoxigraph import Quad

from gateway.engine.compound.event import CompoundEvent
from gateway.engine.lutt import LuttEntry, matches
from gateway.federation.asking.counting import counts
from gateway.federation.digests import Digest, digest_of
from gateway.federation.entries import read
from gateway.federation.events.event_parts import event_part
from gateway.federation.events.outgoing_events import OutgoingEvents
from gateway.federation.greeting import Greeting, bits_of
from gateway.federation.limits import SAID_AGAIN, OutgoingLimits
from gateway.federation.needs import Filter
from gateway.federation.stream import OutgoingStream, Send
from gateway.federation.watching.backlog import Backlog
from gateway.federation.wire import Part, WireError
from gateway.journal.event_position import EventPosition
from gateway.rdf.delta import Delta, quads_delta
from gateway.store.readable import Source


class Outgoing:
    """A stream to one member; `life` names streams.

    `in_force` is the member's place in the index of all: it knows what the member may read.
    `logged` tells how many bytes of events were kept since the start.
    """

    def __init__(
        self,
        store: Source,
        send: Send,
        life: Callable[[], str],
        *,
        in_force: Filter,
        events: OutgoingEvents,
        limits: OutgoingLimits,
        logged: Callable[[], int] = int,
    ) -> None:
        self.stream = OutgoingStream(send, limits)
        self._store = store
        self._new_life = life
        self._limits = limits
        self._version = 0
        self._filter = in_force
        self._events = events
        self._waiting: dict[Quad, bool] = {}
        self._merged = 0
        self._place: EventPosition | None = None
        self._unheard = 0
        self._greeting = Greeting()
        self._logged = logged
        self._backlog = Backlog()
        self._said: tuple[str, Mapping[str, object]] = ("", {})
        self._unsaid = 0
        self._is_full = False

    @property
    def is_open(self) -> bool:
        """Whether the member follows a stream."""
        return self.stream.is_open

    @property
    def waiting(self) -> int:
        """Quads that wait for an acknowledgement."""
        return len(self._waiting) + self.stream.waiting

    @property
    def unheard_bytes(self) -> int:
        """Bytes of kept events that the member has not acknowledged, as of the last beat."""
        return self._logged() - self._backlog.arrived

    @property
    def entries(self) -> int:
        """How many are in force."""
        return len(self._filter.entries)

    @property
    def event_queries(self) -> int:
        """How many are in force."""
        return self._events.count

    def hello(self, part: Part, position: EventPosition) -> None:
        """Begin a new stream with all that the member needs, once it has said all of it.

        Raises WireError.
        """
        whole = self._greeting.take(part)
        if whole is None:
            return
        self._require_acknowledged()
        self.close()
        part = whole
        entries = self._entries(part, "entries")
        known = _digests(part, len(entries))
        self.stream.begin(self._new_life())
        self._version = part.number("version")
        self._filter.change(entries, ())
        same, quads = self._unknown(entries, known)
        members = {
            "ask": part.number("ask"),
            "version": self._version,
            "position": str(position),
            "same": bits_of(same),
            "n": len(quads),
        }
        size = self._limits.part_quads
        self.stream.tell(Part("snapshot", members, quads[:size]))
        for first in range(size, len(quads), size):
            self.stream.tell(Part("more", {}, quads[first : first + size]))
        self._tell_missed(part, position)

    def _unknown(
        self, entries: Sequence[LuttEntry], known: Mapping[int, Digest]
    ) -> tuple[list[int], Sequence[Quad]]:
        """The numbers of the entries whose quads the member has, and the quads of all others."""
        same, found = [], dict[Quad, None]()
        for number, entry in enumerate(entries):
            quads = self._matching((entry,))
            if number in known and digest_of(quads) == known[number]:
                same.append(number)
            else:
                found.update(dict.fromkeys(quads))
        return same, tuple(found)

    def needs(self, part: Part, position: EventPosition) -> None:
        """Change what is in force; who tells of another version than is here has to say hello.

        Raises WireError.
        """
        if not self.is_open or part.text("life") != self.stream.life:
            return
        if part.number("base") != self._version:
            if part.number("version") != self._version:
                self.stream.tell(Part("again"))
            return
        add, remove = self._entries(part, "add"), self._entries(part, "remove")
        new = [quad for quad in self._matching(add) if not self._is_sent(quad)]
        self._flush(position)
        self._filter.change(add, remove)
        self._version = part.number("version")
        members = {"version": self._version, "position": str(position)}
        self.stream.tell(Part("force", members, tuple(new)))
        self._tell_missed(part, position)

    def count(self, part: Part) -> None:
        """Tell how many quads of each entry the member may read. Raises WireError."""
        numbers = (len(self._matching((entry,))) for entry in self._entries(part, "entries"))
        self.stream.beat(counts(part.number("ask"), numbers))

    def happened(self, event: CompoundEvent, ids: Sequence[int]) -> None:
        """Tell of an event that answers these queries of the member.

        Where too much waits the stream ends: what is kept is told with the next one.
        """
        stream = self.stream
        if not stream.is_open:
            return
        self._is_full = self._is_full or not stream.has_room
        if stream.waiting > self._limits.quads:
            self.close()
            return
        stream.tell(event_part(event, ids))

    def _tell_missed(self, part: Part, position: EventPosition) -> None:
        missed = self._events.change(part)
        for each in (*self._events.refused(), *self._events.replayed(missed, position)):
            self.stream.tell(each)
        if missed:
            self.stream.tell(Part("through", {"position": str(position)}))

    def acknowledge(self, part: Part, position: EventPosition) -> None:
        """Know what has arrived; send what waited for that. Raises WireError."""
        if self.is_open and part.text("life") == self.stream.life:
            self._unheard = 0
            self.stream.acknowledge(part.number("number"))
            if self.stream.has_room:
                self._flush(position)

    def changed(self, delta: Delta, position: EventPosition) -> None:
        """Tell of a change, of which the index has let this through."""
        if not self.is_open or delta.is_empty:
            return
        self._is_full = self._is_full or not self.stream.has_room
        if self.stream.has_room and not self._waiting:
            members = {"position": str(position)}
            self.stream.tell(Part("delta", members, delta.added, delta.removed))
        else:
            self._wait(delta)
            self._place = position
        if self.waiting > self._limits.quads:
            self.close()

    def close(self) -> None:
        """End the stream; the member says hello, once it hears that nothing comes."""
        self.stream.end()
        self._filter.change((), tuple(self._filter.entries))
        self._events.clear()
        self._forget_waiting()

    def beat(self, position: EventPosition) -> None:
        """Say how far the stream is, so that a loss at its end is noticed, and where we stand.

        What was said at the last beat is said again at each fifth alone: idle peers cost little.
        """
        if not self.is_open:
            self._beat({"next": 0})
            return
        for part in self._events.refused():
            self.stream.tell(part)
        if self._waiting and self.stream.has_room:
            self._flush(position)
        self.stream.flush()
        self._backlog.look(self.stream, self._logged())
        members: dict[str, object] = {"next": self.stream.number}
        if not self._waiting and not self.stream.waits:
            members["position"] = str(position)
        self._beat(members)

    def _beat(self, members: dict[str, object]) -> None:
        said = self.stream.life, members
        self._unsaid = self._unsaid + 1 if said == self._said else 0
        self._said = said
        if self._unsaid % SAID_AGAIN == 0:
            self.stream.beat(Part("beat", members))

    def _require_acknowledged(self) -> None:
        """Raise WireError for who lets streams run full, one after the other, without a word."""
        if self._is_full and not self.stream.is_heard:
            self._unheard += 1
        self._is_full = False
        if self._unheard >= self._limits.unheard:
            raise WireError(f"of {self._unheard} full streams it has acknowledged nothing")

    def _wait(self, delta: Delta) -> None:
        """Merge a change into what waits: a quad that comes and goes is nothing."""
        self._merged += 1
        for quads, is_added in ((delta.removed, False), (delta.added, True)):
            for quad in quads:
                if self._waiting.get(quad) is (not is_added):
                    del self._waiting[quad]
                else:
                    self._waiting[quad] = is_added

    def _flush(self, position: EventPosition) -> None:
        """Tell what waited as one change."""
        if not self._merged:
            return
        added = (quad for quad, is_added in self._waiting.items() if is_added)
        removed = (quad for quad, is_added in self._waiting.items() if not is_added)
        delta = quads_delta(added, removed)
        members = {"position": str(self._place or position), "merged": self._merged}
        self._forget_waiting()
        self.stream.tell(Part("delta", members, delta.added, delta.removed))

    def _forget_waiting(self) -> None:
        self._waiting.clear()
        self._merged = 0

    def _matching(self, entries: Iterable[LuttEntry]) -> Sequence[Quad]:
        found: dict[Quad, None] = {}
        for entry in entries:
            for each in self._filter.narrowed(entry):
                found.update(dict.fromkeys(matches(self._store, each)))
        return tuple(found)

    def _is_sent(self, quad: Quad) -> bool:
        return any(True for _ in self._filter.let_through((quad,)))

    def _entries(self, part: Part, name: str) -> list[LuttEntry]:
        values = part.members.get(name, [])
        if not isinstance(values, list):
            raise WireError(f"{part.kind}: {name} is no list")
        if len(values) + len(self._filter.entries) > self._limits.entries:
            raise WireError(f"more than {self._limits.entries} entries")
        return [read(value) for value in values]


def _digests(part: Part, count: int) -> Mapping[int, Digest]:
    """What a hello says that its sender has, by the number of the entry. Raises WireError."""
    found: dict[int, Digest] = {}
    value = part.members.get("digests", [])
    for each in value if isinstance(value, list) else [value]:
        match each:
            case [int() as number, int() as quads, bytes() as total] if 0 <= number < count:
                found[number] = Digest(quads, total)
            case _:
                raise WireError(f"no digest: {each!r:.80}")
    return found
