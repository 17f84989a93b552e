"""`NaiveReasoner`: the entailed view computed from nothing at each step, to compare others with.

Place: an oracle, with the interface of `gateway.reasoning.reasoner.Reasoner`. A step costs as much
as the closure of everything.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Protocol

from pyoxigraph import DefaultGraph, NamedNode, Quad, Triple

from gateway.errors import DerivedLimitError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.axioms import (
    Axiom,
    Axioms,
    Chain,
    Conclusion,
    Disjoint,
    DomainOf,
    HasValue,
    Inverse,
    Only,
    RangeOf,
    SubClass,
    SubProperty,
    Symmetric,
    Transitive,
    read_axioms,
)
from gateway.reasoning.domains import SCHEMA, Domain, Domains
from gateway.reasoning.incremental.parting import AllKinds, Among, Parted
from gateway.reasoning.relevance import NOTHING_MATTERS, Relevance
from gateway.store.quad_index import QuadIndex
from gateway.store.readable import GraphNode, Source
from gateway.store.update import BoundUpdate
from tests.kit.reasoning.fixpoint.closure import (
    DOMAIN,
    NOTHING,
    RANGE,
    SUB_CLASS,
    SUB_PROPERTY,
    TYPE,
    Closure,
    Schema,
)
from tests.kit.reasoning.fixpoint.schema import schema_closure


class NaiveDerived:
    """The derived quads, looked up as a store's."""

    def __init__(self, quads: Iterable[Quad] = ()) -> None:
        self._index = QuadIndex()
        self._index.add(quads)

    def __len__(self) -> int:
        return len(self._index.quads)

    def __iter__(self) -> Iterator[Quad]:
        return iter(self._index.quads)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        """The derived quads of a pattern; None is a wildcard."""
        return self._index.match(subject, predicate, object_, graph)

    def contains(self, quad: Quad) -> bool:
        """Whether the quad is derived now."""
        return quad in self._index.quads

    def graphs(self) -> list[GraphNode]:
        """The named graphs that hold derived quads."""
        names = dict.fromkeys(quad.graph_name for quad in self._index.quads)
        return [name for name in names if not isinstance(name, DefaultGraph)]


_Place = tuple[NamedNode, Term | None, GraphName | None]
"""Predicate, object and graph of conclusions; a graph None is that of a domain's conclusions."""


_ABSURD: _Place = (NOTHING, NOTHING, CONTRADICTIONS_GRAPH)
"""What follows of a member of owl:Nothing, be it asserted without any axiom."""


class Pattern(Protocol):
    """A quad pattern as `LuttEntry` is one; None is a wildcard."""

    @property
    def subject(self) -> Term | None:
        """Who."""

    @property
    def predicate(self) -> Term | None:
        """What is said."""

    @property
    def object(self) -> Term | None:
        """What it is said of."""

    @property
    def graph(self) -> GraphName | None:
        """Where."""


@dataclass(frozen=True, slots=True)
class _State:
    """What is asserted and what follows from it, at one moment."""

    asserted: frozenset[Quad]
    graphs: frozenset[GraphNode]
    axioms: Axioms
    schema: Schema
    derived: NaiveDerived
    suspended: Mapping[Domain, str]

    def exists(self, graph: GraphNode) -> bool:
        """Whether the graph is there in the entailed view, of those that may be derived."""
        return graph in self.graphs or bool(self.derived.match(None, None, None, graph))


