"""SenML packs: the records of a JSON document, resolved (RFC 8428 section 4, RFC 9100).

Place on the way: between the JSON or CBOR of a payload and the format "senml". A pack is taken
whole or not at all: what the RFC does not allow is one fault. Literals are another matter: a value
that XSD cannot hold is a fault of its record alone.

Base fields hold for their own record and for all later ones, until given again. A record has
exactly one of v, vs, vb and vd, unless it has a sum; where only one of base value and value, or
of base sum and sum, is there, the other counts as zero.
"""

import base64
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Context, Decimal

from adapters.device_time import EXACT
from adapters.fault import Fault, FaultReason, excerpt
from adapters.observation import XSD
from adapters.payload import Json
from adapters.result import (
    DECIMAL,
    DOUBLE,
    FALSE,
    INTEGER,
    MAX_DIGITS,
    TRUE,
    JsonNumber,
    Result,
    number_result,
    string_result,
)

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9\-:./_]*")
MAX_NAME_CHARS = 256
"""RFC 8428 has no limit; without one, a long base name makes megabytes of names of a small pack."""

UNDERSTOOD_VERSIONS = frozenset(map(Decimal, (*range(1, 11), 26)))
"""Up to 10, RFC 8428's own; 26 is 10 with feature 4, the units of RFC 8798 (RFC 9100)."""

CBOR_LABELS = {
    -1: "bver",
    -2: "bn",
    -3: "bt",
    -4: "bu",
    -5: "bv",
    -6: "bs",
    0: "n",
    1: "u",
    2: "v",
    3: "vs",
    4: "vb",
    5: "s",
    6: "t",
    7: "ut",
    8: "vd",
}
"""The integers that stand for labels in CBOR (RFC 8428, section 6, table 4)."""

BASE64_BINARY = XSD + "base64Binary"
BASE_LABELS = frozenset({"bn", "bt", "bu", "bv", "bs", "bver"})
VALUE_LABELS = frozenset({"v", "vs", "vb", "vd"})

_NUMBER = (JsonNumber, "number")
_STRING = (str, "string")
_TYPES: dict[str, tuple[type, str]] = {
    **dict.fromkeys(("bt", "bv", "bs", "bver", "v", "s", "t", "ut"), _NUMBER),
    **dict.fromkeys(("bn", "bu", "n", "u", "vs", "vd"), _STRING),
    "vb": (bool, "boolean"),
}
_BASE64URL = re.compile(r"[A-Za-z0-9_-]*")
_DEFAULT_VERSION = JsonNumber("10")
_ADDITION = Context(prec=2 * MAX_DIGITS + 1)

Fields = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Record:
    """A resolved record but for its time, which is relative to now where below 2**28.

    `time_s` is not finite where the pack's numbers are absurd. `value` and `sum` are None where
    the record has none, a Fault where no literal can hold them. `update_s` are the seconds after
    which at the latest the next value is promised, None where nothing is.
    """

    name: str
    unit: str | None
    time_s: Decimal
    value: Result | Fault | None
    sum: Result | Fault | None
    update_s: float | None = None


def resolve(document: Json) -> list[Record] | Fault:
    """The records of a pack, in the order of the pack; linear in its size."""
    if type(document) is not list or not document:
        return Fault(None, FaultReason.SENML_STRUCTURE, "a pack is an array of 1 or more records")
    base: dict[str, Json] = {}
    records = []
    for number, fields in enumerate(document, 1):
        try:
            records.append(_resolved(fields, base))
        except _DefectError as defect:
            return Fault(None, defect.reason, f"record {number}: {defect}")
    return records


class _DefectError(ValueError):
    """A record is not SenML; never leaves this module."""

    def __init__(self, detail: str, reason: FaultReason = FaultReason.SENML_STRUCTURE) -> None:
        super().__init__(detail)
        self.reason = reason


def _resolved(fields: Json, base: dict[str, Json]) -> Record:
    """The record of `fields`; its base fields go into `base`."""
    if type(fields) is not dict:
        raise _DefectError("a record is an object")
    _refuse_labels(fields)
    _refuse_version(fields, base)
    base.update((label, fields[label]) for label in BASE_LABELS & fields.keys())
    total = _total(_number(base, "bs"), _number(fields, "s"))
    return Record(
        _name(_text(base, "bn"), _text(fields, "n")),
        _text(fields, "u") or _text(base, "bu") or None,
        EXACT.add(_seconds(base, "bt"), _seconds(fields, "t")),
        _value(fields, base, has_sum=total is not None),
        total,
        _promise(fields),
    )


