"""`OwnShare`: what this gateway has of what its own federated queries need.

    needs, changes of the engine -> quads in force -> steps for the mirrors

Place: beside the replicas of other members, and told as they are; for one thread.
"""

from collections.abc import Iterable

from pyoxigraph import Quad

from gateway.engine.lutt import LuttEntry, matches
from gateway.federation.needs import Filter
from gateway.rdf.delta import Delta
from gateway.store.readable import Source


class OwnShare:
    """The quads of a store that match the entries in force."""

    def __init__(self, store: Source) -> None:
        self.quads: dict[Quad, None] = {}
        self._store = store
        self._in_force = Filter()

    @property
    def is_idle(self) -> bool:
        """Whether nothing is needed of it."""
        return not self._in_force.entries

    def want(self, entries: Iterable[LuttEntry]) -> Delta:
        """Have these in force too; what that adds."""
        entries = tuple(entries)
        self._in_force.change(entries, ())
        found = dict.fromkeys(quad for each in entries for quad in matches(self._store, each))
        return self._moved(Delta(tuple(quad for quad in found if quad not in self.quads)))

    def unwant(self, entries: Iterable[LuttEntry]) -> Delta:
        """The reverse of `want`; what that removes."""
        self._in_force.change((), entries)
        kept = set(self._in_force.let_through(self.quads))
        return self._moved(Delta((), tuple(quad for quad in self.quads if quad not in kept)))

    def changed(self, delta: Delta) -> Delta:
        """What of a change is in force; the store has it."""
        found = self._in_force.of(delta)
        return self._moved(
            Delta(tuple(dict.fromkeys(found.added)), tuple(dict.fromkeys(found.removed)))
        )

    def _moved(self, delta: Delta) -> Delta:
        for quad in delta.removed:
            del self.quads[quad]
        self.quads.update(dict.fromkeys(delta.added))
        return delta
