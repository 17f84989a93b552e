"""Views oracle: with infer, notifications add up to the answer on what is asserted and follows.

Random axioms come and go among random UPDATEs, random queries are subscribed on either view, with
rights and datasets; `engine_session` compares each after every step with the query evaluated on the
naive fixpoint of what is asserted, in a store of its own.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, NamedNode

from gateway.engine import Engine
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, OWL, RDFS
from gateway.rdf.terms import GraphName
from gateway.reasoning.domains import Domain, Domains
from gateway.reasoning.reasoning import Reasoning
from tests.gateway.engine.engine_session import Step, Subscribe, Unsubscribe, Update, check
from tests.gateway.engine.engine_strategies import State, queries, requests, states

pytestmark = pytest.mark.property

_ALL_CHECKS = list(HealthCheck)
quick = settings(
    max_examples=120, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)
long = settings(max_examples=10_000, deadline=None, suppress_health_check=_ALL_CHECKS)

G, H, A = (NamedNode(f"urn:{name}") for name in "gha")
_GRAPHS: tuple[GraphName, ...] = (DefaultGraph(), G, H, A)

_SCHEMAS = (
    "<urn:p> rdfs:subPropertyOf <urn:q>",
    "<urn:q> rdfs:subPropertyOf <urn:p>",
    "<urn:p> owl:inverseOf <urn:q>",
    "<urn:q> a owl:SymmetricProperty",
    "<urn:p> a owl:TransitiveProperty",
    "<urn:q> owl:propertyChainAxiom (<urn:p> <urn:q>)",
    "<urn:p> rdfs:domain [ owl:onProperty <urn:q> ; owl:hasValue <urn:c> ]",
    "<urn:b> rdfs:subClassOf <urn:c>",
    "<urn:p> rdfs:range <urn:b>",
)
"""The queries of the oracles look at `urn:p` and `urn:q`; the last two conclude types alone."""

_PREFIXES = f"PREFIX rdfs: <{RDFS}> PREFIX owl: <{OWL}> "


def axiom(schema: str, *, is_added: bool) -> str:
    """The UPDATE that brings an axiom, or takes away those of its first triple."""
    if is_added:
        return f"{_PREFIXES}INSERT DATA {{ GRAPH {ONTOLOGY_GRAPH} {{ {schema} }} }}"
    subject, predicate, *_ = schema.split()
    pattern = f"GRAPH {ONTOLOGY_GRAPH} {{ {subject} {predicate} ?o }}"
    return f"{_PREFIXES}DELETE WHERE {{ {pattern} }}"


domains = st.sampled_from(
    [
        Domains(frozenset({DefaultGraph(), G})),
        Domains(frozenset({G}), all_others=True),
        Domains(joint=(Domain(frozenset({DefaultGraph(), G}), A),)),
        Domains(frozenset({H}), joint=(Domain(frozenset({G, DefaultGraph()}), A),)),
    ]
)
axioms = st.builds(
    lambda schema, is_added: Update(axiom(schema, is_added=is_added)),
    st.sampled_from(_SCHEMAS),
    st.sampled_from([True, True, False]),
)
_graph_sets = st.sampled_from([(), (), (), (G,), (H,), (G, H)])
_readable = st.one_of(
    st.none(), st.none(), st.sets(st.sampled_from(_GRAPHS), min_size=1).map(frozenset)
)
subscribes = st.builds(
    Subscribe,
    st.integers(0, 5),
    _graph_sets,
    _graph_sets,
    st.sampled_from([True] * 3 + [False]),
    _readable,
)
steps = st.one_of(
    *[st.builds(Update, requests(most=2))] * 3,
    st.builds(Update, requests(most=1), st.just(False), st.just(True)),
    st.builds(Update, requests(most=2), st.just(True)),
    axioms,
    axioms,
    subscribes,
    st.builds(Unsubscribe, st.integers(0, 9)),
)
query_lists = st.lists(queries(), min_size=2, max_size=6)
beginnings = st.tuples(st.lists(subscribes, min_size=2, max_size=6), st.lists(axioms, max_size=2))


def play(
    domains: Domains, state: State, texts: list[str], beginning: list[Step], taken: list[Step]
) -> None:
    engine = Engine.open(reasoning=Reasoning(domains, at_once=False))
    check(engine, state, texts, [*beginning, *taken], before=engine.start_reasoning)


@quick
@given(domains, states, query_lists, beginnings, st.lists(steps, min_size=3, max_size=10))
def test_notifications_add_up_to_the_answer_on_either_view(
    domains: Domains,
    state: State,
    texts: list[str],
    beginning: tuple[list[Step], list[Step]],
    taken: list[Step],
) -> None:
    play(domains, state, texts, [*beginning[0], *beginning[1]], taken)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(domains, states, query_lists, beginnings, st.lists(steps, min_size=4, max_size=12))
def test_notifications_add_up_to_the_answer_on_either_view_in_the_long_run(
    domains: Domains,
    state: State,
    texts: list[str],
    beginning: tuple[list[Step], list[Step]],
    taken: list[Step],
) -> None:
    play(domains, state, texts, [*beginning[0], *beginning[1]], taken)
