"""The sliding tier: what it takes, what shares a unit, and what it gives up."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing

import pytest
from pyoxigraph import Literal, Triple

from gateway.engine import Engine
from gateway.engine.request import SubscribeRequest
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term
from gateway.windows.window import Window
from tests.gateway.engine.sliding.sliding_strategies import urn
from tests.gateway.engine.windowed.windowed_session import Hand

_WINDOW = Window("urn:s", range=10_000_000)
_P = "PREFIX : <urn:> "
_GROUPED = "SELECT ?s (AVG(?v) AS ?mean) { GRAPH <urn:g> { ?o :sensor ?s ; :value ?v } %s }"
_STUFFY = _P + _GROUPED % "FILTER NOT EXISTS { ?p :room ?s ; :value true }" + " GROUP BY ?s"
_MEANS = _P + _GROUPED % "" + " GROUP BY ?s"
_ABOVE = _MEANS + " HAVING(AVG(?v) > 3)"
_AROUND = _P + "SELECT * { { " + _GROUPED % "" + " GROUP BY ?s } FILTER(?mean > 3) }"


def asked(text: str, window: Window = _WINDOW) -> SubscribeRequest:
    """Over the window `urn:g`."""
    return SubscribeRequest(text, windows=(("urn:g", window),))


def reading(number: int, value: int | str, sensor: str = "s1") -> Sequence[Triple]:
    """An element."""
    node = urn(f"o{number}")
    return [Triple(node, urn("sensor"), urn(sensor)), Triple(node, urn("value"), Literal(value))]


def _value(term: Term) -> str:
    assert isinstance(term, Literal)
    return term.value


def tiers(engine: Engine) -> dict[str, int]:
    """How many SPUs are served by each tier."""
    return {tier: count for tier, count in engine.statistics.spus.items() if count}


@pytest.mark.parametrize("text", [_MEANS, _STUFFY, _ABOVE, _AROUND])
def test_aggregates_slide(text: str) -> None:
    with closing(Engine.open(clock=Hand())) as engine:
        engine.subscribe(asked(text))
        assert tiers(engine) == {"sliding": 1}
        assert engine.explain(asked(text)).tier == "sliding"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (_P + "SELECT ?s { GRAPH <urn:g> { ?o :sensor ?s } OPTIONAL { ?s :a ?b } }", "no groups"),
        (_MEANS.replace("?o :sensor", "?o :of ?x . ?x :sensor"), "share no subject"),
        (_MEANS.replace(":value", "?p"), "a predicate that is a variable"),
        (_MEANS.replace("AVG", "SAMPLE"), "the order of evaluation"),
        (_P + "SELECT (COUNT(*) AS ?n) { ?o :sensor ?s }", "exactly one window"),
        (_MEANS + " LIMIT 1", "LIMIT"),
    ],
)
def test_what_does_not_slide_says_why(text: str, reason: str) -> None:
    with closing(Engine.open(clock=Hand())) as engine:
        shown = engine.explain(asked(text))
        assert shown.tier != "sliding"
        assert reason in shown.refused["sliding"]


@pytest.mark.parametrize("text", [_ABOVE, _AROUND])
def test_queries_that_differ_in_a_threshold_share_a_unit(text: str) -> None:
    clock = Hand()
    with closing(Engine.open(clock=clock)) as engine:
        spuids = {
            threshold: engine.subscribe(asked(text.replace("3", str(threshold)))).spuid
            for threshold in range(10)
        }
        assert engine.explain(asked(text)).members == 10
        told = engine.push("urn:s", reading(1, 5)).notifications
        assert {each.spuid for each in told} == {spuids[each] for each in range(5)}
        told = engine.push("urn:s", reading(2, 10)).notifications
        gained = {each.spuid for each in told if not each.removed}
        assert gained == {spuids[each] for each in (5, 6, 7)}
        for spuid in spuids.values():
            engine.unsubscribe(spuid)
        assert tiers(engine) == {}


def test_queries_that_differ_in_a_constant_of_the_pattern_share_a_unit() -> None:
    with closing(Engine.open(clock=Hand())) as engine:
        text = _MEANS.replace("?o :sensor ?s", "?o :sensor ?s, :s1")
        spuids = [
            engine.subscribe(asked(text.replace(":s1", f":s{number}"))).spuid
            for number in range(1, 5)
        ]
        assert engine.explain(asked(text)).members == 4
        (told,) = engine.push("urn:s", reading(1, 5)).notifications
        assert told.spuid == spuids[0]
        (told,) = engine.push("urn:s", reading(2, 6, "s3")).notifications
        assert told.spuid == spuids[2]
        engine.unsubscribe(spuids[0])
        assert not engine.push("urn:s", reading(3, 5)).notifications
        first = engine.subscribe(asked(text))
        assert [(row["s"], _value(row["mean"])) for row in first.added] == [(urn("s1"), "5")]


def test_a_filter_of_what_is_grouped_is_no_threshold() -> None:
    with closing(Engine.open(clock=Hand())) as engine:
        text = _P + _GROUPED % "FILTER(?v > 3)" + " GROUP BY ?s"
        engine.subscribe(asked(text))
        other = engine.subscribe(asked(text.replace("3", "7"))).spuid
        assert engine.explain(asked(text)).members == 1
        engine.push("urn:s", reading(1, 5))
        told = engine.push("urn:s", reading(2, 9)).notifications
        means = {each.spuid: [_value(row["mean"]) for row in each.added] for each in told}
        assert means[other] == ["9"]


def test_a_value_that_only_the_store_can_order_gives_the_tier_up_exactly() -> None:
    clock = Hand()
    text = _P + "SELECT (MAX(?v) AS ?most) { GRAPH <urn:g> { ?o :value ?v } }"
    with closing(Engine.open(clock=clock)) as engine:
        spuid = engine.subscribe(asked(text)).spuid
        engine.push("urn:s", reading(1, 5))
        (told,) = engine.push("urn:s", reading(2, "unavailable")).notifications
        assert [row["most"] for row in told.added] == [Literal("unavailable")]
        assert [row["most"] for row in told.removed] == [Literal(5)]
        assert tiers(engine) == {"incremental": 1}
        clock.time += 5_000_000
        engine.push("urn:s", reading(3, 7))
        clock.time += 6_000_000
        (told,) = engine.advance().notifications
        assert [row["most"] for row in told.added] == [Literal(7)]
        assert engine.statistics.failures == 0
        engine.unsubscribe(spuid)
        assert tiers(engine) == {}


def test_a_defect_costs_nobody_a_row(monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(Engine.open(clock=Hand())) as engine:
        engine.subscribe(asked(_MEANS))
        engine.push("urn:s", reading(1, 5))

        def fail(*_: object) -> None:
            raise ZeroDivisionError

        monkeypatch.setattr("gateway.engine.sliding.groups.Groups.now", fail)
        (told,) = engine.push("urn:s", reading(2, 10)).notifications
        assert [_value(row["mean"]) for row in told.added] == ["7.5"]
        assert [_value(row["mean"]) for row in told.removed] == ["5"]
        assert engine.statistics.failures == 1
        assert tiers(engine) == {"incremental": 1}


def test_a_late_subscriber_is_told_what_the_window_has() -> None:
    with closing(Engine.open(clock=Hand())) as engine:
        engine.subscribe(asked(_MEANS))
        engine.push("urn:s", reading(1, 5))
        engine.push("urn:s", reading(2, 6, "s2"))
        first = engine.subscribe(asked(_ABOVE.replace("3", "5")))
        assert [(row["s"], _value(row["mean"])) for row in first.added] == [(urn("s2"), "6")]


def test_a_change_of_the_store_moves_the_groups_that_it_concerns() -> None:
    with closing(Engine.open(clock=Hand())) as engine:
        engine.subscribe(asked(_STUFFY))
        for number, sensor in enumerate(("s1", "s2", "s3")):
            engine.push("urn:s", reading(number, 5, sensor))
        (told,) = engine.update(f"{_P} INSERT DATA {{ :p :room :s2 ; :value true }}").notifications
        assert [row["s"] for row in told.removed] == [urn("s2")]
        assert not told.added
        (told,) = engine.update(f"{_P} DELETE DATA {{ :p :value true }}").notifications
        assert [row["s"] for row in told.added] == [urn("s2")]


@pytest.mark.parametrize(
    "shown", ["AVG(?v)", "COUNT(?o) AS ?n) (SUM(?v)", "MIN(?v) AS ?n) (MAX(?v)"]
)
def test_what_entered_before_somebody_asked_for_its_group_counts_and_leaves(shown: str) -> None:
    """Of a group that nobody is told, nothing is read as a number until somebody is."""

    def text(sensor: str) -> str:
        where = f"{{ GRAPH <urn:g> {{ ?o :sensor :{sensor} ; :value ?v }} }}"
        return f"{_P}SELECT ({shown} AS ?shown) {where}"

    clock = Hand()
    engines = [Engine.open(clock=clock), Engine.open(clock=clock, oracle=True)]
    answers: list[dict[str, Counter[Row]]] = [{}, {}]
    spuids: list[dict[str, str]] = [{}, {}]

    def subscribe(sensor: str) -> None:
        for engine, known, names in zip(engines, answers, spuids, strict=True):
            first = engine.subscribe(asked(text(sensor)))
            names[first.spuid], known[sensor] = sensor, Counter(first.results.added)

    def step(*elements: Sequence[Triple]) -> None:
        for engine, known, names in zip(engines, answers, spuids, strict=True):
            outcomes = [engine.push("urn:s", each) for each in elements] or [engine.advance()]
            for outcome in outcomes:
                for told in outcome.notifications:
                    known[names[told.spuid]] += Counter(told.results.added)
                    known[names[told.spuid]] -= Counter(told.results.removed)
        assert answers[0] == answers[1]

    with closing(engines[0]), closing(engines[1]):
        subscribe("s1")
        step(reading(1, 1), reading(2, 7, "s2"), reading(3, 2, "s3"))
        subscribe("s2")
        step(reading(4, 4, "s2"), reading(5, "none", "s3"))
        assert tiers(engines[0]) == {"sliding": 2}
        clock.time += 6_000_000
        subscribe("s3")
        step(reading(6, 5, "s2"), reading(7, 5, "s3"))
        clock.time += 5_000_000
        step()
        clock.time += 5_000_000
        step()
