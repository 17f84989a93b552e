"""Windows over what goes on: what they hold and add up, a full one, a long day, set clocks."""

import gc
from collections import deque
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timedelta
from fractions import Fraction
from random import Random
from zoneinfo import ZoneInfo

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.engine import Engine
from gateway.engine.request import UpdateRequest
from gateway.errors import GatewayError, WindowFullError
from gateway.windows import Element, Window
from tests.gateway.gates.mqtt.embedded.resident import GROWTH_BYTES, resident_bytes
from tests.kit.gateways import text

STREAM, W = "urn:stream", "urn:w"
VALUE = NamedNode("urn:value")
SECOND = 1_000_000
TEXT = "SELECT ?o { GRAPH <urn:w> { ?s <urn:value> ?o } }"
ADDED_UP = """SELECT ?room (SUM(?v) AS ?sum) (AVG(?v) AS ?mean) (MAX(?v) AS ?most) {
  GRAPH <urn:w> { ?s <urn:in> ?room ; <urn:value> ?v } } GROUP BY ?room"""
ROOMS = [NamedNode(f"urn:room:{number}") for number in range(5)]
RANGE_S = 50
AT_ONCE = 100


@dataclass(slots=True)
class Clocks:
    """The wall clock and the steady one, µs."""

    wall: int = 1_000_000 * SECOND
    steady: int = 0

    def pass_(self, microseconds: int) -> None:
        self.wall += microseconds
        self.steady += microseconds

    def engine(self) -> Engine:
        return Engine.open(clock=lambda: self.wall, steady=lambda: self.steady)


def readings(random: Random) -> Iterator[tuple[int, float]]:
    """Room and value without end, of all magnitudes, so that what is added up naively drifts."""
    while True:
        room = random.randrange(len(ROOMS))
        yield room, random.gauss(0, 1) * 10 ** random.randint(-9, 9)


def element(number: int, room: int, value: float) -> Element:
    node = NamedNode(f"urn:reading:{number}")
    inside = Triple(node, NamedNode("urn:in"), ROOMS[room])
    return Element((inside, Triple(node, VALUE, Literal(value))))


@pytest.mark.parametrize(
    "count",
    [
        pytest.param(60_000, id="short"),
        pytest.param(10_000_000, id="long", marks=(pytest.mark.slow, pytest.mark.timeout(7200))),
    ],
)
@pytest.mark.alone
def test_sums_are_fresh_memory_is_flat_and_a_full_window_ends_its_own_alone(count: int) -> None:
    """A hundred elements a second, five thousand of them in the window."""
    clocks, ended, seen = Clocks(), list[GatewayError](), readings(Random(7))
    with closing(clocks.engine()) as engine:
        engine.delivery.on_end = lambda _, error: ended.append(error)
        told = engine.subscribe(ADDED_UP, windows={W: Window(STREAM, range=f"PT{RANGE_S}S")})
        engine.subscribe(TEXT, windows={W: Window(STREAM, range="PT10S", limit=2 * AT_ONCE)})
        answer = {row[0]: row for row in told.results.added}
        kept: deque[list[tuple[int, float]]] = deque(maxlen=RANGE_S)
        before = 0
        for number in range(0, count, AT_ONCE):
            clocks.pass_(SECOND)
            kept.append([next(seen) for _ in range(AT_ONCE)])
            entering = [element(number + i, *each) for i, each in enumerate(kept[-1])]
            outcome = engine.update(UpdateRequest((), elements={STREAM: entering}))
            for notification in outcome.notifications:
                if notification.spuid == told.spuid:
                    answer.update((row[0], row) for row in notification.results.added)
            if number == count // 2:
                gc.collect()
                before = resident_bytes()
        for place, room in enumerate(ROOMS):
            values = [value for some in kept for at, value in some if at == place]
            exact = float(sum(map(Fraction, values)))
            expected = Literal(exact), Literal(exact / len(values)), Literal(max(values))
            assert tuple(answer[room])[1:] == expected
        gc.collect()
        assert resident_bytes() - before < GROWTH_BYTES
        (status,) = engine.windowed.statuses()
        assert status.info.elements == RANGE_S * AT_ONCE
        assert status.info.complete
        assert [type(each) for each in ended] == [WindowFullError]


def test_a_day_of_25_hours_is_one_day() -> None:
    """In the autumn of 2026 clocks in Berlin were put back on 25 October."""
    zone = ZoneInfo("Europe/Berlin")
    begin, end = (datetime(2026, 10, day, tzinfo=zone) for day in (25, 26))
    clocks = Clocks(wall=round(begin.timestamp()) * SECOND)
    hours = round((end.timestamp() - begin.timestamp()) / 3600)
    assert hours == 25
    days = Window(STREAM, range="P1D", step="P1D", zone="Europe/Berlin", bounds=True)
    bounds = f"SELECT ?bound ?at {{ GRAPH <{W}> {{ <{W}> ?bound ?at }} }}"
    with closing(clocks.engine()) as engine:
        told = engine.subscribe(TEXT, windows={W: days})
        engine.subscribe(bounds, windows={W: days})
        for hour in range(hours):
            when = clocks.wall
            outcome = engine.push(STREAM, [Triple(NamedNode("urn:s"), VALUE, Literal(hour))], when)
            assert not outcome.notifications
            clocks.pass_(3600 * SECOND)
        assert engine.next_due == round(end.timestamp()) * SECOND == clocks.wall
        by_spuid = {each.spuid: each for each in engine.advance().notifications}
        assert {int(text(row[0])) for row in by_spuid.pop(told.spuid).results.added} == set(
            range(25)
        )
        (moved,) = by_spuid.values()
        start, stop = sorted(datetime.fromisoformat(text(row[1])) for row in moved.results.added)
        assert stop - start == timedelta(hours=25)


@pytest.mark.parametrize("by_s", [-3600, 3600])
def test_a_clock_that_is_set_takes_the_gateways_times_along_and_no_others(by_s: int) -> None:
    clocks = Clocks()
    with closing(clocks.engine()) as engine:
        windows = {W: Window(STREAM, range="PT10M")}
        told = engine.subscribe(TEXT, windows=windows)
        arrived = engine.subscribe(TEXT, windows={W: Window(STREAM, range="PT10M", time="arrival")})

        def rows(spuid: str) -> set[str]:
            for each in engine.advance().notifications:
                for row in each.results.added:
                    there[each.spuid].add(text(row[0]))
                for row in each.results.removed:
                    there[each.spuid].remove(text(row[0]))
            return there[spuid]

        there: dict[str, set[str]] = {told.spuid: set(), arrived.spuid: set()}
        for name, time in (("gateway", None), ("device", clocks.wall - SECOND)):
            outcome = engine.push(STREAM, [Triple(NamedNode("urn:s"), VALUE, Literal(name))], time)
            for each in outcome.notifications:
                there[each.spuid].update(text(row[0]) for row in each.results.added)
        assert there[told.spuid] == there[arrived.spuid] == {"gateway", "device"}
        clocks.wall += by_s * SECOND
        assert rows(told.spuid) == {"gateway"}
        assert there[arrived.spuid] == {"gateway", "device"}
        assert engine.windowed.clock.jumps == 1
        clocks.pass_(599 * SECOND)
        assert "gateway" in rows(told.spuid)
        clocks.pass_(2 * SECOND)
        assert rows(told.spuid) == rows(arrived.spuid) == set()
        clocks.pass_(3000 * SECOND)
        assert rows(told.spuid) == ({"device"} if by_s < 0 else set())
