"""`Parting`: which quads of a reading mean something, and which of these somebody waits for.

Place: before the reasoner, on the way of every reading; so it looks at each quad's predicate once,
and not at all at those that a template says enough of.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from pyoxigraph import Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import Term
from gateway.reasoning.incremental.program import TYPE
from gateway.reasoning.incremental.silence import SPECIAL, Silence
from gateway.reasoning.relevance import NOTHING_MATTERS, Relevance
from gateway.store.templates import Kinds

AllKinds = Iterable[Kinds | None]
"""The kinds of all that a request changes; None is any."""


class Parted(NamedTuple):
    """A change: what of it somebody may hear, what of that is derived from now; what waits.

    Where nobody listens, `heard` is all of it.
    """

    heard: Delta
    now: Delta
    later: Delta


Among = Delta | None
"""The quads of a change that are derived from; None is all that mean something."""

_NOTHING = Delta()

_NOW, _LATER, _HEARD, _CLASS, _ENDS = range(5)
"""When a quad is derived from; or never, but it is looked at; or its class, or its ends say it."""


class Parting:
    """Tells the quads of readings apart, by the predicates and classes that are read."""

    def __init__(
        self,
        predicates: Iterable[Term],
        classes: Iterable[Term],
        silence: Silence,
        relevance: Relevance,
    ) -> None:
        self.relevance = relevance
        self._silence = silence
        self._is_unheard = relevance == NOTHING_MATTERS
        self._ends = relevance.bounded
        self._ways = _ways(predicates, relevance.properties)
        for name in self._ends:  # tables have all that is looked at
            self._ways[name] = _ENDS if name in self._ways else _HEARD
        self._ways[TYPE] = _CLASS
        self._classes = _ways(classes, relevance.classes)

    def part(self, delta: Delta, all_kinds: AllKinds) -> Parted | None:
        """What is derived from at once, and what may wait.

        None where it cannot wait: it may say axioms, graphs come or go, or it may not be written.
        """
        if delta.graphs_created or delta.graphs_dropped:
            return None
        are_added = not self._is_unheard
        for kinds in all_kinds:
            if kinds is None or not SPECIAL.isdisjoint(kinds.graphs):
                return None
            are_added = are_added or self._silence.may_mean(kinds)
        if self._is_unheard:
            added = self._read(delta.added) if are_added else ()
            return Parted(delta, _NOTHING, _delta(added, self._read(delta.removed)))
        sides = zip(self._sorted(delta.added), self._sorted(delta.removed), strict=True)
        return Parted(*[_delta(added, removed) for added, removed in sides])

    def _read(self, quads: Sequence[Quad]) -> Sequence[Quad]:
        """The quads that mean something."""
        ways, classes = self._ways, self._classes
        return [
            quad
            for quad in quads
            if (way := ways.get(quad.predicate)) is not None
            and (way != _CLASS or quad.object in classes)
        ]

    def _sorted(self, quads: Sequence[Quad]) -> tuple[Sequence[Quad], ...]:
        """The quads that somebody may hear, those to derive from now, and those from later."""
        ways, classes, ends = self._ways, self._classes, self._ends
        heard: list[Quad] = []
        now: list[Quad] = []
        later: list[Quad] = []
        for quad in quads:
            predicate = quad.predicate
            way = ways.get(predicate)
            if way is None:
                continue
            if way == _CLASS:
                way = classes.get(quad.object, _HEARD)  # a table has those of any class
            elif way == _ENDS:
                is_wanted = ends[predicate].cover(quad.subject, quad.object)
                way = _NOW if is_wanted else _LATER
            if way == _LATER:
                later.append(quad)
            else:
                heard.append(quad)
                if way == _NOW:
                    now.append(quad)
        return heard, now, later


def _ways(read: Iterable[Term], relevant: Iterable[Term]) -> dict[Term, int]:
    """What is done with the quads of each predicate, or the members of each class."""
    ways = dict.fromkeys(read, _LATER)
    for name in relevant:
        ways[name] = _NOW if name in ways else _HEARD
    return ways


def _delta(added: Sequence[Quad], removed: Sequence[Quad]) -> Delta:
    return Delta(tuple(added), tuple(removed)) if added or removed else _NOTHING
