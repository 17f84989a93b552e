"""Sparkplug B values: what a metric's datatype makes of the protobuf member that it stands in.

Place on the way: between `payload` and the format "sparkplug". Signed integers arrive in
unsigned members as two's complement, of their own width or of the member's; a bit pattern that is
neither is a fault, as is a value in a member of another kind than the datatype says.

Source: Eclipse Sparkplug 3.0, section 6.4.16 (data types), array encodings.
"""

import base64
import json
import struct
from collections.abc import Callable, Sequence
from decimal import Decimal

from adapters.documents.binary_float import float_text
from adapters.sparkplug.payload import Metric
from adapters.values.device_time import from_unix
from adapters.values.fault import Fault, FaultReason
from adapters.values.observation import XSD
from adapters.values.result import (
    FALSE,
    INTEGER,
    STRING,
    TRUE,
    Result,
    number_result,
    string_result,
)

BASE64_BINARY = XSD + "base64Binary"
DATE_TIME = XSD + "dateTime"

_NAMES = """
Unknown Int8 Int16 Int32 Int64 UInt8 UInt16 UInt32 UInt64 Float Double Boolean String DateTime Text
UUID DataSet Bytes File Template PropertySet PropertySetList Int8Array Int16Array Int32Array
Int64Array UInt8Array UInt16Array UInt32Array UInt64Array FloatArray DoubleArray BooleanArray
StringArray DateTimeArray
"""

DATATYPES = dict(enumerate(_NAMES.split()))
"""The names of the datatypes by their codes."""

Value = Result | Fault | tuple[Result, ...]
"""A scalar, or the elements of an array."""

INTEGERS = {1: (True, 8), 2: (True, 16), 3: (True, 32), 4: (True, 64)} | {
    5: (False, 8),
    6: (False, 16),
    7: (False, 32),
    8: (False, 64),
}
_ARRAYS = dict(zip(range(22, 32), "bhiqBHIQfd", strict=True))
_UNDECLARED = {"float_value": 9, "double_value": 10, "boolean_value": 11, "string_value": 12}
"""What a member says by itself of a metric whose birth was not heard."""


def value_of(metric: Metric, datatype: int) -> Value:
    """The value of `metric`, which has one and is not null, as `datatype`. Never raises."""
    datatype = datatype or _UNDECLARED.get(metric.field, 0)
    if datatype in INTEGERS:
        return _integer(metric, *INTEGERS[datatype])
    if datatype in _ARRAYS:
        return _binary(metric, lambda raw: _numbers(raw, _ARRAYS[datatype]))
    read = _READERS.get(datatype)
    if read is not None:
        return read(metric)
    name = DATATYPES.get(datatype, str(datatype))
    return _fault(f"a {name} is not taken: have its members published as metrics of their own")


def array_text(elements: Sequence[Result]) -> Result:
    """A whole array as JSON text.

    >>> array_text((Result("1", INTEGER), Result("a", STRING))).lexical
    '[1,"a"]'
    """
    texts = (
        each.lexical
        if each.datatype.startswith(XSD) and _is_bare(each)
        else json.dumps(each.lexical)
        for each in elements
    )
    return Result(f"[{','.join(texts)}]", STRING)


def _is_bare(element: Result) -> bool:
    return element.datatype not in {STRING, DATE_TIME}


def _integer(metric: Metric, signed: bool, bits: int) -> Result | Fault:
    raw, width = metric.value, 32 if metric.field == "int_value" else 64
    if metric.field not in {"int_value", "long_value"} or not isinstance(raw, int):
        return _wrong_member(metric, "an integer")
    above, low = raw >> bits, raw & ((1 << bits) - 1)
    if signed:
        negative = low >> (bits - 1)
        if above not in {0, (1 << (width - bits)) - 1 if negative and width > bits else 0}:
            return _fault(f"{raw} is no two's complement of {bits} bits")
        return Result(str(low - (negative << bits)), INTEGER)
    return _fault(f"{raw} has more than {bits} bits") if above else Result(str(low), INTEGER)


