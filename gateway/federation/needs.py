"""`Needs`: what a gateway wants of others, in numbered versions; `Filter`: what that lets through.

    subscriptions -> entries, counted -> version by version -> needs of each member

Place: at the gateway that asks. An entry that several want is needed once. Both ends keep the same
`Filter` for one stream, so what one sends is what the other takes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count

from pyoxigraph import Quad

from gateway.engine.lutt import LuttEntry, LuttIndex
from gateway.journal.event_position import EventPosition
from gateway.rdf.delta import Delta
from gateway.rdf.rights import Graphs

Scope = frozenset[str] | None
"""Members; None is all of them, now and later."""


class EventNeeds:
    """The event queries that are wanted of others, by numbers that are never used again."""

    def __init__(self) -> None:
        self._wanted: dict[int, tuple[str, Scope]] = {}
        self._after: dict[int, Mapping[str, EventPosition]] = {}
        self._numbers = count(1)

    def want(self, text: str, scope: Scope, after: Mapping[str, EventPosition]) -> int:
        """Want one of these members, of some behind a position; its number."""
        id_ = next(self._numbers)
        self._wanted[id_], self._after[id_] = (text, scope), after
        return id_

    def after(self, id_: int, member: str) -> EventPosition | None:
        """The position of a member behind which a query was wanted, if it was."""
        return self._after[id_].get(member)

    def unwant(self, id_: int) -> None:
        """The reverse of `want`."""
        del self._wanted[id_], self._after[id_]

    def of(self, member: str) -> dict[int, str]:
        """The texts that are wanted of a member, by their numbers."""
        wanted = self._wanted.items()
        return {id_: text for id_, (text, scope) in wanted if scope is None or member in scope}


class Needs:
    """The entries that are wanted now, and event queries; `version` counts their changes."""

    def __init__(self) -> None:
        self.version = 0
        self.events = EventNeeds()
        self._wanted: Counter[LuttEntry] = Counter()

    @property
    def entries(self) -> frozenset[LuttEntry]:
        """All of them."""
        return frozenset(self._wanted)

    def want(self, entries: Iterable[LuttEntry]) -> frozenset[LuttEntry]:
        """Want these once more; those that are new, which make a new version."""
        new = frozenset(each for each in entries if each not in self._wanted)
        self._wanted.update(entries)
        self.version += bool(new)
        return new

    def want_events(self, text: str, scope: Scope, after: Mapping[str, EventPosition]) -> int:
        """Want an event query, which makes a new version; its number."""
        self.version += 1
        return self.events.want(text, scope, after)

    def unwant_events(self, id_: int) -> None:
        """The reverse of `want_events`, and a new version too."""
        self.version += 1
        self.events.unwant(id_)

    def unwant(self, entries: Iterable[LuttEntry]) -> frozenset[LuttEntry]:
        """The reverse of `want`; those that nobody wants any more."""
        gone = set()
        for each in entries:
            self._wanted[each] -= 1
            if not self._wanted[each]:
                del self._wanted[each]
                gone.add(each)
        self.version += bool(gone)
        return frozenset(gone)


class Filter:
    """Entries in force in one stream; `index` may be shared with others, by the name `owner`.

    Nothing of a graph that is not among `graphs` is let through, nor looked at; None is every one.
    """

    def __init__(
        self,
        entries: Iterable[LuttEntry] = (),
        index: LuttIndex[str] | None = None,
        owner: str = "",
        graphs: Graphs = None,
    ) -> None:
        self.entries: set[LuttEntry] = set()
        self._graphs = graphs
        self._narrow: Counter[LuttEntry] = Counter()
        self._index: LuttIndex[str] = LuttIndex() if index is None else index
        self._owner = owner
        self.change(entries, ())

    def change(self, add: Iterable[LuttEntry], remove: Iterable[LuttEntry]) -> None:
        """Have others in force."""
        for each in add:
            if each not in self.entries:
                self.entries.add(each)
                self._insert(each)
        for each in remove:
            if each in self.entries:
                self.entries.discard(each)
                self._remove(each)

    def narrowed(self, entry: LuttEntry) -> Iterator[LuttEntry]:
        """What an entry asks for of the graphs that may be read."""
        if self._graphs is None:
            yield entry
        elif entry.graph is None:
            yield from (replace(entry, graph=graph) for graph in self._graphs)
        elif entry.graph in self._graphs:
            yield entry

    def _insert(self, entry: LuttEntry) -> None:
        for each in self.narrowed(entry):
            self._narrow[each] += 1
            if self._narrow[each] == 1:
                self._index.insert(each, self._owner)

    def _remove(self, entry: LuttEntry) -> None:
        for each in self.narrowed(entry):
            self._narrow[each] -= 1
            if not self._narrow[each]:
                del self._narrow[each]
                self._index.remove(each, self._owner)

    def of(self, delta: Delta) -> Delta:
        """What of a change is let through."""
        found = self._index.match(delta).get(self._owner)
        if found is None:
            return Delta()
        return Delta(tuple(found.added), tuple(found.removed))

    def let_through(self, quads: Iterable[Quad]) -> Iterator[Quad]:
        """The quads that match an entry, each once."""
        yield from dict.fromkeys(self.of(Delta(tuple(quads))).added)
