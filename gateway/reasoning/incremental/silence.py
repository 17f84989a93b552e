"""`Silence`: readings that mean nothing, told by their updates without a look at their quads.

    update -> what it inserts, by name | whose quads it deletes, by subject -> nothing of it is read

Place: before the reasoner, on the way of every reading. Most houses have no axiom about readings:
then nothing that a template inserts is read, and of an observation that is deleted whole the
closure does not know the subject, since it knows that of every asserted quad that is read
(gateway/reasoning/incremental/assertions.py).
"""

from collections.abc import Iterable, Mapping, Set
from typing import Protocol

from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.incremental.program import TYPE
from gateway.store.templates import Kinds
from gateway.store.update import BoundUpdate

SPECIAL = frozenset({ONTOLOGY_GRAPH, CONTRADICTIONS_GRAPH})
"""Graphs of which a change means something by itself, or is refused."""


class Knowing(Protocol):
    """A closure, as far as it is asked here."""

    @property
    def individuals(self) -> Mapping[Term, object]:
        """What it keeps of each term that it knows."""


_Subjects = tuple[tuple[GraphName, list[str]], ...]
"""The graphs of what is deleted, whatever its predicate, with the variables of the subjects."""


class Silence:
    """Which updates mean nothing to those who read these predicates and classes alone.

    The `closures`, by graph, have taken up all that is asserted there and read.
    """

    def __init__(
        self,
        predicates: Iterable[Term],
        classes: Iterable[Term],
        closures: Mapping[GraphName, Knowing],
    ) -> None:
        self._meant: Set[Term] = frozenset((*predicates, TYPE))
        self._classes: Set[Term] = frozenset(classes)
        self._closures = closures
        self._known: dict[Kinds | None, _Subjects | None] = {None: None}

    def holds(self, bound: Iterable[BoundUpdate]) -> bool:
        """Whether it is certain that none of what these may change is read."""
        known, closures = self._known, self._closures
        for plan, bindings in bound:
            kinds = plan.kinds
            subjects = known[kinds] if kinds in known else self._learn(kinds)
            if subjects is None:
                return False
            for graph, names in subjects if closures else ():
                closure = closures.get(graph)
                if closure is None:
                    continue
                for name in names:
                    term = bindings.get(name)
                    if term is None or term in closure.individuals:
                        return False
        return True

    def may_mean(self, kinds: Kinds) -> bool:
        """Whether something that is inserted may be read."""
        return self._is_read(kinds.predicates, kinds.classes)

    def _learn(self, kinds: Kinds | None) -> _Subjects | None:
        """Whose quads must not be known for such an update to mean nothing; None: it may anyhow."""
        assert kinds is not None  # noqa: S101  (known from the beginning)
        found = None
        if SPECIAL.isdisjoint(kinds.graphs) and not (
            self.may_mean(kinds) or self._is_read(kinds.deleted, kinds.deleted_classes)
        ):
            names: dict[GraphName, list[str]] = {}
            for graph, name in kinds.deleted_of:
                names.setdefault(graph, []).append(name)
            found = tuple(names.items())
        if len(self._known) < _MOST_KNOWN:
            self._known[kinds] = found
        return found

    def _is_read(self, predicates: Set[Term] | None, classes: Set[Term]) -> bool:
        if predicates is None or not self._classes.isdisjoint(classes):
            return True
        return not self._meant.isdisjoint(predicates)


_MOST_KNOWN = 4096
"""Updates of which it is remembered what they may mean; the gateway's templates are some twenty."""
