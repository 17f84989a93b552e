"""What Zigbee2MQTT's list of devices exposes, as proposals: `<base>/bridge/devices`, retained.

Place on the way: the discovery part of the family "zigbee2mqtt". Each leaf of `exposes` that is
published (access bit 1) is a mapping, one that can be set (bit 2) has a command. IRIs have the
IEEE address, which outlives a renaming; topics have the friendly name.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.adapter import Fault
from adapters.documents.json_path import member_step
from adapters.formats.zigbee2mqtt.state import SWITCH_WORDS
from adapters.values import mapping as adapters_mapping
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.quantity import usual_quantity
from adapters.values.units import unit_iri

FAMILY = "zigbee2mqtt"
DEVICES = "/bridge/devices"
PUBLISHED, SETTABLE = 1, 2
MAX_NESTING = 4
_SCALARS = frozenset({"numeric", "binary", "enum", "text"})
_NO_UNITS = frozenset({"", "lqi"})

Object = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class _Device:
    base: str
    address: str
    name: str

    @property
    def topic(self) -> str:
        return f"{self.base}/{self.name}"


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """The proposals of all devices in a list of devices; empty for any other message."""
    del memory
    base = payload.message.topic.removesuffix(DEVICES)
    document = payload.document() if base != payload.message.topic else None
    if isinstance(document, Fault) or not isinstance(document, list):
        return ()
    return [
        proposal
        for device in document
        if isinstance(device, dict)
        for proposal in _of_device(base, device, names)
    ]


def _of_device(base: str, members: Object, names: Names) -> Iterator[Proposal]:
    device = _Device(base, _text(members, "ieee_address"), _text(members, "friendly_name"))
    definition = members.get("definition")
    if not device.address or not device.name or not isinstance(definition, dict):
        return
    if members.get("type") == "Coordinator" or members.get("disabled") is True:
        return
    leaves = dict(_leaves(definition.get("exposes"), ()))  # a property may be exposed twice
    for path, expose in leaves.items():
        yield _proposal(device, path, expose, names)


def _leaves(exposes: Json, within: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Object]]:
    """Published values with their paths: composites nest, lights and locks only group."""
    if not isinstance(exposes, list) or len(within) > MAX_NESTING:
        return
    for expose in exposes:
        if not isinstance(expose, dict):
            continue
        own = _text(expose, "property")
        if expose.get("type") in _SCALARS:
            if own and _access(expose) & PUBLISHED:
                yield (*within, own), expose
        elif expose.get("type") != "list":
            is_composite = expose.get("type") == "composite"
            path = (*within, own) if is_composite and own else within
            yield from _leaves(expose.get("features"), path)


def _proposal(device: _Device, path: tuple[str, ...], expose: Object, names: Names) -> Proposal:
    member = "".join(map(member_step, path)).removeprefix(".")
    member = member if member[:1] != "[" else "$" + member
    quantity = usual_quantity(path[-1])
    unit, question = _unit(_text(expose, "unit"), quantity.name)
    mapping = adapters_mapping.Mapping(
        names.mapping(FAMILY, device.address, member),
        device.topic,
        FAMILY,
        names.sensor(FAMILY, device.address, member),
        names.observed_property(quantity.name or path[-1]),
        names.feature(FAMILY, device.address),
        member,
        unit,
    )
    true_value, false_value = _words(expose)
    return Proposal(
        replace(mapping, true_value=true_value, false_value=false_value),
        FAMILY,
        device.name,
        f"{device.name} {_text(expose, 'label') or member}",
        quantity.name,
        _command(device, path, expose) if _access(expose) & SETTABLE else None,
        question,
    )


def _unit(symbol: str, quantity: str) -> tuple[str | None, str]:
    """The unit, and a question where the crosswalk does not know it."""
    if symbol in _NO_UNITS:
        return None, ""
    if symbol == "%" and quantity == "humidity":
        return "%RH", ""
    if unit_iri(symbol) is None:
        return None, f"Which QUDT unit is {symbol!a}?"
    return symbol, ""


def _words(expose: Object) -> tuple[str, str]:
    """The words for true and false, where they are texts that do not read so by themselves."""
    on, off = expose.get("value_on"), expose.get("value_off")
    if expose.get("type") != "binary" or not isinstance(on, str) or not isinstance(off, str):
        return "", ""
    return ("", "") if (on, off) == SWITCH_WORDS else (on, off)


def _command(device: _Device, path: tuple[str, ...], expose: Object) -> Command:
    payload = "{value}"
    for name in reversed(path):
        payload = f"{{{json.dumps(name)}:{payload}}}"
    values = expose.get("values")
    words = [expose.get("value_on"), expose.get("value_off"), expose.get("value_toggle")]
    allowed = values if isinstance(values, list) else words
    return Command(
        f"{device.topic}/set",
        payload,
        tuple(each for each in map(_word, allowed) if each),
        _text(expose, "value_min"),
        _text(expose, "value_max"),
        _text(expose, "value_step"),
    )


def _word(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str) else ""


def _access(expose: Object) -> int:
    access = _text(expose, "access")
    return int(access) if access.isascii() and access.isdigit() and len(access) < 4 else 0


def _text(members: Object, name: str) -> str:
    value = members.get(name)
    return str(value) if isinstance(value, str) else ""
