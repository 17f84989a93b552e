"""The engine's clock in SPARQL: `gw:clock()` and NOW(), one value for an UPDATE and its SPUs."""

from datetime import UTC, datetime

import pytest
from pyoxigraph import Literal, NamedNode, QuerySolutions

from gateway.engine import Engine, Outcome
from gateway.rdf.namespaces import CLOCK, XSD
from gateway.store.clock import with_clock

START = 1_700_000_000_123_456


class FakeClock:
    """Goes on by a second whenever it is read, and by hand."""

    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> int:
        self.time += 1_000_000
        return self.time


def now(time: int) -> Literal:
    stamp = datetime.fromtimestamp(time // 1_000_000, UTC).strftime("%Y-%m-%dT%H:%M:%S")
    return Literal(f"{stamp}.{time % 1_000_000:06}Z", datatype=NamedNode(XSD + "dateTime"))


@pytest.fixture
def engine() -> Engine:
    return Engine.open(clock=FakeClock())


def objects(engine: Engine, predicate: str) -> set[str]:
    found = engine.query(f"SELECT ?o {{ ?s <urn:{predicate}> ?o }}")
    assert isinstance(found, QuerySolutions)
    return {str(row["o"]) for row in found}


def rows(outcome: Outcome, variable: str) -> list[object]:
    return [row[variable] for each in outcome.notifications for row in each.added]


def test_update_and_its_spus_see_one_time_in_both_forms(engine: Engine) -> None:
    engine.subscribe(f"SELECT ?s ({CLOCK}() AS ?t) (NOW() AS ?n) {{ ?s <urn:at> ?at }}")
    outcome = engine.update(
        f"INSERT {{ <urn:a> <urn:at> ?t ; <urn:now> ?n }} WHERE {{ BIND({CLOCK}() AS ?t) "
        "BIND(now ( ) AS ?n) } ; "
        f"INSERT {{ ?s <urn:later> ?t, ?n }} WHERE {{ ?s <urn:at> ?x BIND({CLOCK}() AS ?t) "
        "BIND(Now() AS ?n) }"
    )
    assert objects(engine, "at") == {str(Literal(outcome.time))}
    assert objects(engine, "now") == {str(now(outcome.time))}
    assert objects(engine, "later") == {str(Literal(outcome.time)), str(now(outcome.time))}
    assert rows(outcome, "t") == [Literal(outcome.time)]
    assert rows(outcome, "n") == [now(outcome.time)]
    assert [each.time for each in outcome.notifications] == [outcome.time]


def test_query_has_one_time_for_all_its_rows(engine: Engine) -> None:
    engine.update("INSERT DATA { <urn:a> <urn:p> 1, 2, 3 }")
    found = engine.query(f"SELECT ({CLOCK}() AS ?t) (NOW() AS ?n) {{ ?s <urn:p> ?o }}")
    assert isinstance(found, QuerySolutions)
    seen = {(row["t"], row["n"]) for row in found}
    assert len(seen) == 1
    ((time, stamp),) = seen
    assert isinstance(time, Literal)
    assert stamp == now(int(time.value))


def test_subscription_is_told_by_every_update_and_never_by_time_alone(engine: Engine) -> None:
    first = engine.subscribe(f"SELECT ?s {{ ?s <urn:until> ?u FILTER(?u > {CLOCK}()) }}")
    until = START + 20_000_000
    engine.update(f"INSERT DATA {{ <urn:a> <urn:until> {until} }}")
    for _ in range(20):
        engine.query("ASK {}")
        engine.query(f"SELECT ({CLOCK}() AS ?t) {{}}")
    nothing = engine.update("DELETE DATA { <urn:nobody> <urn:is> <urn:here> }")
    assert nothing.delta.is_empty
    assert nothing.time > until
    ((notification),) = nothing.notifications
    assert (notification.spuid, notification.sequence) == (first.spuid, 2)
    assert [dict(row) for row in notification.removed] == [{"s": NamedNode("urn:a")}]
    assert engine.update("DELETE DATA { <urn:nobody> <urn:is> <urn:here> }").notifications == ()


def test_later_subscriber_of_the_same_text_begins_with_its_own_time(engine: Engine) -> None:
    text = "SELECT (NOW() AS ?n) {}"
    for _ in range(2):
        first = engine.subscribe(text)
        assert [dict(row) for row in first.added] == [{"n": now(first.time)}]
    outcome = engine.update("INSERT DATA { <urn:a> <urn:b> 1 }")
    assert rows(outcome, "n") == [now(outcome.time)] * 2
    for notification in outcome.notifications:
        engine.unsubscribe(notification.spuid)
    assert engine.update("INSERT DATA { <urn:a> <urn:b> 2 }").notifications == ()
    assert not any(engine.statistics.spus.values())


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p 'NOW()' }",
        "SELECT * { ?s <urn:NOW()> ?o } # NOW()",
        "PREFIX now: <urn:now> SELECT ?now { ?now now:NOW ?o }",
        '''SELECT * { ?s ?p """NOW()\u00e9""" }''',
    ],
)
def test_now_is_replaced_nowhere_but_in_calls(text: str) -> None:
    assert with_clock(text) == text


def test_now_is_replaced_also_where_it_is_written_by_codepoints(engine: Engine) -> None:
    found = engine.query("SELECT (\\u004EOW() AS ?n) (now # this\n () AS ?m) {}")
    assert isinstance(found, QuerySolutions)
    row = next(iter(found))
    assert row["n"] == row["m"]
    assert str(row["n"]).startswith('"2023-11-14T')