def _float(metric: Metric) -> Result | Fault:
    if metric.field not in {"float_value", "double_value"} or not isinstance(metric.value, float):
        return _wrong_member(metric, "a float")
    code = ">f" if metric.field == "float_value" else ">d"
    return _float_result(struct.pack(code, metric.value))


def _float_result(run: bytes) -> Result | Fault:
    text = float_text(run, "big")
    if text is None:
        return Fault(None, FaultReason.NOT_FINITE, "the float is infinite or no number")
    return number_result(text)


def _boolean(metric: Metric) -> Result | Fault:
    if metric.field != "boolean_value":
        return _wrong_member(metric, "a Boolean")
    return TRUE if metric.value else FALSE


def _string(metric: Metric) -> Result | Fault:
    if metric.field != "string_value" or not isinstance(metric.value, str):
        return _wrong_member(metric, "a text")
    return string_result(metric.value)


def _date_time(metric: Metric) -> Result | Fault:
    if metric.field != "long_value" or not isinstance(metric.value, int):
        return _wrong_member(metric, "a DateTime")
    return _moment(metric.value)


def _moment(milliseconds: int) -> Result | Fault:
    moment = from_unix(Decimal(milliseconds).scaleb(-3))
    if moment is None:
        return _fault(f"{milliseconds} ms is beyond the year 9999")
    return Result(moment.isoformat().replace("+00:00", "Z"), DATE_TIME)


def _binary(metric: Metric, read: Callable[[bytes], Value]) -> Value:
    if metric.field != "bytes_value" or not isinstance(metric.value, bytes):
        return _wrong_member(metric, "bytes")
    return read(metric.value)


def _octets(metric: Metric) -> Value:
    return _binary(metric, lambda raw: Result(base64.b64encode(raw).decode(), BASE64_BINARY))


def _numbers(raw: bytes, code: str) -> Value:
    size = struct.calcsize(f"<{code}")
    if len(raw) % size:
        return _fault(f"{len(raw)} bytes are no array of {size} bytes each")
    if code in "fd":
        runs = (raw[at : at + size][::-1] for at in range(0, len(raw), size))
        return _elements([_float_result(run) for run in runs])
    return tuple(Result(str(number), INTEGER) for (number,) in struct.iter_unpack(f"<{code}", raw))


def _booleans(raw: bytes) -> Value:
    count = int.from_bytes(raw[:4], "little")
    if len(raw) < 4 or len(raw) != 4 + (count + 7) // 8:
        return _fault(f"{len(raw)} bytes are no array of {count} truth values")
    bits = ((raw[4 + at // 8] >> (7 - at % 8)) & 1 for at in range(count))
    return tuple(TRUE if bit else FALSE for bit in bits)


def _strings(raw: bytes) -> Value:
    if raw and not raw.endswith(b"\0"):
        return _fault("the last text of the array has no end")
    try:
        texts = raw.decode().split("\0")[:-1]
    except UnicodeDecodeError as error:
        return Fault(None, FaultReason.INVALID_UTF8, f"{error.reason} at byte {error.start}")
    return _elements([string_result(text) for text in texts])


def _moments(raw: bytes) -> Value:
    if len(raw) % 8:
        return _fault(f"{len(raw)} bytes are no array of DateTimes")
    return _elements([_moment(number) for (number,) in struct.iter_unpack("<q", raw)])


def _elements(results: list[Result | Fault]) -> Value:
    """All elements, or the first fault: an array with a hole would shift what follows."""
    found: list[Result] = []
    for result in results:
        if isinstance(result, Fault):
            return result
        found.append(result)
    return tuple(found)


_READERS: dict[int, Callable[[Metric], Value]] = {
    9: _float,
    10: _float,
    11: _boolean,
    12: _string,
    13: _date_time,
    14: _string,
    15: _string,
    17: _octets,
    18: _octets,
    32: lambda metric: _binary(metric, _booleans),
    33: lambda metric: _binary(metric, _strings),
    34: lambda metric: _binary(metric, _moments),
}


def _wrong_member(metric: Metric, wanted: str) -> Fault:
    return _fault(f"{metric.field or 'no member'} where {wanted} is declared")


def _fault(detail: str) -> Fault:
    return Fault(None, FaultReason.NOT_A_VALUE, detail)
