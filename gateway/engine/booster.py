"""BOOSTER: what a Delta changed in the answer of joined patterns (seed 000, section IV).

For each pattern that a changed quad matches, its variables are bound and the other patterns are
completed by index look-ups, the one with the most bound positions first. Removed rows are computed
on the state before the UPDATE, added rows on the one after it. A derivation that uses several
changed quads counts once: it is found at the first pattern of the query that uses one, since
patterns before it look at unchanged quads only. So bags come out right, equal rows included.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import Quad

from gateway.rdf.solutions import Row
from gateway.rdf.terms import GraphName, Term

Slot = Term | str
"""A constant, or the name of a variable."""


@dataclass(frozen=True, slots=True)
class JoinPattern:
    """A triple pattern in one graph; names are variables, hidden ones (blank nodes) included."""

    subject: Slot
    predicate: Slot
    object: Slot
    graph: GraphName

    @property
    def slots(self) -> tuple[Slot, Slot, Slot]:
        """Subject, predicate, object."""
        return (self.subject, self.predicate, self.object)

    @property
    def variables(self) -> frozenset[str]:
        """The names in it."""
        return frozenset(slot for slot in self.slots if isinstance(slot, str))


class Quads(Protocol):
    """Something that has quads: the store."""

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard."""


class Before:
    """The state before a Delta: (now without `added`) and `removed`."""

    def __init__(self, now: Quads, added: Collection[Quad], removed: Sequence[Quad]) -> None:
        self._now = now
        self._added = added
        self._removed = removed

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterator[Quad]:
        """The quads of a pattern in that state."""
        for quad in self._now.match(subject, predicate, object_, graph):
            if quad not in self._added:
                yield quad
        for quad in self._removed:
            if (
                (subject is None or subject == quad.subject)
                and (predicate is None or predicate == quad.predicate)
                and (object_ is None or object_ == quad.object)
                and (graph is None or graph == quad.graph_name)
            ):
                yield quad


Solution = dict[str, Term]


class Booster:
    """The join of several patterns, incrementally.

    `patterns` may share variables in any way; their constants are as the store gives them.
    """

    def __init__(self, patterns: Sequence[JoinPattern], columns: Sequence[str]) -> None:
        self._patterns = tuple(patterns)
        self._columns = tuple(columns)
        self._plans = [_plan(self._patterns, seed) for seed in range(len(self._patterns))]

    def rows(self, state: Quads, changed: Sequence[Quad]) -> Iterator[Row]:
        """The rows of `state` with a derivation through a changed quad, which `state` has."""
        changes = frozenset(changed)
        for seed, pattern in enumerate(self._patterns):
            plan = self._plans[seed]
            predicate = pattern.predicate
            for quad in changed:
                if not isinstance(predicate, str) and predicate != quad.predicate:
                    continue
                solution = _extend({}, pattern, quad)
                if solution is not None:
                    for found in self._complete(state, changes, seed, plan, solution):
                        yield tuple(found.get(name) for name in self._columns)

    def everything(self, state: Quads) -> Iterator[Row]:
        """The rows of all derivations in `state`."""
        pattern = self._patterns[0]
        for quad in _look_up(state, pattern, {}):
            solution = _extend({}, pattern, quad)
            if solution is not None:
                for found in self._complete(state, frozenset(), 0, self._plans[0], solution):
                    yield tuple(found.get(name) for name in self._columns)

    def _complete(
        self,
        state: Quads,
        changes: frozenset[Quad],
        seed: int,
        plan: Sequence[int],
        solution: Solution,
    ) -> Iterator[Solution]:
        if not plan:
            yield solution
            return
        place, rest = plan[0], plan[1:]
        pattern = self._patterns[place]
        for quad in _look_up(state, pattern, solution):
            if place < seed and quad in changes:
                continue
            extended = _extend(solution, pattern, quad)
            if extended is not None:
                yield from self._complete(state, changes, seed, rest, extended)


def _look_up(state: Quads, pattern: JoinPattern, solution: Solution) -> Iterable[Quad]:
    subject, predicate, object_ = (
        solution.get(slot) if isinstance(slot, str) else slot for slot in pattern.slots
    )
    return state.match(subject, predicate, object_, pattern.graph)


def _extend(solution: Solution, pattern: JoinPattern, quad: Quad) -> Solution | None:
    """The solution with the pattern's variables bound by the quad; None if it does not fit."""
    if pattern.graph != quad.graph_name:
        return None
    extended = dict(solution)
    for slot, term in zip(pattern.slots, (quad.subject, quad.predicate, quad.object), strict=True):
        if isinstance(slot, str):
            if extended.setdefault(slot, term) != term:
                return None
        elif slot != term:
            return None
    return extended


def _plan(patterns: Sequence[JoinPattern], seed: int) -> tuple[int, ...]:
    """The order of the other patterns: always one with the most positions known."""
    known = set(patterns[seed].variables)
    left = [place for place in range(len(patterns)) if place != seed]
    order: list[int] = []
    while left:
        best = max(left, key=lambda place: _known(patterns[place], known))
        left.remove(best)
        order.append(best)
        known |= patterns[best].variables
    return tuple(order)


def _known(pattern: JoinPattern, known: set[str]) -> tuple[int, int, bool]:
    """Positions known; of equals, those from the changed quad select more than constants do."""
    bound = [not isinstance(slot, str) or slot in known for slot in pattern.slots]
    joined = sum(slot in known for slot in pattern.slots if isinstance(slot, str))
    return sum(bound), joined, bound[0]
