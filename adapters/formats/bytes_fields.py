"""Formats "bytes" and "hex": values at fixed places of a binary payload, or of one in hex digits.

Selector: a field of adapters.lorawan.byte_field, `i16be@1 *0.005 !0x8000`, or a bit, `bool@3:7`.
time_selector (a Unix time) and sequence_selector are fields too. The raw values that a field names
as "not available" are faults of reason `sentinel`; a field whose condition does not hold is silent.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, Format, missing, stateless
from adapters.lorawan.byte_field import ByteField
from adapters.values.device_time import read_sequence, read_time
from adapters.values.mapping import Mapping, MappingError
from adapters.values.payload import Payload
from adapters.values.stream import Stream

Octets = Callable[[Payload], bytes | Fault]


@dataclass(frozen=True, slots=True)
class _Rule:
    value: ByteField
    time: ByteField | None
    sequence: ByteField | None


class BytesAdapter:
    """All fields of a topic filter, over the same bytes."""

    def __init__(self, mappings: Sequence[Mapping], octets: Octets) -> None:
        self._octets = octets
        self._rules = tuple(map(_rule, mappings))

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """Each field whose condition holds; one that the payload is too short for is a fault."""
        data = self._octets(payload)
        if isinstance(data, Fault):
            return Findings.of_fault(data)
        findings = Findings()
        for rule, stream in zip(self._rules, streams, strict=True):
            result = rule.value.read(data)
            if result is not None:
                findings.add(stream, result, _time(rule.time, data), _sequence(rule.sequence, data))
        return findings or Findings.of_fault(missing(streams))


def raw_octets(payload: Payload) -> bytes | Fault:
    """The payload itself."""
    return payload.raw or Fault(None, FaultReason.EMPTY, "the payload is empty")


def hex_octets(payload: Payload) -> bytes | Fault:
    """The bytes that the payload writes in hex digits, with `0x` or spaces or without."""
    text = payload.text()
    if isinstance(text, Fault):
        return text
    digits = text.strip().strip('"').removeprefix("0x")
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        return Fault(None, FaultReason.MALFORMED, "the payload is not in hex digits")
    return data or Fault(None, FaultReason.EMPTY, "the payload is empty")


def _time(field: ByteField | None, data: bytes) -> datetime | Fault | None:
    result = field.read(data) if field else None
    if result is None or isinstance(result, Fault):
        return _as(result, FaultReason.TIME_UNUSABLE)
    return read_time(result.lexical)


def _sequence(field: ByteField | None, data: bytes) -> str | Fault | None:
    result = field.read(data) if field else None
    if result is None or isinstance(result, Fault):
        return _as(result, FaultReason.SEQUENCE_UNUSABLE)
    return read_sequence(result.lexical)


def _as(fault: Fault | None, reason: FaultReason) -> Fault | None:
    return None if fault is None else Fault(None, reason, fault.detail)


def _rule(mapping: Mapping) -> _Rule:
    return _Rule(
        _field(mapping, "selector", mapping.selector),
        _optional(mapping, "time_selector", mapping.time_selector),
        _optional(mapping, "sequence_selector", mapping.sequence_selector),
    )


def _optional(mapping: Mapping, member: str, text: str) -> ByteField | None:
    return _field(mapping, member, text) if text else None


def _field(mapping: Mapping, member: str, text: str) -> ByteField:
    try:
        return ByteField.compile(text)
    except (ValueError, ArithmeticError) as error:
        raise MappingError(mapping.iri, member, str(error)) from error


BYTES = Format(stateless(lambda mappings: BytesAdapter(mappings, raw_octets)))
HEX = Format(stateless(lambda mappings: BytesAdapter(mappings, hex_octets)))
