"""What a policy lets an identity do."""

import pytest
from pyoxigraph import DefaultGraph, NamedNode

from gateway.errors import ForbiddenError
from gateway.rdf.namespaces import (
    CONTRADICTIONS_GRAPH,
    DELAYED_GRAPH,
    MAPPINGS_GRAPH,
    ONTOLOGY_GRAPH,
    STATE_GRAPH,
)
from gateway.security.guard import OpenGuard
from gateway.security.policy import EVERYTHING, Capability, Policy, covers
from gateway.security.principal import ANYONE, Principal

MINE, THEIRS = NamedNode("urn:mine"), NamedNode("urn:theirs")


def test_a_policy_without_words_allows_nothing() -> None:
    nobody = Policy()
    for rights in (nobody.query_rights, nobody.subscribe_rights, nobody.update_rights):
        assert not rights.may_read(DefaultGraph())
        assert not rights.may_write(DefaultGraph())
    assert not nobody.may_publish("a")
    assert not nobody.may_receive("a")
    assert not nobody.may_subscribe("a")


def test_the_where_of_an_update_reads_what_a_query_may() -> None:
    policy = Policy(query=frozenset({MINE}), update=frozenset({THEIRS}))
    rights = policy.update_rights
    assert rights.may_read(MINE)
    assert not rights.may_read(THEIRS)
    assert rights.may_write(THEIRS)
    assert not rights.may_write(MINE)


def test_the_graphs_of_the_gateway_are_seen_and_touched_by_capabilities() -> None:
    everything = Policy(None, None, None)
    assert everything.query_rights.may_read(MAPPINGS_GRAPH)
    for graph in (MAPPINGS_GRAPH, STATE_GRAPH, DELAYED_GRAPH):
        assert not everything.update_rights.may_read(graph)
        assert not everything.update_rights.may_write(graph)
        assert EVERYTHING.update_rights.may_write(graph)
    assert everything.update_rights.may_write(MINE)
    mapper = Policy(capabilities=frozenset({Capability.MAPPINGS})).update_rights
    assert mapper.may_write(MAPPINGS_GRAPH)
    assert not mapper.may_write(STATE_GRAPH)
    assert not mapper.may_write(MINE)
    named = Policy(update=frozenset({DELAYED_GRAPH})).update_rights
    assert not named.may_write(DELAYED_GRAPH)


def test_axioms_are_written_by_a_capability_of_their_own() -> None:
    everything = Policy(None, None, None, capabilities=frozenset({Capability.MAPPINGS}))
    assert everything.query_rights.may_read(ONTOLOGY_GRAPH)
    for graph in (ONTOLOGY_GRAPH, CONTRADICTIONS_GRAPH):
        assert not everything.update_rights.may_write(graph)
    reasoner = Policy(capabilities=frozenset({Capability.ONTOLOGY})).update_rights
    assert reasoner.may_write(ONTOLOGY_GRAPH)
    assert not reasoner.may_write(CONTRADICTIONS_GRAPH)
    assert not reasoner.may_write(MAPPINGS_GRAPH)


def test_a_query_and_a_subscription_write_nothing() -> None:
    assert not EVERYTHING.query_rights.may_write(MINE)
    assert not EVERYTHING.subscribe_rights.may_write(MINE)


@pytest.mark.parametrize(
    ("allowed", "asked", "is_covered"),
    [
        ("#", "#", True),
        ("#", "a/+/b", True),
        ("#", "$SYS/#", False),
        ("+/a", "$SYS/a", False),
        ("a/#", "a", True),
        ("a/#", "a/b/#", True),
        ("a/#", "+/b", False),
        ("a/+", "a", False),
        ("a/+", "a/+", True),
        ("a/+", "a/b/c", False),
        ("a/+", "a/#", False),
        ("a/b", "a/+", False),
        ("a", "a/#", False),
        ("a/+/c", "a/b/c", True),
        ("a/+/c", "a/b/#", False),
        ("+", "", True),
        ("a/", "a", False),
    ],
)
def test_a_topic_filter_covers_another(allowed: str, asked: str, is_covered: bool) -> None:
    assert covers(allowed, asked) is is_covered


def test_a_missing_capability_is_named() -> None:
    with pytest.raises(ForbiddenError, match="mappings"):
        Principal("anna", Policy()).require(Capability.MAPPINGS)


def test_anyone_may_do_everything_and_for_ever() -> None:
    guard = OpenGuard()
    principal = guard.principal("Bearer of bad news")
    assert principal is ANYONE
    principal.require(Capability.OPERATIONS)
    stop = guard.watch(principal, lambda _: pytest.fail("the rights of anyone ended"))
    stop()
    stop()
