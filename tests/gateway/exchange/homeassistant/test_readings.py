"""Readings on their way from the thread that stores them."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count

import pytest

from adapters.values.observation import Circumstances, Observation
from gateway.exchange.homeassistant.readings import Readings
from gateway.journal import Position, Record
from gateway.rdf.namespaces import XSD

NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)
SEEN = Observation("urn:s", "urn:p", "urn:f", "1", XSD + "integer")
OTHER = replace(SEEN, sensor="urn:t")


class Woken:
    def __init__(self) -> None:
        self.times = 0

    def __call__(self) -> None:
        self.times += 1


@pytest.fixture
def numbers() -> Iterator[int]:
    return count(1)


def record(numbers: Iterator[int], value: str, minute: int | None = None) -> Record:
    number = next(numbers)
    time = None if minute is None else NOON + timedelta(minutes=minute)
    seen = replace(SEEN, lexical=value, phenomenon_time=time)
    return Record(Position(1, number), number, seen, NOON + timedelta(hours=1))


def test_the_newest_of_a_stream_is_taken_and_what_comes_late_is_not(
    numbers: Iterator[int],
) -> None:
    woken = Woken()
    readings = Readings(woken)
    readings.listen({SEEN.stream: False}, {SEEN.stream: NOON})
    readings.stored([record(numbers, "1", 1), record(numbers, "2", 2)])
    readings.stored([record(numbers, "late", 1)])
    newest, events = readings.take()
    assert [each.observation.lexical for each in newest.values()] == ["2"]
    assert (events, woken.times) == ({}, 1)
    readings.stored([record(numbers, "later still", 0)])
    assert readings.take() == ({}, {})
    readings.stored([record(numbers, "before the start", -1)])
    assert readings.take() == ({}, {})
    readings.stored([record(numbers, "by our clock")])
    assert len(readings.take()[0]) == 1


def test_each_event_counts_but_those_of_the_past(numbers: Iterator[int]) -> None:
    readings = Readings(Woken())
    readings.listen({SEEN.stream: True}, {SEEN.stream: NOON})
    old = record(numbers, "old")
    kept = replace(old.observation, circumstances=Circumstances(historical=True))
    readings.stored([record(numbers, "a"), record(numbers, "a"), replace(old, observation=kept)])
    newest, events = readings.take()
    assert newest == {}
    assert [each.observation.lexical for each in events[SEEN.stream]] == ["a", "a"]
    for _ in range(100):
        readings.stored([record(numbers, "b")])
    assert len(readings.take()[1][SEEN.stream]) == 32


def test_a_stream_that_nobody_knows_is_told_of_once(numbers: Iterator[int]) -> None:
    woken = Woken()
    readings = Readings(woken)
    readings.stored([record(numbers, "1"), record(numbers, "2")])
    assert readings.has_unknown
    assert readings.take_unknown() == {SEEN.stream}
    readings.passed_over = frozenset({SEEN.stream})
    readings.stored([record(numbers, "3")])
    assert not readings.has_unknown
    assert woken.times == 1
