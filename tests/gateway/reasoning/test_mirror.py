"""The mirror: what texts are evaluated on, filled when they need it, and no more than that."""

from dataclasses import dataclass, field

import pytest
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, QuerySolutions, Store

from gateway.errors import SuspendedError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import GraphName
from gateway.reasoning.domains import Domain, Domains
from gateway.reasoning.entailed import Entailed
from gateway.reasoning.mirror import Mirror
from gateway.reasoning.reasoner import Reasoner
from gateway.store.quad_store import QuadStore
from gateway.store.readable import Readable

D, G, H, INTO = DefaultGraph(), *(NamedNode(f"urn:{name}") for name in ("g", "h", "into"))


def quad(number: int, graph: GraphName = D) -> Quad:
    return Quad(NamedNode(f"urn:{number}"), NamedNode("urn:p"), NamedNode("urn:o"), graph)


@dataclass
class Mirrored:
    """What a mirror is of, and the mirror."""

    quads: dict[Quad, None] = field(default_factory=dict)
    graphs: set[NamedNode | BlankNode] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.asked: list[GraphName] = []
        self.mirror = Mirror(QuadStore(Store()), self.of, lambda: list(self.graphs))

    def of(self, graph: GraphName) -> list[Quad]:
        self.asked.append(graph)
        return [each for each in self.quads if each.graph_name == graph]

    def change(self, delta: Delta) -> None:
        for each in delta.removed:
            del self.quads[each]
        self.quads.update(dict.fromkeys(delta.added))
        self.graphs |= {*delta.graphs_created}
        self.graphs -= {*delta.graphs_dropped}
        self.mirror.take(delta)

    def found(self, *graphs: GraphName) -> set[Quad]:
        store = self.mirror.current(frozenset(graphs) or None)
        return set(store.match(None, None, None, None))


def test_only_graphs_that_are_looked_at_are_filled_and_once() -> None:
    source = Mirrored({quad(1): None, quad(2, G): None, quad(3, H): None}, {G, H})
    assert len(source.mirror) == 0
    assert source.found(D) == {quad(1)}
    assert source.found(D, G) == {quad(1), quad(2, G)}
    assert source.found(D) == {quad(1), quad(2, G)}
    assert source.asked == [D, G]
    assert source.found() == set(source.quads)
    assert source.asked == [D, G, H]
    assert source.found() == set(source.quads)
    assert len(source.mirror) == 3


def test_changes_wait_net_until_somebody_asks() -> None:
    source = Mirrored({quad(1): None, quad(2, G): None}, {G})
    source.change(Delta((quad(3),)))
    assert source.mirror.waiting == 0
    source.found(D)
    source.change(Delta((quad(4),), (quad(1),)))
    source.change(Delta((quad(5, G), quad(1)), (quad(4),)))
    assert source.mirror.waiting == 0
    source.change(Delta((quad(6),), (quad(3),)))
    assert source.mirror.waiting == 2
    assert source.found(D) == {quad(1), quad(6)}
    assert source.mirror.waiting == 0


def test_graphs_come_and_go_in_it_without_a_quad() -> None:
    source = Mirrored({quad(1): None}, {G})
    assert set(source.mirror.current(None).named_graphs()) == {G}
    source.change(Delta(graphs_created=(H,)))
    source.change(Delta(graphs_dropped=(G,)))
    assert set(source.mirror.current(None).named_graphs()) == {H}
    source.change(Delta((quad(1, INTO),), graphs_created=(INTO,)))
    source.change(Delta((), (quad(1, INTO),), graphs_dropped=(INTO,)))
    assert set(source.mirror.current(None).named_graphs()) == {H}


def test_where_more_waits_than_it_holds_it_is_dropped_and_filled_again() -> None:
    source = Mirrored({quad(0): None, quad(1, G): None}, {G})
    source.found(D, G)
    for number in range(1, 1_001):
        source.change(Delta((quad(number),)))
    assert (len(source.mirror), source.mirror.waiting) == (2, 1_000)
    source.change(Delta((quad(2_000),)))
    assert (len(source.mirror), source.mirror.waiting) == (0, 0)
    source.change(Delta((quad(2_001),)))
    assert source.mirror.waiting == 0
    assert source.found(D) == {each for each in source.quads if each.graph_name == D}
    assert (source.asked.count(D), source.asked.count(G)) == (2, 1)


# under the entailed view --------------------------------------------------------------------


