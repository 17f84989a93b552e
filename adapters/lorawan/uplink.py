"""LoRaWAN uplinks: what the formats of the network servers have in common.

Place on the way: "chirpstack" and "ttn" make an `Uplink` of their event; the selectors of mappings
look into it here. A selector is

- a name, `temperature` or `air.temperature`: in what the network server's codec decoded, and where
  no codec did, in what a byte table (adapters.lorawan.codecs) makes of the payload. The table is
  that of the model that the event names, or the one before a colon: `elsys:temperature`;
- a name at a depth of the soil in centimetres, `soil.moisture@20`: without a depth, several of them
  in one uplink are a fault, for they are several streams;
- a path that begins with `$`: in the event as it was sent.

The time is that of the network server; a codec may tell the device's own, and records that the
device had kept (`history`) come at theirs. Copies of an uplink have
the same `sequence`, whatever gateways received it.
"""

import base64
import binascii
import re
from collections.abc import Callable, Sequence
from collections.abc import Mapping as Lookup
from dataclasses import dataclass, field
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, missing
from adapters.documents.json_path import ABSENT, JsonPath
from adapters.lorawan.byte_table import ByteTable, Reading
from adapters.lorawan.codecs import TABLES, table_of
from adapters.values.device_time import read_time
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.observation import Circumstances, TimeSource
from adapters.values.payload import Json, Payload
from adapters.values.result import JsonNumber, json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri

NETWORK = Circumstances(time_source=TimeSource.NETWORK)
DEVICE = Circumstances(time_source=TimeSource.DEVICE)
KEPT = Circumstances(time_source=TimeSource.DEVICE, historical=True)
HISTORY = "history"
_TIMES = ("timestamp", "time")

_NUMBER = re.compile(r"[0-9]{1,6}(?:\.[0-9]{1,6})?")

Object = dict[str, Json]
Time = datetime | Fault | None


@dataclass(frozen=True, slots=True)
class Codec:
    """What a codec of the network server decoded; `units` has symbols by dotted names.

    `time` is the device's own, None where the codec tells none; `is_kept` says that it is a record
    of the past. `depth` is that of the measurement in the soil, as it is written.
    """

    document: Json
    units: Lookup[str, str] = field(default_factory=dict)
    time: Time = None
    is_kept: bool = False

    @property
    def depth(self) -> str:
        """In centimetres, empty where none is told."""
        return text_at(self.document, "soil", "depth")

    @property
    def circumstances(self) -> Circumstances:
        """Whose clock the time is, and whether it is of the past."""
        if self.is_kept:
            return KEPT
        return NETWORK if self.time is None else DEVICE


@dataclass(frozen=True, slots=True)
class Uplink:
    """An event of a network server.

    `codecs` are groups of what was decoded, the preferred first: a name is looked for in the next
    group only where this one does not have it. `frame` are the bytes, base64, and `models` the
    names under which a byte table may be known. `refused` says why no value is believed.
    """

    event: Object
    codecs: tuple[tuple[Codec, ...], ...] = ()
    frame: str = ""
    port: int | None = None
    models: tuple[str, ...] = ()
    device: str = ""
    label: str = ""
    time: Time = None
    sequence: str | None = None
    refused: Fault | None = None

    @property
    def is_decoded(self) -> bool:
        """Whether any codec of the network server gave something."""
        return any(self.codecs)

    def table(self) -> ByteTable | None:
        """The byte table of the model that the event names."""
        found = filter(None, map(table_of, self.models))
        return next(found, None)


Read = Callable[[Payload], Uplink | Fault]


@dataclass(frozen=True, slots=True)
class _Rule:
    """A selector: a path into the event, or the name of a decoded value."""

    path: JsonPath
    name: str
    table: ByteTable | None
    depth: float | None = None

    @classmethod
    def compile(cls, text: str) -> "_Rule":
        if text.startswith("$"):
            return cls(_singular(text), "", None)
        table, name, depth = None, text, None
        if "@" in name:
            name, _, told = name.rpartition("@")
            depth = _depth(told)
            if depth is None:
                raise ValueError(f"{told!a} is no depth in centimetres")
        elif ":" in text:
            model, _, name = text.partition(":")
            table = table_of(model)
            if table is None:
                raise ValueError(f"{model!a} is none of the byte tables {', '.join(TABLES)}")
        if not name:
            raise ValueError("name a decoded value, or a path of the event that begins with $")
        return cls(_singular(f"$.{name}"), name, table, depth)

    def at_depth(self, codec: Codec) -> bool:
        """Whether the codec's values are of the wanted depth."""
        return _depth(codec.depth) == self.depth


