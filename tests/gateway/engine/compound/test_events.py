"""Which requests make compound events, and who is told of them (docs/events.md)."""

from collections import Counter
from pathlib import Path
from unittest.mock import patch

import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad

from gateway.engine import Engine, Limits, Notification, Rights, SubscribeRequest
from gateway.engine.compound.event_keeping import EventKeeping, recorded_place
from gateway.engine.request import UpdateRequest
from gateway.errors import (
    BadRequestError,
    GatewayError,
    StorageError,
    TooComplexError,
    TooManySolutionsError,
    UnsupportedQueryError,
)
from gateway.journal.event_log import EventLog
from gateway.rdf.namespaces import STATE_GRAPH
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term
from gateway.store.graph_store import post, put
from gateway.store.quad_store import QuadStore

EVERY = "SELECT ?o { ?s <urn:p> ?o }"
NAMED = "SELECT ?g ?o { GRAPH ?g { ?s <urn:p> ?o } }"


def stated(engine: Engine, text: str) -> list[list[str]]:
    """The values that each event of a request told the only subscription."""
    return [values(each) for each in engine.update(text).notifications]


def values(told: Notification) -> list[str]:
    return sorted(_value(row["o"]) for row in told.added)


def _value(term: Term) -> str:
    assert isinstance(term, Literal | NamedNode)
    return term.value


def subscribed(query: str = EVERY, **members: object) -> Engine:
    engine = Engine.open(**members)  # type: ignore[arg-type]
    engine.subscribe(query, mode="event")
    return engine


def test_a_retry_is_no_event() -> None:
    engine = subscribed()
    text = "INSERT DATA { <urn:s> <urn:p> 1, 2 }"
    assert stated(engine, text) == [["1", "2"]]
    assert stated(engine, text) == []


def test_what_is_stated_again_beside_something_new_is_in_the_event() -> None:
    engine = subscribed()
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    assert stated(engine, "INSERT DATA { <urn:s> <urn:p> 1, 2 }") == [["1", "2"]]


def test_each_graph_has_an_event_of_its_own() -> None:
    engine = subscribed(NAMED)
    text = "INSERT DATA { <urn:s> <urn:p> 1 GRAPH <urn:g> { <urn:s> <urn:p> 2 } }"
    told = engine.update(text).notifications
    graphs = {each.events[0].graph: values(each) for each in told if each.events}
    position = engine.events.places.last
    here = f"https://sosa-gateway.example/id/gateway/event/{position}"
    assert graphs == {here: ["1"], "urn:g": ["2"]}
    assert [each.sequence for each in told] == [1, 2]


def test_a_template_states_what_it_makes() -> None:
    engine = subscribed()
    engine.update("INSERT DATA { <urn:a> <urn:q> 1, 2 }")
    assert stated(engine, "INSERT { ?s <urn:p> ?o } WHERE { ?s <urn:q> ?o }") == [["1", "2"]]
    assert stated(engine, "INSERT { ?s <urn:p> ?o } WHERE { ?s <urn:q> ?o }") == []


def test_an_exchanged_value_is_an_event_and_the_same_value_is_none() -> None:
    engine = subscribed()
    exchange = (
        "DELETE {{ <urn:s> <urn:p> ?o }} INSERT {{ <urn:s> <urn:p> {0} }} "
        "WHERE {{ OPTIONAL {{ <urn:s> <urn:p> ?o }} }}"
    )
    assert stated(engine, exchange.format(1)) == [["1"]]
    assert stated(engine, exchange.format(2)) == [["2"]]
    assert stated(engine, exchange.format(2)) == []
    assert stated(engine, "DELETE DATA { <urn:s> <urn:p> 2 }") == []


def test_copies_are_no_events() -> None:
    engine = subscribed(NAMED)
    engine.update("INSERT DATA { GRAPH <urn:g> { <urn:s> <urn:p> 1 } }")
    for text in ("COPY <urn:g> TO <urn:h>", "ADD <urn:g> TO <urn:i>", "MOVE <urn:g> TO <urn:j>"):
        assert engine.update(text).delta.added
        assert stated(engine, text.replace("MOVE <urn:g>", "MOVE <urn:j>")) == []


def test_the_graphs_of_the_gateway_make_no_events() -> None:
    engine = subscribed(NAMED)
    assert stated(engine, f"INSERT DATA {{ GRAPH {STATE_GRAPH} {{ <urn:s> <urn:p> 1 }} }}") == []


@pytest.mark.parametrize("plan", [put, post])
def test_graph_store_requests_are_events(plan: object) -> None:
    engine = subscribed()
    graph = NamedNode("urn:g")
    quads = [Quad(NamedNode("urn:s"), NamedNode("urn:p"), NamedNode("urn:o"), graph)]
    request = UpdateRequest([(plan(graph, quads), {})])  # type: ignore[operator]
    (told,) = engine.update(request).notifications
    assert told.events is not None
    assert [each.graph for each in told.events] == ["urn:g"]
    assert not engine.update(request).notifications


