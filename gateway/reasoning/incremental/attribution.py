"""Which axiom derives how much: for the refusal at the bound, and for who looks into the reasoner.

Place: beside `Reasoner`, on what its closures know; linear in the derived quads, never on the way
of an UPDATE that is taken.
"""

from collections import Counter
from collections.abc import Iterable, Iterator

from pyoxigraph import NamedNode

from gateway.rdf.terms import GraphName
from gateway.reasoning.incremental.chains import stands
from gateway.reasoning.incremental.closure import Closure
from gateway.reasoning.incremental.facts import Individual
from gateway.reasoning.incremental.program import Edges, Path
from gateway.reasoning.kinds import (
    Axiom,
    Chain,
    Conclusion,
    DomainOf,
    HasValue,
    Inverse,
    Only,
    RangeOf,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
)
from gateway.store.readable import Source

Pair = tuple[Individual, Individual]


def counted_by_axiom(
    closure: Closure, store: Source, graphs: Iterable[GraphName]
) -> Counter[Axiom]:
    """How many derived quads of a domain each axiom is a last step to; several may be to one."""
    facts = _Facts(closure, store, tuple(graphs))
    found: Counter[Axiom] = Counter()
    for axiom in closure.program.axioms:
        found[axiom] = sum(1 for _ in _concluded(facts, axiom))
    return +found


class _Facts:
    """All facts of a property that hold, kept by the closure or not."""

    def __init__(self, closure: Closure, store: Source, graphs: tuple[GraphName, ...]) -> None:
        self.closure = closure
        self._store = store
        self._graphs = graphs
        self._known: dict[NamedNode, set[Pair]] = {}

    def of(self, name: NamedNode) -> set[Pair]:
        """Subject and object of each."""
        found = self._known.get(name)
        if found is None:
            relation = self.closure.relations.get(name)
            if relation is not None and relation.is_kept:
                found = {(one, other) for one in relation.out for other in relation.objects(one)}
            else:
                found = set(self._asserted(name))
            self._known[name] = found
        return found

    def _asserted(self, name: NamedNode) -> Iterator[Pair]:
        individuals = self.closure.individuals
        for graph in self._graphs:
            for quad in self._store.match(None, name, None, graph):
                one, other = individuals.get(quad.subject), individuals.get(quad.object)
                if one is not None:
                    yield one, other or Individual(quad.object)

    def derived(self, name: NamedNode) -> Iterator[Pair]:
        """The facts of a property that are not asserted."""
        relation = self.closure.relations.get(name)
        return iter(()) if relation is None else relation.derived()


def _concluded(facts: _Facts, axiom: Axiom) -> Iterator[object]:
    match axiom:
        case SubClass(sub, sup):
            bit = 1 << facts.closure.program.bits.condition(sub)
            members = [x for x in facts.closure.individuals.values() if x.types & bit]
            yield from _given(facts, members, sup)
        case DomainOf(name, cls):
            yield from _given(facts, {one for one, _ in facts.of(name)}, cls)
        case RangeOf(name, cls):
            ends = {other for _, other in facts.of(name) if not other.is_literal}
            yield from _given(facts, ends, cls)
        case _:
            yield from _related(facts, axiom)


def _related(facts: _Facts, axiom: Axiom) -> Iterator[Pair]:
    match axiom:
        case SubProperty(sub, sup) | Chain((sub,), sup):
            yield from facts.of(sub).intersection(facts.derived(sup))
        case Inverse(first, second):
            yield from _turned(facts, first, second)
            if first != second:
                yield from _turned(facts, second, first)
        case Symmetric(name):
            yield from _turned(facts, name, name)
        case Transitive(name):
            yield from _by_paths(facts, name, Path((name, Edges(name)), name))
        case Chain(parts, sup):
            yield from _by_paths(facts, sup, Path(parts, sup))
        case _:
            pass


def _by_paths(facts: _Facts, name: NamedNode, path: Path) -> Iterator[Pair]:
    relations = facts.closure.relations
    return (pair for pair in facts.derived(name) if stands(relations, path, *pair))


def _turned(facts: _Facts, name: NamedNode, head: NamedNode) -> Iterator[Pair]:
    premises = facts.of(name)
    return ((one, other) for one, other in facts.derived(head) if (other, one) in premises)


def _given(facts: _Facts, members: Iterable[Individual], cls: Conclusion) -> Iterator[object]:
    """The derived quads that members of a class have by this."""
    match cls:
        case HasValue(name, value):
            relation = facts.closure.relations.get(name)
            object_ = facts.closure.individuals.get(value)
            if relation is not None and object_ is not None:
                derived = set(facts.derived(name))
                yield from (each for each in members if (each, object_) in derived)
        case Only(name, filler):
            wanted = set(members)
            ends = {two for one, two in facts.of(name) if one in wanted and not two.is_literal}
            yield from _given(facts, ends, filler)
        case _:
            mask = facts.closure.program.classes.get(cls, 0) & facts.closure.program.bits.visible
            yield from (each for each in members if mask & each.types & ~each.asserted)
