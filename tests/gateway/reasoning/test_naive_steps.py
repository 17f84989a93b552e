"""The naive reasoner's steps: what came and went, undone steps, bounds and joint domains."""

import pytest
from pyoxigraph import NamedNode, Quad

from gateway.errors import DerivedLimitError, ForbiddenError, OntologyError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.reasoning.domains import Domain, Domains
from gateway.store.quad_store import QuadStore
from tests.kit.reasoning.cases import quads
from tests.kit.reasoning.naive import NaiveReasoner

G, J, K, INTO = (NamedNode("urn:g:" + name) for name in ("g", "j", "k", "into"))
DOMAINS = Domains(frozenset({G}), joint=(Domain(frozenset({J, K}), INTO),))
CHAIN = quads(":p a owl:TransitiveProperty .", ONTOLOGY_GRAPH)


def reasoner(*asserted: Quad, bound: int = 100) -> NaiveReasoner:
    store = QuadStore.open(None)
    store.apply(Delta(added=asserted))
    found = NaiveReasoner(store, DOMAINS, bound=bound)
    found.start()
    return found


def test_a_step_tells_what_came_and_what_went() -> None:
    tested = reasoner(*CHAIN)
    there = quads(":a :p :b . :b :p :c .", G)
    change = tested.step(Delta(added=there))
    assert set(change.added) == {*there, *quads(":a :p :c .", G)}
    assert set(tested.derived) == {*quads(":a :p :c .", G)}
    assert set(tested.step(Delta(removed=CHAIN)).removed) == {*CHAIN, *quads(":a :p :c .", G)}


def test_a_derived_quad_that_is_asserted_changes_nothing() -> None:
    tested = reasoner(*CHAIN, *quads(":a :p :b . :b :p :c .", G))
    assert tested.step(Delta(added=quads(":a :p :c .", G))).is_empty
    assert not len(tested.derived)
    assert tested.step(Delta(removed=quads(":a :p :c .", G))).is_empty
    assert len(tested.derived) == 1


def test_a_step_is_undone() -> None:
    tested = reasoner(*CHAIN, *quads(":a :p :b .", G))
    change = Delta(added=quads(":b :p :c .", G))
    first = tested.step(change)
    tested.undo(change)
    assert not len(tested.derived)
    assert tested.step(change) == first


def test_a_joint_domain_puts_its_conclusions_apart() -> None:
    tested = reasoner(*CHAIN)
    change = tested.step(
        Delta(added=(*quads(":a :p :b .", J), *quads(":b :p :c .", K)), graphs_created=(J, K))
    )
    assert tested.derived.match(None, None, None, INTO) == list(quads(":a :p :c .", INTO))
    assert change.graphs_created == (J, K, INTO)
    assert tested.step(Delta(removed=quads(":b :p :c .", K))).graphs_dropped == (INTO,)
    with pytest.raises(ForbiddenError):
        tested.step(Delta(added=quads(":a :p :b .", INTO)))


def test_graphs_of_their_own_are_not_joined() -> None:
    tested = reasoner(*CHAIN, *quads(":a :p :b .", G), *quads(":b :p :c .", J))
    assert not len(tested.derived)


def test_a_contradiction_stands_in_a_graph_of_its_own() -> None:
    tested = reasoner(*quads(":A owl:disjointWith :B .", ONTOLOGY_GRAPH), *quads(":x a :A .", G))
    change = tested.step(Delta(added=quads(":x a :B .", G)))
    assert change.graphs_created == (CONTRADICTIONS_GRAPH,)
    assert len(tested.derived.match(None, None, None, CONTRADICTIONS_GRAPH)) == 1
    assert len(tested.step(Delta(removed=quads(":x a :A .", G))).removed) == 2


def test_too_much_is_refused_and_changes_nothing() -> None:
    tested = reasoner(*CHAIN, bound=2)
    chain = quads(":a :p :b . :b :p :c . :c :p :d .", G)
    with pytest.raises(DerivedLimitError):
        tested.step(Delta(added=chain))
    assert len(tested.step(Delta(added=chain[:2])).added) == 3


def test_a_reading_beyond_the_bound_suspends_its_domain() -> None:
    tested = reasoner(*CHAIN, bound=2)
    chain = quads(":a :p :b . :b :p :c . :c :p :d .", G)
    assert len(tested.step(Delta(added=chain), is_reading=True).added) == 3
    assert list(tested.suspended) == [Domain.of_one(G)]
    tested.step(Delta(removed=chain[:1]))
    assert tested.suspended
    assert len(tested.resume().added) == 1
    assert not tested.suspended


def test_broken_axioms_are_refused_and_change_nothing() -> None:
    tested = reasoner(*CHAIN)
    with pytest.raises(OntologyError):
        tested.step(Delta(added=quads(":p owl:propertyChainAxiom :q .", ONTOLOGY_GRAPH)))
    assert len(tested.axioms) == 1
