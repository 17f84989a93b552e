"""Sparkplug B payloads: protobuf to metrics, and the one command that a host must send.

Place on the way: the bytes of a message in the namespace spBv1.0, before `host` gives its metrics
their names. The schema is stated here in our words, as far as a host reads it: DataSets,
Templates and nested property sets are kept as bytes, for they are refused and never looked into.

Source: Eclipse Sparkplug 3.0, section 6.4 (Sparkplug B payload definition).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError, EncodeError
from google.protobuf.message_factory import GetMessageClass

from adapters.values.fault import Fault, FaultReason

REBIRTH = "Node Control/Rebirth"
BOOLEAN = 11

_SCHEMA = {
    "Payload": "timestamp=1 uint64, metrics=2 Metric*, seq=3 uint64",
    "Metric": "name=1 string, alias=2 uint64, timestamp=3 uint64, datatype=4 uint32,"
    " is_historical=5 bool, is_transient=6 bool, is_null=7 bool, properties=9 PropertySet,"
    " int_value=10 uint32?, long_value=11 uint64?, float_value=12 float?, double_value=13 double?,"
    " boolean_value=14 bool?, string_value=15 string?, bytes_value=16 bytes?,"
    " dataset_value=17 bytes?, template_value=18 bytes?, extension_value=19 bytes?",
    "PropertySet": "keys=1 string*, values=2 PropertyValue*",
    "PropertyValue": "type=1 uint32, is_null=2 bool, int_value=3 uint32?, long_value=4 uint64?,"
    " float_value=5 float?, double_value=6 double?, boolean_value=7 bool?, string_value=8 string?,"
    " propertyset_value=9 bytes?, propertysets_value=10 bytes?, extension_value=11 bytes?",
}
"""Field, number and type; `*` is repeated, `?` one of the message's alternatives for `value`."""

_FIELD = re.compile(r"(\w+)=(\d+) (\w+)([*?]?)")
_PACKAGE = "sparkplug"


def _message_class(name: str) -> Any:
    return GetMessageClass(_POOL.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def _described() -> DescriptorPool:
    file = FileDescriptorProto(name="sparkplug.proto", package=_PACKAGE, syntax="proto2")
    for name, members in _SCHEMA.items():
        message = file.message_type.add(name=name)
        for member, number, type_, kind in _FIELD.findall(members):
            field = message.field.add(name=member, number=int(number))
            field.label = getattr(
                FieldDescriptorProto, "LABEL_REPEATED" if kind == "*" else "LABEL_OPTIONAL"
            )
            if type_ in _SCHEMA:
                field.type_name = f".{_PACKAGE}.{type_}"
            else:
                field.type = getattr(FieldDescriptorProto, f"TYPE_{type_.upper()}")
            if kind == "?":
                field.oneof_index = 0
        if "?" in members:
            message.oneof_decl.add(name="value")
    pool = DescriptorPool()
    pool.Add(file)
    return pool


_POOL = _described()
_PAYLOAD = _message_class("Payload")

Number = int | float | bool | str | bytes


@dataclass(frozen=True, slots=True)
class Metric:
    """A metric as it was sent: a name, an alias, or in a birth both.

    `datatype` is 0 and `timestamp_ms` None where the metric says nothing of them. `field` is the
    member that `value` stood in, empty where there was none.
    """

    name: str
    alias: int | None
    timestamp_ms: int | None
    datatype: int
    is_historical: bool
    is_null: bool
    field: str
    value: Number | None
    properties: "tuple[tuple[str, Number], ...]" = ()

    def property(self, key: str) -> Number | None:
        """The value of the property `key`, None where it is not there or null."""
        return dict(self.properties).get(key)


@dataclass(frozen=True, slots=True)
class SparkplugPayload:
    """What a message says; `sequence` is None in deaths and commands."""

    timestamp_ms: int | None
    sequence: int | None
    metrics: tuple[Metric, ...]

    def metric(self, name: str) -> Metric | None:
        """The last metric of that name."""
        return next((each for each in reversed(self.metrics) if each.name == name), None)


def decode_payload(raw: bytes) -> SparkplugPayload | Fault:
    """The payload in `raw`; whatever the bytes, never raises."""
    try:
        payload = _PAYLOAD.FromString(raw)
    except (DecodeError, UnicodeDecodeError) as error:
        return Fault(
            None, FaultReason.MALFORMED, f"no Sparkplug B payload: {ascii(str(error))[:80]}"
        )
    sequence = payload.seq if payload.HasField("seq") else None
    if sequence is not None and sequence > 255:
        return Fault(None, FaultReason.MALFORMED, f"seq {sequence} is beyond 255")
    if not all(isinstance(metric.name, str) for metric in payload.metrics):
        return Fault(None, FaultReason.INVALID_UTF8, "the name of a metric is no UTF-8")
    timestamp = payload.timestamp if payload.HasField("timestamp") else None
    return SparkplugPayload(timestamp, sequence, tuple(map(_metric, payload.metrics)))


def _metric(metric: Any) -> Metric:
    field = metric.WhichOneof("value") or ""
    return Metric(
        metric.name,
        metric.alias if metric.HasField("alias") else None,
        metric.timestamp if metric.HasField("timestamp") else None,
        metric.datatype,
        metric.is_historical,
        metric.is_null,
        field,
        getattr(metric, field) if field else None,
        tuple(_properties(metric.properties)) if metric.HasField("properties") else (),
    )


def _properties(properties: Any) -> Iterator[tuple[str, Number]]:
    """The properties with a value; texts that are no UTF-8 come as bytes, and are left out."""
    for key, value in zip(properties.keys, properties.values, strict=False):
        field = value.WhichOneof("value")
        if field and not value.is_null and isinstance(key, str):
            found = getattr(value, field)
            if not isinstance(found, bytes):
                yield key, found


def encode_payload(payload: SparkplugPayload) -> bytes:
    """The bytes of `payload`; raises ValueError for what protobuf cannot hold."""
    message = _PAYLOAD()
    try:
        _fill(message, timestamp=payload.timestamp_ms, seq=payload.sequence)
        for metric in payload.metrics:
            _fill_metric(message.metrics.add(), metric)
        return bytes(message.SerializeToString())
    except (EncodeError, TypeError) as error:
        raise ValueError(str(error)) from error


def rebirth_command(timestamp_ms: int) -> bytes:
    """The NCMD payload by which a host asks an edge node for its births again."""
    metric = Metric(REBIRTH, None, timestamp_ms, BOOLEAN, False, False, "boolean_value", True)
    return encode_payload(SparkplugPayload(timestamp_ms, None, (metric,)))


def _fill_metric(message: Any, metric: Metric) -> None:
    _fill(
        message,
        name=metric.name or None,
        alias=metric.alias,
        timestamp=metric.timestamp_ms,
        datatype=metric.datatype or None,
        is_historical=metric.is_historical or None,
        is_null=metric.is_null or None,
        **({metric.field: metric.value} if metric.field else {}),
    )
    for key, value in metric.properties:
        message.properties.keys.append(key)
        _fill(message.properties.values.add(), **_property_fields(value))


def _property_fields(value: Number) -> dict[str, Number]:
    match value:
        case bool():
            return {"type": BOOLEAN, "boolean_value": value}
        case int():
            return {"type": 3, "int_value": value}
        case float():
            return {"type": 10, "double_value": value}
        case str():
            return {"type": 12, "string_value": value}
    raise ValueError("a property is a number, a truth value or a text")


def _fill(message: Any, **members: Number | None) -> None:
    for member, value in members.items():
        if value is not None:
            setattr(message, member, value)
