"""Home Assistant's MQTT discovery, as proposals.

Place on the way: the discovery part of the family. The topic is
`<prefix>/<component>/[<node>/]<object>/config`, or `<prefix>/device/<object>/config` with `cmps`;
an empty payload withdraws what was announced. Keys may be abbreviated, `~` at either end of a topic
is the base topic.
Source: Home Assistant's documentation of MQTT discovery.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from adapters.adapter import Fault
from adapters.formats.homeassistant.keys import COMPONENTS, STATES, State, full_names
from adapters.formats.homeassistant.template import ValueTemplate
from adapters.formats.homeassistant.tokens import TemplateError
from adapters.values import mapping as adapters_mapping
from adapters.values.meaning import Told
from adapters.values.memory import Memory
from adapters.values.payload import Json, Payload
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.topic_filter import TopicFilter
from adapters.values.units import unit_iri
from adapters.values.usual_words import usual

FAMILY = "homeassistant"
MAX_COMPONENTS = 300

Object = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class _Entity:
    """One component as announced: its keys in full, and what the device says of itself."""

    component: str
    identity: str
    keys: Object
    device: str
    device_label: str


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal]:
    """The streams that a discovery message announces."""
    del memory
    levels = payload.message.topic.split("/")
    if levels[-1] != "config" or len(levels) not in {4, 5} or not payload.raw:
        return ()
    component = levels[1]
    if component not in COMPONENTS and component != "device":
        return ()
    document = payload.document()
    if isinstance(document, Fault) or not isinstance(document, dict):
        return ()
    keys = full_names(document)
    identity = "/".join(levels[2:-1])
    announced = _of_device(identity, keys) if component == "device" else [(component, "", keys)]
    return [
        proposal
        for kind, part, own in announced
        for proposal in _of_entity(_entity(kind, identity, part, own), names)
    ]


def _of_device(identity: str, keys: Object) -> Iterator[tuple[str, str, Object]]:
    """The components of a device-based announcement; what stands at the root is shared."""
    del identity
    components = keys.get("components")
    shared = {name: value for name, value in keys.items() if name != "components"}
    found = list(components.items())[:MAX_COMPONENTS] if isinstance(components, dict) else []
    for part, own in found:
        if isinstance(own, dict):
            members = {**shared, **full_names(own)}
            platform = members.get("platform")
            if isinstance(platform, str) and platform in COMPONENTS:
                yield platform, part, members


def _entity(component: str, identity: str, part: str, keys: Object) -> _Entity:
    device = keys.get("device")
    told = full_names(device) if isinstance(device, dict) else {}
    identifiers = told.get("identifiers")
    first = identifiers[0] if isinstance(identifiers, list) and identifiers else identifiers
    own = _text(keys, "unique_id") or "/".join(filter(None, (identity, part)))
    device_id = first if isinstance(first, str) and first else identity
    return _Entity(component, own, keys, device_id, _text(told, "name"))


def _of_entity(entity: _Entity, names: Names) -> Iterator[Proposal]:
    """One proposal for each state topic: a thermostat has several."""
    for state in STATES:
        if _topic(entity.keys, state.topic):
            yield _proposal(entity, state, names)


def _proposal(entity: _Entity, state: State, names: Names) -> Proposal:
    keys, what = entity.keys, state.what
    member = ".".join(filter(None, (entity.identity, what)))
    quantity = what or _text(keys, "device_class") or entity.component
    meaning = usual(quantity, Told(_unit(keys) if not what else None)).meaning
    mapping = adapters_mapping.Mapping(
        names.mapping(FAMILY, entity.device, member),
        _topic(keys, state.topic),
        FAMILY,
        names.sensor(FAMILY, entity.device, member),
        names.observed_property(meaning),
        names.feature(FAMILY, entity.device),
        _text(keys, state.template),
        expires_after_s=_seconds(_text(keys, "expire_after")),
    )
    mapping, questions = _settled(mapping, entity, what)
    name = _text(keys, "name") or entity.identity
    label = " ".join(filter(None, (entity.device_label, name, what)))
    command = _command(entity, state.command)
    question = " ".join(questions)
    return Proposal(mapping, FAMILY, entity.device, label, meaning, command, question)


def _settled(
    mapping: adapters_mapping.Mapping, entity: _Entity, what: str
) -> tuple[adapters_mapping.Mapping, list[str]]:
    """The mapping with unit, words and availability, and what has to be asked."""
    questions = []
    symbol = "" if what else _unit(entity.keys)
    if symbol and unit_iri(symbol) is None:
        questions.append(f"Which QUDT unit is {symbol!a}?")
        symbol = ""
    availability, doubt = _availability(entity.keys)
    questions += [doubt] if doubt else []
    true_value, false_value = _words(entity) if not what else ("", "")
    if mapping.selector:
        try:
            ValueTemplate.compile(mapping.selector)
        except (TemplateError, ValueError) as error:
            questions.append(f"Where does the value stand? {mapping.selector[:100]!a}: {error}.")
            mapping = replace(mapping, selector="")
    if not _is_topic(mapping.topic_filter):
        questions.append("Which topic? The announced one is none.")
    return replace(
        mapping,
        unit=symbol or None,
        availability_topic=availability,
        true_value=true_value,
        false_value=false_value,
    ), questions


def _unit(keys: Object) -> str:
    symbol = _text(keys, "unit_of_measurement")
    return "%RH" if symbol == "%" and _text(keys, "device_class") == "humidity" else symbol


def _words(entity: _Entity) -> tuple[str, str]:
    """The payloads that mean true and false, where they do not read so by themselves."""
    on, off = {
        "binary_sensor": ("payload_on", "payload_off"),
        "switch": ("state_on", "state_off"),
        "light": ("payload_on", "payload_off"),
        "fan": ("payload_on", "payload_off"),
        "siren": ("state_on", "state_off"),
        "lock": ("state_locked", "state_unlocked"),
    }.get(entity.component, ("", ""))
    standard = {"state_locked": "LOCKED", "state_unlocked": "UNLOCKED"}
    told_on = _text(entity.keys, on) or _text(entity.keys, on.replace("state", "payload"))
    told_off = _text(entity.keys, off) or _text(entity.keys, off.replace("state", "payload"))
    if entity.component == "lock":
        told_on, told_off = _text(entity.keys, on), _text(entity.keys, off)
    told_on, told_off = told_on or standard.get(on, ""), told_off or standard.get(off, "")
    plain = (told_on.lower(), told_off.lower()) in {("on", "off"), ("true", "false")}
    return ("", "") if plain else (told_on, told_off)


def _availability(keys: Object) -> tuple[str, str]:
    """The one availability topic with the usual words, and a question about anything else."""
    listed = keys.get("availability")
    if isinstance(listed, list):
        topics = [full_names(each) for each in listed if isinstance(each, dict)]
        if len(topics) != 1:
            return "", "Which of its availability topics counts?" if topics else ""
        keys = {**keys, **topics[0], "availability_topic": topics[0].get("topic")}
        template = _text(topics[0], "value_template")
    else:
        template = _text(keys, "availability_template")
    topic = _topic(keys, "availability_topic")
    if template.replace(" ", "") not in {"", "{{value_json.state}}"}:
        return "", f"Availability is told by the template {template[:100]!a}."
    words = (_text(keys, "payload_available"), _text(keys, "payload_not_available"))
    usual = words[0].lower() in {"", "online", "true", "1"}
    if topic and not (usual and words[1].lower() in {"", "offline", "false", "0"}):
        return "", f"Availability is told by {words[0][:40]!a} and {words[1][:40]!a}."
    return topic if _is_topic(topic) else "", ""


def _command(entity: _Entity, command_key: str) -> Command | None:
    keys = entity.keys
    topic = _topic(keys, command_key)
    if not topic or not _is_topic(topic):
        return None
    options = keys.get("options")
    words = [_text(keys, "payload_on") or "ON", _text(keys, "payload_off") or "OFF"]
    if (
        entity.component not in {"switch", "light", "fan", "siren"}
        or command_key != "command_topic"
    ):
        words = (
            [each for each in options if isinstance(each, str)] if isinstance(options, list) else []
        )
    return Command(
        topic,
        values=tuple(words),
        minimum=_text(keys, "min"),
        maximum=_text(keys, "max"),
        step=_text(keys, "step"),
        retain=keys.get("retain") is True,
    )


def _topic(keys: Object, name: str) -> str:
    """A topic with its `~` replaced."""
    topic, base = _text(keys, name), _text(keys, "~")
    if base and topic.startswith("~"):
        return base + topic[1:]
    return topic[:-1] + base if base and topic.endswith("~") else topic


def _is_topic(topic: str) -> bool:
    try:
        return bool(topic) and TopicFilter.parse(topic).wildcards == 0
    except ValueError:
        return False


def _seconds(text: str) -> float | None:
    return (
        float(text)
        if text.isascii() and text.isdigit() and 0 < len(text) < 9 and int(text)
        else None
    )


def _text(keys: Object, name: str) -> str:
    value = keys.get(name)
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) if isinstance(value, str) else ""
