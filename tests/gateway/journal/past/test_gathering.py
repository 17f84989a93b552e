"""A query over time is answered as if all there ever was were in the store."""

from pathlib import Path
from random import Random

import pytest

from gateway.store.quad_store import QuadStore
from tests.gateway.journal.past.pasts import Past, solutions

TIMED = "?o sosa:madeBySensor ?s ; sosa:resultTime ?t ; sosa:hasSimpleResult ?v"


def query(chance: Random) -> str:
    """A text of the subset."""
    patterns = [
        "?o sosa:madeBySensor ?s",
        "?o sosa:resultTime ?t",
        "?o sosa:hasSimpleResult ?v",
        *chance.sample(
            (
                "?o sosa:observedProperty ?p",
                "?o sosa:hasFeatureOfInterest ?f",
                "?o sosa:hasResult/qudt:hasUnit ?u",
                "?o gw:timeSource ?c",
                "?o gw:message ?m . ?o2 gw:message ?m",
                "?o gw:ingestedAt ?i",
                "?o sosa:phenomenonTime/time:inXSDDateTimeStamp ?stamp",
                "?s rdfs:label ?label",
                "?s <urn:at> ?room . ?room rdfs:label ?floor",
                "?s sosa:observes ?any",
                "?f rdfs:label ?place",
                "?o gw:clockSuspect true",
            ),
            chance.randrange(4),
        ),
    ]
    chance.shuffle(patterns)
    where = " . ".join(patterns)
    for optional in chance.sample(
        (
            "OPTIONAL { ?o sosa:hasResult/qudt:hasUnit ?unit }",
            "OPTIONAL { ?s rdfs:label ?name }",
            "OPTIONAL { ?o gw:clockSuspect ?wrong }",
        ),
        chance.randrange(3),
    ):
        where += f" {optional}"
    times = ("2026-03-02T09:00:00Z", "2026-03-02T20:00:00.000001Z", "2026-03-01T12:00:00Z")
    for condition in chance.sample(
        (
            f'?t {chance.choice(("<", "<=", ">", ">=", "!="))} "{chance.choice(times)}"^^xsd:dateTime',
            "?s = <urn:s:1>",
            "?s IN (<urn:s:0>, <urn:s:2>)",
            "?v > 5 || isLiteral(?v)",
            "datatype(?v) != xsd:string",
            "STRSTARTS(STR(?s), 'urn:s')",
        ),
        chance.randrange(3),
    ):
        where += f" FILTER({condition})"
    kind = chance.randrange(4)
    if kind == 0:
        return f"SELECT ?s (COUNT(*) AS ?n) (MAX(?t) AS ?last) {{ {where} }} GROUP BY ?s"
    if kind == 1:
        return f"SELECT DISTINCT ?s {{ {where} }}"
    if kind == 2:
        return f"SELECT ?o ?t ?v {{ {{ {where} }} UNION {{ {TIMED} FILTER(?s = <urn:s:2>) }} }}"
    return f"SELECT * {{ {where} }}"


@pytest.fixture(scope="module", params=[1, 2, 3])
def past(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Past:
    """Three lives; some segments were ingested, of these some are gone, one came twice."""
    chance = Random(request.param)
    made = Past(tmp_path_factory.mktemp("past"))
    for seal in (True, True, False):
        made.live(chance, 40, seal=seal)
    sealed = made.sealed()
    taken = chance.sample(sealed, len(sealed) // 2)
    made.ingest(taken[:3])
    made.ingest(taken[3:])
    for path in taken[::2]:
        path.unlink()
    return made


@pytest.fixture(scope="module")
def truth(past: Past) -> QuadStore:
    return past.truth()


@pytest.mark.property
@pytest.mark.parametrize("seed", range(60))
def test_any_query_has_the_answer_of_a_store_with_all(
    past: Past, truth: QuadStore, seed: int
) -> None:
    text = query(Random(seed))
    found = past.gathered(text)
    assert found.missing == {}
    assert found.gaps == []
    assert solutions(QuadStore(found.store), text) == solutions(truth, text)
