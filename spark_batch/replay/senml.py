"""Observations as SenML packs (RFC 8428), and the mappings by which a gateway reads them back.

Place on the way of the data: between selection and an MQTT broker. A record has the time of its
observation and digits that keep its datatype: integers without a point, decimals with one, doubles
with an exponent. What SenML cannot say without changing it is left out, with the reason.
"""

import base64
import binascii
import json
import math
import re
from collections.abc import Iterable
from decimal import Decimal, InvalidOperation
from functools import lru_cache
from hashlib import blake2b
from typing import Final

from spark_batch.errors import ArchiveError
from spark_batch.replay.selection import Row
from spark_batch.schema import BOOLEAN, NUMERIC, XSD

DEFAULT_TOPIC: Final = "replay/{gateway}"
_UNIT: Final = "http://qudt.org/vocab/unit/"
SYMBOLS: Final = {
    _UNIT + name: symbol
    for name, symbol in {
        "DEG_C": "Cel",
        "K": "K",
        "PERCENT": "%",
        "PERCENT_RH": "%RH",
        "PA": "Pa",
        "LUX": "lx",
        "V": "V",
        "A": "A",
        "W": "W",
        "J": "J",
        "HZ": "Hz",
        "M": "m",
        "GM": "g",
        "M-PER-SEC": "m/s",
    }.items()
}
"""SenML's own symbols (RFC 8428, section 12.1) of units that readings have most; others are in the
mapping alone."""

_ABSOLUTE_FROM_US = 2**28 * 1_000_000
_INTEGERS = frozenset(NUMERIC) - {XSD + "decimal", XSD + "double", XSD + "float"}
_PLACEHOLDER = re.compile(r"\{(gateway|sensor|property|feature)\}")
_NOT_IN_NAME = re.compile(r"[^A-Za-z0-9_-]+")


class LeftOutError(ValueError):
    """SenML cannot say this observation; the text is the reason."""


def topic_of(template: str, row: tuple[str, str, str, str]) -> str:
    """The topic of a stream (gateway, sensor, property, feature); their last parts stand in it."""
    names = dict(zip(("gateway", "sensor", "property", "feature"), row, strict=True))
    return _PLACEHOLDER.sub(lambda match: _tail(names[match[1]]), template)


def check_topic(template: str) -> str:
    """The template; raises ArchiveError for what no message may be published to."""
    bare = _PLACEHOLDER.sub("x", template)
    if not bare or set(bare) & set("+#{}\0") or len(bare.encode()) > 60_000:
        raise ArchiveError(
            f"{template!r} is no topic to publish to",
            "give one without + and #, such as replay/{gateway}/{sensor}",
        )
    return template


@lru_cache(maxsize=10_000)
def name_of(sensor: str, observed_property: str, feature: str, unit: str | None) -> str:
    """The SenML name of a stream: readable, and unlike that of any other stream."""
    stream = "\n".join((sensor, observed_property, feature, unit or ""))
    digest = blake2b(stream.encode(), digest_size=6).hexdigest()
    return f"{_tail(sensor)}:{_tail(observed_property)}:{digest}"


def _tail(iri: str) -> str:
    """The last part of an IRI, in letters that names and topics may have."""
    parts = [part for part in re.split(r"[/#:]", iri) if part]
    tail = _NOT_IN_NAME.sub("_", parts[-1] if parts else "").strip("_-")
    return tail[:80] or "x"


def pack(rows: Iterable[Row]) -> tuple[bytes, list[str]]:
    """One pack of the rows that can be said (empty: none), and why others cannot."""
    records, reasons = [], []
    for row in rows:
        try:
            records.append(_record(row))
        except LeftOutError as error:
            reasons.append(str(error))
    return (f"[{','.join(records)}]".encode() if records else b""), reasons


def _record(row: Row) -> str:
    if row.result_us < _ABSOLUTE_FROM_US:
        raise LeftOutError("a time before July 1978 is relative in SenML")
    name = json.dumps(name_of(row.sensor, row.observed_property, row.feature, row.unit))
    seconds = Decimal(row.result_us).scaleb(-6)
    time = f"{seconds:f}".rstrip("0").rstrip(".")
    label, value = _value(row.lexical, row.datatype)
    symbol = SYMBOLS.get(row.unit or "") if label == "v" else None
    unit = f',"u":{json.dumps(symbol)}' if symbol else ""
    return f'{{"n":{name},"t":{time}{unit},"{label}":{value}}}'


def _value(lexical: str, datatype: str) -> tuple[str, str]:
    """The member of a record and its JSON."""
    try:
        if datatype in _INTEGERS:
            return "v", str(int(lexical))
        if datatype == XSD + "decimal":
            digits = f"{Decimal(lexical):f}"
            return "v", digits if "." in digits else f"{digits}.0"
        if datatype == XSD + "double":
            return "v", _double(float(lexical))
        if datatype == XSD + "base64Binary":
            octets = base64.b64decode(lexical, validate=True)
            return "vd", json.dumps(base64.urlsafe_b64encode(octets).decode().rstrip("="))
    except LeftOutError:
        raise
    except (ValueError, InvalidOperation, binascii.Error) as error:
        raise LeftOutError(f"a {datatype} that is none") from error
    if datatype == BOOLEAN and lexical in ("true", "false", "1", "0"):
        return "vb", "true" if lexical in ("true", "1") else "false"
    if datatype == XSD + "string":
        return "vs", json.dumps(lexical, ensure_ascii=False)
    raise LeftOutError(f"no SenML value is a {datatype}")


def _double(number: float) -> str:
    if not math.isfinite(number):
        raise LeftOutError("JSON has no number that is not finite")
    digits = repr(number)
    return digits if "e" in digits else f"{digits}e0"


def mappings(
    streams: Iterable[tuple[str, str, str, str, str | None]], template: str
) -> dict[str, object]:
    """A JSAP profile by which a gateway makes the same observations of the packs."""
    return {
        "host": "127.0.0.1",
        "namespaces": {},
        "queries": {},
        "updates": {},
        "extended": {"mappings": [_mapping(stream, template) for stream in streams]},
    }


def _mapping(stream: tuple[str, str, str, str, str | None], template: str) -> dict[str, str]:
    gateway, sensor, observed_property, feature, unit = stream
    name = name_of(sensor, observed_property, feature, unit)
    mapping = {
        "id": f"urn:x-replay:{gateway}:{name}",
        "topic": topic_of(template, (gateway, sensor, observed_property, feature)),
        "format": "senml",
        "selector": name,
        "sensor": sensor,
        "property": observed_property,
        "feature": feature,
    }
    return mapping | ({"unit": unit} if unit else {})
