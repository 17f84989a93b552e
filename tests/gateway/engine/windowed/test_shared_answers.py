"""Who asks the same of a window shares an SPU; listeners of their own are told by one object."""

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine.engine import Engine
from gateway.engine.notification import Notification, SharedNotification
from gateway.engine.request import SubscribeRequest
from gateway.errors import WindowError
from gateway.windows.window import Window

WINDOWS = {"urn:w": Window(stream="urn:s", triples=3)}
TEXT = "SELECT ?x ?y { GRAPH <urn:w> { ?x <urn:p> ?y . ?x <urn:q> ?z } }"
OTHER = "SELECT ?x ?y { GRAPH <urn:w> { ?x <urn:q> ?why . ?x <urn:p> ?y } }"
TURNED = "SELECT ?y ?x { GRAPH <urn:w> { ?x <urn:p> ?y . ?x <urn:q> ?z } }"


def triple(predicate: str, value: int) -> Triple:
    return Triple(NamedNode("urn:a"), NamedNode(f"urn:{predicate}"), Literal(value))


def values(notification: Notification) -> list[tuple[str, ...]]:
    return [
        tuple(str(term).strip('<>"').partition('"')[0] for term in row)
        for row in notification.results.added
    ]


def test_equal_queries_share_an_spu_and_each_keeps_its_text() -> None:
    engine = Engine.open()
    first = engine.subscribe(TEXT, windows=WINDOWS)
    second = engine.subscribe(OTHER, windows=WINDOWS)
    third = engine.subscribe(TURNED, windows=WINDOWS)
    assert len(engine.standing) == 2
    assert [each.text for each in engine.standing_by(3)] == [TEXT, OTHER, TURNED]
    engine.push("urn:s", [triple("p", 1)])
    told = engine.push("urn:s", [triple("q", 2)]).notifications
    rows = {each.spuid: values(each) for each in told}
    assert rows == {
        first.spuid: [("urn:a", "1")],
        second.spuid: [("urn:a", "1")],
        third.spuid: [("1", "urn:a")],
    }
    assert [each.sequence for each in told] == [1, 1, 1]
    engine.close()


def test_the_answer_outlives_whoever_asked_first() -> None:
    engine = Engine.open()
    first = engine.subscribe(TEXT, windows=WINDOWS)
    second = engine.subscribe(OTHER, windows=WINDOWS)
    engine.unsubscribe(first.spuid)
    engine.push("urn:s", [triple("p", 1)])
    (told,) = engine.push("urn:s", [triple("q", 2)]).notifications
    assert told.spuid == second.spuid
    third = engine.subscribe(TEXT, windows=WINDOWS)
    assert values(third) == [("urn:a", "1")]
    assert len(engine.standing) == 1
    for spuid in (second.spuid, third.spuid):
        engine.unsubscribe(spuid)
    assert not engine.standing
    engine.close()


def test_other_outputs_and_windows_share_nothing() -> None:
    engine = Engine.open()
    engine.subscribe(TEXT, windows=WINDOWS)
    engine.subscribe(TEXT, windows=WINDOWS, output="added")
    engine.subscribe(OTHER, windows={"urn:w": Window(stream="urn:s", triples=4)})
    assert len(engine.standing) == 3
    engine.close()


def test_listeners_of_their_own_are_told_one_object() -> None:
    one: list[SharedNotification] = []
    other: list[SharedNotification] = []
    engine = Engine.open()
    plain = engine.subscribe(TEXT, windows=WINDOWS)
    first = engine.subscribe(TEXT, windows=WINDOWS, listener=one.append)
    engine.push("urn:s", [triple("p", 1), triple("q", 2)])
    engine.subscribe(OTHER, windows=WINDOWS, listener=other.append)
    outcome = engine.push("urn:s", [triple("q", 3), triple("p", 4)])
    assert [each.spuid for each in outcome.notifications] == [plain.spuid]
    assert len(one) == 2
    assert len(other) == 1
    assert one[1] is other[0]
    assert one[1].results == outcome.notifications[0].results
    assert [each.sequence for each in engine.standing_by(3)] == [2, 2, 1]
    assert engine.statistics.notifications == 5
    engine.unsubscribe(first.spuid)
    engine.push("urn:s", [triple("p", 5), triple("q", 6), triple("q", 7)])
    assert len(one) == 2
    assert len(other) == 2
    engine.close()


def test_a_listener_that_fails_costs_nobody_else() -> None:
    told: list[SharedNotification] = []

    def fail(_: SharedNotification) -> None:
        raise ValueError("a defect")

    engine = Engine.open()
    engine.subscribe(TEXT, windows=WINDOWS, listener=fail)
    engine.subscribe(TEXT, windows=WINDOWS, listener=told.append)
    engine.push("urn:s", [triple("p", 1), triple("q", 2)])
    assert len(told) == 1
    engine.close()


def test_a_listener_may_end_its_subscription() -> None:
    told: list[SharedNotification] = []
    spuids: list[str] = []

    def once(notification: SharedNotification) -> None:
        told.append(notification)
        engine.unsubscribe(spuids.pop())

    engine = Engine.open()
    spuids.append(engine.subscribe(TEXT, windows=WINDOWS, listener=once).spuid)
    engine.push("urn:s", [triple("p", 1), triple("q", 2)])
    engine.push("urn:s", [triple("p", 3), triple("q", 4)])
    assert len(told) == 1
    assert not engine.standing
    engine.close()


def test_a_listener_without_windows_is_refused() -> None:
    engine = Engine.open()
    with pytest.raises(WindowError, match="over windows"):
        engine.subscribe("SELECT ?x { ?x ?y ?z }", listener=print)
    engine.close()


def test_what_an_automaton_took_is_told_for_all_of_its_queries() -> None:
    engine = Engine.open()
    for text in (TEXT, OTHER, TURNED):
        engine.subscribe(text, windows=WINDOWS)
    engine.push("urn:s", [triple("p", 1)])
    engine.push("urn:s", [triple("q", 2)])
    shown = engine.explain(SubscribeRequest(TURNED, windows=tuple(WINDOWS.items())))
    assert shown.automaton == {"patterns": 2, "plans": 2, "conditions": 0, "sharers": 2}
    assert (shown.members, shown.hits, shown.costs.updates, shown.costs.rows) == (2, 2, 2, 1)
    assert shown.costs.time_ns > 0
    assert "automaton: 2 patterns, 2 plans, 0 conditions, 2 sharers" in str(shown)
    assert "by one automaton for the 2 SPUs" in str(shown)
    assert {each.costs.updates for each in engine.standing_by(3)} == {2}
    engine.close()
