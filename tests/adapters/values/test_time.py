"""The device's time: RFC 3339 with a zone, Unix time by magnitude, and what is neither."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest

from adapters.values.device_time import from_unix, read_time
from adapters.values.fault import Fault, FaultReason

MOMENT = datetime(2026, 3, 2, 7, 15, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1772435712", 0),
        ("1772435712.44", 440_000),
        ("1.772435712e9", 0),
        ("1772435712123", 123_000),
        ("1772435712123456", 123_456),
        ("1772435712123456001", 123_456),
        ("2026-03-02T07:15:12Z", 0),
        ("2026-03-02t07:15:12z", 0),
        ("2026-03-02 07:15:12.5+00:00", 500_000),
        ("2026-03-02T08:15:12,123+0100", 123_000),
        ("2026-03-02T07:15:12.123456789Z", 123_456),
        (" 1772435712\n", 0),
    ],
)
def test_time_in_each_form_and_unit(text: str, microseconds: int) -> None:
    moment = read_time(text)
    assert moment == MOMENT + timedelta(microseconds=microseconds)
    assert isinstance(moment, datetime)
    assert moment.utcoffset() == timedelta(0)


@pytest.mark.parametrize("text", ["100000000", "100000000000", "100000000000000", "1" + "0" * 17])
def test_unit_of_a_unix_time_changes_at_powers_of_a_thousand(text: str) -> None:
    assert read_time(text) == datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0",
        "99999999",
        "1" + "0" * 20,
        "1e999999",
        "1e99999999999999999999",
        "-1772435712",
        "9" * 70,
        "2026-03-02T07:15:12",
        "2026-03-02",
        "2026-02-30T07:15:12Z",
        "2026-03-02T07:15:60Z",
        "2026-03-02T25:00:00Z",
        "2026-03-02T07:15:12+99:00",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "1970-01-01T00:00:05Z",
        "2026-W10-1T07:15:12Z",
        "yesterday",
        "\ud800",
    ],
)
def test_text_that_is_no_time_is_a_fault(text: str) -> None:
    fault = read_time(text)
    assert isinstance(fault, Fault)
    assert fault.reason is FaultReason.TIME_UNUSABLE
    assert fault.detail.isascii()


@pytest.mark.parametrize("seconds", ["NaN", "Infinity", "1e12", "-1e12", "253402300800"])
def test_seconds_beyond_the_calendar_are_none(seconds: str) -> None:
    assert from_unix(Decimal(seconds)) is None
