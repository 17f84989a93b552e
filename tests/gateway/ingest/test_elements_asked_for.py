"""Observations that no query over a window can want are not even looked at; answers are the same.

Queries that name sensors, properties and features come and go, beside others that take whatever
comes; what each is told adds up to what the store says over all triples of the window.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import count, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad, QuerySolutions, Store

from adapters.values.observation import XSD, Observation
from gateway.config.settings import SHIPPED_PROFILES
from gateway.engine import Engine, Notification, Outcome, SubscribeRequest
from gateway.engine.request import UpdateRequest
from gateway.ingest.sosa import Identity, ObservationTemplates
from gateway.ingest.windows.elements import ObservationElements
from gateway.journal import Position, Record
from gateway.profiles import Profiles
from gateway.rdf.namespaces import OBSERVATIONS, SOSA
from gateway.rdf.solutions import SolutionBag
from gateway.windows import Window
from gateway.windows.content import Content
from gateway.windows.parted import ANY_SUBJECT, MOST_ASKS, Ask, Interest, Parted, Predicates
from gateway.windows.range_content import RangeContent

_S = 1_000_000
_BEGIN = 1_000_000_000 * _S
_W = NamedNode("urn:w")
_SENSORS, _PROPERTIES = ("urn:s:0", "urn:s:1", "urn:s:2"), ("urn:p:0", "urn:p:1")
_UNITS = ("urn:unit:a", "urn:unit:a", "urn:unit:a", "urn:unit:b")
_TEMPLATES = ObservationTemplates(
    Profiles.load((SHIPPED_PROFILES / "observations.jsap",)),
    Identity("https://gateway.example/", "test"),
)
_BY = (
    "sosa:madeBySensor <urn:s:0>",
    "sosa:madeBySensor <urn:s:1>",
    "sosa:observedProperty <urn:p:1>",
    "sosa:hasFeatureOfInterest <urn:f> ; sosa:madeBySensor <urn:s:2>",
    'sosa:hasSimpleResult "open"',
    "sosa:hasFeatureOfInterest <urn:nowhere>",
)
_VALUE = "sosa:hasSimpleResult ?v"
_BODIES = (
    *(f"?o {by} ; {_VALUE}" for by in _BY),
    "?o sosa:madeBySensor ?s ; sosa:hasSimpleResult ?v FILTER(?s = <urn:s:1>)",
    f"?o {_VALUE}",
    f"?o {_BY[0]} ; gw:message ?m . ?other {_BY[1]} ; gw:message ?m ; {_VALUE}",
    f"?s sosa:observes <urn:p:0> . ?o sosa:madeBySensor ?s ; {_VALUE}",
    f"?s a sosa:Sensor ; sosa:observes <urn:p:1> . ?o sosa:madeBySensor ?s ; {_BY[3]} ; {_VALUE}",
    f"?o {_BY[0]} ; ?p ?v",
    f"?o {_BY[2]} ; {_VALUE} OPTIONAL {{ ?o sosa:hasResult ?r }}",
    "?o sosa:hasResult ?r . ?r qudt:hasUnit <urn:unit:b> ; qudt:numericValue ?v",
    "<https://gateway.example/test/observation/1-1> sosa:hasSimpleResult ?v",
)
_HEADS = ("*", "*", "(AVG(?v) AS ?mean) (COUNT(*) AS ?n)", "(COUNT(?v) AS ?n)")
_PREFIXES = (
    f"PREFIX sosa: <{SOSA}> PREFIX gw: <https://sosa-gateway.example/ns#> "
    "PREFIX qudt: <http://qudt.org/schema/qudt/> "
)
_RANGES = (
    Window(OBSERVATIONS, range=4 * _S),
    Window(OBSERVATIONS, range=8 * _S),
    Window(OBSERVATIONS, range=6 * _S, step=2 * _S),
    Window(OBSERVATIONS, range=6 * _S, limit=3, overflow="oldest"),
)


@dataclass(frozen=True)
class Subscribe:
    """To a body, and what of it, over a window."""

    body: str
    head: str
    window: Window


@dataclass(frozen=True)
class Unsubscribe:
    place: int


@dataclass(frozen=True)
class Reading:
    sensor: str
    observed: str
    value: int | str
    unit: str
    before: int | None
    is_suspect: bool


@dataclass(frozen=True)
class Pass:
    """Time goes on, and the wall clock may be set."""

    steady: int
    wall: int


Step = Subscribe | Unsubscribe | list[Reading] | Pass


@dataclass
class World:
    """An engine and its subscribers' answers: text and rows."""

    steady: int = 0
    wall: int = _BEGIN
    answers: dict[str, tuple[str, SolutionBag]] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def __post_init__(self) -> None:
        self.engine = Engine.open(clock=lambda: self.wall, steady=lambda: self.steady)
        self.elements = ObservationElements()

    def do(self, step: Step) -> None:
        match step:
            case Subscribe():
                self.subscribe(step)
            case Unsubscribe():
                if self.answers:
                    spuid = [*self.answers][step.place % len(self.answers)]
                    del self.answers[spuid]
                    self.engine.unsubscribe(spuid)
            case Pass():
                self.steady += step.steady
                self.wall += step.steady + step.wall
                self.take(self.engine.advance())
            case _:
                self.enter(step)

    def subscribe(self, step: Subscribe) -> Notification:
        self.take(self.engine.advance())
        text = f"{_PREFIXES} SELECT {step.head} {{ GRAPH <{_W.value}> {{ {step.body} }} }}"
        windows = ((_W.value, step.window),)
        first = self.engine.subscribe(SubscribeRequest(text, windows=windows))
        self.answers[first.spuid] = text, Counter(first.results.added)
        self.compare()
        return first

    def enter(self, readings: Sequence[Reading]) -> Outcome:
        records = list(map(self.record, readings))
        elements = self.elements.entering(records, _TEMPLATES, lambda _: True)
        outcome = self.engine.update(UpdateRequest((), elements=elements))
        self.take(outcome)
        return outcome

    def record(self, reading: Reading) -> Record:
        now = datetime.fromtimestamp(self.wall / _S, UTC)
        time = None if reading.before is None else now - timedelta(microseconds=reading.before)
        kind = "decimal" if isinstance(reading.value, int) else "string"
        unit = reading.unit if isinstance(reading.value, int) else None
        seen = Observation(
            reading.sensor,
            reading.observed,
            "urn:f",
            str(reading.value),
            XSD + kind,
            unit=unit,
            phenomenon_time=time,
        )
        number = next(self.numbers)
        return Record(Position(1, number), number // 3, seen, now, clock_suspect=reading.is_suspect)

    def take(self, outcome: Outcome) -> None:
        for each in outcome.notifications:
            _, answer = self.answers[each.spuid]
            answer.subtract(each.results.removed)
            answer.update(each.results.added)
            assert each.results.added or each.results.removed
        self.compare()

    def compare(self) -> None:
        for spuid, (text, answer) in self.answers.items():
            contents = self.engine.windowed.contents_of(spuid)
            assert +answer == answered(text, contents[_W])
            assert min(answer.values(), default=0) >= 0
        assert self.engine.statistics.failures == 0


def answered(text: str, content: Content) -> SolutionBag:
    """What the store says over all that a window has."""
    store = Store()
    store.extend(Quad(each.subject, each.predicate, each.object, _W) for each in content)
    results = store.query(text)
    assert isinstance(results, QuerySolutions)
    return Counter(tuple(row) for row in results)


_subscribes = st.builds(
    Subscribe, st.sampled_from(_BODIES), st.sampled_from(_HEADS), st.sampled_from(_RANGES)
)
_readings = st.builds(
    Reading,
    st.sampled_from(_SENSORS),
    st.sampled_from(_PROPERTIES),
    st.sampled_from((1, 2, 3, "open", "shut")),
    st.sampled_from(_UNITS),
    st.one_of(st.none(), st.none(), st.integers(-2, 6).map(lambda s: s * _S)),
    st.sampled_from([False] * 7 + [True]),
)
_passes = st.builds(
    Pass,
    st.integers(0, 5).map(lambda s: s * _S // 2),
    st.sampled_from([0] * 8 + [-4 * _S, 4 * _S]),
)
_steps = st.one_of(
    *[st.lists(_readings, min_size=1, max_size=4)] * 4,
    *[_subscribes] * 2,
    _passes,
    st.builds(Unsubscribe, st.integers(0, 9)),
)


_beginnings = st.lists(_subscribes, min_size=1, max_size=4)
_scripts = st.lists(_steps, min_size=4, max_size=20)


@pytest.mark.property
@given(_beginnings, _scripts)
@settings(max_examples=20, deadline=None)
def test_what_is_told_adds_up_to_the_answer_over_the_whole_window(
    asked: list[Subscribe], script: list[Step]
) -> None:
    play(asked, script)


@pytest.mark.slow
@pytest.mark.property
@pytest.mark.timeout(3600)
@given(_beginnings, _scripts)
@settings(max_examples=3_000, deadline=None)
def test_what_is_told_adds_up_to_the_answer_in_the_long_run(
    asked: list[Subscribe], script: list[Step]
) -> None:
    play(asked, script)


def play(asked: Sequence[Subscribe], script: Sequence[Step]) -> None:
    world = World()
    with closing(world.engine):
        for each in [*asked, *script]:
            world.do(each)
        for spuid in world.answers:
            world.engine.unsubscribe(spuid)
        streams = world.engine.windowed.streams
        assert (streams.is_idle, streams.elements, streams.bytes) == (True, 0, 0)


def reading(sensor: str, observed: str = "urn:p:0", before: int | None = None) -> Reading:
    return Reading(sensor, observed, 1, "urn:unit:a", before, False)


_ALL = [
    Reading(sensor, observed, value, unit, None, False)
    for sensor, observed in product(_SENSORS, _PROPERTIES)
    for value, unit in ((1, "urn:unit:a"), ("open", ""))
]


@pytest.mark.parametrize("head", ["*", "(COUNT(?v) AS ?n)"])
@pytest.mark.parametrize("body", _BODIES)
def test_each_query_beside_another_and_after_it(body: str, head: str) -> None:
    world = World()
    with closing(world.engine):
        world.subscribe(Subscribe(_BODIES[0], head, _RANGES[0]))
        world.enter(_ALL)
        world.subscribe(Subscribe(body, head, _RANGES[0]))
        world.subscribe(Subscribe(_BODIES[1], head, _RANGES[0]))
        world.do(Pass(_S, 0))
        world.enter(_ALL)
        world.enter([Reading("urn:s:1", "urn:p:0", 2, "urn:unit:b", None, False)])
        world.do(Unsubscribe(0))
        for _ in range(4):
            world.do(Pass(_S, 0))
        world.enter(_ALL)


@pytest.mark.parametrize("head", ["*", "(AVG(?v) AS ?mean)"])
def test_what_nobody_asks_for_is_not_made(head: str, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Predicates | None] = []
    kind = type(ObservationElements().element(World().record(reading("urn:s")), _TEMPLATES).triples)
    unique_terms = kind.unique_terms  # type: ignore[union-attr]

    def counted(self: Parted, wanted: Predicates | None) -> object:
        made.append(wanted)
        return unique_terms(self, wanted)

    monkeypatch.setattr(kind, "unique_terms", counted)
    world = World()
    with closing(world.engine):
        first = world.subscribe(Subscribe(f"?o {_BY[0]} ; {_VALUE}", head, _RANGES[0]))
        content = world.engine.windowed.contents_of(first.spuid)[_W]
        world.enter([reading("urn:s:1")] * 3)
        assert not made
        assert content.info().elements == 3
        world.enter([reading("urn:s:0")])
        assert made
        made.clear()
        world.do(Pass(4 * _S, 0))
        assert len(made) <= 1
        assert content.info().elements == 0
        assert +world.answers[first.spuid][1] == answered(world.answers[first.spuid][0], content)


def test_who_comes_later_knows_what_was_not_asked_for() -> None:
    world = World()
    with closing(world.engine):
        world.subscribe(Subscribe(f"?o {_BY[0]} ; {_VALUE}", "*", _RANGES[0]))
        world.enter([reading("urn:s:1"), reading("urn:s:1", before=_S)])
        second = world.subscribe(Subscribe(f"?o {_BY[1]} ; {_VALUE}", "*", _RANGES[0]))
        assert len(second.results.added) == 2
        world.do(Pass(3 * _S, 0))
        assert sum((+world.answers[second.spuid][1]).values()) == 1


def test_what_several_elements_say_of_a_sensor_is_looked_at_in_each() -> None:
    world = World()
    with closing(world.engine):
        body = "?s sosa:observes <urn:p:0>, ?v"
        first = world.subscribe(Subscribe(body, "(COUNT(?v) AS ?n)", _RANGES[0]))
        world.enter([reading("urn:s:0"), reading("urn:s:0", "urn:p:1")])
        (row,) = +world.answers[first.spuid][1]
        assert row == (Literal(2),)


def test_so_many_are_asked_for_and_then_each() -> None:
    predicate = NamedNode("urn:p")
    asks = [
        Ask(frozenset({predicate}), frozenset({(predicate, Literal(n))}))
        for n in range(MOST_ASKS + 1)
    ]
    interest = Interest(asks[:-1])
    assert not interest.is_any
    assert interest.also(asks[:3]) is interest
    assert interest.also(asks).is_any
    assert interest.also([ANY_SUBJECT]).also(asks).asks == {ANY_SUBJECT}


def test_elements_are_followed_as_long_as_somebody_looks() -> None:
    world = World()
    with closing(world.engine):
        step = Subscribe(f"?o {_BY[0]} ; {_VALUE}", "(COUNT(?v) AS ?n)", _RANGES[0])
        first, other = world.subscribe(step), world.subscribe(Subscribe(*_OTHER))
        content = world.engine.windowed.contents_of(first.spuid)[_W]
        assert isinstance(content, RangeContent)
        assert len(content.followed.asks) == 2
        world.do(Unsubscribe(0))
        assert len(content.followed.asks) == 1
        world.enter([reading("urn:s:0"), reading("urn:s:1")])
        assert other.spuid in world.answers


_OTHER = (f"?o {_BY[1]} ; {_VALUE}", "(COUNT(?v) AS ?n)", _RANGES[0])
