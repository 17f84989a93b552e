"""Limits of the first answer: a specific error, and everything else as it was."""

from time import sleep

import pytest

from gateway.engine import Engine, Limits
from gateway.engine.limits import bounded, limited
from gateway.errors import QueryTimeoutError, TooManySolutionsError

FEW, MANY = "SELECT ?s { ?s <urn:few> ?o }", "SELECT ?s { ?s <urn:many> ?o }"


@pytest.fixture
def engine() -> Engine:
    engine = Engine.open(limits=Limits(solutions=5))
    engine.update("INSERT DATA { <urn:a> <urn:few> 1, 2, 3, 4, 5 }")
    engine.update("INSERT DATA { <urn:a> <urn:many> 1, 2, 3, 4, 5, 6 . <urn:a> <urn:x> <urn:b> }")
    return engine


@pytest.mark.parametrize(
    "text",
    [
        MANY,
        "SELECT ?s ?o { ?s <urn:many> ?o . ?s <urn:x> ?b }",
        "SELECT DISTINCT ?s ?o { ?s <urn:many> ?o . ?s <urn:x> ?b }",
        "SELECT DISTINCT ?o { ?s <urn:many> ?o OPTIONAL { ?s <urn:y> ?b } }",
        "SELECT ?o (COUNT(*) AS ?n) { ?s <urn:many> ?o } GROUP BY ?o",
        "SELECT * { ?s <urn:many> ?o OPTIONAL { ?s <urn:few> ?f } }",
        "SELECT ?o { ?s <urn:many> ?o } ORDER BY ?o",
        "CONSTRUCT { ?s <urn:p> ?o } WHERE { ?s <urn:many> ?o }",
    ],
)
def test_subscription_with_too_many_solutions_is_refused(engine: Engine, text: str) -> None:
    first = engine.subscribe(FEW)
    units = dict(engine.statistics.spus)
    with pytest.raises(TooManySolutionsError, match=r"more than 5 solutions .*query_solutions"):
        engine.subscribe(text)
    assert {tier: n for tier, n in engine.statistics.spus.items() if n} == units
    outcome = engine.update("INSERT DATA { <urn:a> <urn:few> 6 ; <urn:many> 7 }")
    assert [each.spuid for each in outcome.notifications] == [first.spuid]


@pytest.mark.parametrize(
    "text",
    [
        FEW,
        "SELECT (COUNT(*) AS ?n) { ?s ?p ?o }",
        "SELECT DISTINCT ?s { ?s <urn:many> ?o . ?s <urn:x> ?b }",
        "SELECT ?o { ?s <urn:many> ?o } LIMIT 5",
        "ASK { ?s <urn:many> ?o . ?t <urn:many> ?p }",
    ],
)
def test_solutions_count_and_not_what_they_are_made_of(engine: Engine, text: str) -> None:
    assert engine.subscribe(text).added


def test_answer_that_grows_later_is_told(engine: Engine) -> None:
    spuid = engine.subscribe(FEW).spuid
    outcome = engine.update("INSERT DATA { <urn:a> <urn:few> 6, 7 }")
    assert [len(each.added) for each in outcome.notifications] == [2]
    with pytest.raises(TooManySolutionsError):
        engine.subscribe(FEW)
    outcome = engine.update("INSERT DATA { <urn:a> <urn:few> 8 }")
    assert [each.spuid for each in outcome.notifications] == [spuid]


def test_first_answer_that_takes_too_long_is_refused() -> None:
    engine = Engine.open(limits=Limits(seconds=0.05))
    numbers = " ".join(map(str, range(100)))
    values = " ".join(f"VALUES ?v{place} {{ {numbers} }}" for place in range(4))
    with pytest.raises(QueryTimeoutError, match=r"longer than 0\.05 s .*query_s"):
        engine.subscribe(f"SELECT * {{ {values} }}")
    assert engine.statistics.subscriptions == 0
    assert engine.update("INSERT DATA { <urn:a> <urn:b> 1 }").notifications == ()


def test_time_runs_from_the_beginning_of_the_block() -> None:
    with limited(Limits(seconds=0.01)):
        sleep(0.02)
        with pytest.raises(QueryTimeoutError):
            list(bounded([1]))
    assert list(bounded([1])) == [1]
