"""`Parting`: which quads of a reading mean something, and which of these somebody waits for.

Place: before the reasoner, on the way of every reading; so it looks at each quad's predicate once,
and not at all at those that a template says enough of.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pyoxigraph import Quad

from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import Term
from gateway.reasoning.incremental.concluding import TYPE
from gateway.reasoning.relevance import NOTHING_MATTERS, Relevance
from gateway.store.templates import Kinds

AllKinds = Iterable[Kinds | None]
"""The kinds of all that a request changes; None is any."""


class Parted(NamedTuple):
    """A change, without what waits if somebody listens; what is derived from now; what waits."""

    whole: Delta
    now: Delta
    later: Delta


Among = Delta | None
"""The quads of a change that are derived from; None is all that mean something."""

_SPECIAL = frozenset({ONTOLOGY_GRAPH, CONTRADICTIONS_GRAPH})
"""Graphs of which a change means something by itself, or is refused."""

_NOTHING = Delta()
_NONE: tuple[Sequence[Quad], Sequence[Quad]] = ((), ())

_CLASS = 2
"""Beside True and False, now and later: the class says when a quad is derived from."""


class Parting:
    """Tells the quads of readings apart, by the predicates and classes that are read."""

    def __init__(
        self, predicates: Iterable[Term], classes: Iterable[Term], relevance: Relevance
    ) -> None:
        self.relevance = relevance
        self._is_unheard = relevance == NOTHING_MATTERS
        self._ways: dict[Term, int] = {name: relevance.covers(name, None) for name in predicates}
        self._ways[TYPE] = _CLASS
        self._classes = {name: relevance.covers(TYPE, name) for name in classes}
        self._meant = frozenset(self._ways)
        self._meant_classes = frozenset(self._classes)

    def part(self, delta: Delta, all_kinds: AllKinds) -> Parted | None:
        """What is derived from at once, and what may wait.

        None where it cannot wait: it may say axioms, graphs come or go, or it may not be written.
        """
        if delta.graphs_created or delta.graphs_dropped:
            return None
        are_added = False
        for kinds in all_kinds:
            if kinds is None or not _SPECIAL.isdisjoint(kinds.graphs):
                return None
            are_added = are_added or self._mean(kinds)
        added = self._read(delta.added) if are_added else _NONE
        removed = self._read(delta.removed)
        later = _delta(added[1], removed[1])
        whole = delta if later is _NOTHING or self._is_unheard else _without(delta, later)
        return Parted(whole, _delta(added[0], removed[0]), later)

    def _mean(self, kinds: Kinds) -> bool:
        """Whether something that is inserted may mean something."""
        predicates = kinds.predicates
        if predicates is None or not self._meant_classes.isdisjoint(kinds.classes):
            return True
        return not self._meant.isdisjoint(predicates)

    def _read(self, quads: Sequence[Quad]) -> tuple[Sequence[Quad], Sequence[Quad]]:
        """The quads that mean something: now, and later."""
        ways, classes = self._ways, self._classes
        now: list[Quad] = []
        if self._is_unheard:
            return now, [
                quad
                for quad in quads
                if (way := ways.get(quad.predicate)) is not None
                and (way != _CLASS or quad.object in classes)
            ]
        later: list[Quad] = []
        for quad in quads:
            way = ways.get(quad.predicate)
            if way == _CLASS:
                way = classes.get(quad.object)
            if way is not None:
                (now if way else later).append(quad)
        return now, later


def _without(delta: Delta, later: Delta) -> Delta:
    """A Delta without what is in both; the very same quads."""
    gone = {*map(id, later.added), *map(id, later.removed)}
    added = tuple([quad for quad in delta.added if id(quad) not in gone])
    return Delta(added, tuple([quad for quad in delta.removed if id(quad) not in gone]))


def _delta(added: Sequence[Quad], removed: Sequence[Quad]) -> Delta:
    return Delta(tuple(added), tuple(removed)) if added or removed else _NOTHING