def test_a_delayed_request_is_an_event_when_it_is_executed() -> None:
    time = iter(range(1_000_000, 9_000_000, 1_000_000))
    engine = subscribed(clock=lambda: next(time))
    assert not engine.update("INSERT DATA { <urn:s> <urn:p> 1 }", at=1_000_001).notifications
    outcome = engine.run_due()
    assert outcome is not None
    assert [values(each) for each in outcome.notifications] == [["1"]]


def test_positions_are_in_the_order_of_requests() -> None:
    engine = subscribed()
    positions = []
    for number in range(12):
        (told,) = engine.update(f"INSERT DATA {{ <urn:s> <urn:p> {number} }}").notifications
        positions.append(engine.events.places.last)
        assert told.events is not None
        assert told.events[0].position == str(positions[-1])
    assert positions == sorted(set(positions))


def test_nothing_is_noted_while_nobody_asks() -> None:
    engine = subscribed()
    last = engine.events.places.last
    engine.unsubscribe(engine.subscribe(EVERY).spuid)
    for spuid in list(engine._subscriptions):
        engine.unsubscribe(spuid)
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    assert not engine.events.is_wanted
    assert engine.events.places.last == last
    assert not engine.statistics.spus["event join"]


def test_an_ask_is_told_that_it_is_true_at_each_event() -> None:
    engine = subscribed("ASK { ?s <urn:p> ?o FILTER(?o > 1) }")
    told = [
        engine.update(f"INSERT DATA {{ <urn:s> <urn:p> {number} }}").notifications
        for number in (1, 2, 3)
    ]
    assert [len(each) for each in told] == [0, 1, 1]
    assert told[2][0].results.added == ((),)


def test_the_clock_is_that_of_the_event() -> None:
    engine = subscribed(
        "PREFIX gw: <https://sosa-gateway.example/ns#> SELECT (gw:clock() AS ?o) { ?s ?p ?q }"
    )
    outcome = engine.update("INSERT DATA { <urn:s> <urn:p> 1 }")
    assert values(outcome.notifications[0]) == [str(outcome.time)]


def test_an_aggregate_without_groups_has_a_row_about_each_event() -> None:
    engine = subscribed("SELECT (COUNT(*) AS ?o) { ?s <urn:nowhere> ?x }")
    assert stated(engine, "INSERT DATA { <urn:s> <urn:p> 1 }") == [["0"]]


def test_graphs_that_may_not_be_read_make_no_events() -> None:
    engine = Engine.open()
    readable = Rights(read=frozenset({NamedNode("urn:g")}))
    engine.subscribe(SubscribeRequest(EVERY, rights=readable, mode="event"))
    assert stated(engine, "INSERT DATA { <urn:s> <urn:p> 1 }") == []
    assert stated(engine, "INSERT DATA { GRAPH <urn:h> { <urn:s> <urn:p> 1 } }") == []
    assert stated(engine, "INSERT DATA { GRAPH <urn:g> { <urn:s> <urn:p> 1 } }") == [["1"]]
    both = Rights(read=frozenset({DefaultGraph()}))
    engine.subscribe(SubscribeRequest(EVERY, rights=both, mode="event"))
    assert stated(engine, "INSERT DATA { <urn:s> <urn:p> 2 }") == [["2"]]


@pytest.mark.parametrize(
    ("query", "members", "error"),
    [
        ("SELECT * FROM <urn:g> { ?s ?p ?o }", {}, UnsupportedQueryError),
        (EVERY, {"default_graphs": [NamedNode("urn:g")]}, UnsupportedQueryError),
        (EVERY, {"output": "added"}, BadRequestError),
        ("SELECT (RAND() AS ?o) {}", {}, UnsupportedQueryError),
    ],
)
def test_what_has_no_meaning_is_refused_with_the_reason(
    query: str, members: dict[str, object], error: type[GatewayError]
) -> None:
    engine = Engine.open()
    with pytest.raises(error) as raised:
        engine.subscribe(query, mode="event", **members)  # type: ignore[arg-type]
    assert raised.value.hint
    assert not engine.events.is_wanted


def test_infer_is_refused_in_mode_event() -> None:
    engine = Engine.open()
    with pytest.raises(BadRequestError, match="infer"):
        engine.subscribe(SubscribeRequest(EVERY, infer=True, mode="event"))


def test_a_query_that_an_event_has_too_many_solutions_for_ends_alone() -> None:
    ended: list[tuple[str, GatewayError]] = []
    engine = Engine.open(limits=Limits(solutions=3))
    engine.delivery.on_end = lambda spuid, error: ended.append((spuid, error))
    other = engine.subscribe("SELECT ?o { <urn:s> <urn:p> ?o FILTER(?o = 1) }", mode="event")
    wide = engine.subscribe("SELECT ?o { ?s <urn:p> ?o }", mode="event")
    outcome = engine.update("INSERT DATA { <urn:s> <urn:p> 1, 2, 3, 4 }")
    assert [each.spuid for each in outcome.notifications] == [other.spuid]
    ((spuid, error),) = ended
    assert spuid == wide.spuid
    assert isinstance(error, TooManySolutionsError)
    engine.unsubscribe(spuid)
    assert len(outcome.delta.added) == 4


