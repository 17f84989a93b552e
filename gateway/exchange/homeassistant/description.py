"""From what the graph says to entities: which streams and actuators are announced, and as what.

Place: behind `facts`; pure. A stream that tells the state of an actuator is that actuator's, and is
not announced beside it. What belongs together is the platform that hosts a sensor, or the sensor.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.values.observation import StreamKey
from adapters.values.properties import Kind as PropertyKind
from adapters.values.properties import Property
from gateway.actuation.actuator import Actuator
from gateway.exchange.homeassistant.classes import (
    ON_IS_FALSE,
    Meaning,
    of_number,
    of_truth,
    of_word,
    term_of,
)
from gateway.exchange.homeassistant.commanded import commanded
from gateway.exchange.homeassistant.entity import Described, Entity, Json, State
from gateway.exchange.homeassistant.facts import Facts, Seen
from gateway.exchange.homeassistant.naming import clean, distinct, local_name, name_of, without
from gateway.exchange.homeassistant.states import Form, Kind, kind_of
from gateway.exchange.homeassistant.topics import Topics

_MAIN = "power_state"
"""What is on when a device is."""

CommandTopic = Callable[[Actuator], str]
"""Where commands for an actuator are taken."""


@dataclass(frozen=True, slots=True)
class Draft:
    """An entity before it has a name.

    `device`, `feature` and `model` are IRIs, the last two empty for none; `other` tells it from one
    of the same name. `device_name` is what somebody calls a device that may have no label. What
    `is_main` is called as its device, if nothing else of it is.
    """

    entity: Entity
    state: State
    device: str
    name: str
    other: str
    feature: str = ""
    model: str = ""
    is_of_device: bool = False
    device_name: str = ""
    is_main: bool = False


@dataclass(frozen=True, slots=True)
class Naming:
    """What ids and topics are made by; `known` are ids that keep their place, of `most`."""

    topics: Topics
    command_topic: CommandTopic
    most: int
    known: Container[str] = ()


def describe(
    facts: Facts,
    actuators: Sequence[Actuator],
    naming: Naming,
    others: Iterable[Draft] = (),
) -> Described:
    """All streams of `facts`, all `actuators` and the `others`, by the ids of their entities."""
    streams: dict[StreamKey, str] = {}
    drafts = [*others]
    by_subject = _by_subject(facts)
    for actuator in actuators:
        own = _of_actuator(actuator, by_subject)
        draft = _set(actuator, own, facts, naming)
        drafts.append(draft)
        streams |= dict.fromkeys(own, draft.entity.id)
    for stream, seen in facts.streams.items():
        if stream not in streams:
            drafts.append(_read(stream, seen, facts, naming.topics))
            streams[stream] = drafts[-1].entity.id
    drafts.sort(key=lambda draft: (draft.entity.id not in naming.known, draft.entity.id))
    kept = named(drafts[: naming.most], facts.labels, naming.topics)
    told = {stream: id_ for stream, id_ in streams.items() if id_ in kept.entities}
    times = {stream: facts.streams[stream].time for stream in told}
    left_out = max(0, len(drafts) - naming.most)
    return replace(kept, streams=told, times=times, left_out=left_out)


def stream_entity(stream: StreamKey, topics: Topics) -> str:
    """The id of the entity that a stream is."""
    return topics.entity("\n".join(stream))


def _by_subject(facts: Facts) -> Mapping[tuple[str, str], list[StreamKey]]:
    found: dict[tuple[str, str], list[StreamKey]] = {}
    for stream in facts.streams:
        found.setdefault(stream[1:], []).append(stream)
    return found


def _of_actuator(
    actuator: Actuator, by_subject: Mapping[tuple[str, str], Sequence[StreamKey]]
) -> list[StreamKey]:
    """The streams that tell its state: its sensor's, or where it has none, the only one."""
    found = by_subject.get((actuator.observed_property, actuator.feature), ())
    if actuator.sensor:
        return [stream for stream in found if stream[0] == actuator.sensor]
    return list(found) if len(found) == 1 else []


def _set(actuator: Actuator, streams: Sequence[StreamKey], facts: Facts, naming: Naming) -> Draft:
    term = term_of(actuator.observed_property)
    id_ = naming.topics.entity(f"actuator\n{actuator.iri}")
    component, members, form = commanded(actuator, term)
    entity = Entity(id_, component, members, form, naming.command_topic(actuator))
    sensor = streams[0][0] if streams else actuator.sensor
    state = State()
    if streams:
        seen = facts.streams[streams[0]]
        state = State(seen.value, seen.unit, streams[0] not in facts.absent)
    return Draft(
        entity,
        state,
        facts.platforms.get(sensor, sensor or actuator.iri),
        _property_name(actuator.observed_property, term, facts.labels),
        actuator.name if "%" not in actuator.name else local_name(actuator.iri),
        actuator.feature,
        facts.classes.get(sensor, ""),
        is_main=term is not None and term.name == _MAIN,
    )


