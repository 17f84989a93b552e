"""Decoding of the state objects of Zigbee2MQTT 1.x and 2.x.

Topic filter: the device's, `zigbee2mqtt/lab/north_wall` (a friendly name may have slashes), or
`zigbee2mqtt/+`, or `zigbee2mqtt/#` for every device, where {1} is the friendly name. Selector: the
exposed property, `temperature`, nested ones as `color.x`.

Zigbee2MQTT repeats all last-known attributes in every message (cache_state, on by default), so a
value that equals the last one of its stream is a Heartbeat and no observation; `action` is an event
and each one counts, an empty one is none. `last_seen`, where it is enabled, was stamped by the
bridge: network time.
Of texts only `ON` and `OFF` are truth values by themselves: `off`, `open` or `none` are words of an
enumeration (`power_on_behavior`, `motion_state`), and stay text unless the mapping says otherwise.
The device is there or not by `<name>/availability`, and gone with `<base>/bridge/state` offline.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from adapters.adapter import Fault, Findings, missing
from adapters.availability import availability_findings, read_availability
from adapters.documents.json_path import ABSENT, JsonPath
from adapters.values.device_time import read_time
from adapters.values.mapping import Mapping, MappingError
from adapters.values.memory import Memory
from adapters.values.notice import Heartbeat, Liveness
from adapters.values.observation import USUAL, Circumstances, TimeSource
from adapters.values.payload import Json, Payload
from adapters.values.repetition import LastResults
from adapters.values.result import BOOLEAN_WORDS, Result, json_result, string_result
from adapters.values.stream import Stream

AVAILABILITY = "/availability"
BRIDGE = "bridge"
_BRIDGE_CLOCK = Circumstances(TimeSource.NETWORK)
_REQUESTS = ("set", "get")
SWITCH_WORDS = ("ON", "OFF")
"""What a binary value is told by where the device has no words of its own."""
_WORDS = BOOLEAN_WORDS.keys() | {"none"}


@dataclass(frozen=True, slots=True)
class _Rule:
    path: JsonPath
    is_event: bool


class Zigbee2MqttAdapter:
    """All exposed properties of a topic filter."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        self._rules = tuple(map(_rule, mappings))
        self._names_one_device = not {"+", "#"}.intersection(mappings[0].topic_filter)
        self._last = memory.of(LastResults)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The selected members of a device's state; on other topics whether it is there."""
        topic = payload.message.topic
        if topic.endswith(AVAILABILITY):
            return availability_findings(payload, [stream.key for stream in streams])
        if f"/{BRIDGE}/" in topic:
            return self._bridge(payload, streams)
        if _is_request(topic):
            return Findings()
        document = payload.document()
        if isinstance(document, Fault):
            return Findings.of_fault(document)
        findings = self._state(document, streams, payload.message.retained)
        if not findings and self._names_one_device and not payload.message.retained:
            findings.faults.append(missing(streams))
        return findings

    def _state(self, document: Json, streams: Sequence[Stream], is_retained: bool) -> Findings:
        time = _last_seen(document)
        circumstances = USUAL if time is None else _BRIDGE_CLOCK
        findings = Findings()
        for rule, stream in zip(self._rules, streams, strict=True):
            value = rule.path.find(document)
            if value is ABSENT or (rule.is_event and value in {None, ""}):
                continue  # nothing was done: how an action is taken back
            before = len(findings.observations)
            findings.add(stream, _result(value), time, circumstances=circumstances)
            if len(findings.observations) == before:
                self._last.forget(stream.key)
            elif not rule.is_event:
                self._compare(findings, is_retained)
        return findings

    def _compare(self, findings: Findings, is_retained: bool) -> None:
        """Take the last observation back where it repeats what was before.

        What a broker had kept is no sign of life, and no result until it is accepted as one.
        """
        _, seen = findings.observations[-1]
        if not self._last.is_repeated(seen):
            if not is_retained or seen.phenomenon_time is not None:
                self._last.remember(seen)
            return
        findings.observations.pop()
        if not is_retained:
            findings.notices.append(Heartbeat(seen.stream))

    def _bridge(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The bridge's own topics say nothing of a device, but that it cannot be heard."""
        is_state = payload.message.topic.endswith(f"/{BRIDGE}/state")
        if is_state and read_availability(payload) is False:
            return Findings(notices=[Liveness(stream.key, False) for stream in streams])
        return Findings()


def companions(topic_filter: str) -> Sequence[str]:
    """The availability of the device and, where the filter names one device, the bridge."""
    if topic_filter.endswith("#"):
        return ()
    base, _, name = topic_filter.partition("/")
    bridge = (f"{base}/{BRIDGE}/state",) if name and "+" not in topic_filter else ()
    return (topic_filter + AVAILABILITY, *bridge)


def subject(topic: str) -> str:
    """The device's topic."""
    return topic.removesuffix(AVAILABILITY)


def _is_request(topic: str) -> bool:
    """`<name>/set`, `<name>/get`, and with one attribute behind it."""
    return any(level in _REQUESTS for level in topic.split("/")[2:][-2:])


def _last_seen(document: Json) -> datetime | Fault | None:
    seen = document.get("last_seen") if isinstance(document, dict) else None
    if not isinstance(seen, str):
        return None
    time = read_time(seen)
    return None if isinstance(time, Fault) else time


def _result(value: object) -> Result | Fault:
    """As JSON says, but that a word of an enumeration is that word."""
    if type(value) is str and value not in SWITCH_WORDS and value.lower() in _WORDS:
        return string_result(value)
    return json_result(value)


def _rule(mapping: Mapping) -> _Rule:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "Zigbee2MQTT says itself: last_seen")
    text = mapping.selector
    try:
        path = JsonPath.compile(text if text.startswith("$") else f"$.{text}")
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error
    if not path.is_singular:
        raise MappingError(mapping.iri, "selector", "name one exposed property")
    return _Rule(path, text.removeprefix("$.").startswith("action"))
