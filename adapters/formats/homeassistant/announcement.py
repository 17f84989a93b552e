"""`Entity`: one component as it was announced, its keys written out, and the device it is of.

Place on the way: discovery reads announcements into entities, everything else asks them.
Source: Home Assistant's documentation of MQTT discovery.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from adapters.formats.homeassistant.abbreviations import DEVICE_ABBREVIATIONS, full_names
from adapters.formats.homeassistant.classes import slug
from adapters.formats.homeassistant.components import COMPONENTS
from adapters.values.payload import Json
from adapters.values.properties import Kind

MAX_COMPONENTS = 300

Object = Mapping[str, Json]

_KINDS = {"config": Kind.SETTING, "diagnostic": Kind.DIAGNOSTIC}
_WHOLE = re.compile(r"-?\d{1,9}(?:\.0{1,3})?")


@dataclass(frozen=True, slots=True)
class Entity:
    """`identity` outlives renaming, `device` is what its device is known by, `label` its name."""

    component: str
    identity: str
    keys: Object
    device: str
    device_label: str
    name: str

    def text(self, key: str) -> str:
        """The text or number of a key, a truth value in small letters; empty for all else."""
        return text(self.keys, key)

    def whole(self, key: str, usual: int) -> int:
        """The whole number of a key; ValueError for another value."""
        told = self.text(key)
        if told and not _WHOLE.fullmatch(told):
            raise ValueError(f"{key}: {told[:40]!a} is no whole number.")
        return int(told.partition(".")[0]) if told else usual

    def words(self, key: str) -> tuple[str, ...]:
        """The texts of a list."""
        told = self.keys.get(key)
        return tuple(_word(each) for each in told if _word(each)) if isinstance(told, list) else ()

    def topic(self, key: str) -> str:
        """The topic of a key, `~` at either end replaced; empty without one."""
        return topic(self.keys, key)

    def is_true(self, key: str) -> bool:
        """Whether a key is there and true."""
        return self.keys.get(key) is True

    @property
    def device_class(self) -> str:
        """As it was announced."""
        return self.text("device_class")

    @property
    def kind(self) -> Kind | None:
        """By its category; None for what the device is there for."""
        return _KINDS.get(self.text("entity_category"))

    @property
    def word(self) -> str:
        """What it calls itself, as one word: its name, or else one of its identifiers."""
        candidates = (self.name, self.text("object_id"), self.identity)
        return next((slug(each) for each in candidates if slug(each).isascii() and slug(each)), "")

    def label(self, part: str) -> str:
        """For people; `part` is which of its states."""
        named = (self.device_label, self.name, part.replace("_", " "))
        return " ".join(filter(None, named)) or self.identity


def entities(component: str, path: str, document: Object) -> Iterator[Entity]:
    """The entities of an announcement on `<prefix>/<component>/<path>/config`.

    What stands at the root of a device's announcement is shared; a component that has nothing but
    its platform has been removed.
    """
    keys = full_names(document)
    if component in COMPONENTS:
        yield _entity(component, path, "", keys)
    components = keys.pop("components", None) if component == "device" else None
    found = list(components.items()) if isinstance(components, dict) else []
    for part, told in found[:MAX_COMPONENTS]:
        own = full_names(told) if isinstance(told, dict) else {}
        platform = own.get("platform")
        if isinstance(platform, str) and platform in COMPONENTS and len(own) > 1:
            yield _entity(platform, path, part, {**keys, **own})


def _entity(component: str, path: str, part: str, keys: Object) -> Entity:
    device = keys.get("device")
    told = full_names(device, DEVICE_ABBREVIATIONS) if isinstance(device, dict) else {}
    identity = text(keys, "unique_id") or "/".join(filter(None, (path, part)))
    label = text(told, "name")
    return Entity(component, identity, keys, _device(told) or path, label, _name(keys, label))


def _device(device: Object) -> str:
    """The first identifier, or else the address of the first connection."""
    told = device.get("identifiers")
    first = told[0] if isinstance(told, list) and told else told
    if isinstance(first, str) and first:
        return str(first)
    connections = device.get("connections")
    pair = connections[0] if isinstance(connections, list) and connections else None
    return _word(pair[1]) if isinstance(pair, list) and len(pair) > 1 else ""


def _name(keys: Object, device: str) -> str:
    """The entity's own: without the device's, and empty where it is the device's."""
    if "name" in keys and keys["name"] is None:
        return ""
    name = text(keys, "name") or text(keys, "object_id") or text(keys, "unique_id")
    is_repeated = bool(device) and name.lower().startswith(device.lower())
    rest = name[len(device) :] if is_repeated else name
    return rest.strip(" -_:") if not rest[:1].isalnum() or not is_repeated else name


def text(keys: Object, name: str) -> str:
    """The text or number of a key, a truth value in small letters; empty for all else."""
    return _word(keys.get(name))


def _word(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str) else ""


def topic(keys: Object, name: str) -> str:
    """The topic of a key, `~` at either end replaced by the base topic."""
    told, base = text(keys, name), text(keys, "~")
    if base and told.startswith("~"):
        return base + told[1:]
    return told[:-1] + base if base and told.endswith("~") else told
