"""Format "esphome": the MQTT states of ESPHome nodes.

Topic filter: `<node>/<component>/<object_id>/state`, or `+/sensor/+/state`; what a cover, fan or
climate has beside is `<node>/cover/<object_id>/position/state` and so on. Selector: empty, or the
path of a member where the state is JSON (lights). States of covers, valves and climates are words,
a `text_sensor` is text even where it looks like a number; a sensor without a value says `nan`,
which is a fault. ESPHome tells units in Home Assistant's discovery only: the mapping declares them.
`<node>/status` says whether the node is there: with wildcards, for the streams that were heard.

Source: ESPHome's documentation, components/mqtt, cover, climate, fan, lock, valve.
"""

from collections.abc import Sequence
from datetime import datetime

from adapters.adapter import Fault, FaultReason, Findings, Format
from adapters.availability import KnownStreams, availability_findings
from adapters.documents.json_path import ABSENT, JsonPath
from adapters.values.mapping import Mapping, MappingError
from adapters.values.meaning import NOTHING, Meaning, Told, named
from adapters.values.memory import Memory
from adapters.values.payload import Payload, parse_json
from adapters.values.properties import Kind, Shape
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import Result, captured_result, forced_string_result, json_result
from adapters.values.stream import Stream
from adapters.values.usual_words import usual

FAMILY = "esphome"
STATUS = "/status"
_TEXTS = frozenset(
    {"text_sensor", "text", "select", "datetime", "event", "update", "alarm_control_panel"}
    | {"cover", "valve", "climate.mode", "climate.action", "climate.fan_mode", "climate.preset"}
    | {"climate.swing_mode", "fan.direction"}
)
_MEANT = {
    "switch": "power_state",
    "fan": "power_state",
    "cover": "cover_state",
    "valve": "valve_state",
    "lock": "locked",
    "alarm_control_panel": "alarm_state",
    "event": "event",
    "cover.position": "position",
    "cover.tilt": "tilt_position",
    "valve.position": "valve_position",
    "fan.speed_level": "fan_speed",
    "fan.oscillation": "oscillating",
    "fan.direction": "fan_direction",
    "climate.mode": "hvac_mode",
    "climate.action": "hvac_action",
    "climate.fan_mode": "fan_mode",
    "climate.swing_mode": "swing_mode",
    "climate.preset": "preset_mode",
    "climate.current_temperature": "temperature",
    "climate.target_temperature": "set_point",
    "climate.target_temperature_low": "target_temperature_low",
    "climate.target_temperature_high": "target_temperature_high",
    "climate.current_humidity": "humidity",
    "climate.target_humidity": "target_humidity",
}
"""What the state of a component is, whatever its name; behind a point what it has beside."""

_CELSIUS = frozenset(each for each in _MEANT if each.endswith(("temperature", "_low", "_high")))
_PERCENT = frozenset({"cover.position", "cover.tilt", "valve.position"})
_SHAPES = {
    "sensor": Told(shape=Shape.NUMBER),
    "binary_sensor": Told(shape=Shape.TRUTH),
    "text_sensor": Told(shape=Shape.WORD),
    "number": Told(shape=Shape.NUMBER, kind=Kind.SETTING),
    "select": Told(shape=Shape.WORD, kind=Kind.SETTING),
    "text": Told(shape=Shape.WORD, kind=Kind.SETTING),
}
_SETTABLE = {
    "switch": ("ON", "OFF"),
    "number": (),
    "select": (),
    "text": (),
    "lock": ("LOCKED", "UNLOCKED"),
    "fan": ("ON", "OFF"),
    "cover": ("open", "closed", "STOP"),
    "valve": ("open", "closed", "STOP"),
}
_MOVED = "move"
_MOVES = {"open": "OPEN", "closed": "CLOSE", "LOCKED": "LOCK", "UNLOCKED": "UNLOCK"}
"""Covers and locks are told the state that they are to be in, in the words of their reports."""

_NUMBERS = frozenset(
    {*_PERCENT, "fan.speed_level", "climate.target_temperature", "climate.target_humidity"}
    | {"climate.target_temperature_low", "climate.target_temperature_high"}
)
_WORDS = {"lock": ("LOCKED", "UNLOCKED"), "fan.oscillation": ("oscillate_on", "oscillate_off")}
COMPONENTS = frozenset(_SHAPES) | {each.partition(".")[0] for each in _MEANT} | {"light", "update"}


class EsphomeAdapter:
    """All mappings see the same state."""

    def __init__(self, mappings: Sequence[Mapping], memory: Memory) -> None:
        self._paths = tuple(map(_path, mappings))
        self._known = memory.of(KnownStreams)

    def decode(self, payload: Payload, streams: Sequence[Stream]) -> Findings:
        """The entity's state, or from `status` the liveness of all streams of the node."""
        topic = payload.message.topic
        if topic.endswith(STATUS):
            bound = [stream.key for stream in streams]
            return availability_findings(
                payload, [*bound, *self._known.of(topic.removesuffix(STATUS))]
            )
        node, component, _ = _parts(topic.split("/"))
        findings = Findings()
        for path, stream in zip(self._paths, streams, strict=True):
            findings.add(stream, _result(payload, path, component))
            self._known.hear(node, stream.key)
        return findings


def companions(topic_filter: str) -> Sequence[str]:
    """The status of the node."""
    node = _parts(topic_filter.split("/"))[0]
    return (node + STATUS,) if node and "#" not in topic_filter else ()


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """A state topic of a component that ESPHome has; the unit is a person's to say."""
    del memory
    levels = payload.message.topic.split("/")
    node, component, object_id = _parts(levels)
    if not node or levels[-1] != "state" or component.partition(".")[0] not in COMPONENTS:
        return ()
    if component == "light":
        return _light(payload, node, object_id, names)
    if isinstance(_result(payload, None, component), Fault):
        return ()
    return [_proposal(payload.message.topic, node, component, object_id, names)]


