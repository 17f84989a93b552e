"""Aggregates by the rows of elements: whatever comes, they are those of the window."""

from collections import Counter
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store, Triple

from gateway.engine import Engine, Outcome
from gateway.engine.request import SubscribeRequest, UpdateRequest
from gateway.engine.sliding.element_rows import Asked, ElementRows, Said
from gateway.rdf.solutions import SolutionBag
from gateway.windows import Element, Window
from gateway.windows.owners import Record
from tests.gateway.engine.sliding.sliding_strategies import urn

pytestmark = pytest.mark.property

_S = 1_000_000
_STREAM, _W = "urn:s", NamedNode("urn:w")
_HEAD = "PREFIX : <urn:> SELECT ?s (AVG(?v) AS ?mean) (MIN(?v) AS ?least) (COUNT(*) AS ?count) "
_TEXT = _HEAD + "{ GRAPH :w { ?o :sensor ?s ; :value ?v } } GROUP BY ?s"
_WINDOWS = (
    *(Window(_STREAM, range=seconds * _S) for seconds in (2, 4, 8)),
    Window(_STREAM, range=6 * _S, step=2 * _S),
    Window(_STREAM, range=5 * _S, limit=4, overflow="oldest"),
    Window(_STREAM, range=5 * _S, clock="stream"),
)


@dataclass(slots=True)
class Clocks:
    """The wall clock and the steady one, µs."""

    wall: int = 1_000_000_000 * _S
    steady: int = 0


@dataclass(frozen=True, slots=True)
class Reading:
    """A subject's value, so long before now; None: the gateway's time. Its unit may be another."""

    subject: int
    sensor: int
    value: int
    before: int | None
    unit: str | None
    parts: int

    def element(self, now: int) -> Element:
        node, sensor = urn(f"o{self.subject}"), urn(f"s{self.sensor}")
        triples = (
            Triple(node, urn("sensor"), sensor),
            Triple(sensor, urn("kind"), urn("k")),
            Triple(node, urn("value"), Literal(self.value)),
        )[: self.parts]
        key = None if self.unit is None else (sensor.value, "urn:p", "urn:f")
        time = None if self.before is None else now - self.before
        return Element(triples, time, key, self.unit)


@dataclass(frozen=True, slots=True)
class Pass:
    """Time goes on, or the wall clock is set."""

    steady: int
    wall: int


Operation = list[Reading] | Pass


@dataclass(slots=True)
class World:
    """An engine, and the answers that its subscribers add up."""

    clocks: Clocks
    engine: Engine
    answers: dict[str, SolutionBag] = field(default_factory=dict)

    def subscribe(self, window: Window) -> None:
        self.take(self.engine.advance())
        request = SubscribeRequest(_TEXT, windows=((_W.value, window),))
        first = self.engine.subscribe(request)
        self.answers[first.spuid] = Counter(first.results.added)

    def take(self, outcome: Outcome) -> None:
        for each in outcome.notifications:
            answer = self.answers[each.spuid]
            answer.subtract(each.results.removed)
            answer.update(each.results.added)
        for spuid, answer in self.answers.items():
            contents = self.engine.windowed.contents_of(spuid)
            assert +answer == answered([*contents[_W]])
            assert min(answer.values(), default=0) >= 0

    def do(self, operation: Operation) -> None:
        if isinstance(operation, Pass):
            self.clocks.steady += operation.steady
            self.clocks.wall += operation.steady + operation.wall
            self.take(self.engine.advance())
        else:
            elements = [each.element(self.clocks.wall) for each in operation]
            request = UpdateRequest((), elements={_STREAM: elements})
            self.take(self.engine.update(request))


def answered(triples: Sequence[Triple]) -> SolutionBag:
    """What the store answers over these."""
    store = Store()
    store.extend(Quad(each.subject, each.predicate, each.object, _W) for each in triples)
    results = store.query(_TEXT)
    assert isinstance(results, QuerySolutions)
    return Counter(tuple(row) for row in results)


_readings = st.builds(
    Reading,
    st.one_of(st.integers(0, 100_000), st.integers(0, 100_000), st.integers(0, 9)),
    st.integers(0, 2),
    st.integers(0, 9),
    st.one_of(st.none(), st.none(), st.integers(-2, 6).map(lambda s: s * _S)),
    st.sampled_from([None, "urn:C", "urn:C", "urn:C", "urn:F"]),
    st.sampled_from([3, 3, 3, 3, 1]),
)
_passes = st.builds(
    Pass,
    st.integers(0, 5).map(lambda s: s * _S // 2),
    st.sampled_from([0] * 8 + [-4 * _S, 4 * _S]),
)
_operations = st.one_of(*[st.lists(_readings, min_size=1, max_size=4)] * 3, _passes)
_scripts = st.lists(_operations, min_size=2, max_size=20)


@given(st.lists(st.sampled_from(_WINDOWS), min_size=2, max_size=4), _scripts, _scripts)
@settings(max_examples=200, deadline=None)
def test_what_is_told_adds_up_to_the_answer_over_the_window(
    windows: list[Window], before: list[Operation], script: list[Operation]
) -> None:
    clocks = Clocks()
    engine = Engine.open(clock=lambda: clocks.wall, steady=lambda: clocks.steady)
    with closing(engine):
        world = World(clocks, engine)
        world.subscribe(windows[0])
        for operation in before:
            world.do(operation)
        for window in windows[1:]:
            world.subscribe(window)
        for operation in script:
            world.do(operation)
        assert engine.statistics.failures == 0


def test_ranges_of_one_stream_read_an_element_once(monkeypatch: pytest.MonkeyPatch) -> None:
    reads: list[Record] = []
    read = ElementRows._read

    def counted(self: ElementRows, record: Record, others: Said | None, is_asked: Asked) -> Said:
        reads.append(record)
        return read(self, record, others, is_asked)

    monkeypatch.setattr(ElementRows, "_read", counted)
    clocks = Clocks()
    engine = Engine.open(clock=lambda: clocks.wall, steady=lambda: clocks.steady)
    with closing(engine):
        world = World(clocks, engine)
        for window in _WINDOWS[:3]:
            world.subscribe(window)
        for number in range(100):
            world.do([Reading(number, number % 3, number % 10, None, None, 3)])
            world.do(Pass(_S, 0))
        assert len(reads) == 100
        world.do([Reading(99, 1, 7, None, None, 3)])  # what two elements say of one is joined
        world.do([Reading(100, 1, 7, None, None, 3)])
        assert len(reads) == 101


@pytest.mark.parametrize("number", [1, 2])
def test_what_left_as_the_clock_was_set_back_and_comes_again_is_known_again(number: int) -> None:
    clocks = Clocks()
    engine = Engine.open(clock=lambda: clocks.wall, steady=lambda: clocks.steady)
    with closing(engine):
        world = World(clocks, engine)
        for window in _WINDOWS[:number]:
            world.subscribe(window)
        world.do([Reading(0, 0, 1, 0, None, 3)])
        world.do(Pass(0, -4 * _S))
        world.do(Pass(4 * _S, 0))
        world.do([Reading(0, 1, 5, 0, None, 3)])  # of one subject: each value with each sensor
        (answer, *_) = world.answers.values()
        assert sum(answer.values()) == 2
