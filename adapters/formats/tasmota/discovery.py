"""What Tasmota devices say of themselves, as proposals.

Place on the way: the discovery part of the family. `tasmota/discovery/<MAC>/config` has the topic,
its form and the relays, `.../sensors` one set of readings; whichever comes second makes the
proposals of the sensors. Without them a SENSOR or STATE message proposes, and the bare answer of
a relay, by which a command is confirmed.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from adapters.adapter import Fault
from adapters.documents.json_path import JsonPath, leaves
from adapters.formats.tasmota.command import command_for
from adapters.formats.tasmota.words import (
    ZIGBEE,
    is_bit,
    is_text,
    meaning_of,
    question_of,
    truth_words,
    unit_symbol,
)
from adapters.values import mapping as adapters_mapping
from adapters.values.conversion import INSTEAD
from adapters.values.meaning import Told, named
from adapters.values.memory import Memory, Recent
from adapters.values.payload import Json, Payload
from adapters.values.properties import Shape
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import JsonNumber
from adapters.values.units import unit_iri

FAMILY = "tasmota"
MAX_DEVICES = 2048
MAX_SENSORS = 100
_ANNOUNCEMENT = re.compile(r"tasmota/discovery/([0-9A-Fa-f]{1,32})/(config|sensors)")
_TELEMETRY = frozenset({"SENSOR", "STATE", "RESULT"})
_NOT_SENSORS = frozenset(
    {"Time", "Epoch", "TempUnit", "PressureUnit", "SpeedUnit", "Endpoint", "Group", "Cluster"}
)
_ANSWERS = frozenset({"Read", "ReadNames", "ConfigResponse"})
"""What a Zigbee device answers or asks for, beside what it reads."""

_POWER = re.compile(r"POWER[0-9]{0,2}")
_ACTOR = re.compile(r"(?:Button|Switch)[0-9]{1,2}")
_ADDRESSED = re.compile(r".+-[0-9a-f]{6}(?:[0-9a-f]{6})?")
_PREFIXES = frozenset({"tele", "stat"})
_ON = named("power_state", "POWER")

Object = Mapping[str, Json]


class Announced:
    """Configs and sensors by MAC, for whichever is second; whose the announced topics are."""

    def __init__(self) -> None:
        self.configs = Recent[str, Object](MAX_DEVICES)
        self.sensors = Recent[str, Object](MAX_DEVICES)
        self.topics = Recent[str, str](8 * MAX_DEVICES)


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """Proposals of an announcement, of telemetry itself, or of a relay's bare answer."""
    topic = payload.message.topic
    announcement, announced = _ANNOUNCEMENT.fullmatch(topic), memory.of(Announced)
    last = topic.rpartition("/")[2]
    if announcement is None and _POWER.fullmatch(last):
        return _bare_relay(payload, last, names, announced)
    if announcement is None and last not in _TELEMETRY:
        return ()
    document = payload.document()
    if isinstance(document, Fault) or not isinstance(document, dict):
        return ()
    if announcement is not None:
        mac, part = announcement.groups()
        return _announced(mac, part, document, names, announced)
    if "Time" not in document and ZIGBEE not in document and not _is_action(document):
        return ()
    mac = announced.topics.get(topic) or ""
    relays = () if mac else _relays_of_state(topic, document, names)
    return [*_readings(topic, mac or _device_of(topic), document, names), *relays]


def _is_action(document: Object) -> bool:
    """Whether it is the answer that says what was done to a button or a detached switch."""
    return len(document) == 1 and any(map(_ACTOR.fullmatch, document))


def _device_of(topic: str) -> str:
    """The device's own part of a full topic: without prefix and last level."""
    levels = topic.split("/")[:-1]
    return "/".join(level for level in levels if level not in _PREFIXES) or topic


def _bare_relay(
    payload: Payload, name: str, names: Names, announced: Announced
) -> Sequence[Proposal]:
    topic, levels = payload.message.topic, payload.message.topic.split("/")
    if payload.text() not in {"ON", "OFF"} or "stat" not in levels[:-1]:
        return ()
    mac = announced.topics.get(topic) or ""
    config = announced.configs.get(mac)
    if config is not None:
        return [each for each in _relays(mac, config, names) if each.mapping.topic_filter == topic]
    return [_relay(topic, name, names)]


def _relays_of_state(topic: str, document: Object, names: Names) -> Iterator[Proposal]:
    """The answers of the relays that a STATE names, which come at once and not by the minute."""
    levels = topic.split("/")
    if levels.count("tele") == 1 and levels[-1] == "STATE":
        base = "/".join("stat" if level == "tele" else level for level in levels[:-1])
        for name in filter(_POWER.fullmatch, document):
            yield _relay(f"{base}/{name}", name, names)


def _relay(topic: str, name: str, names: Names) -> Proposal:
    device = _device_of(topic)
    mapping = adapters_mapping.Mapping(
        names.mapping(FAMILY, device, name),
        topic,
        FAMILY,
        names.sensor(FAMILY, device, name),
        names.observed_property(_ON),
        names.feature(FAMILY, device),
    )
    command = command_for(topic, (name,))
    return Proposal(mapping, FAMILY, device, f"{device} {name}", _ON, command)


