"""Sparkplug B payloads written by hand, field by field (Eclipse Sparkplug 3.0, section 6.4).

Protocol buffers: a key is the field's number and wire type; 0 is a varint, 1 and 5 are fixed, 2 has
a length. The gateway reads with a library; this is none.
"""

import struct
from dataclasses import dataclass

INT32, INT64, DOUBLE, BOOLEAN = 3, 4, 10, 11


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric; without a `name` it is told by its alias. `value` None is null."""

    alias: int
    datatype: int
    value: bool | int | float | None
    timestamp_ms: int
    name: str = ""
    unit: str = ""
    quality: int | None = None
    historical: bool = False


def payload(timestamp_ms: int, seq: int | None, *metrics: bytes) -> bytes:
    """A message; a death has no `seq`."""
    body = _number(1, timestamp_ms) + b"".join(_octets(2, each) for each in metrics)
    return body if seq is None else body + _number(3, seq)


def metric(told: Metric) -> bytes:
    """One metric, with its value where the datatype says."""
    body = _octets(1, told.name.encode()) if told.name else b""
    body += _number(2, told.alias) if told.alias else b""
    body += _number(3, told.timestamp_ms) + _number(4, told.datatype)
    body += _number(5, 1) if told.historical else b""
    body += _number(7, 1) if told.value is None else b""
    body += _properties(told)
    return body + _value(told.datatype, told.value)


def _properties(told: Metric) -> bytes:
    keys, values = [], []
    if told.unit:
        keys.append("engUnit")
        values.append(_number(1, 12) + _octets(8, told.unit.encode()))
    if told.quality is not None:
        keys.append("Quality")
        values.append(_number(1, INT32) + _number(3, told.quality))
    if not keys:
        return b""
    parts = [_octets(1, key.encode()) for key in keys] + [_octets(2, each) for each in values]
    return _octets(9, b"".join(parts))


def _value(datatype: int, value: bool | int | float | None) -> bytes:
    if value is None:
        return b""
    if datatype == DOUBLE:
        return bytes([13 << 3 | 1]) + struct.pack("<d", value)
    if datatype == BOOLEAN:
        return _number(14, int(value))
    if datatype == INT32:
        return _number(10, int(value) & 0xFFFF_FFFF)
    return _number(11, int(value) & 0xFFFF_FFFF_FFFF_FFFF)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _octets(field: int, body: bytes) -> bytes:
    return _varint(field << 3 | 2) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    digits = bytearray()
    while value > 127:
        digits.append(value & 127 | 128)
        value >>= 7
    digits.append(value)
    return bytes(digits)