class NaiveReasoner:
    """The interface of `Reasoner`; each step is linear in the closure of everything."""

    def __init__(self, store: Source, domains: Domains, *, bound: int) -> None:
        self._store = store
        self._domains = domains
        self._bound = bound
        self._into = frozenset(
            each.into for each in domains.joint if not isinstance(each.into, DefaultGraph)
        ) | {CONTRADICTIONS_GRAPH}
        self._state = _State(
            frozenset(), frozenset(), read_axioms(()), Schema(()), NaiveDerived(), {}
        )
        self._before = self._state

    @property
    def axioms(self) -> Axioms:
        """What the ontology graph says; the same object until that changes."""
        return self._state.axioms

    @property
    def derived(self) -> NaiveDerived:
        """What follows now; another object after each step."""
        return self._state.derived

    @property
    def suspended(self) -> Mapping[Domain, str]:
        """The domains of which nothing is derived, each with the reason."""
        return self._state.suspended

    def start(self) -> None:
        """Take up what the store holds; raises OntologyError."""
        asserted = frozenset(self._store.match(None, None, None, None))
        graphs = frozenset(graph for graph in self._into if self._store.contains_graph(graph))
        self._state = self._entailed(asserted, graphs, {}, frozenset(), refuses=False)

    def parted(self, delta: Delta, kinds: AllKinds, relevance: Relevance) -> Parted | None:
        """All of a reading, if nothing is relevant; None too where it says axioms, or is wrong."""
        del kinds
        touched = {quad.graph_name for quad in (*delta.added, *delta.removed)}
        special = self._into | {ONTOLOGY_GRAPH, *delta.graphs_created, *delta.graphs_dropped}
        may_wait = relevance == NOTHING_MATTERS and touched.isdisjoint(special)
        return Parted(Delta(), Delta(), delta) if may_wait else None

    def is_silent(self, bound: Iterable[BoundUpdate]) -> bool:
        """It looks at everything."""
        del bound
        return False

    def step(self, delta: Delta, *, is_reading: bool = False, among: Among = None) -> Delta:
        """The change of what is asserted and follows; never of a part.

        Raises ForbiddenError, OntologyError, and DerivedLimitError unless `is_reading`; then
        nothing has changed.
        """
        assert among is None
        self._require_writable(delta)
        state = self._state
        asserted = (state.asserted - set(delta.removed)) | set(delta.added)
        graphs = (state.graphs - set(delta.graphs_dropped)) | set(delta.graphs_created)
        touched = {quad.graph_name for quad in (*delta.added, *delta.removed)}
        kept = {} if ONTOLOGY_GRAPH in touched else state.suspended
        self._before = state
        self._state = self._entailed(
            asserted, graphs & self._into, kept, frozenset(touched), refuses=not is_reading
        )
        return _change(state, self._state, delta, self._into)

    def undo(self, delta: Delta) -> None:
        """Forget the last step."""
        self._state = self._before

    def resume(self) -> Delta:
        """Derive again what is suspended."""
        state = self._state
        self._state = self._entailed(state.asserted, state.graphs, {}, frozenset(), refuses=False)
        return _change(state, self._state, Delta(), self._into)

    def concludes(self, entry: Pattern) -> bool:
        """Whether a rule could conclude a quad of the pattern, be there premises or not."""
        heads = {place for axiom in self.axioms for place in self._places(axiom)} | {_ABSURD}
        return any(
            entry.predicate in (None, predicate)
            and (None in (entry.object, object_) or entry.object == object_)
            and self._is_target(entry.graph, graph)
            for predicate, object_, graph in heads
        )

    def derived_by_axiom(self) -> Counter[Axiom]:
        """How many derived quads each axiom is the last step to; several may be to one."""
        count: Counter[Axiom] = Counter()
        for axiom in self.axioms:
            for predicate, object_, graph in self._places(axiom):
                found = self.derived.match(None, predicate, object_, graph)
                count[axiom] += sum(self._is_target(q.graph_name, graph) for q in found)
        return +count

    def _places(self, axiom: Axiom) -> Iterator[_Place]:
        """Where the conclusions of an axiom stand."""
        match axiom:
            case Disjoint(first, second):
                yield first, second, CONTRADICTIONS_GRAPH
            case SubClass(_, sup):
                yield SUB_CLASS, None, ONTOLOGY_GRAPH
                yield from _conclusions(sup)
            case DomainOf(_, cls) | RangeOf(_, cls):
                yield DOMAIN if isinstance(axiom, DomainOf) else RANGE, None, ONTOLOGY_GRAPH
                yield from _conclusions(cls)
            case SubProperty(_, sup) | Chain(_, sup):
                for predicate in (SUB_PROPERTY, DOMAIN, RANGE):
                    yield predicate, None, ONTOLOGY_GRAPH
                yield sup, None, None
            case Inverse(first, second):
                yield first, None, None
                yield second, None, None
            case Symmetric(prop) | Transitive(prop):
                yield prop, None, None

    def _is_target(self, graph: GraphName | None, place: GraphName | None) -> bool:
        """Whether conclusions for `place`, None for a domain's, can stand in the graph."""
        if graph is None:
            return True
        if place is not None:
            return place == graph
        domain = self._domains.of(graph)
        is_plain = domain is not None and domain.into == graph
        return is_plain or any(each.into == graph for each in self._domains.joint)

    def _require_writable(self, delta: Delta) -> None:
        named = {quad.graph_name for quad in (*delta.added, *delta.removed)}
        self._domains.require_writable(named | {*delta.graphs_created, *delta.graphs_dropped})

    def _entailed(
        self,
        asserted: frozenset[Quad],
        graphs: frozenset[GraphNode],
        kept: Mapping[Domain, str],
        touched: frozenset[GraphName],
        *,
        refuses: bool,
    ) -> _State:
        """Close each domain, those that did not change first: what passes the bound is new."""
        ontology = [quad for quad in asserted if quad.graph_name == ONTOLOGY_GRAPH]
        axioms, schema = self._state.axioms, self._state.schema
        if len(ontology) != len(schema.facts) or ONTOLOGY_GRAPH in touched:
            axioms, schema = read_axioms(ontology), Schema(ontology)
        parts: dict[Domain, list[Quad]] = {SCHEMA: ontology}
        for quad in asserted:
            domain = self._domains.of(quad.graph_name)
            if domain is not None:
                parts.setdefault(domain, []).append(quad)
        found: dict[Quad, None] = {}
        suspended = dict(kept)
        for domain in sorted(parts, key=lambda each: (bool(each.graphs & touched), str(each.into))):
            if domain in suspended:
                continue
            new = _derived(domain, parts[domain], schema, self._bound - len(found))
            if new is not None:
                found.update(dict.fromkeys(quad for quad in new if quad not in asserted))
            elif refuses:
                raise DerivedLimitError(f"more than {self._bound} quads would follow")
            else:
                suspended[domain] = f"more than {self._bound} derived quads"
        return _State(asserted, graphs, axioms, schema, NaiveDerived(found), suspended)


