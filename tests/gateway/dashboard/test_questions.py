"""Questions without SPARQL: what the page writes for a sentence finds what the sentence says.

`questions.json` is what `question.ts` makes of sentences; its unit test holds it to that.
"""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from pyoxigraph import QuerySolution, QuerySolutions

from gateway.engine import Engine
from tests.kit import pages
from tests.paths import ROOT

QUESTIONS = ROOT / "gateway/dashboard/web/src/pages/ask/questions.json"
PREFIXES = """PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX qudt: <http://qudt.org/schema/qudt/>
PREFIX unit: <http://qudt.org/vocab/unit/> PREFIX gw: <https://sosa-gateway.example/ns#>
PREFIX p: <https://sosa-gateway.example/property/> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#>
"""
NOW = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)

Reading = tuple[str, str, str, str, str, int]
"""Sensor, property, room, value, unit, minutes ago."""

READINGS: list[Reading] = [
    # The attic is warm and empty, in °C, in °F and in K: 26.0, 25.1 and 25.0 °C.
    ("attic-c", "temperature", "attic", "26.0", "DEG_C", 1),
    ("attic-f", "temperature", "attic", "77.18", "DEG_F", 2),
    ("attic-k", "temperature", "attic", "298.15", "K", 3),
    ("attic-o", "occupancy", "attic", "false", "", 1),
    # In the hall one sensor sees nobody, another sees somebody.
    ("hall-c", "temperature", "hall", "30", "DEG_C", 1),
    ("hall-o", "occupancy", "hall", "false", "", 1),
    ("hall-o2", "occupancy", "hall", "true", "", 1),
    # Nothing tells who is in the cellar but a sensor of motion.
    ("cellar-c", "temperature", "cellar", "29", "DEG_C", 1),
    ("cellar-m", "motion", "cellar", "false", "", 9),
    # The shed is cold, and its thermometer has not been heard for half an hour.
    ("shed-c", "temperature", "shed", "-3.5", "DEG_C", 30),
    ("shed-o", "occupancy", "shed", "false", "", 10),
    ("attic-w", "opening", "attic", "true", "", 1),
    ("hall-w", "opening", "hall", "true", "", 1),
    ("shed-w", "opening", "shed", "false", "", 1),
    ("attic-n", "people_count", "attic", "3", "", 1),
    ("hall-n", "people_count", "hall", "4", "", 1),
    ("hall-d", "noise", "hall", "41", "DeciB", 1),
    ("attic-d", "noise", "attic", "41", "PERCENT", 1),
]

EXPECTED: dict[str, list[str]] = {
    "too warm and nobody there": ["attic-c", "attic-f"],
    "too warm and somebody there": ["hall-c"],
    "too warm and nobody there, by two kinds of sensor": ["attic-c", "attic-f", "cellar-c"],
    "too warm in one room, in degrees Fahrenheit": ["attic-c", "attic-f"],
    "too cold": ["shed-c"],
    "above a limit, no units": ["hall-n"],
    "above a limit in a unit that converts to nothing": ["hall-d"],
    "open while nobody is there": ["attic-w"],
    "closed": ["shed-w"],
    "the two warmest": ["hall-c", "cellar-c"],
    "the two coldest": ["shed-c", "attic-k"],
    "the largest, no units": ["hall-n"],
    "silent for ten minutes": ["shed-c", "shed-o"],
    "thermometers silent for ten minutes": ["shed-c"],
    "silent for longer than promised": ["shed-c"],
    "too warm and nobody there, where the store keeps more": ["attic-c", "attic-f"],
}
"""Sensors of the rows."""

CASES: list[dict[str, Any]] = json.loads(QUESTIONS.read_text(encoding="utf-8"))