def test_how_an_event_query_is_served_can_be_explained() -> None:
    engine = Engine.open()
    request = SubscribeRequest("SELECT * { <urn:s> <urn:p> ?o . ?o <urn:q> 1 }", mode="event")
    explained = engine.explain(request)
    assert (explained.tier, explained.mode, len(explained.lutt)) == ("event join", "event", 2)
    assert "compound event" in str(explained)
    beyond = SubscribeRequest("SELECT * { ?s <urn:p> ?o FILTER(?o > 1) }", mode="event")
    assert engine.explain(beyond).tier == "event"
    assert "FILTER" in engine.explain(beyond).refused["event join"]


@pytest.mark.parametrize(
    "wide",
    [
        "SELECT (COUNT(*) AS ?n) { ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }",
        "ASK { ?a <urn:p> ?b OPTIONAL { ?c <urn:p> ?d . ?e <urn:p> ?f } FILTER(?a = ?x) }",
        "SELECT (COUNT(*) AS ?n) { ?a <urn:p>* ?b . ?c <urn:p>* ?d }",
        "SELECT (COUNT(*) AS ?n) { { ?a ?b ?c . ?d ?e ?f } UNION { ?g ?h ?i } ?m ?n1 ?o }",
        "SELECT (COUNT(*) AS ?n) { { SELECT * { ?a ?b ?c . ?d ?e ?f } } ?g ?h ?i }",
    ],
)
def test_what_an_event_would_make_too_much_of_ends_alone(wide: str) -> None:
    """A product of patterns, whatever it stands in: nobody could stop the store at it."""
    ended: list[GatewayError] = []
    engine = Engine.open()
    engine.delivery.on_end = lambda _, error: ended.append(error)
    linear = (
        "SELECT (COUNT(*) AS ?o) { ?s <urn:p> ?a ; <urn:q> ?b OPTIONAL { ?s <urn:r> ?c } "
        "OPTIONAL { ?s <urn:r> ?d . ?d <urn:r> ?e } FILTER NOT EXISTS { ?s <urn:n> ?f } }"
    )
    engine.subscribe(wide, mode="event")
    other = engine.subscribe(linear, mode="event").spuid
    few = engine.update("INSERT DATA { <urn:s0> <urn:p> 1 ; <urn:q> 2 }").notifications
    assert [values(each) for each in few if each.spuid == other] == [["1"]]
    assert not ended
    many = " ".join(
        f"<urn:s{n}> <urn:p> {n} ; <urn:q> {n} ; <urn:r> <urn:s{n + 1}> ." for n in range(1, 400)
    )
    (told,) = engine.update(f"INSERT DATA {{ {many} }}").notifications
    assert values(told) == ["399"]
    assert [type(each) for each in ended] == [TooComplexError]


def test_events_that_the_store_does_not_take_are_not_kept(tmp_path: Path) -> None:
    engine = subscribed()
    node = NamedNode("urn:gateway")
    start = engine.events.places.last
    log = EventLog(tmp_path, start)
    engine.events.keeping = EventKeeping(log, node, engine.store)
    assert stated(engine, "INSERT DATA { <urn:s> <urn:p> 1 }") == [["1"]]
    first = engine.events.places.last
    assert recorded_place(engine.store, node) == first
    with (
        patch.object(QuadStore, "apply", side_effect=StorageError("full", "make room")),
        pytest.raises(StorageError),
    ):
        engine.update("INSERT DATA { <urn:s> <urn:p> 2 }")
    assert recorded_place(engine.store, node) == first
    assert stated(engine, "INSERT DATA { <urn:s> <urn:p> 3 }") == [["3"]]
    end = engine.events.places.last
    assert [each.triples[0].object for each in log.after(start, end)] == [Literal(1), Literal(3)]
    log.close()


def test_the_note_of_a_position_stays_right_whatever_is_cleared(tmp_path: Path) -> None:
    """Who may write everything may clear the gateway's own graphs too."""
    engine = subscribed()
    node = NamedNode("urn:gateway")
    log = EventLog(tmp_path, engine.events.places.last)
    engine.events.keeping = EventKeeping(log, node, engine.store)
    watching = engine.subscribe(f"SELECT ?p {{ GRAPH {STATE_GRAPH} {{ ?s ?q ?p }} }}").spuid
    answer: Counter[Row] = Counter()
    for text in (
        "INSERT DATA { <urn:s> <urn:p> 1 }",
        "CLEAR ALL",
        "INSERT DATA { <urn:s> <urn:p> 2 }",
        "DROP ALL ; INSERT DATA { <urn:s> <urn:p> 3 }",
        "INSERT DATA { <urn:s> <urn:p> 4 }",
    ):
        for told in engine.update(text).notifications:
            if told.spuid == watching:
                answer.update(told.results.added)
                answer.subtract(told.results.removed)
        held = [quad.object for quad in engine.store.match(node, None, None, STATE_GRAPH)]
        assert [row[0] for row in (+answer)] == held, text
        assert len(held) == (text != "CLEAR ALL")
    log.close()