def _derived(
    domain: Domain, asserted: list[Quad], schema: Schema, most: int
) -> Iterable[Quad] | None:
    """What follows and is not asserted, contradictions too; None for more than `most`."""
    facts = {
        (quad.subject, quad.predicate, quad.object)
        for quad in asserted
        if not isinstance(quad.subject, Triple)
    }
    if domain == SCHEMA:
        found = [Quad(*fact, ONTOLOGY_GRAPH) for fact in schema_closure(schema) - schema.facts]
        return found if len(found) <= most else None
    closure = Closure(schema, len(facts) + most)
    closure.add(facts)
    if closure.is_too_much:
        return None
    found = [Quad(*fact, domain.into) for fact in closure.facts - facts]
    found += [Quad(*each, CONTRADICTIONS_GRAPH) for each in closure.contradictions()]
    return found if len(found) <= most else None


def _conclusions(conclusion: Conclusion) -> Iterator[_Place]:
    match conclusion:
        case HasValue(prop, value):
            yield prop, value, None
        case Only(_, filler):
            yield from _conclusions(filler)
        case _ if conclusion == NOTHING:
            yield _ABSURD
        case _:
            yield TYPE, conclusion, None


def _change(before: _State, after: _State, delta: Delta, special: Iterable[GraphNode]) -> Delta:
    """E(t) − E(t−1) and E(t−1) − E(t), with the graphs that came and went."""
    special = frozenset(special)
    created = [graph for graph in delta.graphs_created if graph not in special]
    dropped = [graph for graph in delta.graphs_dropped if graph not in special]
    for graph in special:
        then, now = before.exists(graph), after.exists(graph)
        if then != now:
            (created if now else dropped).append(graph)
    return Delta(
        tuple(_missing((*delta.added, *after.derived), before)),
        tuple(_missing((*delta.removed, *before.derived), after)),
        tuple(created),
        tuple(dropped),
    )


def _missing(quads: Iterable[Quad], state: _State) -> dict[Quad, None]:
    """The quads that the entailed view did not have."""
    return {
        quad: None
        for quad in quads
        if quad not in state.asserted and not state.derived.contains(quad)
    }
