"""`DocumentAdapter`: values at paths of a document, whatever its encoding.

Place on the way: what the formats "json", "cbor" and "msgpack" have in common; they differ in how
bytes become the document.

A path that is absent gives no observation and no fault as long as another mapping of the message
finds its value: partial updates are usual. null is a fault, for the device says that it has no
value. time_selector and sequence_selector are paths too; where they lead nowhere the payload simply
has no time or sequence. With the wildcards of the selector in them, each value has its own.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, missing
from adapters.documents.json_path import ABSENT, JsonPath
from adapters.values.device_time import read_sequence, read_time
from adapters.values.iri_template import NAME
from adapters.values.mapping import Mapping, MappingError
from adapters.values.payload import Json, Payload
from adapters.values.result import json_result
from adapters.values.stream import Stream

Read = Callable[[Payload], Json | Fault]
"""How the bytes of a payload become a document."""

Times = dict[str, datetime | Fault]
Sequences = dict[str, str | Fault]


@dataclass(frozen=True, slots=True)
class _Rule:
    path: JsonPath
    is_singular: bool
    time: str
    sequence: str


class DocumentAdapter:
    """All paths of a topic filter, over one document."""

    def __init__(self, mappings: Sequence[Mapping], read: Read) -> None:
        self._read = read
        self._rules = tuple(map(_rule, mappings))
        self._times = {m.time_selector: _path(m, "time_selector") for m in mappings}
        self._sequences = {m.sequence_selector: _path(m, "sequence_selector") for m in mappings}
        self._times.pop("", None)
        self._sequences.pop("", None)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """Each value that a selector's path leads to, with the time and sequence beside it."""
        document = self._read(payload)
        if isinstance(document, Fault):
            return Findings.of_fault(document)
        findings = self._findings(document, streams)
        if not findings:
            findings.faults.append(missing(streams))
        return findings

    def _findings(self, document: Json, streams: Sequence[Stream]) -> Findings:
        times = {key: _times(path, document) for key, path in self._times.items()}
        sequences = {key: _sequences(path, document) for key, path in self._sequences.items()}
        findings = Findings()
        for rule, stream in zip(self._rules, streams, strict=True):
            time, sequence = times.get(rule.time, {}), sequences.get(rule.sequence, {})
            if rule.is_singular:
                value = rule.path.find(document)
                if value is not ABSENT:
                    findings.add(stream, json_result(value), time.get(""), sequence.get(""))
                continue
            for name, each in rule.path.find_all(document):
                own_time = time.get(name) or time.get("")
                own_sequence = sequence.get(name) or sequence.get("")
                findings.add(stream.named(name), json_result(each), own_time, own_sequence)
        return findings


def _rule(mapping: Mapping) -> _Rule:
    path = _path(mapping, "selector")
    has_name = NAME in mapping.sensor or NAME in mapping.feature_of_interest
    if has_name and path.is_singular:
        reason = "{name} needs a wildcard in the path, .* or [*] or [id=*]"
        raise MappingError(mapping.iri, "selector", reason)
    return _Rule(path, path.is_singular, mapping.time_selector, mapping.sequence_selector)


def _path(mapping: Mapping, member: str) -> JsonPath:
    text: str = getattr(mapping, member)
    try:
        return JsonPath.compile(text or ("" if member == "selector" else "$"))
    except ValueError as error:
        raise MappingError(mapping.iri, member, str(error)) from error


def _times(path: JsonPath, document: Json) -> Times:
    return {name: _time(value) for name, value in path.find_all(document)}


def _sequences(path: JsonPath, document: Json) -> Sequences:
    return {name: _sequence(value) for name, value in path.find_all(document)}


def _time(value: Json) -> datetime | Fault:
    if isinstance(value, str):
        return read_time(value)
    return Fault(None, FaultReason.TIME_UNUSABLE, "the time is no number and no text")


def _sequence(value: Json) -> str | Fault:
    if isinstance(value, str):
        return read_sequence(value)
    return Fault(None, FaultReason.SEQUENCE_UNUSABLE, "the sequence is no number and no text")
