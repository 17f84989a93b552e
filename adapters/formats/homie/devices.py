"""What Homie devices have told of themselves: properties with datatype and unit, parents.

Place on the way: in the Memory of the family, filled by `$description` (version 5) and by the
attribute topics of properties (version 4); read by decoding and by discovery.
Source: Homie conventions 4.0.0 and 5.0, sections device, node and property attributes.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace

from adapters.adapter import Fault
from adapters.values.memory import Recent
from adapters.values.payload import Json, Payload

MAX_DEVICES = 2048
MAX_PROPERTIES = 500
"""The most properties that are remembered of one device."""

MAX_TEXT = 1024
"""A longer unit, format or name is not remembered: nothing is known instead of a part."""

MAX_ALL_PROPERTIES = 50_000
"""The most of all devices together; the device unused longest goes first."""

V5 = "5"
DESCRIPTION = "$description"
STATE = "$state"
ATTRIBUTES = frozenset({"$datatype", "$unit", "$settable", "$format", "$name"})

Key = tuple[str, str]
"""Node and property."""


@dataclass(frozen=True, slots=True)
class Property:
    """What is known of a property; empty where it was not told."""

    datatype: str = ""
    unit: str = ""
    format: str = ""
    name: str = ""
    is_settable: bool = False
    is_retained: bool = True


@dataclass(slots=True)
class Device:
    """A device by its topic, `homie/5/<id>` or `homie/<id>`."""

    name: str = ""
    root: str = ""
    properties: dict[Key, Property] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Place:
    """A topic taken apart: `device` is the topic of the device, `rest` the levels behind it."""

    device: str
    rest: tuple[str, ...]

    @classmethod
    def of(cls, topic: str) -> "Place":
        """Version 5 has the version as its second level; version 4 has none."""
        levels = topic.split("/")
        length = 3 if len(levels) > 1 and levels[1] == V5 else 2
        return cls("/".join(levels[:length]), tuple(levels[length:]))


class Devices:
    """All devices that were heard of, bounded."""

    def __init__(self) -> None:
        self._devices = Recent[str, Device](MAX_DEVICES)

    def known(self, device: str) -> Device | None:
        """The device on this topic, if it has told anything."""
        return self._devices.get(device)

    def below(self, root: str) -> Iterator[str]:
        """The topics of the devices whose root is the one on topic `root`."""
        base, _, root_id = root.rpartition("/")
        for topic, device in self._devices.items():
            if device.root == root_id and topic.rpartition("/")[0] == base:
                yield topic

    def take(self, payload: Payload) -> Fault | None:
        """Take up a description or an attribute; call it once a message (Payload.once)."""
        place = Place.of(payload.message.topic)
        if place.rest == (DESCRIPTION,):
            return self._describe(place.device, payload)
        if len(place.rest) == 3 and place.rest[2] in ATTRIBUTES:
            self._attribute(place, payload)
        return None

    def _describe(self, topic: str, payload: Payload) -> Fault | None:
        if not payload.raw:
            self._devices.pop(topic)
            return None
        document = payload.document()
        if isinstance(document, Fault):
            return document
        if isinstance(document, dict):
            device = Device(_text(document, "name"), _text(document, "root"))
            for key, described in _described(document):
                if len(device.properties) < MAX_PROPERTIES:
                    device.properties[key] = described
            self._devices.put(topic, device)
            self._trim()
        return None

    def _trim(self) -> None:
        """Linear in the devices, for each description, where they are many."""
        if len(self._devices) * MAX_PROPERTIES <= MAX_ALL_PROPERTIES:
            return
        known = self._devices.items()
        count = sum(len(device.properties) for _, device in known)
        for topic, device in known[:-1]:
            if count <= MAX_ALL_PROPERTIES:
                return
            self._devices.pop(topic)
            count -= len(device.properties)

    def _attribute(self, place: Place, payload: Payload) -> None:
        text = payload.text()
        if isinstance(text, Fault):
            return
        device = self._devices.get(place.device) or Device()
        self._devices.put(place.device, device)
        node, name, attribute = place.rest
        known = device.properties.get((node, name))
        if known is None and len(device.properties) >= MAX_PROPERTIES:
            return
        told = _short(text.strip("\0"))
        device.properties[node, name] = _with(known or Property(), attribute, told)


def _with(known: Property, attribute: str, text: str) -> Property:
    if attribute == "$settable":
        return replace(known, is_settable=text == "true")
    if attribute == "$datatype":
        return replace(known, datatype=text)
    if attribute == "$unit":
        return replace(known, unit=text)
    if attribute == "$format":
        return replace(known, format=text)
    return replace(known, name=text)


def _described(document: Mapping[str, Json]) -> Iterator[tuple[Key, Property]]:
    for node_id, node in _objects(document.get("nodes")):
        for property_id, told in _objects(node.get("properties")):
            yield (
                (node_id, property_id),
                Property(
                    _text(told, "datatype"),
                    _text(told, "unit"),
                    _text(told, "format"),
                    _text(told, "name"),
                    told.get("settable") is True,
                    told.get("retained") is not False,
                ),
            )


def _objects(value: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    for name, inner in value.items() if isinstance(value, dict) else ():
        if isinstance(inner, dict):
            yield name, inner


def _text(members: Mapping[str, Json], name: str) -> str:
    value = members.get(name)
    return str(value) if isinstance(value, str) and len(value) <= MAX_TEXT else ""


def _short(text: str) -> str:
    return text if len(text) <= MAX_TEXT else ""
