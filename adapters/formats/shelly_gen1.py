"""Format "shelly_gen1": the bare values of Shelly devices of the first generation.

Topic filter: the value's, `shellies/shellyplug-s-1A2B3C/relay/0/power`, `shellies/+/relay/+/power`.
Selector: empty, or the member of a JSON value (`event` of `input_event/0`). The unit is told by the
topic; `energy` comes in watt-minutes and becomes Wh. `shellies/<device>/online` says whether the
device is there: with wildcards, for the streams that were heard.
"""

from collections.abc import Sequence

from adapters.adapter import Fault, Findings, Format
from adapters.availability import KnownStreams, availability_findings
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import Meaning, named
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import Result, captured_result, forced_string_result, json_result
from adapters.values.stream import Stream
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

FAMILY = "shelly_gen1"
ROOT = "shellies"

_UNITS = {
    "power": "W",
    "energy": "Wmin",
    "returned_energy": "Wmin",
    "overpower_value": "W",
    "reactive_power": "var",
    "voltage": "V",
    "current": "A",
    "total": "Wh",
    "total_returned": "Wh",
    "temperature": "°C",
    "temperature_f": "°F",
    "ext_temperature": "°C",
    "ext_temperature_f": "°F",
    "humidity": "%RH",
    "ext_humidity": "%RH",
    "battery": "%",
    "lux": "lx",
    "pos": "%",
}
_SWITCHED = frozenset({"relay", "light", "white", "color"})
_BITS = frozenset({"input", "longpush", "overtemperature", "flood", "motion", "vibration", "smoke"})
_BITWISE = {"0": "false", "1": "true"}


class ShellyGen1Adapter:
    """All mappings see the same value."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        for mapping in mappings:
            _refuse_selectors(mapping)
        self._selectors = tuple(mapping.selector for mapping in mappings)
        self._known = memory.of(KnownStreams)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The topic's value, or from `online` the liveness of all streams of the device."""
        device, _, value = payload.message.topic.removeprefix(f"{ROOT}/").partition("/")
        if value == "online":
            bound = [stream.key for stream in streams]
            return availability_findings(payload, [*bound, *self._known.of(device)])
        if value.endswith("command"):
            return Findings()
        kind = _kind(value)
        unit = unit_iri(_UNITS.get(kind, ""))
        findings = Findings()
        for selector, stream in zip(self._selectors, streams, strict=True):
            findings.add(stream, _result(payload, selector, kind), unit=unit)
            self._known.hear(device, stream.key)
        return findings


def companions(topic_filter: str) -> Sequence[str]:
    """Whether the device is online."""
    root, _, rest = topic_filter.partition("/")
    device = rest.partition("/")[0]
    return (f"{root}/{device}/online",) if root == ROOT and device not in {"", "#"} else ()


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """The value of one topic below `shellies`."""
    del memory
    topic = payload.message.topic
    root, _, rest = topic.partition("/")
    device, _, value = rest.partition("/")
    kind = _kind(value)
    if root != ROOT or not value or kind in {"online", "announce", "command", "info", "status"}:
        return ()
    selector = "event" if kind == "input_event" else ""
    if isinstance(_result(payload, selector, kind), Fault):
        return ()
    meaning = _meaning(kind)
    mapping = Mapping(
        names.mapping(FAMILY, device, value),
        topic,
        FAMILY,
        names.sensor(FAMILY, device, value),
        names.observed_property(meaning),
        names.feature(FAMILY, device),
        selector,
        {"energy": "Wh", "returned_energy": "Wh"}.get(kind, _UNITS.get(kind)),
    )
    command = None
    if kind in _SWITCHED:
        command = Command(f"{topic}/command", values=("on", "off", "toggle"))
    label = f"{device} {value}"
    return [Proposal(mapping, FAMILY, device, label, meaning, command)]


def _kind(value: str) -> str:
    """The last level that is no number: `power` of `relay/0/power`, `relay` of `relay/0`."""
    levels = [level for level in value.split("/") if not level.isdigit()]
    return levels[-1] if levels else ""


def _meaning(kind: str) -> Meaning:
    if kind in _SWITCHED:
        return named("power_state", kind)
    return named("energy", kind) if kind.startswith("total") else usual(kind).meaning


def _result(payload: Payload, selector: str, kind: str) -> Result | Fault:
    if selector:
        document = payload.document()
        if isinstance(document, Fault):
            return document
        return json_result(document.get(selector) if isinstance(document, dict) else None)
    text = payload.text()
    if isinstance(text, Fault):
        return text
    if kind in _BITS:
        text = _BITWISE.get(text.strip(), text)
    # A roller says `open` and `close`, which are words of its movement and no truth values.
    return forced_string_result(text) if kind == "roller" else captured_result(text)


def _refuse_selectors(mapping: Mapping) -> None:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Shelly Gen1 sends none")
    if mapping.selector.startswith("$") or "." in mapping.selector:
        raise MappingError(mapping.iri, "selector", "name one member of the value, or none")


FORMAT = Format(ShellyGen1Adapter, companions=companions, propose=propose)