def _depth(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _singular(text: str) -> JsonPath:
    path = JsonPath.compile(text)
    if not path.is_singular:
        raise ValueError("one mapping takes one value: wildcards are not for uplinks")
    return path


class LorawanAdapter:
    """All values of a topic filter, over one uplink."""

    def __init__(self, mappings: Sequence[Mapping], read: Read) -> None:
        self._read = read
        self._rules = tuple(map(_rule, mappings))

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The network server's decoded values, or those that the named codec reads in the bytes."""
        uplink = payload.once(self._read)
        if isinstance(uplink, Fault):
            return Findings.of_fault(uplink)
        if uplink.refused is not None:
            return Findings.of_fault(uplink.refused)
        findings = Findings()
        readings: dict[str, Reading | Fault] = {}
        for rule, stream in zip(self._rules, streams, strict=True):
            if not rule.name:
                _add(rule.path.find(uplink.event), stream, uplink, findings)
            elif uplink.is_decoded:
                _add_decoded(rule, stream, uplink, findings)
            else:
                _add_read(rule, stream, uplink, readings, findings)
        if findings.faults:
            findings.faults[:] = dict.fromkeys(findings.faults)
        if not findings:
            findings.faults.append(missing(streams))
        return findings


def _add(value: object, stream: Stream, uplink: Uplink, findings: Findings) -> None:
    if value is not ABSENT:
        findings.add(
            stream, json_result(value), uplink.time, uplink.sequence, circumstances=NETWORK
        )


def _add_decoded(rule: _Rule, stream: Stream, uplink: Uplink, findings: Findings) -> None:
    """From the first group of codecs that has the name; each of the group is a measurement."""
    for group in uplink.codecs:
        there = group if rule.depth is None else tuple(filter(rule.at_depth, group))
        found = [(codec, rule.path.find(codec.document)) for codec in there]
        found = [(codec, value) for codec, value in found if value is not ABSENT]
        if len(found) > 1 and rule.depth is None and (fault := _several_depths(rule, found)):
            findings.faults.append(fault.of(stream.mapping))
            return
        for number, (codec, value) in enumerate(found):
            symbol = codec.units.get(rule.name)
            findings.add(
                stream,
                json_result(value),
                uplink.time if codec.time is None else codec.time,
                f"{uplink.sequence}.{number}" if number and uplink.sequence else uplink.sequence,
                unit=symbol and unit_iri(symbol),
                circumstances=codec.circumstances,
            )
        if found:
            return


def _several_depths(rule: _Rule, found: Sequence[tuple[Codec, object]]) -> Fault | None:
    """One stream cannot have the measurements of several depths."""
    if not rule.name.startswith("soil."):
        return None
    depths = list(dict.fromkeys(codec.depth for codec, _ in found if codec.depth))
    if len(depths) < 2:
        return None
    one = excerpt(f"{rule.name}@{depths[0]}")
    detail = f"{excerpt(rule.name)} is told of several depths: name one, as {one}"
    return Fault(None, FaultReason.NOT_A_VALUE, detail)


def codecs_of(decoded: Json) -> tuple[Codec, ...]:
    """What a codec made of an uplink: its values of now, and each record that the device kept.

    A record without a time that can be used is left out: nobody knows when it was.
    """
    if not isinstance(decoded, dict) or not decoded:
        return ()
    records = objects_at(decoded, HISTORY)
    if not records:
        return (Codec(decoded),)
    now = {name: value for name, value in decoded.items() if name != HISTORY}
    kept = (Codec(each, time=_kept_at(each), is_kept=True) for each in records)
    return (Codec(now), *(each for each in kept if isinstance(each.time, datetime)))


def _kept_at(record: Object) -> Time:
    return first_time([text_at(record, each) for each in _TIMES])


def _add_read(
    rule: _Rule,
    stream: Stream,
    uplink: Uplink,
    readings: dict[str, Reading | Fault],
    findings: Findings,
) -> None:
    """From the byte table that the mapping or the event names."""
    table = rule.table or uplink.table()
    key = table.name if table else ""
    if key not in readings:
        readings[key] = read_frame(uplink, table)
        reading = readings[key]
        findings.faults += [reading] if isinstance(reading, Fault) else reading.faults
    reading = readings[key]
    found = None if isinstance(reading, Fault) else reading.found.get(rule.name)
    if found is not None:
        findings.add(
            stream,
            found.result,
            uplink.time,
            uplink.sequence,
            unit=unit_iri(found.unit) if found.unit else None,
            circumstances=NETWORK,
        )


def read_frame(uplink: Uplink, table: ByteTable | None) -> Reading | Fault:
    """What `table` makes of the bytes of an uplink."""
    if table is None:
        model = f" of {excerpt(uplink.models[0])}" if uplink.models else ""
        detail = f"nobody decoded the payload{model}: set a codec in the network server, or name"
        return Fault(None, FaultReason.MISSING, f"{detail} a byte table: {', '.join(TABLES)}")
    try:
        frame = base64.b64decode(uplink.frame, validate=True)
    except (binascii.Error, ValueError):
        return Fault(None, FaultReason.MALFORMED, f"{excerpt(uplink.frame)} is no base64")
    return table.read(uplink.port, frame)


def _rule(mapping: Mapping) -> _Rule:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "the network server says where it stands")
    try:
        return _Rule.compile(mapping.selector)
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error


def text_at(node: Json, *keys: str) -> str:
    """The text or number below `keys`, empty where there is none."""
    for key in keys:
        node = node.get(key) if isinstance(node, dict) else None
    return str(node) if isinstance(node, str) else ""


def objects_at(node: Json, key: str) -> list[Object]:
    """The objects of the array `key`."""
    found = node.get(key) if isinstance(node, dict) else None
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def first_time(texts: Sequence[str]) -> Time:
    """The first of `texts` that names a time; the fault of the first where none does."""
    refused: Fault | None = None
    for text in texts:
        time = read_time(text) if text else None
        if isinstance(time, datetime):
            return time
        refused = refused or time
    return refused


def port_of(text: str) -> int | None:
    """The LoRaWAN port, None for what is none."""
    return int(text) if text.isdecimal() and len(text) <= 3 else None


def zeroes(node: Object, *keys: str) -> None:
    """Put 0 where protobuf-JSON left it out."""
    for key in keys:
        if node.get(key) is None:
            node[key] = JsonNumber("0")


def document_of(payload: Payload) -> Object | Fault:
    """The event, an object of its own that may be completed."""
    document = payload.document()
    if isinstance(document, Fault):
        return document
    if not isinstance(document, dict):
        return Fault(None, FaultReason.MALFORMED, "an event is an object")
    return dict(document)
