"""Random data over several graphs, and steps that change them and the axioms.

A world begins with axioms and data; each step adds and removes some of both at once, as an UPDATE
may. Terms are few, odd ones among them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, Triple

from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta, GraphNode
from gateway.rdf.namespaces import ONTOLOGY_GRAPH
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.reasoning.domains import Domain, Domains
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.odd_literals import ODD_LITERALS
from tests.kit.reasoning.random_axioms import (
    CLASSES,
    INDIVIDUALS,
    NOTHING,
    PROPERTIES,
    STATEMENTS,
    THING,
    TYPE,
    VALUES,
    Statement,
)

PLAIN, OTHER, ONE, TWO, INTO, OUTSIDE = (
    NamedNode(f"urn:g:{name}") for name in ("plain", "other", "one", "two", "into", "outside")
)
SOME = Domains(frozenset({PLAIN, OTHER}), joint=(Domain(frozenset({ONE, TWO}), INTO),))
ALL = Domains(all_others=True, joint=(Domain(frozenset({ONE, TWO}), INTO),))
GRAPHS: tuple[GraphName, ...] = (
    *(PLAIN, PLAIN, PLAIN, PLAIN, ONE, ONE, TWO, TWO),
    *(OTHER, OUTSIDE, DEFAULT_GRAPH),
)

_NODES = (*INDIVIDUALS, *INDIVIDUALS[:2], BlankNode("m"))
_ODD: tuple[Term, ...] = (
    *ODD_LITERALS,
    Literal("v" * 5_000),
    Literal("v", language="en"),
    Triple(INDIVIDUALS[0], PROPERTIES[0], Literal("v")),
    Triple(INDIVIDUALS[0], TYPE, CLASSES[0]),
    BlankNode("n"),
    *CLASSES[:1],
)


def _facts() -> st.SearchStrategy[tuple[NamedNode | BlankNode, NamedNode, Term]]:
    node, edge = st.sampled_from(_NODES), st.sampled_from(PROPERTIES)
    return st.one_of(
        *[st.tuples(node, edge, node)] * 4,
        *[st.tuples(node, st.just(TYPE), st.sampled_from(CLASSES))] * 3,
        st.tuples(node, edge, st.sampled_from(VALUES)),
        st.tuples(node, edge, st.sampled_from(_ODD)),
        st.tuples(
            node, st.just(TYPE), st.sampled_from((THING, NOTHING, BlankNode("n"), Literal("A")))
        ),
    )


def _quad(fact: tuple[NamedNode | BlankNode, NamedNode, Term], graph: GraphName) -> Quad:
    return canonical_quad(Quad(*fact, graph))


QUADS: st.SearchStrategy[Quad] = st.builds(_quad, _facts(), st.sampled_from(GRAPHS))


@dataclass(frozen=True, slots=True)
class Change:
    """Places in the world's lists of quads and axioms that turn: what is there goes, and back."""

    quads: tuple[int, ...] = ()
    axioms: tuple[int, ...] = ()
    drops: GraphNode | None = None
    is_undone_first: bool = False


@dataclass(frozen=True, slots=True)
class World:
    """Quads and axioms that may be there, those that are at first, and the changes."""

    domains: Domains
    quads: tuple[Quad, ...]
    axioms: tuple[Statement, ...]
    first: Change
    changes: tuple[Change, ...]

    def said(self, number: int) -> tuple[Quad, ...]:
        """The quads of an axiom."""
        return self.axioms[number % len(self.axioms)].quads(number % len(self.axioms))


def _changes() -> st.SearchStrategy[Change]:
    places = st.lists(st.integers(0, 59), max_size=6).map(tuple)
    axioms = st.one_of(
        *[st.just(())] * 2, st.lists(st.integers(0, 19), min_size=1, max_size=3).map(tuple)
    )
    dropped: st.SearchStrategy[GraphNode | None] = st.one_of(
        *[st.none()] * 9, st.sampled_from((PLAIN, ONE, ONTOLOGY_GRAPH))
    )
    return st.builds(Change, places, axioms, dropped, st.booleans())


def _all_but(most: int) -> st.SearchStrategy[tuple[int, ...]]:
    """Places below `most`, without some."""
    left_out = st.sets(st.integers(0, most - 1), max_size=most // 3)
    return left_out.map(lambda some: tuple(place for place in range(most) if place not in some))


def worlds(
    statements: st.SearchStrategy[Statement] = STATEMENTS, most_steps: int = 8
) -> st.SearchStrategy[World]:
    """Worlds with axioms of these kinds."""
    return st.builds(
        World,
        st.sampled_from((SOME, ALL)),
        st.lists(QUADS, min_size=40, max_size=60).map(tuple),
        st.lists(statements, min_size=12, max_size=20).map(tuple),
        st.builds(Change, _all_but(40), _all_but(12)),
        st.lists(_changes(), min_size=most_steps // 2, max_size=most_steps).map(tuple),
    )


@dataclass(slots=True)
class Asserted:
    """What is asserted in a world, and the net Delta of each change."""

    world: World
    store: QuadStore = field(default_factory=lambda: QuadStore.open(None))
    quads: dict[Quad, None] = field(default_factory=dict[Quad, None])
    graphs: set[GraphNode] = field(default_factory=set[GraphNode])

    def turn(self, change: Change) -> Delta:
        """The Delta that turns what the change names; `apply` makes it."""
        after = dict(self.quads)
        if change.drops is not None:
            after = {quad: None for quad in after if quad.graph_name != change.drops}
        for place in dict.fromkeys(change.quads):
            _flip(after, (self.world.quads[place % len(self.world.quads)],))
        for number in dict.fromkeys(place % len(self.world.axioms) for place in change.axioms):
            _flip(after, self.world.said(number))
        dropped = {change.drops} & self.graphs if change.drops is not None else set()
        named = {quad.graph_name for quad in after if not isinstance(quad.graph_name, DefaultGraph)}
        return Delta(
            tuple(quad for quad in after if quad not in self.quads),
            tuple(quad for quad in self.quads if quad not in after),
            _sorted(named - self.graphs),
            _sorted(dropped - named),
        )

    def apply(self, delta: Delta) -> None:
        """Assert it."""
        self.store.apply(delta)
        for quad in delta.removed:
            del self.quads[quad]
        self.quads.update(dict.fromkeys(delta.added))
        self.graphs |= set(delta.graphs_created)
        self.graphs -= set(delta.graphs_dropped)


def _flip(quads: dict[Quad, None], some: Sequence[Quad]) -> None:
    """Take them away where all are there, add them where not."""
    if all(quad in quads for quad in some):
        for quad in some:
            del quads[quad]
    else:
        quads.update(dict.fromkeys(some))


def _sorted(graphs: Iterable[GraphNode]) -> tuple[GraphNode, ...]:
    return tuple(sorted(graphs, key=str))