@pytest.fixture
def entailed() -> Entailed:
    """Joint: `g` into `into`; `h` by itself; the default graph is in no domain."""
    domains = Domains(frozenset({H}), joint=(Domain(frozenset({G}), INTO),))
    store = QuadStore.open(None)
    symmetric = "http://www.w3.org/2002/07/owl#SymmetricProperty"
    kind = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    axiom = Quad(NamedNode("urn:p"), kind, NamedNode(symmetric), ONTOLOGY_GRAPH)
    asserted = (axiom, quad(1), quad(2, G), quad(3, H))
    store.apply(Delta(asserted, graphs_created=(G, H, ONTOLOGY_GRAPH)))
    reasoner = Reasoner(store, domains, bound=100)
    reasoner.start()
    return Entailed(store, reasoner, domains)


def asked(source: Entailed | Readable, text: str, dataset: Dataset | None = None) -> set[str]:
    results = source.query(text, dataset)
    assert isinstance(results, QuerySolutions)
    return {str(row[0]).strip("<>").removeprefix("urn:") for row in results}


@pytest.mark.parametrize(
    "text",
    ["SELECT ?s { ?s <urn:p> ?o }", "SELECT ?s { GRAPH <urn:g> { ?s <urn:p> ?o } }"],
    ids=["default graph", "premises of a joint domain"],
)
def test_texts_that_look_at_no_conclusions_need_no_mirror(entailed: Entailed, text: str) -> None:
    assert len(asked(entailed, text)) == 1
    assert entailed.mirror.filled == 0
    assert not entailed.is_about_domains(text, None)


def test_texts_see_both_and_look_ups_too(entailed: Entailed) -> None:
    assert asked(entailed, "SELECT ?s { GRAPH <urn:h> { ?s <urn:p> ?o } }") == {"3", "o"}
    assert entailed.mirror.filled == 1
    assert asked(entailed, "SELECT ?s { GRAPH <urn:into> { ?s <urn:p> ?o } }") == {"o"}
    everywhere = asked(entailed, "SELECT ?s { GRAPH ?g { ?s <urn:p> ?o } }")
    assert everywhere == {"2", "3", "o"}
    assert set(entailed.named_graphs()) == {G, H, INTO, ONTOLOGY_GRAPH}
    assert {each.graph_name for each in entailed.match(NamedNode("urn:o"), None, None, None)} == {
        H,
        INTO,
    }
    dataset = Dataset((H, INTO), ())
    assert asked(entailed, "SELECT ?s { ?s <urn:p> ?o }", dataset) == {"3", "o"}


def test_what_is_hidden_in_the_store_is_hidden_in_the_mirror(entailed: Entailed) -> None:
    text = "SELECT ?s { GRAPH ?g { ?s <urn:p> ?o } }"
    assert asked(entailed, text) == {"2", "3", "o"}
    assert asked(Readable(entailed, frozenset({G})), text) == {"2"}
    assert asked(Readable(entailed, frozenset({D, H})), text) == {"3", "o"}
    assert asked(Readable(entailed, frozenset({INTO})), text) == {"o"}
    named = "SELECT ?s FROM NAMED <urn:h> { GRAPH ?g { ?s ?p ?o } }"
    assert asked(Readable(entailed, frozenset({G})), named) == set()


def test_no_text_is_answered_by_a_part_of_what_follows() -> None:
    domains = Domains(frozenset({G, H}))
    store = QuadStore.open(None)
    symmetric = NamedNode("http://www.w3.org/2002/07/owl#SymmetricProperty")
    kind = NamedNode("http://www.w3.org/1999/02/22-rdf-syntax-ns#type")
    axiom = Quad(NamedNode("urn:p"), kind, symmetric, ONTOLOGY_GRAPH)
    store.apply(Delta((axiom, quad(1, H), *(quad(number, G) for number in range(9)))))
    reasoner = Reasoner(store, domains, bound=4)
    reasoner.start()
    view = Entailed(store, reasoner, domains)
    for text in (
        "SELECT ?s { GRAPH <urn:g> { ?s ?p ?o } }",
        "SELECT ?s { GRAPH ?g { ?s ?p ?o } }",
        f"SELECT ?s {{ GRAPH {CONTRADICTIONS_GRAPH} {{ ?s ?p ?o }} }}",
    ):
        with pytest.raises(SuspendedError):
            view.query(text)
    assert asked(view, "SELECT ?s { GRAPH <urn:h> { ?s ?p ?o } }") == {"1", "o"}