def _announced(
    mac: str, part: str, document: Object, names: Names, announced: Announced
) -> Sequence[Proposal]:
    (announced.configs if part == "config" else announced.sensors).put(mac, document)
    config, sensors = announced.configs.get(mac), announced.sensors.get(mac)
    if config is None:
        return ()
    relays = list(_relays(mac, config, names))
    for topic in (_topic(config, 2, "SENSOR"), _topic(config, 2, "STATE")):
        announced.topics.put(topic, mac)
    for relay in relays:
        announced.topics.put(relay.mapping.topic_filter, mac)
    proposals = relays if part == "config" else []
    readings = sensors.get("sn") if sensors else None
    topic = _topic(config, 2, "SENSOR")
    if isinstance(readings, dict) and topic:
        proposals += _readings(topic, mac, readings, names, _text(config, "dn"))
    return proposals


def _readings(
    topic: str, device: str, document: Object, names: Names, label: str = ""
) -> Iterator[Proposal]:
    count = 0
    for path, name, value in leaves(dict(document)):
        steps = [step for step in JsonPath.compile(path).steps if isinstance(step, str)]
        shape = _shape(steps, value)
        if name in _NOT_SENSORS or shape is None or count == MAX_SENSORS:
            continue
        count += 1
        symbol = unit_symbol(dict(document), steps)
        is_known = symbol is None or unit_iri(symbol) is not None
        meaning = meaning_of(steps, Told(symbol if is_known else None, shape))
        selector = path.removeprefix("$.")
        member = f"{selector}.state" if _POWER.fullmatch(selector) else selector
        own = f"{device}/{part}" if (part := _part(steps)) else device
        true_value, false_value = truth_words(steps, meaning)
        yield Proposal(
            adapters_mapping.Mapping(
                names.mapping(FAMILY, device, member),
                topic,
                FAMILY,
                names.sensor(FAMILY, device, selector),
                names.observed_property(meaning),
                names.feature(FAMILY, own),
                selector,
                _observed(symbol) if is_known else None,
                true_value=true_value,
                false_value=false_value,
            ),
            FAMILY,
            own,
            f"{label or device} {selector}",
            meaning,
            None if _POWER.fullmatch(selector) else command_for(topic, steps),
            question_of(steps) if is_known else f"Which QUDT unit is {symbol!a}?",
        )


def _part(steps: Sequence[str]) -> str:
    """The device that speaks through this one: one of a Zigbee bridge, a Bluetooth sensor."""
    if steps[0] == ZIGBEE:
        return steps[1] if len(steps) > 1 else ""
    return steps[0] if _ADDRESSED.fullmatch(steps[0]) else ""


def _observed(symbol: str | None) -> str | None:
    """The unit of the observations: another one where QUDT does not have the device's."""
    return INSTEAD.get(unit_iri(symbol) or "", symbol) if symbol else None


def _shape(steps: Sequence[str], value: Json) -> Shape | None:
    """None for what is no reading: answers, texts but those known, bits that are neither."""
    if _ANSWERS.intersection(steps):
        return None
    if is_bit(steps):
        return Shape.TRUTH if str(value) in {"0", "1", "True", "False"} else None
    if isinstance(value, bool) or value in ("ON", "OFF"):
        return Shape.WORD if is_text(steps) else Shape.TRUTH
    if type(value) is JsonNumber:
        return Shape.NUMBER
    return Shape.WORD if is_text(steps) else None


def _relays(mac: str, config: Object, names: Names) -> Iterator[Proposal]:
    """A relay is 1 in `rl`; the first of several is POWER1, the only one POWER."""
    states, relays = config.get("state"), config.get("rl")
    if not isinstance(relays, list) or not isinstance(states, list) or len(states) < 2:
        return
    used = [index for index, kind in enumerate(relays) if isinstance(kind, str) and kind == "1"]
    off, on = (state if isinstance(state, str) else "" for state in states[:2])
    for index in used:
        name = "POWER" if len(used) == 1 else f"POWER{index + 1}"
        topic, command = _topic(config, 1, name), _topic(config, 0, name)
        if not topic or not command:
            return
        mapping = adapters_mapping.Mapping(
            names.mapping(FAMILY, mac, name),
            topic,
            FAMILY,
            names.sensor(FAMILY, mac, name),
            names.observed_property(_ON),
            names.feature(FAMILY, mac),
            true_value=on,
            false_value=off,
        )
        label = f"{_text(config, 'dn') or mac} {name}"
        words = tuple(word for word in (on, off) if word)
        yield Proposal(mapping, FAMILY, mac, label, _ON, Command(command, values=words))


def _topic(config: Object, prefix: int, last: str) -> str:
    """The full topic, from `ft` (%prefix%/%topic%/ in any order), `tp` and `t`."""
    prefixes, full = config.get("tp"), _text(config, "ft")
    if not isinstance(prefixes, list) or len(prefixes) <= prefix or "%topic%" not in full:
        return ""
    topic = full.replace("%prefix%", str(prefixes[prefix])).replace("%topic%", _text(config, "t"))
    topic = topic.replace("%hostname%", _text(config, "hn")).replace("%id%", _text(config, "mac"))
    topic = f"{topic.rstrip('/')}/{last}"
    return "" if any(sign in topic for sign in "%+#\0") else topic


def _text(members: Object, name: str) -> str:
    value = members.get(name)
    return str(value) if isinstance(value, str) else ""
