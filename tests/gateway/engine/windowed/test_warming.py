"""While one subscription's windows are filled, all others are told exactly what they would be."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine import Engine, SubscribeRequest
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
