"""What Zigbee2MQTT's devices and groups expose, as proposals.

Place on the way: the discovery part of the family "zigbee2mqtt", for `bridge`. Each leaf of
`exposes` that is published (access bit 1) is a mapping, one that can be set (bit 2) has a command.
IRIs have the IEEE address, which outlives a renaming; topics have the friendly name. What a leaf
means is in `words`; its `value_on` says which of its words is true.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.documents.json_path import member_step
from adapters.formats.zigbee2mqtt.state import SWITCH_WORDS
from adapters.formats.zigbee2mqtt.words import CONTACTS, expose_meaning
from adapters.values import mapping as adapters_mapping
from adapters.values.meaning import Meaning, Told
from adapters.values.payload import Json
from adapters.values.properties import Kind, Shape
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.units import unit_iri

FAMILY = "zigbee2mqtt"
PUBLISHED, SETTABLE = 1, 2
MAX_NESTING = 4
_SHAPES = {
    "numeric": Shape.NUMBER,
    "binary": Shape.TRUTH,
    "enum": Shape.WORD,
    "text": Shape.WORD,
}
_KINDS = {"config": Kind.SETTING, "diagnostic": Kind.DIAGNOSTIC}
_UNITS = {"lqi": "", "VOC Index points": "", "C": "°C", "  C": "°C", "Lx": "lx", "H": "h"}
"""What its converters write for no unit, and for one that the crosswalk calls otherwise."""

_SWITCHED = frozenset({"light", "switch", "cover", "lock"})
"""Groups of exposes that Zigbee2MQTT tells the state of for a group of devices."""

_CLOSED = frozenset({"close", "closed"})

Object = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class _Device:
    base: str
    address: str
    name: str
    is_on_battery: bool

    @property
    def topic(self) -> str:
        return f"{self.base}/{self.name}"


def of_device(base: str, members: Object, names: Names) -> Iterator[Proposal]:
    """The proposals of one entry of the list of devices."""
    is_on_battery = members.get("power_source") == "Battery"
    device = _Device(
        base, _text(members, "ieee_address"), _text(members, "friendly_name"), is_on_battery
    )
    definition = members.get("definition")
    if not device.address or not device.name or not isinstance(definition, dict):
        return
    if members.get("type") == "Coordinator" or members.get("disabled") is True:
        return
    leaves = {leaf.path: leaf for leaf in _leaves(definition.get("exposes"))}
    for leaf in leaves.values():  # a property may be exposed twice
        yield _proposal(device, leaf, names)


def of_group(
    base: str, members: Object, exposes: Sequence[Json], names: Names
) -> Iterator[Proposal]:
    """The proposals of a group, from what its members' devices expose: what can be switched.

    Endpoints are the members' own; a group is told, and answers, without them.
    """
    number, name = _text(members, "id"), _text(members, "friendly_name")
    if not number or not name:
        return
    device = _Device(base, f"group-{number}", name, is_on_battery=False)
    leaves = {
        leaf.name: replace(leaf, path=(*leaf.path[:-1], leaf.name))
        for leaf in _leaves(list(exposes))
        if leaf.group in _SWITCHED and _text(leaf.expose, "category") != "config"
    }
    for leaf in leaves.values():
        plain = {key: value for key, value in leaf.expose.items() if key != "endpoint"}
        yield _proposal(device, replace(leaf, expose=plain), names)


@dataclass(frozen=True, slots=True)
class _Leaf:
    """A published value: its path, the type of the group that it is in, and what is said of it."""

    path: tuple[str, ...]
    group: str
    expose: Object

    @property
    def selector(self) -> str:
        member = "".join(map(member_step, self.path)).removeprefix(".")
        return member if member[:1] != "[" else "$" + member

    @property
    def name(self) -> str:
        """Without the endpoint, by which one device has several."""
        return _text(self.expose, "name") or self.path[-1]

    @property
    def label(self) -> str:
        """For people: the endpoint tells the switches of one device apart."""
        label = _text(self.expose, "label") or self.selector
        endpoint = _text(self.expose, "endpoint")
        return label if endpoint in label.split() or not endpoint else f"{label} {endpoint}"

    @property
    def told(self) -> Told:
        """Unit, shape and kind; what can be set is a setting, unless it is known as a state."""
        kind = _KINDS.get(_text(self.expose, "category"))
        if kind is None and _access(self.expose) & SETTABLE:
            kind = Kind.SETTING
        unit = _unit(self.expose)
        return Told(unit if unit_iri(unit) else None, _SHAPES[_text(self.expose, "type")], kind)


def _leaves(exposes: Json, within: tuple[str, ...] = (), group: str = "") -> Iterator[_Leaf]:
    """Composites nest, lights and locks only group."""
    if not isinstance(exposes, list) or len(within) > MAX_NESTING:
        return
    for expose in exposes:
        if not isinstance(expose, dict):
            continue
        own, kind = _text(expose, "property"), _text(expose, "type")
        if kind in _SHAPES:
            if own and _access(expose) & PUBLISHED:
                yield _Leaf((*within, own), group, expose)
        elif kind == "composite":
            path = (*within, own) if own else within
            is_color = group == "light" and _text(expose, "name").startswith("color")
            yield from _leaves(expose.get("features"), path, group if is_color else "composite")
        elif kind != "list":
            yield from _leaves(expose.get("features"), within, kind)


def _proposal(device: _Device, leaf: _Leaf, names: Names) -> Proposal:
    meaning = expose_meaning(leaf.group, leaf.name, leaf.told, is_on_battery=device.is_on_battery)
    symbol = _unit(leaf.expose)
    is_known = not symbol or unit_iri(symbol) is not None
    true_value, false_value = _words(leaf.expose, meaning)
    mapping = adapters_mapping.Mapping(
        names.mapping(FAMILY, device.address, leaf.selector),
        device.topic,
        FAMILY,
        names.sensor(FAMILY, device.address, leaf.selector),
        names.observed_property(meaning),
        names.feature(FAMILY, device.address),
        leaf.selector,
        ("%RH" if (symbol, meaning.name) == ("%", "humidity") else symbol or None)
        if is_known
        else None,
        true_value=true_value,
        false_value=false_value,
    )
    question = "" if is_known else f"Which QUDT unit is {symbol!a}?"
    if meaning.name == "opening" and leaf.name in CONTACTS and _on_off(leaf.expose) != _CONTACT:
        question = f"Is it open when it says {_word(leaf.expose.get('value_on'))[:40]!a}?"
    return Proposal(
        mapping,
        FAMILY,
        device.name,
        f"{device.name} {leaf.label}",
        meaning,
        _command(device, leaf.path, leaf.expose) if _access(leaf.expose) & SETTABLE else None,
        question,
    )


_CONTACT = (False, True)
"""`value_on` and `value_off` of a contact: on is open, and what it says then is false."""


def _on_off(expose: Object) -> tuple[Json, Json]:
    return expose.get("value_on"), expose.get("value_off")


def _unit(expose: Object) -> str:
    symbol = _text(expose, "unit")
    return _UNITS.get(symbol, symbol)


def _words(expose: Object, meaning: Meaning) -> tuple[str, str]:
    """The words for true and false, where they do not read so by themselves.

    On is true, but that what says it is closed is not open.
    """
    if expose.get("type") != "binary":
        return "", ""
    said = _on_off(expose)
    on, off = map(_word, said)
    if meaning.name in {"opening", "valve_open"} and on.lower() in _CLOSED:
        on, off = off, on
    reads_so = (on, off) == SWITCH_WORDS or said == (True, False)
    return ("", "") if reads_so else (on, off)


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