def observation(reading: Reading, name: str = "") -> str:
    """Triples as the gateway's own templates write them."""
    sensor, property_, room, value, unit, ago = reading
    at = (NOW - timedelta(minutes=ago)).isoformat()
    node = f"urn:o:{sensor}{name}"
    quantity = f"; sosa:hasResult <{node}:q> . <{node}:q> qudt:hasUnit unit:{unit}" if unit else ""
    return (
        f"<{node}> a sosa:Observation ; sosa:madeBySensor <urn:s:{sensor}> ;"
        f" sosa:observedProperty p:{property_} ; sosa:hasFeatureOfInterest <urn:room:{room}> ;"
        f' sosa:resultTime "{at}"^^xsd:dateTime ; gw:ingestedAt "{at}"^^xsd:dateTime ;'
        f" sosa:hasSimpleResult {value} {quantity} .\n"
    )


def absence(sensor: str, room: str) -> str:
    return (
        f"<urn:stream:{sensor}> gw:absentSince '2026-03-02T11:30:00Z'^^xsd:dateTime ;"
        f" gw:ofSensor <urn:s:{sensor}> ; gw:ofProperty p:temperature ;"
        f" gw:ofFeature <urn:room:{room}> .\n"
    )


def house() -> Engine:
    engine = Engine.open(clock=lambda: int(NOW.timestamp() * 1_000_000))
    triples = "".join(map(observation, READINGS)) + absence("shed-c", "shed")
    engine.update(f"{PREFIXES} INSERT DATA {{ {triples} }}")
    return engine


def rows_of(engine: Engine, text: str) -> list[QuerySolution]:
    rows = engine.query(text)
    assert isinstance(rows, QuerySolutions)
    return list(rows)


def sensors(engine: Engine, text: str) -> list[str]:
    """Of each row, in its order."""
    return [str(row["sensor"])[len("<urn:s:") : -1] for row in rows_of(engine, text)]


def text_of(name: str) -> str:
    (found,) = [each for each in CASES if each["name"] == name]
    return "\n".join(found["text"])


def test_every_sentence_has_an_expectation() -> None:
    of_now = [each["name"] for each in CASES if not each["question"]["over"]]
    assert of_now == list(EXPECTED)


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sentence_finds_what_it_says(name: str) -> None:
    engine = house()
    found = sensors(engine, text_of(name))
    if "ORDER BY" not in text_of(name):
        found.sort()
    assert found == EXPECTED[name]


@pytest.mark.parametrize("name", EXPECTED)
def test_a_sentence_that_is_watched_is_told_of_every_change(name: str) -> None:
    engine = Engine.open(clock=lambda: int(NOW.timestamp() * 1_000_000))
    held = list(map(str, engine.subscribe(text_of(name)).added))
    gone = [reading for reading in READINGS if reading[0] in {"hall-o2", "attic-c", "shed-c"}]
    for change in (
        *(f"INSERT DATA {{ {observation(each)} }}" for each in READINGS),
        f"INSERT DATA {{ {absence('shed-c', 'shed')} {absence('other', 'hall')} }}",
        *(f"DELETE DATA {{ {observation(each)} }}" for each in gone),
        "DELETE DATA { <urn:stream:other> gw:ofFeature <urn:room:hall> }",
    ):
        for told in engine.update(PREFIXES + change).notifications:
            for row in map(str, told.removed):
                held.remove(row)
            held += map(str, told.added)
        now = rows_of(engine, text_of(name))
        assert len(held) == len(now)
    assert sorted(held) == sorted(map(str, engine.subscribe(text_of(name)).added))


def test_of_a_store_that_keeps_more_only_the_newest_counts() -> None:
    engine = house()
    older = [
        observation(("attic-c", "temperature", "attic", "40", "DEG_C", 60), ":older"),
        observation(("shed-c", "temperature", "shed", "40", "DEG_C", 90), ":older"),
        observation(("attic-o", "occupancy", "attic", "true", "", 60), ":older"),
    ]
    engine.update(f"{PREFIXES} INSERT DATA {{ {''.join(older)} }}")
    name = "too warm and nobody there, where the store keeps more"
    assert sorted(sensors(engine, text_of(name))) == EXPECTED[name]


def test_limits_are_converted_as_the_gateway_converts() -> None:
    """The page has the gateway's own factors."""
    assert pages.PAGE_SCALES.read_text(encoding="utf-8") == pages.page_scales()
