"""Domains: which graphs are reasoned on, together or each alone."""

from collections.abc import Callable

import pytest
from pyoxigraph import DefaultGraph, NamedNode

from gateway.errors import ConfigurationError
from gateway.rdf.namespaces import MAPPINGS_GRAPH, ONTOLOGY_GRAPH
from gateway.reasoning.domains import Domain, Domains

A, B, C, INTO = (NamedNode("urn:g:" + name) for name in ("a", "b", "c", "into"))
JOINT = Domain(frozenset({A, B}), INTO)


def test_a_listed_graph_is_a_domain_of_its_own() -> None:
    domains = Domains(frozenset({A, B}))
    assert domains.of(A) == Domain(frozenset({A}), A)
    assert domains.of(C) is None
    assert not domains.writes_refused(A)


def test_a_joint_domain_puts_its_conclusions_elsewhere() -> None:
    domains = Domains(joint=(JOINT,))
    assert domains.of(A) is domains.of(B) is JOINT
    assert domains.of(INTO) is None
    assert domains.writes_refused(INTO)
    assert JOINT.is_joint


def test_all_others_leave_out_joint_ones_and_the_gateways_own() -> None:
    domains = Domains(all_others=True, joint=(JOINT,))
    assert domains.of(C) == Domain.of_one(C)
    assert domains.of(DefaultGraph()) == Domain.of_one(DefaultGraph())
    assert domains.of(A) is JOINT
    assert [domains.of(graph) for graph in (INTO, MAPPINGS_GRAPH, ONTOLOGY_GRAPH)] == [None] * 3


@pytest.mark.parametrize(
    "make",
    [
        lambda: Domains(frozenset({A}), joint=(JOINT,)),
        lambda: Domains(frozenset({INTO}), joint=(JOINT,)),
        lambda: Domains(joint=(JOINT, Domain(frozenset({C}), INTO))),
        lambda: Domains(frozenset({ONTOLOGY_GRAPH})),
        lambda: Domains(joint=(Domain(frozenset({A}), MAPPINGS_GRAPH),)),
    ],
    ids=["also listed", "into listed", "into twice", "own", "into own"],
)
def test_no_graph_is_in_two_domains_nor_an_own_one(make: Callable[[], Domains]) -> None:
    with pytest.raises(ConfigurationError):
        make()
