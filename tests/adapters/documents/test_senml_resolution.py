"""SenML resolution equals a straightforward one that follows RFC 8428, sentence by sentence."""

import json
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.registry import Registry
from adapters.values.mapping import Mapping
from adapters.values.message import Message
from adapters.values.units import unit_iri

pytestmark = pytest.mark.property

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
UNITS = ("A", "Cel", "V")
NAMES_OF_UNITS = {unit_iri(text): text for text in UNITS}

Resolved = tuple[str, Decimal | str | bool, datetime | None, str | None]

NAMES = st.text("ab1", min_size=1, max_size=3)
UNIT_TEXTS = st.sampled_from(UNITS)
NUMBERS = st.decimals(-1000, 1000, places=2).map(float) | st.integers(-1000, 1000)
TIMES = st.integers(-5000, 5000) | st.integers(1_700_000_000, 1_800_000_000)
VALUES = (
    NUMBERS.map(lambda value: {"v": value})
    | st.text("xyz", max_size=3).map(lambda value: {"vs": value})
    | st.booleans().map(lambda value: {"vb": value})
)


def optional(label: str, values: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    return st.just({}) | values.map(lambda value: {label: value})


RECORDS = st.tuples(
    optional("bn", NAMES),
    optional("bt", TIMES),
    optional("bu", UNIT_TEXTS),
    optional("bv", NUMBERS),
    NAMES.map(lambda name: {"n": name}),
    optional("t", st.integers(-5000, 5000)),
    optional("u", UNIT_TEXTS),
    optional("ut", st.integers(0, 60)),
    optional("unknown", st.none()),
    VALUES,
).map(lambda parts: {label: value for part in parts for label, value in part.items()})


def reference(pack: list[dict[str, Any]]) -> list[Resolved]:
    """Each record looks back for the last base field; nothing is carried along."""
    resolved = []
    for index, record in enumerate(pack):

        def last(label: str, default: Any, before: list[dict[str, Any]]) -> Any:
            return next((each[label] for each in reversed(before) if label in each), default)

        seen = pack[: index + 1]
        name = last("bn", "", seen) + record.get("n", "")
        seconds = last("bt", 0, seen) + record.get("t", 0)
        unit = record.get("u", last("bu", None, seen))
        value: Decimal | str | bool
        if "v" in record:
            value = Decimal(str(last("bv", 0, seen))) + Decimal(str(record["v"]))
        else:
            value = record["vs"] if "vs" in record else record["vb"]
            unit = None
        start = NOW if seconds < 2**28 else EPOCH
        time = start + timedelta(seconds=seconds) if seconds else None
        resolved.append((name, value, time, unit))
    return sorted(resolved, key=lambda each: each[2] or NOW)


def decoded(pack: list[dict[str, Any]]) -> list[Resolved]:
    mapping = Mapping("urn:m", "t", "senml", "urn:{name}", "urn:p", "urn:f")
    registry, errors = Registry.compile([mapping])
    assert not errors
    result = registry.decode(Message("t", json.dumps(pack).encode(), NOW))
    assert not result.faults
    return [
        (
            seen.sensor.removeprefix("urn:"),
            python_value(seen.lexical, seen.datatype.partition("#")[2]),
            seen.phenomenon_time,
            NAMES_OF_UNITS.get(seen.unit),
        )
        for seen in result.observations
    ]


def python_value(lexical: str, datatype: str) -> Decimal | str | bool:
    if datatype == "string":
        return lexical
    return lexical == "true" if datatype == "boolean" else Decimal(lexical)


@settings(max_examples=600, deadline=None)
@given(st.lists(RECORDS, min_size=1, max_size=8))
def test_resolution_equals_the_reference(pack: list[dict[str, Any]]) -> None:
    assert decoded(pack) == reference(pack)
