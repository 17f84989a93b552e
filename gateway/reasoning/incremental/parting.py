"""`Parting`: which quads of a reading mean something, and which of these somebody waits for.

Place: before the reasoner, on the way of every reading; so it looks at each quad's predicate once,
and not at all at those that a template says enough of. Of a bundle it makes no other quads than
those that mean something: where they are is known by its shape.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple, Protocol

from pyoxigraph import Quad

from gateway.rdf.delta import Delta
from gateway.rdf.terms import Term
from gateway.reasoning.incremental.program import TYPE
from gateway.reasoning.incremental.silence import SPECIAL, Silence
from gateway.reasoning.relevance import NOTHING_MATTERS, Relevance
from gateway.store.bundles.bundle import Bundle
from gateway.store.bundles.reading_delta import ReadingDelta
from gateway.store.bundles.shape import Own, Shape
from gateway.store.templates import Kinds

AllKinds = Iterable[Kinds | None]
"""The kinds of all that a request changes; None is any."""


class Later(Protocol):
    """Says what of a bundle waits."""

    def later(self, bundle: Bundle) -> Sequence[Quad]:
        """The quads of a bundle that may wait."""

    def most_later(self, bundle: Bundle) -> int:
        """How many these are at most."""


class Bundles(NamedTuple):
    """Bundles of which something may wait, and who says what."""

    entering: Sequence[Bundle]
    leaving: Sequence[Bundle]
    later: Later


class Parted(NamedTuple):
    """A change: what of it somebody may hear, what of that is derived from now; what waits.

    Where nobody listens, `heard` is all of it. What waits are `later`, and quads of the `bundles`.
    """

    heard: Delta
    now: Delta
    later: Delta
    bundles: Bundles | None = None


Among = Delta | None
"""The quads of a change that are derived from; None is all that mean something."""

_NOTHING = Delta()

Places = Sequence[tuple[int, int]]
"""Places in a shape, each with what is done with the quad there."""

_MOST_SHAPES = 256
"""Of which it is known; the gateway's templates are some twenty."""

_NOW, _LATER, _HEARD, _CLASS, _ENDS = range(5)
"""When a quad is derived from; or never, but it is looked at; or its class, or its ends say it."""

_PERHAPS_LATER = (_LATER, _CLASS, _ENDS)


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
        # A table has the members of any class, where somebody looks at those of one.
        self._way_of_others = _HEARD if relevance.classes else None
        self._known_places: dict[Shape, Places] = {}

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
        rest: Delta = delta
        entering: Sequence[Bundle] = ()
        leaving: Sequence[Bundle] = ()
        if isinstance(delta, ReadingDelta):
            rest, entering, leaving = delta.rest, delta.entering, delta.leaving
        if self._is_unheard:
            added = self._read(rest.added) if are_added else ()
            bundles = Bundles(entering if are_added else (), leaving, self)
            return Parted(delta, _NOTHING, _delta(added, self._read(rest.removed)), bundles)
        came = self._sorted(rest.added, entering)
        went = self._sorted(rest.removed, leaving)
        heard, now, later = (_delta(*both) for both in zip(came, went, strict=True))
        return Parted(heard, now, later, Bundles(entering, leaving, self))

    def later(self, bundle: Bundle) -> Sequence[Quad]:
        """The quads of a bundle that may wait."""
        places = self._places(bundle.shape)
        return [bundle.quad(at) for at, way in places if self._now(bundle, at, way) == _LATER]

    def most_later(self, bundle: Bundle) -> int:
        """How many these are at most."""
        return sum(way in _PERHAPS_LATER for _, way in self._places(bundle.shape))

    def _places(self, shape: Shape) -> Places:
        """Where a bundle's quads are that mean something, or are looked at."""
        found = self._known_places.get(shape)
        if found is None:
            ways = [(place, self._way(own)) for place, own in enumerate(shape.own)]
            found = tuple((place, way) for place, way in ways if way is not None)
            if len(self._known_places) >= _MOST_SHAPES:
                self._known_places.clear()
            self._known_places[shape] = found
        return found

    def _way(self, own: Own) -> int | None:
        way = self._ways.get(own.predicate)
        if way == _CLASS and not isinstance(own.object, str):
            return self._classes.get(own.object, self._way_of_others)
        return way

    def _now(self, bundle: Bundle, place: int, way: int) -> int | None:
        """What is done with a quad of a bundle, where its place does not say all."""
        if way not in (_CLASS, _ENDS):
            return way
        return self._said(way, *bundle.terms(place))

    def _said(self, way: int, subject: Term, predicate: Term, object_: Term) -> int | None:
        if way == _CLASS:
            return self._classes.get(object_, self._way_of_others)
        return _NOW if self._ends[predicate].cover(subject, object_) else _LATER

    def _read(self, quads: Sequence[Quad]) -> Sequence[Quad]:
        """The quads that mean something."""
        ways, classes = self._ways, self._classes
        return [
            quad
            for quad in quads
            if (way := ways.get(quad.predicate)) is not None
            and (way != _CLASS or quad.object in classes)
        ]

    def _sorted(
        self, quads: Sequence[Quad], bundles: Iterable[Bundle]
    ) -> tuple[Sequence[Quad], ...]:
        """The quads that somebody may hear, those to derive from now, and those from later.

        The last without those of bundles.
        """
        heard: list[Quad] = []
        now: list[Quad] = []
        later: list[Quad] = []
        for quad in quads:
            way = self._ways.get(quad.predicate)
            if way in (_CLASS, _ENDS):
                way = self._said(way, quad.subject, quad.predicate, quad.object)
            if way == _LATER:
                later.append(quad)
            elif way is not None:
                heard.append(quad)
                if way == _NOW:
                    now.append(quad)
        for bundle in bundles:
            for place, where in self._places(bundle.shape):
                way = self._now(bundle, place, where)
                if way is not None and way != _LATER:
                    quad = bundle.quad(place)
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
