"""Steps: the look-ups of a join, one pattern after the other, or all of one subject together.

Place: within a plan of the BOOSTER. A step extends solutions by the quads that fit them; one that
stands before the plan's seed takes no changed quad, so that a derivation counts once.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import product
from operator import attrgetter
from typing import Any

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from gateway.engine.dataset import Quads, look_up_in, objects_in
from gateway.engine.join.join_pattern import ATTRIBUTES, JoinPattern, picker
from gateway.engine.join.prunes import Prune, Solution
from gateway.rdf.terms import GraphName, Term

NOTHING = 1
"""The place of None in a solution: a wildcard of a look-up, a column without value."""


class Reader:
    """What a quad of a pattern adds to a solution; extends `places` by its new variables."""

    def __init__(self, pattern: JoinPattern, places: dict[Any, int]) -> None:
        found: dict[str, list[str]] = {}
        for slot, attribute in zip(pattern.slots, ATTRIBUTES, strict=True):
            if isinstance(slot, str) and slot not in places:
                found.setdefault(slot, []).append(attribute)
        for name in found:
            places[name] = len(places) + 1
        self.new = _terms_getter([attributes[0] for attributes in found.values()])
        equal = [(each[0], other) for each in found.values() for other in each[1:]]
        self.accept = _acceptance(equal, is_named=isinstance(pattern.graph, str))


class Step:
    """The look-ups of one pattern with what the solutions know of it."""

    prune: Prune | None = None

    def __init__(self, pattern: JoinPattern, places: dict[Any, int], *, is_before: bool) -> None:
        self._is_before = is_before
        self._places = [places.get(slot, NOTHING) for slot in pattern.slots]
        self._look = picker(self._places)
        self._ends = picker(self._places[::2])
        self._predicate = None if isinstance(pattern.predicate, str) else pattern.predicate
        self.predicates: tuple[Term | None, ...] = (self._predicate,)
        self._one_graph = None if isinstance(pattern.graph, str) else pattern.graph
        self._graph = places.get(pattern.graph, 0) if isinstance(pattern.graph, str) else 0
        self._reader = Reader(pattern, places)

    def used(self) -> Sequence[int]:
        """The places of a solution that decide what is found."""
        return [*self._places, self._graph, *(self.prune.places if self.prune else ())]

    def extend(
        self, state: Quads, solutions: Sequence[Solution], changed: Sequence[Quad]
    ) -> list[Solution]:
        """Every solution with every quad that fits it; `changed` are those of this side."""
        if self._graph:
            solutions = [each for each in solutions if isinstance(each[self._graph], _GRAPH_NAMES)]
        look, match = self._looking(state)
        new, accept = self._reader.new, self._reader.accept
        skipped = self._skipped(changed)
        extended = [
            solution + new(quad)
            for solution in solutions
            for quad in match(*look(solution))
            if (accept is None or accept(quad)) and quad not in skipped
        ]
        return extended if self.prune is None else self.prune.of(extended)

    def one_by_one(self, state: Quads, solutions: Iterable[Solution]) -> Iterator[Solution]:
        """As `extend`, while somebody asks for more; what was found for few quads is kept."""
        look, match = self._looking(state)
        new, accept, graph = self._reader.new, self._reader.accept, self._graph
        kept: dict[Any, Collection[Quad]] = {}
        for solution in solutions:
            if graph and not isinstance(solution[graph], _GRAPH_NAMES):
                continue
            wanted = look(solution)
            found = kept.get(wanted)
            if found is None:
                found = list(match(*wanted))
                if len(found) <= _FEW and len(kept) < _MOST_KEPT:
                    kept[wanted] = found
            for quad in found:
                if accept is None or accept(quad):
                    yield solution + new(quad)

    def _skipped(self, changed: Sequence[Quad]) -> Collection[Quad]:
        """The changed quads that may match the pattern, where they are another plan's."""
        if not (changed and self._is_before):
            return ()
        predicate = self._predicate
        if predicate is None:
            return frozenset(changed)
        return {quad for quad in changed if quad.predicate == predicate}

    def _looking(self, state: Quads) -> tuple[Callable[[Solution], Any], Callable[..., Any]]:
        """What of a solution to look up, and where."""
        if self._predicate is not None and self._one_graph is not None:
            return self._ends, look_up_in(state, self._predicate, self._one_graph)
        return self._look, state.match


