"""Sparklines: few points that stand for a long time, in a megabyte for all streams."""

import threading
import tracemalloc
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.values.observation import XSD, Circumstances, Observation
from gateway.ingest.sparklines import (
    LONGEST_S,
    POINTS,
    QUIET_S,
    STREAM_BYTES,
    TOTAL_BYTES,
    Sparklines,
)
from gateway.journal import Position, Record

START = datetime(2026, 3, 2, 7, 0, tzinfo=UTC)
START_MS = round(START.timestamp() * 1000)
STREAM = ("urn:s", "urn:p", "urn:f")


def record(
    at_s: float,
    lexical: str = "21.5",
    datatype: str = XSD + "decimal",
    *,
    sensor: str = "urn:s",
    unit: str | None = None,
    device_s: float | None = None,
    suspect: bool = False,
) -> Record:
    time = None if device_s is None else START + timedelta(seconds=device_s)
    seen = Observation(
        sensor, "urn:p", "urn:f", lexical, datatype, unit, time, None, Circumstances()
    )
    return Record(Position(1, 1), 1, seen, START + timedelta(seconds=at_s), "", suspect)


def drawn(*records: Record) -> list[tuple[float, float]]:
    """The points of STREAM, in seconds since START."""
    lines = Sparklines()
    lines.take(records)
    return [((ms - START_MS) / 1000, value) for ms, value in lines.of(STREAM).points]


def test_few_values_are_drawn_as_they_came() -> None:
    values = [record(at, str(at / 10)) for at in range(POINTS)]
    assert drawn(*values) == [(at, at / 10) for at in range(POINTS)]


@pytest.mark.parametrize(
    ("lexical", "datatype", "value"),
    [
        ("21.50", "decimal", 21.5),
        ("-3", "integer", -3.0),
        ("1.5e3", "double", 1500.0),
        ("true", "boolean", 1.0),
        ("false", "boolean", 0.0),
    ],
)
def test_numbers_and_truths_are_drawn(lexical: str, datatype: str, value: float) -> None:
    assert drawn(record(0, lexical, XSD + datatype)) == [(0, value)]


@pytest.mark.parametrize(
    ("lexical", "datatype"),
    [
        ("open", "string"),
        ("21", "string"),
        ("NaN", "double"),
        ("INF", "double"),
        ("1e39", "double"),
        ("x", "decimal"),
        ("9" * 400, "integer"),
    ],
)
def test_what_is_no_number_is_not_drawn(lexical: str, datatype: str) -> None:
    assert drawn(record(0, lexical, XSD + datatype)) == []


def test_the_time_is_that_of_the_device_where_it_is_believed() -> None:
    told = record(100, device_s=40)
    assert drawn(told) == [(40, 21.5)]
    assert drawn(record(100, device_s=90_000, suspect=True)) == [(100, 21.5)]


def test_what_comes_late_is_in_the_history_alone() -> None:
    assert drawn(record(50), record(60, "9", device_s=10), record(70, "3")) == [
        (50, 21.5),
        (70, 3.0),
    ]


def test_another_unit_begins_another_line() -> None:
    lines = Sparklines()
    lines.take([record(0, "20", unit="urn:C"), record(1, "68", unit="urn:F")])
    line = lines.of(STREAM)
    assert (line.unit, line.points) == ("urn:F", ((START_MS + 1000, 68.0),))


@given(
    st.lists(
        st.tuples(st.floats(0.001, 5000), st.floats(-1e6, 1e6, width=32)), min_size=1, max_size=400
    )
)
def test_points_are_few_ordered_and_the_last_value_is_there(
    steps: list[tuple[float, float]],
) -> None:
    at_s, records = 0.0, []
    for step_s, value in steps:
        at_s += step_s
        records.append(record(at_s, repr(value), XSD + "double"))
    lines = Sparklines()
    lines.take(records)
    line = lines.of(STREAM)
    times = [time for time, _ in line.points]
    assert 1 <= len(times) <= POINTS
    assert times == sorted(times)
    assert line.points[-1][1] == pytest.approx(steps[-1][1], rel=1e-6, abs=1e-6)
    # Twelve milliseconds are what four bytes keep of a day and more.
    known = [
        round(START_MS + (each.ingested_at - START).total_seconds() * 1000) for each in records
    ]
    assert all(min(abs(time - each) for each in known) <= 40 for time in times)


def test_a_day_of_seconds_is_drawn_from_end_to_end() -> None:
    lines = Sparklines()
    for at in range(0, 200_000, 10):
        lines.take([record(at, "1")])
    line = lines.of(STREAM)
    passed_s = (line.points[-1][0] - line.points[0][0]) / 1000
    assert LONGEST_S * 0.6 < passed_s < LONGEST_S * 1.3
    assert POINTS // 2 < len(line.points) <= POINTS
    gaps = [(b - a) / 1000 for (a, _), (b, _) in zip(line.points, line.points[1:], strict=False)]
    assert max(gaps[:-1]) <= 4 * line.resolution_s


def test_all_lines_take_a_megabyte() -> None:
    lines, sensors = Sparklines(), [f"urn:sensor:{n}" for n in range(1500)]
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    for at in range(POINTS):
        lines.take([record(at / 10, str(at + 0.5), sensor=each) for each in sensors])
    after, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(lines) == TOTAL_BYTES // STREAM_BYTES >= 1000
    assert after - before < 1.1 * TOTAL_BYTES


def test_lines_are_read_while_they_are_told() -> None:
    lines, count = Sparklines(), 20_000

    def tell() -> None:
        for at in range(count):
            lines.take([record(at, str(at))])

    told = threading.Thread(target=tell)
    told.start()
    seen: list[float] = []
    while told.is_alive():
        points = lines.of(STREAM).points
        assert [time for time, _ in points] == sorted(time for time, _ in points)
        seen += [value for _, value in points[-1:]]
    told.join()
    assert seen == sorted(seen)
    assert lines.of(STREAM).points[-1][1] == count - 1


def test_the_stream_that_is_quiet_for_longest_gives_way() -> None:
    lines = Sparklines(2 * STREAM_BYTES)
    lines.take([record(0, sensor="urn:a"), record(1, sensor="urn:b"), record(2, sensor="urn:a")])
    lines.take([record(3, sensor="urn:c")])
    assert [bool(lines.of((each, "urn:p", "urn:f")).points) for each in ("urn:a", "urn:c")] == [
        True,
        False,
    ]
    lines.take([record(QUIET_S + 1, sensor="urn:c")])
    kept = ("urn:a", "urn:b", "urn:c")
    assert [bool(lines.of((each, "urn:p", "urn:f")).points) for each in kept] == [True, False, True]
