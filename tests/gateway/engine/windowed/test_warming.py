"""While one subscription's windows are filled, all others are told exactly what they would be."""

from collections import Counter
from collections.abc import Iterator
from itertools import pairwise

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine import Engine, SubscribeRequest
from gateway.engine.sliding.groups import Group, Groups, Shown
from gateway.windows import Element, Filling, Window

SECOND = 1_000_000
BEGIN = 1_700_000_000 * SECOND
PAST = [
    Element((Triple(NamedNode(f"urn:s{n}"), NamedNode("urn:p"), Literal(n)),), BEGIN - 10 + n)
    for n in range(10)
]
WINDOW = Window("urn:filled", range="PT10M")
ASKED = "SELECT ?s { GRAPH <urn:w> { ?s <urn:p> ?o } OPTIONAL { ?s <urn:q> ?q } }"
REQUEST = SubscribeRequest(ASKED, windows=(("urn:w", WINDOW),))


class Hand:
    """The wall clock and the steady one."""

    wall, steady = BEGIN, 0

    def pass_(self, microseconds: int) -> None:
        self.wall += microseconds
        self.steady += microseconds


@pytest.fixture
def hand() -> Hand:
    return Hand()


@pytest.fixture
def engine(hand: Hand) -> Iterator[Engine]:
    engine = Engine.open(clock=lambda: hand.wall, steady=lambda: hand.steady)
    yield engine
    engine.close()


def test_who_looks_at_the_clock_is_told_what_a_fill_finds(engine: Engine, hand: Hand) -> None:
    other = {"urn:other": Window("urn:stream", range="PT1H")}
    text = "SELECT (NOW() AS ?now) { GRAPH <urn:other> { ?s <urn:p> ?o } }"
    engine.subscribe(text, windows=other)
    told = [*engine.push("urn:stream", PAST[0].triples).notifications]
    warming = engine.warm(REQUEST, {WINDOW: Filling(WINDOW, PAST, 0)})
    while not warming.is_done:
        hand.pass_(SECOND)
        told += warming.fill(4).notifications
    assert len(engine.finish(warming).added) == len(PAST)
    hand.pass_(SECOND)
    told += engine.advance().notifications
    assert [each.sequence for each in told] == [1, 2, 3, 4, 5]
    assert all(now.removed == before.added for before, now in pairwise(told))


def test_who_sees_a_window_that_is_being_filled_is_told_the_rest(engine: Engine) -> None:
    warming = engine.warm(REQUEST, {WINDOW: Filling(WINDOW, PAST, 0)})
    warming.fill(4)
    early = engine.subscribe(f"{ASKED} #", windows={"urn:w": WINDOW})
    rows = set(early.results.added)
    while not warming.is_done:
        for each in warming.fill(4).notifications:
            rows |= set(each.results.added)
    assert rows == set(engine.finish(warming).results.added)


MEAN = (
    "SELECT ?of (AVG(?o) AS ?mean) (MIN(?o) AS ?least) { GRAPH <urn:w> { ?s <urn:p> ?o ; "
    "<urn:of> ?of } } GROUP BY ?of"
)


def _of(element: Element, kind: int) -> Element:
    (triple,) = element.triples
    of = Triple(triple.subject, NamedNode("urn:of"), NamedNode(f"urn:kind:{kind}"))
    return Element((triple, of), element.time)


OF = [_of(each, number % 2) for number, each in enumerate(PAST)]


@pytest.mark.parametrize("output", ["changes", "added", "whole"])
@pytest.mark.parametrize("last", [Literal(3), Literal("no number"), Literal("2026-01-01")])
def test_means_are_shown_once_a_window_is_filled(
    engine: Engine, output: str, last: Literal, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[Group] = []
    now_of = Groups.now

    def now(groups: Groups, group: Group) -> Shown | None:
        shown.append(group)
        return now_of(groups, group)

    monkeypatch.setattr(Groups, "now", now)
    subject = NamedNode("urn:s:last")
    newest = Element((Triple(subject, NamedNode("urn:p"), last),), BEGIN)
    past = [*OF, _of(newest, 1)]
    request = SubscribeRequest(MEAN, windows=(("urn:w", WINDOW),), output=output)
    warming = engine.warm(request, {WINDOW: Filling(WINDOW, past, 0)})
    while not warming.is_done:
        assert output == "whole" or not shown
        assert warming.fill(3).notifications == ()
    first = engine.finish(warming)
    other = engine.subscribe(f"{MEAN} #", windows={"urn:w": WINDOW})
    assert Counter(first.results.added) == Counter(other.results.added)
    assert len(first.results.added) == 2
    more = _of(Element((Triple(NamedNode("urn:more"), NamedNode("urn:p"), Literal(50)),)), 0)
    told = engine.push("urn:filled", tuple(more.triples)).notifications
    assert {each.spuid for each in told} == {first.spuid, other.spuid}
    assert engine.statistics.failures == 0


def test_who_asks_for_the_same_means_while_a_window_is_filled_has_them_at_once(
    engine: Engine,
) -> None:
    request = SubscribeRequest(MEAN, windows=(("urn:w", WINDOW),))
    warming = engine.warm(request, {WINDOW: Filling(WINDOW, OF, 0)})
    warming.fill(4)
    answers = {
        each.spuid: Counter(each.results.added)
        for each in (
            engine.subscribe(request),
            engine.subscribe(f"{MEAN} HAVING (AVG(?o) > 0.5)", windows={"urn:w": WINDOW}),
        )
    }
    assert [len(each) for each in answers.values()] == [2, 2]
    while not warming.is_done:
        for each in warming.fill(2).notifications:
            answers[each.spuid].update(each.results.added)
            answers[each.spuid].subtract(each.results.removed)
    first = engine.finish(warming)
    assert [+each for each in answers.values()] == [Counter(first.results.added)] * 2


@pytest.mark.parametrize("jump", [86_400 * SECOND, -86_400 * SECOND])
def test_a_clock_that_jumped_while_nobody_had_a_window_is_noted_before_one_is_filled(
    engine: Engine, hand: Hand, jump: int
) -> None:
    engine.unsubscribe(engine.subscribe(REQUEST).spuid)
    hand.wall += jump
    past = [
        Element(each.triples, hand.wall - 1, is_gateway_time=True, arrival=hand.wall - 1)
        for each in PAST
    ]
    warming = engine.warm(REQUEST, {WINDOW: Filling(WINDOW, past, 0)})
    while not warming.is_done:
        warming.fill(100)
    assert len(engine.finish(warming).added) == len(PAST)
    hand.pass_(SECOND)
    assert engine.advance().notifications == ()
    assert engine.windowed.clock.jumps == 1
