"""Recorded readings of a wireless sensor network (18,760 rows), sent as JSON messages."""

import csv
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.observation import Observation
from adapters.values.result import DECIMAL, INTEGER
from tests.paths import SHARED

READINGS = SHARED / "data" / "sensors" / "wsn-multi-hop" / "data.csv"
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
UNITS = {
    "humidity": "http://qudt.org/vocab/unit/PERCENT_RH",
    "temperature": "http://qudt.org/vocab/unit/DEG_C",
}


def registry() -> Registry:
    members = {"humidity": "%RH", "temperature": "Cel", "label": None}
    compiled, errors = Registry.compile(
        Mapping(
            f"urn:m:{member}",
            "wsn/+/reading",
            "json",
            "urn:mote:{1}",
            f"urn:p:{member}",
            "urn:field:{1}",
            f"$.{member}",
            unit,
            sequence_selector="$.reading",
        )
        for member, unit in members.items()
    )
    assert not errors
    return compiled


def rows() -> Iterator[dict[str, str]]:
    with READINGS.open(newline="") as lines:
        yield from csv.DictReader(lines)


def message(row: dict[str, str]) -> Message:
    members = ",".join(f'"{name}":{text}' for name, text in row.items())
    return Message(f"wsn/{row['mote_id']}/reading", f"{{{members}}}".encode(), NOW)


def expected(row: dict[str, str]) -> tuple[Observation, ...]:
    return tuple(
        Observation(
            f"urn:mote:{row['mote_id']}",
            f"urn:p:{member}",
            f"urn:field:{row['mote_id']}",
            row[member],
            DECIMAL if "." in row[member] else INTEGER,
            UNITS.get(member),
            None,
            row["reading"],
        )
        for member in ("humidity", "temperature", "label")
    )


@pytest.mark.skipif(not READINGS.exists(), reason=f"no sample data at {READINGS}")
def test_each_recorded_row_gives_its_three_observations() -> None:
    compiled, count = registry(), 0
    for row in rows():
        decoded = compiled.decode(message(row))
        assert decoded.observations == expected(row)
        assert not decoded.faults
        count += 1
    assert count == 18_760
