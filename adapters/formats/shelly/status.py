"""Decoding of Shelly devices of the second generation and later (Plus, Pro, Gen3, Gen4).

Topic filter: `<prefix>/events/rpc` for notifications, or `<prefix>/status/<component>` where
`status_ntf` is on. Selector: the path of a value, `switch:0.apower`, `temperature:0.tC`,
`switch:0.aenergy.total`; `event.input:0` for the events of a component; `blu:ADDRESS.temperature`
for a sensor that the script for Shelly BLU listens to.

NotifyStatus is a delta: what it does not mention has not changed and is no fault. `ts` is the time.
A device that wakes with its clock unset says so by a null `sys.unixtime`: its times are suspect
until it tells another one. A sensor that tells errors has no value. A position that is not 0 to 100
is one that the device does not know.
`<prefix>/online` says whether the device is there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings
from adapters.availability import availability_findings
from adapters.documents.json_path import Absent, JsonPath
from adapters.formats.shelly.components import is_fitted, is_share, is_text, unit_symbol
from adapters.formats.shelly.notification import EVENTS, STATUS, Clocks, Frame
from adapters.values.device_time import read_time
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.result import (
    NUMERIC,
    Result,
    forced_string_result,
    json_result,
)
from adapters.values.stream import Stream
from adapters.values.units import unit_iri

EVENT = "event."


@dataclass(frozen=True, slots=True)
class _Rule:
    """A path in the components with the unit of its values, or a component whose events count.

    `fitted` is the component whose errors are the value's; `read` makes the result of a value.
    """

    path: JsonPath | None
    unit: str | None
    component: str = ""
    fitted: str = ""
    read: Callable[[Json], Result | Fault] = json_result


class ShellyAdapter:
    """All values of a topic filter."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        self._rules = tuple(map(_rule, mappings))
        self._clocks = memory.of(Clocks)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The values and events that a frame mentions, or from `online` the liveness."""
        if payload.message.topic.endswith("/online"):
            return availability_findings(payload, [stream.key for stream in streams])
        frame = payload.once(self._clocks.frame)
        if isinstance(frame, Fault):
            return Findings.of_fault(frame)
        findings = Findings()
        for rule, stream in zip(self._rules, streams, strict=True):
            for value, time in _values(rule, frame):
                how = frame.circumstances
                error = _error(rule.fitted, frame) if rule.fitted else None
                result = error or rule.read(value)
                findings.add(stream, result, time, unit=rule.unit, circumstances=how)
        return findings


def _values(rule: _Rule, frame: Frame) -> Iterator[tuple[Json, datetime | Fault | None]]:
    if rule.path is not None:
        value = rule.path.find(frame.components)
        if not isinstance(value, Absent):
            yield value, frame.time
        return
    for event in frame.events:
        if event.get("component") == rule.component:
            told = event.get("ts")
            yield event.get("event"), read_time(told) if isinstance(told, str) else frame.time


def _error(component: str, frame: Frame) -> Fault | None:
    told = frame.components.get(component)
    errors = told.get("errors") if isinstance(told, dict) else None
    if not isinstance(errors, list) or not errors:
        return None
    first = str(errors[0]) if isinstance(errors[0], str) else "an error"
    return Fault(None, FaultReason.BAD_QUALITY, f"{excerpt(component)} tells {excerpt(first)}")


def companions(topic_filter: str) -> Sequence[str]:
    """Whether the device is online."""
    for end in (EVENTS, STATUS):
        prefix, found, _ = topic_filter.partition(end)
        if found:
            return (f"{prefix}/online",)
    return ()


def _rule(mapping: Mapping) -> _Rule:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Shelly says itself: ts")
    text = mapping.selector
    if text.startswith(EVENT):
        return _Rule(None, None, text.removeprefix(EVENT))
    try:
        path = JsonPath.compile(text if text.startswith("$") else f"$.{text}")
    except ValueError as error:
        reason = f"{error}; {excerpt('switch:0.apower')} is one"
        raise MappingError(mapping.iri, "selector", reason) from error
    if not path.is_singular:
        raise MappingError(mapping.iri, "selector", "name one value")
    steps = [step for step in path.steps if isinstance(step, str)]
    symbol = unit_symbol(steps)
    fitted = steps[0] if steps and is_fitted(steps[0]) else ""
    return _Rule(path, unit_iri(symbol) if symbol else None, fitted=fitted, read=_reader(steps))


def _reader(steps: Sequence[str]) -> Callable[[Json], Result | Fault]:
    if is_text(steps):
        return _word
    return _share if is_share(steps) else json_result


def _word(value: Json) -> Result | Fault:
    is_word = type(value) is str
    return forced_string_result(str(value)) if is_word else json_result(value)


def _share(value: Json) -> Result | Fault:
    result = json_result(value)
    if isinstance(result, Fault) or result.datatype not in NUMERIC:
        return result
    if 0 <= float(result.lexical) <= 100:
        return result
    return Fault(None, FaultReason.SENTINEL, f"{excerpt(result.lexical)} is no position")
