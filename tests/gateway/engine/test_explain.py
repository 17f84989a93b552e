"""`Engine.explain`: the tier of a query, why no cheaper one, whom it shares with, what it costs."""

import pytest
from pyoxigraph import NamedNode

from gateway.engine import Engine
from gateway.engine.lutt import EVERYTHING, LuttEntry
from gateway.errors import SparqlSyntaxError
from gateway.rdf.terms import DEFAULT_GRAPH

P, Q = NamedNode("urn:p"), NamedNode("urn:q")


def road(name: str) -> str:
    return f"SELECT ?x ?y {{ ?x <urn:p> ?y . ?z <urn:q> ?x FILTER(?z = <urn:{name}>) }}"


@pytest.mark.parametrize(
    ("query", "tier", "refused"),
    [
        ("SELECT ?o { <urn:s> <urn:p> ?o }", "single pattern", {}),
        (road("a"), "booster", {}),
        ("SELECT * { ?s <urn:p> ?o OPTIONAL { ?s <urn:q> ?x } }", "incremental", {"booster"}),
        ("SELECT * { ?s <urn:p>* ?o }", "requery", {"booster", "incremental"}),
    ],
)
def test_tier_and_reasons_of_a_query_that_nobody_subscribed(
    query: str, tier: str, refused: set[str]
) -> None:
    engine = Engine.open()
    found = engine.explain(query)
    assert (found.tier, set(found.refused), found.is_subscribed) == (tier, set(refused), False)
    assert f"would be served by the tier: {tier}" in str(found)
    assert all(reason in str(found) for reason in found.refused.values())
    assert engine.statistics.subscriptions == 0
    assert not engine.update("INSERT DATA { <urn:s> <urn:p> 1 }").notifications


def test_members_of_a_shape_share_unit_and_costs_and_have_their_own_hits() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:a> <urn:q> <urn:x> . <urn:b> <urn:q> <urn:y> }")
    for name in "abc":
        engine.subscribe(road(name))
    engine.update("INSERT DATA { <urn:x> <urn:p> 1, 2 }")
    engine.update("INSERT DATA { <urn:c> <urn:q> <urn:z> }")
    found = [engine.explain(road(name)) for name in "abc"]
    assert [each.hits for each in found] == [1, 1, 2]
    assert {(each.members, each.parameters) for each in found} == {(3, 1)}
    assert {(each.costs.updates, each.costs.rows) for each in found} == {(2, 2)}
    assert found[0].costs.time_ns > 0
    assert found[0].lutt == (
        LuttEntry(None, P, None, DEFAULT_GRAPH),
        LuttEntry(None, Q, None, DEFAULT_GRAPH),
    )
    assert list(found[0].cts.values()) == [2, 3]
    assert "shared by 3 SPUs that differ in 1 constants" in str(found[0])


def test_oracle_looks_at_everything() -> None:
    assert Engine.open(oracle=True).explain(road("a")).lutt == (EVERYTHING,)


def test_wrong_query_is_refused() -> None:
    with pytest.raises(SparqlSyntaxError):
        Engine.open().explain("SELECT ?o { ?s ?p }")
