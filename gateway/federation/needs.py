"""`Needs`: what a gateway wants of others, in numbered versions; `Filter`: what that lets through.

    subscriptions -> entries, counted -> version by version -> needs of each member

Place: at the gateway that asks. An entry that several want is needed once. Both ends keep the same
`Filter` for one stream, so what one sends is what the other takes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from pyoxigraph import Quad

from gateway.engine.lutt import LuttEntry, LuttIndex
from gateway.rdf.delta import Delta


class Needs:
    """The entries that are wanted now; `version` counts their changes."""

    def __init__(self) -> None:
        self.version = 0
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
    """Entries in force in one stream; `index` may be shared with others, by the name `owner`."""

    def __init__(
        self,
        entries: Iterable[LuttEntry] = (),
        index: LuttIndex[str] | None = None,
        owner: str = "",
    ) -> None:
        self.entries: set[LuttEntry] = set()
        self._index: LuttIndex[str] = LuttIndex() if index is None else index
        self._owner = owner
        self.change(entries, ())

    def change(self, add: Iterable[LuttEntry], remove: Iterable[LuttEntry]) -> None:
        """Have others in force."""
        for each in add:
            if each not in self.entries:
                self.entries.add(each)
                self._index.insert(each, self._owner)
        for each in remove:
            if each in self.entries:
                self.entries.discard(each)
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