def _read(stream: StreamKey, seen: Seen, facts: Facts, topics: Topics) -> Draft:
    sensor, observed_property, feature = stream
    term = term_of(observed_property)
    entity = read_entity(stream_entity(stream, topics), seen, term)
    label = name_of(sensor, facts.labels)
    device = facts.platforms.get(sensor, sensor)
    return Draft(
        entity,
        State(seen.value, seen.unit, stream not in facts.absent),
        device,
        _property_name(observed_property, term, facts.labels),
        _other(device, label, sensor, facts) or name_of(feature, facts.labels),
        feature,
        facts.classes.get(sensor, ""),
        is_of_device=term is not None and term.kind is PropertyKind.DIAGNOSTIC,
    )


def _other(device: str, label: str, sensor: str, facts: Facts) -> str:
    """What a sensor is called beside its device; empty where it is the device."""
    return "" if device == sensor else without(name_of(device, facts.labels), label)


def read_entity(id_: str, seen: Seen, term: Property | None) -> Entity:
    """What can only be read, by its value."""
    kind = kind_of(seen.value)
    if term is not None and term.kind is PropertyKind.EVENT and kind is Kind.WORD:
        return _event(id_, seen, term)
    form = Form(kind, seen.unit)
    component, meaning = "sensor", of_word(term)
    match kind:
        case Kind.NUMBER:
            meaning = of_number(term, seen.unit)
        case Kind.TRUTH:
            component, meaning = "binary_sensor", of_truth(term)
            is_inverted = term is not None and term.name in ON_IS_FALSE
            form = replace(form, is_inverted=is_inverted)
        case Kind.TIME:
            meaning = Meaning("timestamp", category=meaning.category)
        case Kind.PLACE:
            component, meaning = "device_tracker", Meaning(icon="mdi:map-marker")
    return Entity(id_, component, _json(meaning), form)


def _event(id_: str, seen: Seen, term: Property) -> Entity:
    """What happened: the words that are known are its types, and others follow."""
    members: dict[str, Json] = {**_json(of_word(term)), "event_types": [_word(seen)]}
    return Entity(id_, "event", members, Form(Kind.WORD, seen.unit), is_event=True)


def _word(seen: Seen) -> str:
    return Form(Kind.WORD).tell(seen.value, None) or ""


def _json(meaning: Meaning) -> dict[str, Json]:
    return {**meaning.members()}


def _property_name(iri: str, term: Property | None, labels: Mapping[str, str]) -> str:
    name = name_of(iri, labels) if term is None else clean(term.label)
    return name[:1].upper() + name[1:]


def named(drafts: Iterable[Draft], labels: Mapping[str, str], topics: Topics) -> Described:
    """The same with names, by which the entities of one device differ, and with their devices."""
    by_device: dict[str, list[Draft]] = {}
    for draft in drafts:
        by_device.setdefault(draft.device, []).append(draft)
    entities: dict[str, Entity] = {}
    states: dict[str, State] = {}
    for device, group in by_device.items():
        said = _device(device, group, labels, topics)
        names = distinct((each.entity.id, each.name, each.other) for each in group)
        for each in group:
            is_main = each.is_main and sum(other.is_main for other in group) == 1
            name = None if is_main else names[each.entity.id]
            members: dict[str, Json] = {"name": name, "device": said}
            entity = replace(each.entity, members={**members, **each.entity.members})
            entities[entity.id], states[entity.id] = entity, each.state
    return Described(entities, states)


def _device(
    device: str, group: Sequence[Draft], labels: Mapping[str, str], topics: Topics
) -> dict[str, Json]:
    """A device as Home Assistant knows one; its area is what most of it is about, if not itself."""
    given = next((each.device_name for each in group if each.device_name), "")
    name = clean(given) if given and device not in labels else name_of(device, labels)
    said: dict[str, Json] = {"identifiers": [topics.entity(f"device\n{device}")], "name": name}
    models = sorted({each.model for each in group if each.model})
    if models:
        said["model"] = name_of(models[0], labels)
    area = next(_areas(group, labels, name), "")
    return {**said, "suggested_area": area} if area else said


def _areas(group: Sequence[Draft], labels: Mapping[str, str], device: str) -> Iterator[str]:
    """The labels of what its entities are about, by order; what has no label is no room."""
    features = {each.feature for each in group if not each.is_of_device}
    for feature in sorted(features):
        label = clean(labels.get(feature, ""))
        if label and label.lower() != device.lower():
            yield label
