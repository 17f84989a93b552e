"""Decoding of Tasmota: telemetry, states and bare answers.

Topic filter: `tele/<topic>/SENSOR`, `tele/<topic>/STATE`, `stat/<topic>/RESULT` with JSON, or
`stat/<topic>/POWER` with a bare word, in whatever order the device's FullTopic puts them. Selector:
the path of a value, `BME280.Temperature`, `DS18B20-1.Temperature`, `ENERGY.Power[0]`,
`ZbReceived.*.Temperature` ({name} is the Zigbee device then), empty for a bare word.

`Time` is local and has no zone unless SetOption52 is on: without one it is no time, but tells a
repeated message from an equal result. `Epoch`, or `Time` as a number, is preferred.
`tele/<topic>/LWT` says whether the device is there.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, Findings, missing
from adapters.availability import availability_findings
from adapters.documents.json_path import Absent, JsonPath
from adapters.formats.tasmota.words import UnitRule, is_text, unit_rule
from adapters.values.device_time import read_time
from adapters.values.iri_template import NAME
from adapters.values.mapping import Mapping, MappingError
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.result import Result, bare_result, forced_string_result, json_result
from adapters.values.stream import Stream

LWT = "LWT"
_ANSWER = "/RESULT"
"""One command's answer, or one button's: what it does not mention is no fault."""

_PREFIXES = {"stat": "tele", "tele": "tele"}
_LOCAL_TIME = re.compile(r"20[0-9]{2}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")


@dataclass(frozen=True, slots=True)
class _Rule:
    """`path` is None for a bare word; `unit` says how the unit of its values is known.

    `is_text`: whether words such as ON are what was done, and no truth values.
    """

    path: JsonPath | None
    unit: UnitRule
    is_text: bool = False


class TasmotaAdapter:
    """All values of a topic filter."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        del memory  # each message speaks for itself
        self._rules = tuple(map(_rule, mappings))
        self._wants_json = any(rule.path for rule in self._rules)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The selected values of a telegram, or from `LWT` the liveness."""
        if payload.message.topic.endswith("/" + LWT):
            return availability_findings(payload, [stream.key for stream in streams])
        document = payload.document() if self._wants_json else None
        if isinstance(document, Fault):
            return Findings.of_fault(document)
        findings = Findings()
        time, sequence = _time(document)
        for rule, stream in zip(self._rules, streams, strict=True):
            if rule.path is None:
                text = payload.text()
                findings.add(stream, text if isinstance(text, Fault) else bare_result(text))
                continue
            for name, value in _found(rule.path, document):
                own = stream.named(name) if name else stream
                unit = rule.unit.of(document)
                result = _word(value) if rule.is_text else json_result(value)
                findings.add(own, result, time, sequence, unit=unit)
        if findings or payload.message.topic.endswith(_ANSWER):
            return findings
        return Findings.of_fault(missing(streams))


def _word(value: Json) -> Result | Fault:
    return forced_string_result(value) if type(value) is str else json_result(value)


def _found(path: JsonPath, document: Json) -> Iterable[tuple[str, Json]]:
    if not path.is_singular:
        return path.find_all(document)
    value = path.find(document)
    return () if isinstance(value, Absent) else (("", value),)


def companions(topic_filter: str) -> Sequence[str]:
    """The last will of the device, in the same FullTopic."""
    levels = topic_filter.split("/")
    if levels[-1] in {"+", "#"} or len(levels) < 2:
        return ()
    return ("/".join([*(_PREFIXES.get(level, level) for level in levels[:-1]), LWT]),)


def _time(document: Json) -> tuple[datetime | Fault | None, str | None]:
    """The device's time, or else its local time as a sequence."""
    if not isinstance(document, dict):
        return None, None
    for told in (document.get("Epoch"), document.get("Time")):
        if isinstance(told, str):
            if _LOCAL_TIME.fullmatch(told):
                return None, told
            return read_time(told), None
    return None, None


def _rule(mapping: Mapping) -> _Rule:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Tasmota says itself where its time stands")
    text = mapping.selector
    if not text:
        return _Rule(None, UnitRule(None))
    try:
        path = JsonPath.compile(text if text.startswith("$") else f"$.{text}")
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error
    has_name = NAME in mapping.sensor or NAME in mapping.feature_of_interest
    if has_name and path.is_singular:
        raise MappingError(mapping.iri, "selector", "{name} needs a wildcard in the path")
    names = [step for step in path.steps if isinstance(step, str)]
    return _Rule(path, unit_rule(names), is_text(names))
