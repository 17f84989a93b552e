"""Sparkplug B commands: a value in JSON to the NCMD or DCMD payload that sets a metric.

Place on the way: a proposal's command (format "sparkplug") has the text
`{"metric":"Setpoint","datatype":"Float","value":{value}}`; once the value is filled in, `encode`
makes the bytes that the edge node understands. The way back is `sparkplug_value`.
"""

import json
import math
import struct
from datetime import datetime
from typing import Any

from adapters.sparkplug.payload import Metric, Number, SparkplugPayload, encode_payload
from adapters.sparkplug.value import DATATYPES, INTEGERS

_CODES = {name: code for code, name in DATATYPES.items()}
_FLOATS = {"Float": ">f", "Double": ">d"}
_TEXTS = ("String", "Text", "UUID")


def encode(text: str, sent_at: datetime) -> bytes:
    """The payload of the command in `text`; raises ValueError with what is wrong with it.

    >>> from datetime import UTC
    >>> command = '{"metric":"Pump","datatype":"Boolean","value":true}'
    >>> len(encode(command, datetime(2026, 3, 2, tzinfo=UTC)))
    26
    """
    try:
        command = json.loads(text)
        name, datatype, value = command["metric"], command["datatype"], command["value"]
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("a command has metric, datatype and value") from error
    code = _CODES.get(datatype) if isinstance(datatype, str) else None
    if code is None or not isinstance(name, str) or not name:
        raise ValueError(f"{datatype!a} is no datatype, or {name!a} no metric")
    field, raw = _member(code, datatype, value)
    stamp = int(sent_at.timestamp() * 1000)
    metric = Metric(name, None, stamp, code, False, False, field, raw)
    return encode_payload(SparkplugPayload(stamp, None, (metric,)))


def _member(code: int, datatype: str, value: Any) -> tuple[str, Number]:
    """The protobuf member that holds `value`, and what stands in it."""
    if code in INTEGERS:
        signed, bits = INTEGERS[code]
        return ("int_value" if bits <= 32 else "long_value"), _integer(value, signed, bits)
    if datatype in _FLOATS and isinstance(value, int | float) and not isinstance(value, bool):
        return f"{datatype.lower()}_value", _float(value, _FLOATS[datatype])
    if datatype == "Boolean" and isinstance(value, bool):
        return "boolean_value", value
    if datatype in _TEXTS and isinstance(value, str):
        return "string_value", value
    raise ValueError(f"{str(value)[:40]!a} is no {datatype} that can be set")


def _float(value: float, code: str) -> float:
    try:
        (number,) = struct.unpack(code, struct.pack(code, value))
    except (OverflowError, struct.error):
        number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{str(value)[:40]} is beyond the datatype")
    return float(value)


def _integer(value: Any, signed: bool, bits: int) -> int:
    least = -(1 << (bits - 1)) if signed else 0
    is_integer = isinstance(value, int) and not isinstance(value, bool)
    if not is_integer or not least <= value < least + (1 << bits):
        raise ValueError(f"{str(value)[:40]!a} is no integer of {bits} bits")
    masked: int = value & ((1 << bits) - 1)
    return masked
