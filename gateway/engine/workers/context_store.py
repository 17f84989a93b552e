"""CTS: context triple store, the quads that match at least one LUTT entry of a worker's SPUs.

In a worker process, between the pipe and the units. What an answer depends on matches the query's
LUTT, so evaluating on the CTS and on the whole store is the same. Source: Roffia et al., "A
Semantic Publish-Subscribe Architecture for the Internet of Things", 2016, section III.
"""

from collections.abc import Iterable, Sequence

from pyoxigraph import Quad

from gateway.engine.lutt import LuttEntry, LuttIndex, matches
from gateway.rdf.delta import Delta
from gateway.store.quad_store import QuadStore


class ContextStore:
    """A store in memory and the entries that say what belongs in it.

    Invariant: it has exactly the quads of the whole dataset that match an entry.
    """

    def __init__(self) -> None:
        self.store = QuadStore.open(None)
        self._covered: LuttIndex[ContextStore] = LuttIndex()

    def cover(self, entries: Iterable[LuttEntry], quads: Sequence[Quad]) -> Delta:
        """Take up entries that are not covered yet, with the quads that match them.

        Gives the quads that are new: those that another entry covers were there, and a Delta is
        net, also for a store in memory, where it waits.
        """
        for entry in entries:
            self._covered.insert(entry, self)
        delta = Delta(added=tuple(quad for quad in quads if quad not in self.store))
        self.store.apply(delta)
        return delta

    def uncover(self, entries: Sequence[LuttEntry]) -> Delta:
        """Give entries up, and the quads that match no other one; what it forgot."""
        for entry in entries:
            self._covered.remove(entry, self)
        matching = dict.fromkeys(quad for entry in entries for quad in matches(self.store, entry))
        kept = self._covered.match(Delta(added=tuple(matching))).get(self)
        for quad in kept.added if kept is not None else ():
            del matching[quad]
        delta = Delta(removed=tuple(matching))
        self.store.apply(delta)
        return delta
