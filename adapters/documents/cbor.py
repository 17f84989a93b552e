"""CBOR documents: bytes to the values that a JSON text would give.

Place on the way: the formats that CBOR is a second encoding of (SenML). Numbers become texts, as in
adapters.values.payload: floats the shortest decimal that comes back at the precision they need,
decimal fractions as they are. Byte strings become base64url without padding, NaN and infinity the
words for them, so that they cost their own value only.

Of the tags only numbers, times, and those that say nothing of the value are taken: references
would let a small message name a huge one. Source: RFC 8949.
"""

import base64
import struct
from collections.abc import Callable, Mapping
from datetime import date
from decimal import Decimal
from io import BytesIO
from uuid import UUID

import cbor2

from adapters.documents.binary_float import float_text
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.payload import MAX_DEPTH, Json
from adapters.values.result import MAX_DIGITS, JsonNumber

_REFUSED_TAGS = (5, 25, 28, 29, 30, 35, 36, 256, 258, 260, 261)
_MAX_BITS = MAX_DIGITS * 4


class RefusedError(ValueError):
    """A value that no document has; parse_cbor and parse_msgpack turn it into a fault."""

    def __init__(self, reason: FaultReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


def _refused(*_: object) -> object:
    raise RefusedError(FaultReason.NOT_A_VALUE, "a tag that is no number and no time")


_DECODERS: Mapping[int, Callable[..., object]] = dict.fromkeys(_REFUSED_TAGS, _refused)


def parse_cbor(raw: bytes, labels: Mapping[int, str] | None = None) -> Json | Fault:
    """The document in `raw`; integer keys of maps have the names that `labels` gives them.

    >>> parse_cbor(bytes.fromhex("a1617418fb"))
    {'t': '251'}
    """
    if not raw:
        return Fault(None, FaultReason.EMPTY, "the payload is empty")
    try:
        return to_json(_decoded(raw), labels or {})
    except RefusedError as refused:
        return Fault(None, refused.reason, str(refused))
    except (cbor2.CBORError, ValueError, OverflowError, TypeError) as error:
        cause = error.__cause__
        if isinstance(cause, RefusedError):
            return Fault(None, cause.reason, str(cause))
        detail = ascii(str(error)).strip("'\"")[:120]
        reason = FaultReason.TOO_DEEP if "nesting depth" in detail else FaultReason.MALFORMED
        return Fault(None, reason, f"no CBOR: {detail}")


def _decoded(raw: bytes) -> object:
    stream = BytesIO(raw)
    decoder = cbor2.CBORDecoder(
        stream, semantic_decoders=_DECODERS, max_depth=MAX_DEPTH, allow_duplicate_keys=False
    )
    document: object = decoder.decode()
    if stream.tell() != len(raw):
        raise RefusedError(FaultReason.MALFORMED, f"bytes behind the document at {stream.tell()}")
    return document


def to_json(value: object, labels: Mapping[int, str]) -> Json:
    """What a decoder made, as the values of a JSON text; raises RefusedError.

    Recurses as deep as `value` is nested.
    """
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, list):
        return [to_json(each, labels) for each in value]
    if isinstance(value, dict):
        return {_key(key, labels): to_json(each, labels) for key, each in value.items()}
    return _scalar(value)


def _scalar(value: object) -> str | None:
    match value:
        case int():
            return _integer(value)
        case float():
            return _float(value)
        case Decimal():
            return JsonNumber(value) if value.is_finite() else str(value)
        case bytes():
            return base64.urlsafe_b64encode(value).rstrip(b"=").decode()
        case date():
            return value.isoformat()
        case UUID():
            return str(value)
        case cbor2.undefined:
            return None
    raise RefusedError(FaultReason.NOT_A_VALUE, f"{excerpt(type(value).__name__)} is no value")


def _key(key: object, labels: Mapping[int, str]) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool):
        return labels.get(key) or str(_integer(key))
    raise RefusedError(FaultReason.MALFORMED, "a key is neither a text nor an integer")


def _integer(number: int) -> JsonNumber:
    if number.bit_length() > _MAX_BITS:
        raise RefusedError(FaultReason.TOO_MANY_DIGITS, f"more than {MAX_DIGITS} digits")
    return JsonNumber(number)


def _float(number: float) -> str:
    """At single precision where that is enough: CBOR itself is sent in the fewest bytes."""
    try:
        single = struct.pack(">f", number)
    except OverflowError:
        single = b""
    is_single = bool(single) and struct.unpack(">f", single)[0] == number
    text = float_text(single if is_single else struct.pack(">d", number), "big")
    return str(number) if text is None else JsonNumber(text)