def _proposal(topic: str, node: str, component: str, object_id: str, names: Names) -> Proposal:
    meaning, unit, question = _meaning(component, object_id)
    member = f"{component.replace('.', '/')}/{object_id}"
    true_value, false_value = _WORDS.get(component, ("", ""))
    mapping = Mapping(
        names.mapping(FAMILY, node, member),
        topic,
        FAMILY,
        names.sensor(FAMILY, node, member),
        names.observed_property(meaning),
        names.feature(FAMILY, node),
        unit=unit,
        true_value=true_value,
        false_value=false_value,
    )
    label = f"{node} {object_id} {component.partition('.')[2]}".rstrip()
    return Proposal(mapping, FAMILY, node, label, meaning, _command(topic, component), question)


def _meaning(component: str, object_id: str) -> tuple[Meaning, str | None, str]:
    """With the unit, and what a person is asked of it."""
    if component in _MEANT:
        unit = "°C" if component in _CELSIUS else "%" if component in _PERCENT else None
        return named(_MEANT[component], component), unit, ""
    told = _SHAPES.get(component, NOTHING)
    found = usual(object_id, told)
    if told.shape is not Shape.NUMBER:
        return found.meaning, None, ""
    return found.meaning, found.unit, "In which unit? ESPHome does not say."


def _command(topic: str, component: str) -> Command | None:
    set_topic = topic.removesuffix("state") + "command"
    if component in {"cover", "valve", "lock"}:
        return Command(set_topic, f'{{"{_MOVED}":{{value}}}}', _SETTABLE[component])
    if component in _SETTABLE:
        return Command(set_topic, values=_SETTABLE[component])
    if component in _PERCENT:
        return Command(set_topic, minimum="0", maximum="100")
    return Command(set_topic) if component in _NUMBERS or component == "climate.mode" else None


def encode(text: str, sent_at: datetime) -> bytes:
    """The payload of a filled-in command; the wanted state of a cover or lock becomes its command.

    >>> encode('{"move":"closed"}', datetime.min), encode("ON", datetime.min)
    (b'CLOSE', b'ON')
    """
    del sent_at
    if not text.startswith(f'{{"{_MOVED}":'):
        return text.encode()
    wanted = parse_json(text)
    state = wanted.get(_MOVED) if isinstance(wanted, dict) else None
    if not isinstance(state, str):
        raise ValueError(f"a cover is told {', '.join(_SETTABLE['cover'])}")
    return _MOVES.get(state, state).encode()


def _light(payload: Payload, node: str, object_id: str, names: Names) -> Sequence[Proposal]:
    """A light says on and off and its brightness, in 255 steps, in one object."""
    document, topic = payload.document(), payload.message.topic
    if not isinstance(document, dict):
        return ()
    set_topic = topic.removesuffix("state") + "command"
    known = (
        ("state", "power_state", Command(set_topic, '{"state":{value}}', ("ON", "OFF"))),
        (
            "brightness",
            "brightness",
            Command(set_topic, '{"state":"ON","brightness":{value}}', minimum="0", maximum="255"),
        ),
        ("color_temp", "color_temperature", Command(set_topic, '{"color_temp":{value}}')),
    )
    found = []
    for member, term, command in known:
        if member not in document:
            continue
        meaning = named(term, member)
        mapping = Mapping(
            names.mapping(FAMILY, node, f"light/{object_id}/{member}"),
            topic,
            FAMILY,
            names.sensor(FAMILY, node, f"light/{object_id}/{member}"),
            names.observed_property(meaning),
            names.feature(FAMILY, node),
            member,
            "mired" if member == "color_temp" else None,
        )
        label = f"{node} {object_id} {member}"
        found.append(Proposal(mapping, FAMILY, node, label, meaning, command))
    return found


def _parts(levels: Sequence[str]) -> tuple[str, str, str]:
    """Node, component and object of a state topic; `cover.position` for what a cover has beside."""
    if len(levels) > 4 and levels[-3] not in COMPONENTS and levels[-4] in COMPONENTS:
        return "/".join(levels[:-4]), f"{levels[-4]}.{levels[-2]}", levels[-3]
    if len(levels) < 4:
        return "", "", ""
    return "/".join(levels[:-3]), levels[-3], levels[-2]


def _result(payload: Payload, path: JsonPath | None, component: str) -> Result | Fault:
    if path is not None:
        document = payload.document()
        if isinstance(document, Fault):
            return document
        value = path.find(document)
        if value is ABSENT:
            return Fault(None, FaultReason.MISSING, "the state has no such member")
        return json_result(value)
    text = payload.text()
    if isinstance(text, Fault):
        return text
    return forced_string_result(text) if component in _TEXTS else captured_result(text)


def _path(mapping: Mapping) -> JsonPath | None:
    for member in ("time_selector", "sequence_selector"):
        if getattr(mapping, member):
            raise MappingError(mapping.iri, member, "ESPHome sends none")
    text = mapping.selector
    if not text:
        return None
    try:
        path = JsonPath.compile(text if text.startswith("$") else f"$.{text}")
    except ValueError as error:
        raise MappingError(mapping.iri, "selector", str(error)) from error
    if not path.is_singular:
        raise MappingError(mapping.iri, "selector", "name one value")
    return path


FORMAT = Format(EsphomeAdapter, companions=companions, propose=propose, encode_command=encode)
