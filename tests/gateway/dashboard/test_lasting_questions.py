"""Questions about the last minutes: what the page's sentences find, minute by minute.

`questions.json` is what `question.ts` makes of sentences; what is expected is told here by lists of
readings, without a window.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import RdfFormat, parse

from gateway.engine import Engine, Outcome
from gateway.engine.request import UpdateRequest
from gateway.rdf.canonical import canonical_triple
from gateway.windows import Element, Window
from tests.gateway.dashboard.test_questions import CASES, PREFIXES

STREAM = "https://sosa-gateway.example/ns#observations"
PROPERTY = "https://sosa-gateway.example/property/"
BEGIN = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SECOND = 1_000_000

LASTING = [each for each in CASES if each["question"]["over"]]
PRESENCE = ("o", "occupancy", "attic")
UNITS = {"DEG_C": Decimal(25), "DEG_F": Decimal(77), "K": Decimal("298.15")}


@dataclass(frozen=True, slots=True)
class Reading:
    """What a stream (sensor, property, room) tells, so many seconds after the beginning."""

    stream: tuple[str, str, str]
    at: int
    value: Decimal | bool

    @property
    def lexical(self) -> str:
        return str(self.value).lower()


@dataclass(slots=True)
class House:
    """An engine with a question that is watched, and what was told to it."""

    case: Mapping[str, Any]
    second: int = 0
    readings: list[Reading] = field(default_factory=list)
    engine: Engine = field(init=False)
    held: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.engine = Engine.open(clock=lambda: self.now)
        windows = {iri: Window.parse(each, where=iri) for iri, each in self.case["windows"].items()}
        told = self.engine.subscribe("\n".join(self.case["text"]), windows=windows)
        assert not told.results.added

    @property
    def now(self) -> int:
        return int(BEGIN.timestamp() * 1_000_000) + self.second * SECOND

    @property
    def unit(self) -> str:
        if not self.case["ground"]["hasUnits"]:
            return ""
        return str(self.case["question"]["unit"]).rpartition("/")[2]

    def pass_(self, minutes: int) -> None:
        """Time goes on."""
        for _ in range(minutes):
            self.second += 60
            self._take(self.engine.advance())

    def tell(self, stream: tuple[str, str, str], value: Decimal | bool) -> None:
        """A reading of now, in the store and in the streams, as ingest lets it in."""
        self.second += 1
        reading = Reading(stream, self.second, value)
        self.readings.append(reading)
        sensor, property_, room = stream
        unit = self.unit if stream != PRESENCE else ""
        text = self._triples(reading, unit)
        parsed = parse(PREFIXES.replace("PREFIX", "\nPREFIX") + text, format=RdfFormat.TURTLE)
        triples = tuple(canonical_triple(quad.triple) for quad in parsed)
        key = (f"urn:s:{sensor}", PROPERTY + property_, f"urn:room:{room}")
        element = Element(triples, self.now, key, unit or None)
        of_stream = f"sosa:madeBySensor <urn:s:{sensor}> ; sosa:observedProperty p:{property_}"
        gone = f"?o ?p ?v . ?o {of_stream}"
        self._take(
            self.engine.update(
                UpdateRequest(
                    f"{PREFIXES} DELETE {{ ?o ?p ?v }} INSERT {{ {text} }} WHERE {{ OPTIONAL {{"
                    f" {gone} }} }}",
                    elements={STREAM: [element]},
                )
            )
        )

    def _triples(self, reading: Reading, unit: str) -> str:
        sensor, property_, room = reading.stream
        at = (BEGIN + timedelta(seconds=reading.at)).isoformat()
        node = f"urn:o:{sensor}:{len(self.readings)}"
        quantity = (
            f"; sosa:hasResult <{node}:q> . <{node}:q> qudt:hasUnit unit:{unit}" if unit else ""
        )
        return (
            f"<{node}> sosa:madeBySensor <urn:s:{sensor}> ; sosa:observedProperty p:{property_} ;"
            f' sosa:hasFeatureOfInterest <urn:room:{room}> ; sosa:resultTime "{at}"^^xsd:dateTime ;'
            f" sosa:hasSimpleResult {reading.lexical} {quantity} .\n"
        )

    def _take(self, outcome: Outcome) -> None:
        for told in outcome.notifications:
            for row in told.removed:
                self.held.remove(_said(row))
            self.held += map(_said, told.added)

    def expected(self) -> list[str]:
        """Rows that there are to be, by the readings alone."""
        streams = dict.fromkeys(each.stream for each in self.readings if each.stream != PRESENCE)
        rows = [row for stream in streams for row in self._row(stream)]
        return sorted(rows) if self._nobody_there() else []

    def _nobody_there(self) -> bool:
        last = [each for each in self.readings if each.stream == PRESENCE][-1:]
        return not self.case["question"]["people"] or any(each.value is False for each in last)

    def _row(self, stream: tuple[str, str, str]) -> Sequence[str]:
        question, own = self.case["question"], [r for r in self.readings if r.stream == stream]
        span = 60 * question["span"]
        if question["over"] == "mean":
            recent = [Decimal(each.value) for each in own if each.at > self.second - span]
            mean = sum(recent, Decimal(0)) / len(recent) if recent else None
            is_so = mean is not None and self._is_so(mean)
            return [f"{stream[0]} {mean:.6f}"] if is_so else []
        # Since one that is old enough, of those that are looked at, the last one among them.
        seen = [each for each in own if each.at > self.second - 2 * span or each is own[-1]]
        old = [at for at, each in enumerate(seen) if each.at <= self.second - span]
        return (
            [stream[0]] if old and all(self._is_so(each.value) for each in seen[old[-1] :]) else []
        )

    def _is_so(self, value: Decimal | bool) -> bool:
        question = self.case["question"]
        if isinstance(value, bool):
            return value is (question["kind"] == "true")
        limit = UNITS[self.unit] if self.unit in UNITS else Decimal(question["limit"])
        return value > limit if question["kind"] == "above" else value < limit


def _said(row: Mapping[str, Any]) -> str:
    sensor = row["sensor"].value.removeprefix("urn:s:")
    return f"{sensor} {Decimal(row['mean'].value):.6f}" if "mean" in row else sensor


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("pass"), st.integers(1, 12)),
        st.tuples(st.sampled_from(["a", "b", "o"]), st.booleans()),
    ),
    min_size=1,
    max_size=25,
)


@pytest.mark.parametrize("case", LASTING, ids=lambda case: case["name"])
@settings(max_examples=12, deadline=None)
@given(steps=STEPS)
def test_a_lasting_question_has_the_rows_that_its_readings_give(
    case: Mapping[str, Any], steps: list[tuple[str, Any]]
) -> None:
    house = House(case)
    question = case["question"]
    name = question["property"].removeprefix(PROPERTY)
    room = question["place"].removeprefix("urn:room:") or "attic"
    for what, how in steps:
        if what == "pass":
            # A twelfth step is longer than what is looked at.
            house.pass_(how * question["span"] // 5 or 1)
        elif what == "o":
            house.tell(PRESENCE, how)
        elif question["kind"] in {"true", "false"}:
            house.tell((what, name, room), how)
        else:
            limit = UNITS.get(house.unit) or Decimal(question["limit"])
            house.tell((what, name, room), limit + (Decimal("1.5") if how else Decimal("-0.5")))
        assert sorted(house.held) == house.expected(), (house.second, house.readings, steps)
