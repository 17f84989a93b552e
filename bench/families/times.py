"""A recorded message as if it were sent some days later: the times in it move on.

Place on the way of the data: `bench families` plays its cases again and again. With the times of
the recording every round but the first would be late, and cost next to nothing in a bare store.
"""

import re
from dataclasses import replace
from datetime import datetime, timedelta

from adapters.sparkplug.host import NAMESPACE
from adapters.sparkplug.payload import Metric, decode_payload, encode_payload
from adapters.values.fault import Fault
from adapters.values.message import Message

_DATE = re.compile(r"(?<!\d)(20[0-9]{2}-[01][0-9]-[0-3][0-9])(?=[T ][0-2][0-9]:)")
_UNIX = re.compile(r"(?<![\w.])(1[67][0-9]{8})([0-9]{3})?(?!\w)")
"""Seconds or milliseconds of the years from 2020 to 2030."""


def days_later(message: Message, days: int) -> Message:
    """`message` with dates and Unix times of so many days later, where its form is known."""
    if message.topic.startswith(NAMESPACE):
        payload = _sparkplug(message.payload, days * 86_400_000)
    else:
        payload = _text(message.payload, days)
    received_at = message.received_at + timedelta(days=days)
    return replace(message, payload=payload, received_at=received_at)


def _text(raw: bytes, days: int) -> bytes:
    try:
        text = raw.decode()
    except UnicodeDecodeError:
        return raw

    def date(found: re.Match[str]) -> str:
        return (datetime.fromisoformat(found[1]) + timedelta(days=days)).date().isoformat()

    def seconds(found: re.Match[str]) -> str:
        return f"{int(found[1]) + days * 86_400}{found[2] or ''}"

    return _UNIX.sub(seconds, _DATE.sub(date, text)).encode()


def _sparkplug(raw: bytes, by_ms: int) -> bytes:
    decoded = decode_payload(raw)
    if isinstance(decoded, Fault):
        return raw

    def moved(metric: Metric) -> Metric:
        return replace(metric, timestamp_ms=_plus(metric.timestamp_ms, by_ms))

    metrics = tuple(map(moved, decoded.metrics))
    timestamp_ms = _plus(decoded.timestamp_ms, by_ms)
    return encode_payload(replace(decoded, metrics=metrics, timestamp_ms=timestamp_ms))


def _plus(time_ms: int | None, by_ms: int) -> int | None:
    return None if time_ms is None else time_ms + by_ms
