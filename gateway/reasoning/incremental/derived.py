"""`DerivedQuads`: what follows now, looked up as a store's quads; nothing is kept twice."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Protocol

from pyoxigraph import DefaultGraph, Quad

from gateway.rdf.canonical import canonical
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.incremental.closure import Closure
from gateway.reasoning.incremental.facts import ASSERTED, OPAQUE, Individual, Relation
from gateway.reasoning.incremental.program import TYPE
from gateway.store.readable import GraphNode


class Apart(Protocol):
    """Derived quads of one graph that no closure keeps."""

    def __len__(self) -> int:
        """How many they are."""

    def __contains__(self, quad: Quad) -> bool:
        """Whether it is one of them."""

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard."""


class DerivedQuads:
    """The derived quads of all domains, of the ontology graph, and the contradictions."""

    def __init__(
        self,
        closures: Callable[[], Mapping[GraphName, Closure]],
        apart: Mapping[GraphName, Apart],
    ) -> None:
        """`closures` by the graph of their conclusions, `apart` the graphs of other ones."""
        self._closures = closures
        self._apart = apart

    def __len__(self) -> int:
        sizes = sum(closure.size for closure in self._closures().values())
        return sizes + sum(len(index) for index in self._apart.values())

    def __iter__(self) -> Iterator[Quad]:
        return iter(self.match(None, None, None, None))

    def graphs(self) -> list[GraphNode]:
        """The named graphs that hold derived quads."""
        found = [graph for graph, closure in self._closures().items() if closure.size]
        found += [graph for graph, index in self._apart.items() if len(index)]
        return [graph for graph in found if not isinstance(graph, DefaultGraph)]

    def holds(self, graph: GraphName) -> bool:
        """Whether anything is derived in the graph."""
        if (index := self._apart.get(graph)) is not None:
            return len(index) > 0
        closure = self._closures().get(graph)
        return closure is not None and closure.size > 0

    def contains(self, quad: Quad) -> bool:
        """Whether the quad is derived now."""
        graph = quad.graph_name
        if (index := self._apart.get(graph)) is not None:
            return quad in index
        closure = self._closures().get(graph)
        if closure is None:
            return False
        subject = closure.individuals.get(quad.subject)
        if subject is None:
            return False
        predicate, object_ = quad.predicate, quad.object
        if predicate == TYPE:
            mask = closure.program.classes.get(object_, 0) & closure.program.bits.visible
            return mask & subject.types & ~subject.asserted != 0
        relation = closure.relations.get(predicate)
        other = closure.individuals.get(object_)
        return relation is not None and other is not None and _is_derived(relation, subject, other)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        """The derived quads of a pattern; None is a wildcard.

        A look-up where subject or object is given; linear in the members of a class, or the facts
        of a property, where they are not.
        """
        if isinstance(object_, OPAQUE):
            object_ = canonical(object_)
        found: list[Quad] = []
        if graph is not None:
            closure = self._closures().get(graph)
            if closure is not None:
                return _matches(closure, subject, predicate, object_)
            if (index := self._apart.get(graph)) is not None:
                found += index.match(subject, predicate, object_, None)
            return found
        for index in self._apart.values():
            found += index.match(subject, predicate, object_, None)
        for closure in self._closures().values():
            found += _matches(closure, subject, predicate, object_)
        return found


def _is_derived(relation: Relation, subject: Individual, object_: Individual) -> bool:
    row = relation.out.get(subject)
    support = 0 if row is None else row.get(object_, 0)
    return support > 0 and not support & ASSERTED


def _matches(
    closure: Closure, subject: Term | None, predicate: Term | None, object_: Term | None
) -> list[Quad]:
    one = None if subject is None else closure.individuals.get(subject)
    if subject is not None and one is None:
        return []
    if predicate is not None:
        if predicate == TYPE:
            return [*_types(closure, one, object_)]
        relation = closure.relations.by_name.get(predicate)  # type: ignore[arg-type]
        if relation is None:
            return []
        relations = [relation]
        found: list[Quad] = []
    else:
        relations = list(closure.relations.by_name.values())
        found = [*_types(closure, one, object_)]
    other = None if object_ is None else closure.individuals.get(object_)
    if object_ is None or other is not None:
        for relation in relations:
            if relation.is_shown:
                found += _facts(closure, relation, one, other)
    return found


def _types(closure: Closure, one: Individual | None, cls: Term | None) -> Iterator[Quad]:
    program, quad = closure.program, closure.quad
    mask = program.bits.visible
    if cls is not None:
        mask &= program.classes.get(cls, 0)
    if not mask:
        return
    if one is not None:
        chosen: Iterable[Individual] = (one,)
    else:
        chosen = closure.individuals.values() if cls is None else closure.members(mask)
    for each in chosen:
        for name in program.names(each.types & ~each.asserted & mask):
            yield quad(each.term, TYPE, name)


def _facts(
    closure: Closure, relation: Relation, one: Individual | None, other: Individual | None
) -> Iterator[Quad]:
    name, quad = relation.name, closure.quad
    if one is not None and other is not None:
        pairs: Iterable[tuple[Individual, Individual]] = (
            ((one, other),) if _is_derived(relation, one, other) else ()
        )
    elif one is not None:
        row = relation.out.get(one, {})
        pairs = [(one, o) for o, support in row.items() if support > 0 and not support & ASSERTED]
    elif other is not None:
        subjects = relation.into.get(other, ()) if relation.is_kept else ()
        pairs = [(each, other) for each in subjects if _is_derived(relation, each, other)]
    else:
        pairs = relation.derived()
    for subject, object_ in pairs:
        yield quad(subject.term, name, object_.term)
