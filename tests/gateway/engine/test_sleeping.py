"""Queries that sleep until what they need is said: never told late, and nothing is done before."""

import pytest
from pyoxigraph import Literal, NamedNode

from gateway.engine import Engine, Outcome

ABLE = """SELECT ?sensor ?unit { ?sensor <urn:able> ?capability . ?capability <urn:range> ?range
  OPTIONAL { ?range <urn:unit> ?unit } }"""
ALIKE = "SELECT * {{ ?a <urn:able> <urn:c{}> . OPTIONAL {{ ?a <urn:unit> ?unit }} }}"


def _told(outcome: Outcome) -> list[tuple[int, int]]:
    return [(len(each.added), len(each.removed)) for each in outcome.notifications]


def _updates(engine: Engine, query: str) -> int:
    return engine.explain(query).costs.updates


def test_nothing_is_done_for_a_query_that_lacks_something() -> None:
    engine = Engine.open()
    engine.subscribe(ABLE)
    assert not engine.update("INSERT DATA { <urn:r> <urn:unit> <urn:degree> }").notifications
    assert not engine.update("INSERT DATA { <urn:c> <urn:range> <urn:r> }").notifications
    assert _updates(engine, ABLE) == 0
    outcome = engine.update("INSERT DATA { <urn:s> <urn:able> <urn:c> }")
    assert _told(outcome) == [(1, 0)]
    assert dict(outcome.notifications[0].added[0])["unit"] == NamedNode("urn:degree")
    assert _updates(engine, ABLE) == 1


def test_what_wakes_may_come_with_the_rest_of_it() -> None:
    engine = Engine.open()
    engine.subscribe(ABLE)
    outcome = engine.update("""INSERT DATA {
      <urn:s> <urn:able> <urn:c> . <urn:c> <urn:range> <urn:r> .
      <urn:r> <urn:unit> <urn:degree> , <urn:kelvin> }""")
    assert _told(outcome) == [(2, 0)]


def test_it_stays_awake_when_what_woke_it_has_gone() -> None:
    engine = Engine.open()
    engine.subscribe(ABLE)
    engine.update("INSERT DATA { <urn:s> <urn:able> <urn:c> . <urn:c> <urn:range> <urn:r> }")
    assert _told(engine.update("DELETE DATA { <urn:s> <urn:able> <urn:c> }")) == [(0, 1)]
    engine.update("INSERT DATA { <urn:r> <urn:unit> <urn:degree> }")
    assert _told(engine.update("INSERT DATA { <urn:s> <urn:able> <urn:c> }")) == [(1, 0)]


def test_an_update_that_takes_what_is_looked_up_may_wake() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:c> <urn:range> <urn:r> . <urn:r> <urn:unit> <urn:degree> }")
    engine.subscribe(ABLE)
    outcome = engine.update("""DELETE DATA { <urn:r> <urn:unit> <urn:degree> } ;
      INSERT DATA { <urn:s> <urn:able> <urn:c> }""")
    assert _told(outcome) == [(1, 0)]
    assert "unit" not in dict(outcome.notifications[0].added[0])


def test_one_that_slept_is_ended_without_a_trace() -> None:
    engine = Engine.open()
    first = engine.subscribe(ABLE)
    engine.unsubscribe(first.spuid)
    assert not engine.update("INSERT DATA { <urn:s> <urn:able> <urn:c> }").notifications
    engine.subscribe(ABLE)
    assert _told(engine.update("INSERT DATA { <urn:c> <urn:range> <urn:r> }")) == [(1, 0)]


@pytest.mark.parametrize("members", [2, 5])
def test_families_do_not_sleep(members: int) -> None:
    engine = Engine.open()
    for number in range(members):
        engine.subscribe(ALIKE.format(number))
    assert engine.explain(ALIKE.format(0)).alike == members
    engine.update("INSERT DATA { <urn:a> <urn:unit> 1 }")
    assert _told(engine.update("INSERT DATA { <urn:a> <urn:able> <urn:c1> }")) == [(1, 0)]
    assert _told(engine.update("INSERT DATA { <urn:a> <urn:able> <urn:c0> }")) == [(1, 0)]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        pytest.param("ASK { ?s <urn:able> ?c FILTER EXISTS { ?c <urn:unit> ?u } }", [], id="ask"),
        pytest.param(
            "SELECT (COUNT(*) AS ?n) { ?s <urn:able> ?c OPTIONAL { ?c <urn:unit> ?u } }",
            [{"n": Literal(0)}],
            id="a count of nothing",
        ),
    ],
)
def test_forms_of_answers(query: str, first: list[dict[str, Literal]]) -> None:
    engine, oracle = Engine.open(), Engine.open(oracle=True)
    for each in (engine, oracle):
        rows = each.subscribe(query).added
        assert [dict(row) for row in rows] == first
    for text in (
        "INSERT DATA { <urn:c> <urn:unit> 1 }",
        "INSERT DATA { <urn:s> <urn:able> <urn:c> }",
        "DELETE DATA { <urn:c> <urn:unit> 1 }",
        "DELETE DATA { <urn:s> <urn:able> <urn:c> }",
    ):
        assert _told(engine.update(text)) == _told(oracle.update(text))
