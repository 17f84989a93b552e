"""The device's own time and counter, from the texts of a payload.

A time is RFC 3339 with a zone, or a Unix time.

A bad clock costs the time, never the observation: what cannot be used is a `Fault` of reason
time_unusable and the observation stays, with phenomenon_time None. The unit of a Unix time is
told by its magnitude; each range is 1973-03-03 to 5138-11-16 in its unit:

    1e8  .. 1e11   seconds, with or without a fraction
    1e11 .. 1e14   milliseconds
    1e14 .. 1e17   microseconds
    1e17 .. 1e20   nanoseconds

Anything earlier, in numbers or ISO 8601, is the uptime or the unset clock of a device. A local
time without a zone is not guessed at.
"""

import re
from datetime import UTC, datetime, timedelta
from decimal import Context, Decimal

from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.result import string_result

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MAX_SEQUENCE_CHARS = 128
EARLIEST_S = 100_000_000
EARLIEST = EPOCH + timedelta(seconds=EARLIEST_S)

EXACT = Context(prec=64, traps=[])
"""Decimal arithmetic that answers with NaN or infinity where Python's own would raise."""

_NUMBER = re.compile(r"[0-9]++(?:\.[0-9]++)?+(?:[eE]\+?[0-9]++)?+")
_RFC3339 = re.compile(
    r"([0-9]{4}-[0-9]{2}-[0-9]{2})[Tt ]([0-9]{2}:[0-9]{2}:[0-9]{2})[.,]?([0-9]{0,6})[0-9]*"
    r"([Zz]|[+-][0-9]{2}:?[0-9]{2})"
)
_LONGEST_TEXT = 64
_PER_SECOND = (1, 1_000, 1_000_000, 1_000_000_000)


def read_time(text: str) -> datetime | Fault:
    """The aware UTC time that `text` names, to the microsecond."""
    text = text.strip()
    if len(text) > _LONGEST_TEXT:
        return _unusable(text, "is too long for a time")
    if _NUMBER.fullmatch(text):
        return _unix_time(text)
    return _iso_time(text)


def read_sequence(text: str) -> str | Fault:
    """The device's counter or message identifier, 1 to MAX_SEQUENCE_CHARS characters as sent."""
    if not 0 < len(text) <= MAX_SEQUENCE_CHARS:
        detail = f"a sequence has 1 to {MAX_SEQUENCE_CHARS} characters"
        return Fault(None, FaultReason.SEQUENCE_UNUSABLE, detail)
    result = string_result(text)
    if isinstance(result, Fault):
        return Fault(None, FaultReason.SEQUENCE_UNUSABLE, result.detail)
    return result.lexical


def from_unix(seconds: Decimal) -> datetime | None:
    """The time `seconds` after 1970; None beyond the years 1 to 9999 or for NaN."""
    if not seconds.is_finite() or abs(seconds) >= 10**12:
        return None
    microseconds = int(EXACT.multiply(seconds, Decimal(1_000_000)).to_integral_value())
    try:
        return EPOCH + timedelta(microseconds=microseconds)
    except OverflowError:
        return None


def _unix_time(text: str) -> datetime | Fault:
    number = EXACT.create_decimal(text)
    for per_second in _PER_SECOND:
        low = EARLIEST_S * per_second
        if low <= number < low * 1000:
            return from_unix(EXACT.divide(number, Decimal(per_second))) or _unusable(text, "")
    return _unusable(text, "is no Unix time")


def _iso_time(text: str) -> datetime | Fault:
    parts = _RFC3339.fullmatch(text)
    if parts is None:
        return _unusable(text, "is no RFC 3339 time with a zone")
    date, time, fraction, zone = parts.groups()
    try:
        local = datetime.fromisoformat(f"{date}T{time}.{fraction:0<6}{zone.upper()}")
        moment = local.astimezone(UTC)
    except (ValueError, OverflowError):
        return _unusable(text, "is no date of the calendar")
    return moment if moment >= EARLIEST else _unusable(text, "is the time of an unset clock")


def _unusable(text: str, why: str) -> Fault:
    return Fault(None, FaultReason.TIME_UNUSABLE, f"{excerpt(text)} {why}")