class StarStep:
    """The look-ups of several patterns whose common subject is known, as arms of a star.

    Their graph is one, their predicates are constants, and no variable is new in two of them.
    """

    prune: Prune | None = None

    def __init__(
        self, patterns: Sequence[JoinPattern], places: dict[Any, int], *, is_before: bool
    ) -> None:
        self._is_before = is_before
        self._graph: GraphName = patterns[0].graph  # type: ignore[assignment]
        self._subject = places[patterns[0].subject]
        self.predicates: tuple[Term, ...] = tuple(each.predicate for each in patterns)  # type: ignore[misc]
        self._known = [places.get(each.object) for each in patterns]
        for pattern, known in zip(patterns, self._known, strict=True):
            if known is None:
                places[pattern.object] = len(places) + 1

    def used(self) -> Sequence[int]:
        """The places of a solution that decide what is found."""
        known = [place for place in self._known if place is not None]
        return [self._subject, *known, *(self.prune.places if self.prune else ())]

    def extend(
        self, state: Quads, solutions: Sequence[Solution], changed: Sequence[Quad]
    ) -> list[Solution]:
        """Every solution with all objects that its subject has; `changed` as in `Step`."""
        graph, at = self._graph, self._subject
        looks = [objects_in(state, predicate, graph) for predicate in self.predicates]
        skipped = self._skipped(changed)
        arms = list(zip(looks, self._known, skipped, strict=True))
        extended: list[Solution] = []
        for solution in solutions:
            subject = solution[at]
            new: list[Collection[Term]] = []
            for look, known, others in arms:
                objects = look(subject)
                if subject in others:
                    objects = [each for each in objects if each not in others[subject]]
                if known is None:
                    new.append(objects)
                if not objects or (known is not None and solution[known] not in objects):
                    break
            else:
                extended += [solution + each for each in product(*new)]
        return extended if self.prune is None else self.prune.of(extended)

    def _skipped(self, changed: Sequence[Quad]) -> Sequence[Mapping[Term, Collection[Term]]]:
        """The changed objects of each arm by subject, where they are another plan's."""
        found: list[dict[Term, dict[Term, None]]] = [{} for _ in self.predicates]
        if self._is_before:
            for quad in changed:
                if quad.graph_name == self._graph:
                    for predicate, subjects in zip(self.predicates, found, strict=True):
                        if predicate == quad.predicate:
                            subjects.setdefault(quad.subject, {})[quad.object] = None
        return found


_FEW = 16
"""Quads of a look-up that are kept for the next one like it."""

_MOST_KEPT = 8_192
"""Look-ups whose quads are kept at once."""

_GRAPH_NAMES = (NamedNode, BlankNode)


def _terms_getter(attributes: Sequence[str]) -> Callable[[Quad], Solution]:
    if not attributes:
        return lambda _: ()
    get = attrgetter(*attributes)
    return get if len(attributes) > 1 else lambda quad: (get(quad),)


def _acceptance(
    equal: Sequence[tuple[str, str]], *, is_named: bool
) -> Callable[[Quad], bool] | None:
    """The test of a quad that a look-up cannot make; None where there is nothing to test."""
    if not equal and not is_named:
        return None

    def accept(quad: Quad) -> bool:
        if is_named and isinstance(quad.graph_name, DefaultGraph):
            return False
        return all(getattr(quad, one) == getattr(quad, other) for one, other in equal)

    return accept
