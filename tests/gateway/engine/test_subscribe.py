"""`Engine.subscribe`: what each subscriber of an SPU has of its own, and what is refused."""

import pytest
from pyoxigraph import Literal

from gateway.engine import Engine
from gateway.errors import (
    GatewayError,
    NotFoundError,
    SparqlSyntaxError,
    UnsupportedQueryError,
    UpdateFailedError,
)

_QUERY = "SELECT ?o { <urn:s> <urn:p> ?o }"


def _insert(number: int) -> str:
    return f"INSERT DATA {{ <urn:s> <urn:p> {number} }}"


def test_subscribers_of_one_query_share_an_spu_and_count_for_themselves() -> None:
    engine = Engine.open(clock=lambda: 7)
    first = engine.subscribe(_QUERY, alias="first")
    engine.update(_insert(1))
    second = engine.subscribe(_QUERY, alias="second")
    outcome = engine.update(_insert(2))
    assert engine.statistics.spus == {"single pattern": 1}
    assert [(each.spuid, each.alias, each.sequence) for each in outcome.notifications] == [
        (first.spuid, "first", 2),
        (second.spuid, "second", 1),
    ]
    assert len(second.added) == 1
    assert {each.time for each in (first, second, *outcome.notifications)} == {7}


def test_spu_ends_with_its_last_subscriber() -> None:
    engine = Engine.open()
    spuids = [engine.subscribe(_QUERY).spuid for _ in range(2)]
    engine.unsubscribe(spuids[0])
    assert [each.spuid for each in engine.update(_insert(1)).notifications] == [spuids[1]]
    engine.unsubscribe(spuids[1])
    assert engine.update(_insert(2)).notifications == ()
    assert engine.statistics.spus == {"single pattern": 0}
    with pytest.raises(NotFoundError):
        engine.unsubscribe(spuids[1])


def test_new_subscriber_of_an_old_query_is_told_the_answer_of_now() -> None:
    engine = Engine.open()
    query = "SELECT (COUNT(*) AS ?n) { ?s <urn:p> ?o }"
    engine.subscribe(query)
    engine.update(_insert(1))
    engine.update(_insert(2))
    assert engine.subscribe(query).added == [{"n": Literal(2)}]


@pytest.mark.parametrize(
    ("query", "error"),
    [
        ("SELECT ?o { ?s ?p }", SparqlSyntaxError),
        # Only the store finds fault with this one, when it evaluates the first answer.
        ("SELECT ?o { ?s ?p ?o FILTER(TRUE) }", SparqlSyntaxError),
        ("DESCRIBE <urn:s>", UnsupportedQueryError),
        ("SELECT ?o { SERVICE <urn:x> { ?s ?p ?o } }", UnsupportedQueryError),
        ("SELECT (RAND() AS ?n) { ?s ?p ?o }", UnsupportedQueryError),
        ("CONSTRUCT { [] <urn:p> ?o } { ?s ?p ?o }", UnsupportedQueryError),
    ],
)
def test_refused_query_leaves_nothing_behind(query: str, error: type[GatewayError]) -> None:
    engine = Engine.open()
    with pytest.raises(error):
        engine.subscribe(query)
    assert engine.update(_insert(1)).notifications == ()
    assert engine.statistics.subscriptions == 0
    assert engine.statistics.lutt_hits + engine.statistics.lutt_misses == 0
    assert not any(engine.statistics.spus.values())


def test_update_that_fails_notifies_nobody() -> None:
    engine = Engine.open()
    engine.subscribe(_QUERY)
    with pytest.raises(UpdateFailedError):
        engine.update(f"{_insert(1)} ; DROP GRAPH <urn:nowhere>")
    assert engine.update(_insert(2)).notifications[0].sequence == 1
    assert engine.statistics.notifications == 1
