"""What Tasmota devices say of themselves, as proposals.

Place on the way: the discovery part of the family. `tasmota/discovery/<MAC>/config` has the topic,
its form and the relays, `.../sensors` one set of readings; whichever comes second makes the
proposals of the sensors. A SENSOR or STATE message on an unknown topic proposes as well.
"""

import re
from collections.abc import Iterator, Mapping, Sequence

from adapters.adapter import Fault
from adapters.documents.json_path import leaves
from adapters.formats.tasmota.units import meaning_of, unit_symbol
from adapters.values import mapping as adapters_mapping
from adapters.values.meaning import named
from adapters.values.memory import Memory, Recent
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import JsonNumber
from adapters.values.units import unit_iri

FAMILY = "tasmota"
MAX_DEVICES = 2048
MAX_SENSORS = 100
_ANNOUNCEMENT = re.compile(r"tasmota/discovery/([0-9A-Fa-f]{1,32})/(config|sensors)")
_TELEMETRY = frozenset({"SENSOR", "STATE"})
_NOT_SENSORS = frozenset({"Time", "Epoch", "TempUnit", "PressureUnit", "SpeedUnit"})
_ON = named("power_state", "POWER")

Object = Mapping[str, Json]


class Announced:
    """Configs and sensors by MAC, for whichever is second."""

    def __init__(self) -> None:
        self.configs = Recent[str, Object](MAX_DEVICES)
        self.sensors = Recent[str, Object](MAX_DEVICES)


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """Proposals of an announcement, or of telemetry itself."""
    topic = payload.message.topic
    announcement = _ANNOUNCEMENT.fullmatch(topic)
    last = topic.rpartition("/")[2]
    if announcement is None and last not in _TELEMETRY:
        return ()
    document = payload.document()
    if isinstance(document, Fault) or not isinstance(document, dict):
        return ()
    if announcement is not None:
        mac, part = announcement.groups()
        return _announced(mac, part, document, names, memory.of(Announced))
    return list(_readings(topic, topic, document, names)) if "Time" in document else ()


def _announced(
    mac: str, part: str, document: Object, names: Names, announced: Announced
) -> Sequence[Proposal]:
    (announced.configs if part == "config" else announced.sensors).put(mac, document)
    config, sensors = announced.configs.get(mac), announced.sensors.get(mac)
    if config is None:
        return ()
    proposals = list(_relays(mac, config, names)) if part == "config" else []
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
        is_measured = type(value) is JsonNumber or isinstance(value, bool) or value in ("ON", "OFF")
        if name in _NOT_SENSORS or not is_measured or count == MAX_SENSORS:
            continue
        count += 1
        symbol = unit_symbol(dict(document), name)
        known = symbol is None or unit_iri(symbol) is not None
        meaning, selector = meaning_of(name, symbol if known else None), path.removeprefix("$.")
        yield Proposal(
            adapters_mapping.Mapping(
                names.mapping(FAMILY, device, selector),
                topic,
                FAMILY,
                names.sensor(FAMILY, device, selector),
                names.observed_property(meaning),
                names.feature(FAMILY, device),
                selector,
                symbol if known else None,
            ),
            FAMILY,
            device,
            f"{label or topic} {selector}",
            meaning,
            question="" if known else f"Which QUDT unit is {symbol!a}?",
        )


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
