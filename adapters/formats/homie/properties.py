"""Decoding of Homie: the values of properties, and the states of devices.

Topic filter: the property's, `homie/5/<device>/<node>/<property>` (version 5; another domain than
`homie` is fine) or `homie/<device>/<node>/<property>` (version 4), or with wildcards. Selector:
empty, or `string` to take the text as it is.

Datatype and unit are what the device has told, also before there was a mapping: a value that its
datatype, or the words of an enum, do not allow is a fault. Before the device has told them, a value
is read as a bare scalar, in the unit that its stream had in an earlier life of the gateway if the
mapping declares none. One NUL byte is the empty string, a cleared topic says nothing. `$state`
tells whether the device is there, a root's for its children.
"""

from collections.abc import Callable, Sequence

from adapters.adapter import Fault, FaultReason, Findings
from adapters.availability import KnownStreams
from adapters.formats.homie.devices import DESCRIPTION, STATE, V5, Devices, Place, Property
from adapters.values.fault import excerpt
from adapters.values.mapping import Mapping, MappingError
from adapters.values.memory import Memory
from adapters.values.notice import Liveness
from adapters.values.observation import StreamKey
from adapters.values.payload import Payload
from adapters.values.result import (
    FALSE,
    INTEGER,
    NUMERIC,
    STRING,
    TRUE,
    Result,
    bare_result,
    string_result,
)
from adapters.values.series import SeriesUnits
from adapters.values.stream import Stream
from adapters.values.units import unit_iri

EMPTY_STRING = b"\0"
_PRESENT = {
    "ready": True,
    "sleeping": True,
    "alert": True,
    "disconnected": False,
    "lost": False,
}
"""`init` says nothing yet; a device asleep has told so and is not missed."""


class HomieAdapter:
    """All properties of a topic filter."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        for mapping in mappings:
            _refuse_selectors(mapping)
        self._forced = tuple(mapping.selector == "string" for mapping in mappings)
        self._devices = memory.of(Devices)
        self._known = memory.of(KnownStreams)
        self._units = memory.of(SeriesUnits)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The property's value, or from `$state` the liveness of all streams of the device."""
        place = Place.of(payload.message.topic)
        if place.rest == (STATE,):
            return self._state(payload, place.device, streams)
        fault = payload.once(self._devices.take)
        if fault is not None:
            return Findings.of_fault(fault)
        if len(place.rest) != 2 or any(level.startswith("$") for level in place.rest):
            return Findings()
        return self._value(payload, place, streams) if payload.raw else Findings()

    def _value(self, payload: Payload, place: Place, streams: Sequence[Stream]) -> Findings:
        device = self._devices.known(place.device)
        told = device.properties.get((place.rest[0], place.rest[1])) if device else None
        unit = unit_iri(told.unit) if told and told.unit else None
        findings = Findings()
        for is_forced, stream in zip(self._forced, streams, strict=True):
            result = _result(payload, Property("string") if is_forced else told)
            before = self._units.of(stream.key) if told is None and stream.unit is None else None
            findings.add(stream, result, unit=unit or before)
            self._known.hear(place.device, stream.key)
        return findings

    def _state(self, payload: Payload, device: str, streams: Sequence[Stream]) -> Findings:
        text = payload.text()
        present = _PRESENT.get(text) if isinstance(text, str) else None
        if present is None:
            return Findings()
        keys: list[StreamKey] = [stream.key for stream in streams]
        for each in (device, *(() if present else self._devices.below(device))):
            keys += self._known.of(each)
        return Findings(notices=[Liveness(key, present) for key in dict.fromkeys(keys)])


def companions(topic_filter: str) -> Sequence[str]:
    """State and description of the devices, the states of their roots; in version 4 attributes."""
    levels = topic_filter.split("/")
    is_v5 = len(levels) > 1 and levels[1] == V5
    length = 3 if is_v5 else 2
    if len(levels) != length + 2 or "#" in levels:
        return ()
    device = "/".join(levels[:length])
    if is_v5:
        roots = "/".join([*levels[:2], "+", STATE])
        own = f"{device}/{STATE}"
        return (f"{device}/{DESCRIPTION}", own, *({roots} - {own}))
    return (f"{device}/{STATE}", f"{topic_filter}/$datatype", f"{topic_filter}/$unit")


def hear(payload: Payload, memory: Memory) -> None:
    """Take up what a device says of itself; a description that cannot be read is ingest's fault."""
    payload.once(memory.of(Devices).take)


def _result(payload: Payload, told: Property | None) -> Result | Fault:
    text = payload.text()
    if isinstance(text, Fault):
        return text
    if payload.raw == EMPTY_STRING:
        return Result("", STRING)
    if told is None:
        return bare_result(text)
    datatype = told.datatype
    return (
        _enum(text, told.format)
        if datatype == "enum"
        else _READERS.get(datatype, bare_result)(text)
    )


def _enum(text: str, words: str) -> Result | Fault:
    """A word of the enum; any where the device has not told which there are."""
    if words and text not in words.split(","):
        return Fault(None, FaultReason.NOT_A_VALUE, f"{excerpt(text)} is no word of the enum")
    return string_result(text)


def _integer(text: str) -> Result | Fault:
    result = bare_result(text)
    if isinstance(result, Result) and result.datatype == INTEGER:
        return result
    return _wrong(result, text, "an integer")


def _float(text: str) -> Result | Fault:
    result = bare_result(text)
    if isinstance(result, Result) and result.datatype in NUMERIC:
        return result
    return _wrong(result, text, "a float")


def _boolean(text: str) -> Result | Fault:
    known = {"true": TRUE, "false": FALSE}.get(text)
    return known or _wrong(bare_result(text), text, "true or false")


def _wrong(result: Result | Fault, text: str, wanted: str) -> Fault:
    if isinstance(result, Fault) and result.reason is not FaultReason.NOT_A_VALUE:
        return result
    return Fault(None, FaultReason.NOT_A_VALUE, f"{excerpt(text)} is not {wanted}")


_READERS: dict[str, Callable[[str], Result | Fault]] = {
    "integer": _integer,
    "float": _float,
    "boolean": _boolean,
    "string": string_result,
    "color": string_result,
    "datetime": string_result,
    "duration": string_result,
    "json": string_result,
    "percent": _float,
}


def _refuse_selectors(mapping: Mapping) -> None:
    if mapping.selector not in {"", "string"}:
        raise MappingError(mapping.iri, "selector", 'a property has "" or "string"')
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Homie sends none")
