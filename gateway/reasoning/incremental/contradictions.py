"""Contradictions: individuals of which the axioms exclude what data say, in a graph of their own.

Place: under `Reasoner`, beside the closures of all domains; nothing follows from a contradiction.
Each is one quad, individual, class, other class, however many domains find it; a member of
owl:Nothing has that class twice.
"""

from collections.abc import Iterable, Iterator

from pyoxigraph import NamedNode, Quad

from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH
from gateway.reasoning.incremental.facts import Individual
from gateway.reasoning.incremental.program import Program
from gateway.reasoning.kinds import NOTHING
from gateway.store.quad_index import QuadIndex

Pair = tuple[NamedNode, NamedNode]


class Excluded:
    """The `pairs` of classes that a program excludes, and the mask of all `watched` classes."""

    def __init__(self, program: Program) -> None:
        found = [(mask, (each.first, each.second)) for mask, each in program.disjoint]
        pairs = sorted(found, key=str)
        if (nothing := program.classes.get(NOTHING)) is not None:
            pairs.append((nothing, (NOTHING, NOTHING)))
        self.pairs = pairs
        self.axiom = next((axiom for _, axiom in program.disjoint), None)
        self.watched = 0
        for mask, _ in pairs:
            self.watched |= mask

    def among(self, types: int) -> list[Pair]:
        """The pairs of which something with these types is both."""
        if not types & self.watched:
            return []
        return [pair for mask, pair in self.pairs if not mask & ~types]


class Contradictions:
    """All contradictions of all domains, each with the number of domains that have it.

    `changed` are those that `changes` looks at: whether they were there.
    """

    def __init__(self) -> None:
        self.index = QuadIndex()
        self.changed: dict[Quad, bool] = {}
        self._count: dict[Quad, int] = {}

    def __len__(self) -> int:
        return len(self._count)

    def retype(self, retyped: Iterable[tuple[Individual, int]], excluded: Excluded) -> None:
        """Individuals of one domain with the types that they had."""
        watched = excluded.watched
        for individual, had in retyped:
            if not watched & (had | individual.types):
                continue
            before, now = excluded.among(had), excluded.among(individual.types)
            if before != now:
                self._count_quads(_quads(individual, before), -1)
                self._count_quads(_quads(individual, now), 1)

    def drop(self, individuals: Iterable[Individual], excluded: Excluded) -> None:
        """A domain, or a program, is left."""
        if excluded.pairs:
            for individual in individuals:
                self._count_quads(_quads(individual, excluded.among(individual.types)), -1)

    def take(self, individuals: Iterable[Individual], excluded: Excluded) -> None:
        """A domain, or a program, has come."""
        if excluded.pairs:
            for individual in individuals:
                self._count_quads(_quads(individual, excluded.among(individual.types)), 1)

    def changes(self) -> tuple[list[Quad], list[Quad]]:
        """The contradictions that came and went since this was asked last."""
        came: list[Quad] = []
        went: list[Quad] = []
        for quad, was in self.changed.items():
            if (quad in self._count) != was:
                (went if was else came).append(quad)
        self.changed.clear()
        for quad in went:
            self.index.discard(quad)
        self.index.add(came)
        return came, went

    def _count_quads(self, quads: Iterable[Quad], sign: int) -> None:
        for quad in quads:
            count = self._count.get(quad, 0)
            self.changed.setdefault(quad, count > 0)
            if count + sign:
                self._count[quad] = count + sign
            else:
                del self._count[quad]


def _quads(individual: Individual, pairs: Iterable[Pair]) -> Iterator[Quad]:
    return (Quad(individual.term, *pair, CONTRADICTIONS_GRAPH) for pair in pairs)  # type: ignore[arg-type]
