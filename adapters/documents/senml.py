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
from typing import Any

from adapters.values.device_time import EXACT
from adapters.values.fault import Fault, FaultReason, excerpt
from adapters.values.observation import XSD
from adapters.values.payload import Json
from adapters.values.result import (
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
_ZERO = Decimal(0)
_ADDITION = Context(prec=2 * MAX_DIGITS + 1)

Fields = Mapping[str, Any]


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
    base: dict[str, Any] = {}
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


def _resolved(document: Json, base: dict[str, Any]) -> Record:
    """The record of `document`; its base fields go into `base`."""
    if type(document) is not dict:
        raise _DefectError("a record is an object")
    fields: Fields = document
    _refuse_labels(fields)
    if "bver" in fields or "bver" not in base:
        _refuse_version(fields, base)
    for label in fields:
        if label in BASE_LABELS:
            base[label] = fields[label]
    total = _total(base.get("bs"), fields.get("s"))
    return Record(
        _name(base.get("bn", ""), fields.get("n", "")),
        fields.get("u") or base.get("bu") or None,
        _seconds(base.get("bt"), fields.get("t")),
        _value(fields, base, has_sum=total is not None),
        total,
        _promise(fields["ut"]) if "ut" in fields else None,
    )


def _refuse_labels(fields: Fields) -> None:
    """What is known has the right type from here on."""
    for label, value in fields.items():
        known = _TYPES.get(label)
        if known is None:
            if label.endswith("_"):
                raise _DefectError(f"{excerpt(label)} must be understood and is not")
        elif type(value) is not known[0]:
            raise _DefectError(f"{label} is no {known[1]}")


def _refuse_version(fields: Fields, base: dict[str, Any]) -> None:
    """All records have one version (4.4): that of the first, 10 where it says nothing."""
    version: JsonNumber | None = fields.get("bver")
    established: JsonNumber | None = base.get("bver")
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
    value = _total(base.get("bv"), fields.get("v"))
    if value is None:
        raise _DefectError("neither a value nor a sum")
    return value


def _other_value(fields: Fields) -> Result | Fault:
    if "vb" in fields:
        return TRUE if fields["vb"] else FALSE
    if "vd" in fields:
        return _data_result(fields["vd"])
    return string_result(fields["vs"])


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


def _promise(seconds: JsonNumber) -> float | None:
    promised = float(seconds)
    return promised if 0 < promised < math.inf else None


def _seconds(base: JsonNumber | None, own: JsonNumber | None) -> Decimal:
    if base is None or own is None:
        alone = own or base
        return _ZERO if alone is None else EXACT.create_decimal(alone)
    return EXACT.add(EXACT.create_decimal(base), EXACT.create_decimal(own))
