"""`Needs`: what a gateway wants of others, by scope; `Filter`: what that lets through.

    subscriptions, each with its scope -> entries, counted -> needs of each member

Place: at the gateway that asks. An entry that several want is needed once, and of those members
alone that are in a scope of it: who is in none hears nothing. Both ends keep the same `Filter` for
one stream, so what one sends is what the other takes.
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
        return {id_: text for id_, (text, scope) in wanted if _is_about(scope, member)}

    def text(self, id_: int) -> str:
        """The text of one."""
        return self._wanted[id_][0]

    def is_about(self, member: str) -> bool:
        """Whether any is wanted of a member."""
        return any(_is_about(scope, member) for _, scope in self._wanted.values())


Changed = Mapping[str, frozenset[LuttEntry]]
"""Entries that came or went, by the members whom that concerns; no others are named."""


class Needs:
    """The entries that are wanted now, and event queries."""

    def __init__(self) -> None:
        self.events = EventNeeds()
        self._wanted: dict[Scope, Counter[LuttEntry]] = {}

    def of(self, member: str) -> frozenset[LuttEntry]:
        """The entries that are wanted of a member."""
        return frozenset[LuttEntry]().union(*self._about(member))

    def is_about(self, member: str) -> bool:
        """Whether anything is wanted of a member."""
        return any(self._about(member)) or self.events.is_about(member)

    def want(self, entries: frozenset[LuttEntry], scope: Scope, members: Iterable[str]) -> Changed:
        """Want these once more of a scope; what is new of each of the members."""
        new = self._wanted_by_nobody(entries, scope, members)
        self._wanted.setdefault(scope, Counter()).update(entries)
        return new

    def unwant(
        self, entries: frozenset[LuttEntry], scope: Scope, members: Iterable[str]
    ) -> Changed:
        """The reverse of `want`; what nobody wants any more of each of the members."""
        counts = self._wanted[scope]
        counts.subtract(entries)
        for each in [each for each in entries if not counts[each]]:
            del counts[each]
        if not counts:
            del self._wanted[scope]
        return self._wanted_by_nobody(entries, scope, members)

    def _about(self, member: str) -> Iterator[Counter[LuttEntry]]:
        return (counts for scope, counts in self._wanted.items() if _is_about(scope, member))

    def _wanted_by_nobody(
        self, entries: frozenset[LuttEntry], scope: Scope, members: Iterable[str]
    ) -> Changed:
        found = {}
        for member in members:
            if _is_about(scope, member):
                wanted = entries.difference(*self._about(member))
                if wanted:
                    found[member] = wanted
        return found


def _is_about(scope: Scope, member: str) -> bool:
    return scope is None or member in scope


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