def _refuse_labels(fields: Fields) -> None:
    for label, value in fields.items():
        known = _TYPES.get(label)
        if known is None:
            if label.endswith("_"):
                raise _DefectError(f"{excerpt(label)} must be understood and is not")
        elif type(value) is not known[0]:
            raise _DefectError(f"{label} is no {known[1]}")


def _refuse_version(fields: Fields, base: dict[str, Json]) -> None:
    """All records have one version (4.4): that of the first, 10 where it says nothing."""
    version = _number(fields, "bver")
    established = _number(base, "bver")
    if established is None:
        base["bver"] = established = version or _DEFAULT_VERSION
    if version is None:
        return
    number = EXACT.create_decimal(version)
    if not number.is_finite() or number not in UNDERSTOOD_VERSIONS:
        detail = f"bver {excerpt(version)} is not understood"
        raise _DefectError(detail, FaultReason.SENML_VERSION)
    if number != EXACT.create_decimal(established):
        raise _DefectError("bver differs within the pack")


def _name(base: str, own: str) -> str:
    if len(base) + len(own) > MAX_NAME_CHARS:
        raise _DefectError(f"a name of more than {MAX_NAME_CHARS} characters")
    name = base + own
    if not NAME.fullmatch(name):
        raise _DefectError(f"{excerpt(name)} is no name")
    return name


def _value(fields: Fields, base: Fields, has_sum: bool) -> Result | Fault | None:
    labels = VALUE_LABELS & fields.keys()
    if len(labels) > 1:
        raise _DefectError("more than one of v, vs, vb and vd")
    if labels and "v" not in labels:
        return _other_value(fields)
    if not labels and has_sum:
        return None
    value = _total(_number(base, "bv"), _number(fields, "v"))
    if value is None:
        raise _DefectError("neither a value nor a sum")
    return value


def _other_value(fields: Fields) -> Result | Fault:
    if "vb" in fields:
        return TRUE if fields["vb"] else FALSE
    if "vd" in fields:
        return _data_result(_text(fields, "vd"))
    return string_result(_text(fields, "vs"))


def _data_result(text: str) -> Result:
    """base64url with or without its padding, as canonical base64."""
    bare = text.rstrip("=")
    if len(bare) % 4 == 1 or not _BASE64URL.fullmatch(bare):
        raise _DefectError("vd is no base64url")
    octets = base64.urlsafe_b64decode(bare + "=" * (-len(bare) % 4))
    return Result(base64.b64encode(octets).decode(), BASE64_BINARY)


def _total(base: JsonNumber | None, own: JsonNumber | None) -> Result | Fault | None:
    """Base and own number added without loss; one alone stays as it was written."""
    if base is None or own is None:
        alone = own or base
        return None if alone is None else number_result(alone)
    left, right = number_result(base), number_result(own)
    if isinstance(left, Fault) or isinstance(right, Fault):
        return left if isinstance(left, Fault) else right
    if DOUBLE in {left.datatype, right.datatype}:
        return _float_total(float(base), float(own))
    datatype = INTEGER if left.datatype == right.datatype == INTEGER else DECIMAL
    return Result(format(_ADDITION.add(Decimal(base), Decimal(own)), "f"), datatype)


def _float_total(left: float, right: float) -> Result | Fault:
    total = left + right
    if math.isinf(total):
        return Fault(None, FaultReason.NOT_FINITE, "the sum is beyond xsd:double")
    return Result(repr(total), DOUBLE)


def _promise(fields: Fields) -> float | None:
    seconds = float(_number(fields, "ut") or 0)
    return seconds if 0 < seconds < math.inf else None


def _text(fields: Fields, label: str) -> str:
    value = fields.get(label)
    return value if isinstance(value, str) else ""


def _number(fields: Fields, label: str) -> JsonNumber | None:
    value = fields.get(label)
    return value if isinstance(value, JsonNumber) else None


def _seconds(fields: Fields, label: str) -> Decimal:
    return EXACT.create_decimal(_number(fields, label) or 0)
