"""Proposals of Homie devices, from `$description` or from the attributes of version 4."""

from collections.abc import Sequence

from adapters.formats.homie.devices import (
    ATTRIBUTES,
    DESCRIPTION,
    V5,
    Devices,
    Key,
    Place,
    Property,
)
from adapters.values.mapping import Mapping
from adapters.values.meaning import Meaning, Told, named
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.properties import Kind, Shape
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

FAMILY = "homie"
_CLOSED = frozenset({"close", "closed", "shut"})
_BOOLEANS = ("true", "false")
_SHAPES = {
    "integer": Shape.NUMBER,
    "float": Shape.NUMBER,
    "percent": Shape.NUMBER,
    "boolean": Shape.TRUTH,
    "string": Shape.WORD,
    "enum": Shape.WORD,
    "color": Shape.WORD,
    "json": Shape.WORD,
}
_WORDS = {
    ("on", Shape.TRUTH): "power_state",
    ("switch", Shape.TRUTH): "power_state",
    ("power", Shape.TRUTH): "power_state",
    ("locked", Shape.TRUTH): "locked",
    ("window", Shape.TRUTH): "opening",
    ("brightness", Shape.NUMBER): "brightness",
    ("dim", Shape.NUMBER): "brightness",
    ("position", Shape.NUMBER): "position",
    ("color", Shape.WORD): "color",
    ("colour", Shape.WORD): "color",
}
"""What can be set mostly, by name and shape."""


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """The properties that a description names, or the one whose attribute came."""
    place = Place.of(payload.message.topic)
    is_description = place.rest == (DESCRIPTION,) and payload.message.topic.split("/")[1] == V5
    if not is_description and not (len(place.rest) == 3 and place.rest[2] in ATTRIBUTES):
        return ()
    devices = memory.of(Devices)
    payload.once(devices.take)
    device = devices.known(place.device)
    if device is None or not payload.raw:
        return ()
    found = device.properties.items()
    if not is_description:
        found = {
            key: told for key, told in found if key == place.rest[:2] and told.datatype
        }.items()
    label = device.name or place.device
    return [_proposal(place.device, label, key, told, names) for key, told in found]


def _proposal(device: str, label: str, key: Key, told: Property, names: Names) -> Proposal:
    member = "/".join(key)
    topic = f"{device}/{member}"
    known = not told.unit or unit_iri(told.unit) is not None
    meaning = _meaning(key[1], told, told.unit if known else "")
    true_value, false_value = _truth_words(meaning, told)
    mapping = Mapping(
        names.mapping(FAMILY, device, member),
        topic,
        FAMILY,
        names.sensor(FAMILY, device, member),
        names.observed_property(meaning),
        names.feature(FAMILY, device),
        unit=told.unit if told.unit and known else None,
        true_value=true_value,
        false_value=false_value,
    )
    question = "" if known else f"Which QUDT unit is {told.unit!a}?"
    command = _command(topic, told) if told.is_settable else None
    name = f"{label} {told.name or member}"
    return Proposal(mapping, FAMILY, device, name, meaning, command, question)


def _meaning(name: str, told: Property, unit: str) -> Meaning:
    """Names are free, so only whole ones that many use alike count; what is set is not measured."""
    kind = Kind.SETTING if told.is_settable else None
    shape = _SHAPES.get(told.datatype)
    known = _WORDS.get((name.lower(), shape)) if shape else None
    if name.lower() == "contact" and shape is Shape.TRUTH and _says_what_is_open(told):
        known = "opening"  # without its words nobody knows which of them a contact's true is
    found = named(known, name, Told(unit or None, shape, kind)) if known else None
    return found or usual(name, Told(unit or None, shape, kind)).meaning


def _says_what_is_open(told: Property) -> bool:
    words = {word.strip().lower() for word in told.format.split(",")}
    return "open" in words and bool(words & _CLOSED)


def _truth_words(meaning: Meaning, told: Property) -> tuple[str, str]:
    """`format` of a boolean says what false and true are: where true is closed, it is not open."""
    is_opening = meaning.is_known and meaning.name == "opening"
    _, _, true = told.format.partition(",")
    return ("false", "true") if is_opening and true.strip().lower() in _CLOSED else ("", "")


def _command(topic: str, told: Property) -> Command:
    """`format` is the words of an enum, or minimum:maximum:step of a number."""
    if told.datatype == "enum":
        return Command(f"{topic}/set", values=tuple(told.format.split(",")))
    if told.datatype == "boolean":
        return Command(f"{topic}/set", values=_BOOLEANS)
    minimum, maximum, step = (*told.format.split(":"), "", "", "")[:3]
    return Command(f"{topic}/set", minimum=minimum, maximum=maximum, step=step)
