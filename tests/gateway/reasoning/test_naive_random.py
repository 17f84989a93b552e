"""The naive fixpoint against owlrl on random axioms and data; proofs of all that it derives."""

from collections.abc import Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, NamedNode, Quad

from gateway.engine.lutt import LuttEntry
from gateway.errors import OntologyError
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import GraphName
from gateway.reasoning.axioms import Axioms
from gateway.reasoning.why import Proof, proof
from gateway.store.quad_store import QuadStore
from tests.gateway.reasoning.proof_rules import check
from tests.gateway.reasoning.ranks import ranks
from tests.kit.reasoning.fixpoint.closure import Closure, Fact, Schema
from tests.kit.reasoning.naive import NaiveReasoner
from tests.kit.reasoning.others import about_individuals, by_owlrl
from tests.kit.reasoning.random_axioms import (
    CLASSES,
    FOR_OTHERS,
    INDIVIDUALS,
    PROPERTIES,
    TYPE,
    Statement,
)
from tests.kit.reasoning.random_worlds import ONE, PLAIN, Asserted, World, worlds

quick = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

_node = st.sampled_from(INDIVIDUALS)
_facts = st.one_of(
    st.builds(Quad, _node, st.sampled_from(PROPERTIES), _node),
    st.builds(Quad, _node, st.just(TYPE), st.sampled_from(CLASSES)),
)


def _fact(quad: Quad) -> Fact:
    assert isinstance(quad.subject, NamedNode | BlankNode)
    return quad.subject, quad.predicate, quad.object


@pytest.mark.property
@quick
@given(st.lists(FOR_OTHERS, min_size=1, max_size=6), st.lists(_facts, min_size=1, max_size=8))
def test_naive_is_owlrl(statements: list[Statement], data: list[Quad]) -> None:
    axioms = [quad for number, each in enumerate(statements) for quad in each.quads(number)]
    closure = Closure(Schema(axioms))
    closure.add(map(_fact, data))
    theirs = by_owlrl([*axioms, *data])
    assert about_individuals(closure.facts) == about_individuals(theirs)


@pytest.mark.property
@settings(quick, max_examples=20)
@given(worlds(most_steps=0))
def test_everything_derived_has_a_proof(world: World) -> None:
    check_proofs(world)


@pytest.mark.property
@pytest.mark.slow
@pytest.mark.timeout(3600)
@settings(quick, max_examples=2_000, derandomize=False)
@given(worlds(most_steps=0))
def test_everything_derived_in_many_worlds_has_a_proof(world: World) -> None:
    check_proofs(world)


def check_proofs(world: World) -> None:
    asserted = Asserted(world)
    asserted.apply(asserted.turn(world.first))
    reasoner = NaiveReasoner(asserted.store, world.domains, bound=100_000)
    try:
        reasoner.start()
    except OntologyError:
        return
    entailed = QuadStore.open(None)
    entailed.apply(Delta(added=(*asserted.quads, *reasoner.derived)))
    depths: dict[GraphName, dict[Fact, int]] = {}
    for quad in reasoner.derived:
        found = proof(
            quad, reasoner.axioms, world.domains, asserted.store, entailed, most=1_000_000
        )
        depth = check(found, asserted.store)
        if quad.graph_name not in (ONTOLOGY_GRAPH, CONTRADICTIONS_GRAPH):
            if quad.graph_name not in depths:
                depths[quad.graph_name] = shallowest(asserted, reasoner.axioms, quad.graph_name)
            assert depth == depths[quad.graph_name][_fact(quad)]
        told = proof(
            quad,
            reasoner.axioms,
            world.domains,
            asserted.store,
            entailed,
            sees=_hiding(quad),
        )
        assert not {ONE, PLAIN} & graphs(told) - {quad.graph_name}
        entry = LuttEntry(quad.subject, quad.predicate, quad.object, quad.graph_name)
        assert reasoner.concludes(entry)


def _hiding(quad: Quad) -> Callable[[GraphName], bool]:
    """Who may not read two of the graphs, but that of the quad."""
    return lambda graph: graph not in (ONE, PLAIN) or graph == quad.graph_name


def graphs(told: Proof) -> set[GraphName]:
    """The graphs of all conclusions that a proof shows; what is hidden shows nothing."""
    if told.conclusion is None:
        assert told == Proof(None)
        return set()
    return {told.conclusion.graph_name}.union(*map(graphs, told.premises))


def shallowest(asserted: Asserted, axioms: Axioms, into: GraphName) -> dict[Fact, int]:
    """The depths of the shallowest proofs in a graph, found forwards."""
    domains = asserted.world.domains
    joint = [each for each in domains.joint if each.into == into]
    graphs = joint[0].graphs if joint else {into}
    return ranks(axioms, [_fact(each) for each in asserted.quads if each.graph_name in graphs])
