"""Home Assistant's MQTT discovery, as proposals.

Place on the way: the discovery part of the family. The topic is
`<prefix>/<component>/[<node>/]<object>/config`, or `<prefix>/device/<object>/config` with `cmps`;
an empty payload withdraws what was announced, one that migrates leaves it to another topic. What is
not supported becomes a question that names the member.
Source: Home Assistant's documentation of MQTT discovery.
"""

from collections.abc import Iterator, Sequence

from adapters.adapter import Fault
from adapters.formats.homeassistant.abbreviations import full_names
from adapters.formats.homeassistant.announcement import Entity, entities
from adapters.formats.homeassistant.availability import availability
from adapters.formats.homeassistant.classes import (
    binary_meaning,
    choice_meaning,
    event_meaning,
    sensor_meaning,
    switch_meaning,
)
from adapters.formats.homeassistant.commands import UnsupportedError, command, is_topic
from adapters.formats.homeassistant.components import COMPONENTS, State
from adapters.formats.homeassistant.readings import Reading, readings
from adapters.formats.homeassistant.template import ValueTemplate
from adapters.values.mapping import Mapping
from adapters.values.meaning import Meaning, Told, named
from adapters.values.memory import Memory
from adapters.values.payload import Payload
from adapters.values.properties import VOCABULARY, Kind, Shape
from adapters.values.proposal import Command, Names, Proposal
from adapters.values.result import captured_result
from adapters.values.units import unit_iri

FAMILY = "homeassistant"

_DEGREES = {"C": "°C", "F": "°F"}
_UNSUPPORTED = {
    "off_delay": "it goes off without saying so",
}
"""Keys whose meaning is lost here, where they are told."""

_UTF8 = {"", "utf-8", "utf8"}


def propose(payload: Payload, names: Names, memory: Memory) -> Sequence[Proposal] | None:
    """The streams that a discovery message announces; None where it moves to another topic."""
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
    if full_names(document).get("migrate_discovery") is True:
        return None
    return [
        proposal
        for entity in entities(component, "/".join(levels[2:-1]), document)
        for proposal in _proposals(entity, names)
    ]


def _proposals(entity: Entity, names: Names) -> Iterator[Proposal]:
    try:
        found = list(readings(entity))
    except ValueError as error:
        topic = entity.topic("state_topic") or entity.topic("position_topic")
        found = [Reading(_ANY, topic, "")] if topic else []
        yield from (_proposal(entity, each, names, (str(error),)) for each in found)
        return
    for reading in found:
        yield _proposal(entity, reading, names, ())


_ANY = State("state_topic", "value_template")
"""What is asked about where nothing of an announcement can be relied on."""


def _proposal(entity: Entity, reading: Reading, names: Names, questions: Sequence[str]) -> Proposal:
    state = reading.state
    symbol = _symbol(entity, reading)
    meaning = _meaning(entity, reading, symbol if unit_iri(symbol) else "")
    member = ".".join(filter(None, (entity.identity, state.part)))
    there = availability(entity)
    true_value, false_value = _words(entity, reading, meaning)
    selector, doubt = _selector(reading)
    set_by, refusal = _command(entity, reading)
    topic = reading.topic or entity.topic(state.command)
    mapping = Mapping(
        names.mapping(FAMILY, entity.device, member),
        topic,
        FAMILY,
        names.sensor(FAMILY, entity.device, member),
        names.observed_property(meaning),
        names.feature(FAMILY, entity.device),
        selector,
        _unit(symbol, meaning),
        true_value=true_value,
        false_value=false_value,
        expires_after_s=_seconds(entity.text("expire_after")),
        availability_topic=there.topic,
        availabilities=there.rule,
    )
    words = _words_question(reading, true_value, false_value)
    asked = [*questions, *_questions(entity, reading, symbol), words]
    asked += [there.question, doubt, refusal]
    question = " ".join(filter(None, asked))
    label = entity.label("set point" if state.term == "set_point" else state.part)
    return Proposal(mapping, FAMILY, entity.device, label, meaning, set_by, question)


def _symbol(entity: Entity, reading: Reading) -> str:
    """The unit as told, in the spelling of the crosswalk."""
    told = reading.state.unit
    if told == "temperature":
        return _DEGREES.get(entity.text("temperature_unit").upper(), "")
    if reading.state.term:
        return told
    symbol = entity.text("unit_of_measurement")
    return _DEGREES.get(symbol, symbol) if entity.device_class == "temperature" else symbol


def _unit(symbol: str, meaning: Meaning) -> str | None:
    if unit_iri(symbol) is None:
        return None
    is_humidity = meaning.name in {"humidity", "target_humidity"}
    return "%RH" if symbol == "%" and is_humidity else symbol


def _meaning(entity: Entity, reading: Reading, symbol: str) -> Meaning:
    unit, word = symbol or None, entity.word
    if reading.state.term:
        is_of_device = entity.kind is Kind.DIAGNOSTIC
        told = Told(unit, None, entity.kind if is_of_device else None)
        return named(reading.state.term, reading.state.part or word, told)
    match entity.component:
        case "binary_sensor":
            return binary_meaning(entity.device_class, word, Told(None, Shape.TRUTH, entity.kind))
        case "switch":
            return switch_meaning(word, Told(None, Shape.TRUTH, entity.kind))
        case "number":
            return choice_meaning(word, Told(unit, Shape.NUMBER, Kind.SETTING))
        case "select" | "text":
            return choice_meaning(word, Told(None, Shape.WORD, Kind.SETTING))
        case "event":
            return event_meaning(entity.device_class, word, Told(None, Shape.WORD, entity.kind))
    return sensor_meaning(entity.device_class, word, Told(unit, _shape(entity), entity.kind))


def _shape(entity: Entity) -> Shape | None:
    if entity.device_class == "enum":
        return Shape.WORD
    is_number = entity.text("unit_of_measurement") or entity.text("state_class")
    return Shape.NUMBER if is_number else None


def _words(entity: Entity, reading: Reading, meaning: Meaning) -> tuple[str, str]:
    """The words for true and false, where they do not read so by themselves."""
    state = reading.state
    if state.true is None or state.false is None:
        return "", ""
    true, false = (entity.text(each.key) or each.usual for each in (state.true, state.false))
    is_truth = meaning.is_known and VOCABULARY[meaning.name].shape is Shape.TRUTH
    reads_so = (true.lower(), false.lower()) in _TRUTHS
    return ("", "") if is_truth and reads_so else (true, false)


def _words_question(reading: Reading, true: str, false: str) -> str:
    """About words of which one is none, or which are the same."""
    results = [captured_result(each) for each in (true, false) if each]
    is_fault = any(isinstance(each, Fault) for each in results)
    if reading.state.true is None or not (is_fault or len(set(results)) < len(results)):
        return ""
    key = reading.state.true.key or "value_template"
    return f"{key}: {true[:40]!a} and {false[:40]!a} cannot be told apart."


_TRUTHS = frozenset({("on", "off"), ("true", "false"), ("open", "closed")})


_TEMPLATES = {"state_topic": "value_template"}
"""The keys of templates that are not called as their topics."""


def _selector(reading: Reading) -> tuple[str, str]:
    """The template as far as it is safe, and a question about what is beyond."""
    template = reading.template
    if template.strip() in {"", "{{ value }}", "{{value}}"}:
        return "", ""
    try:
        ValueTemplate.compile(template)
    except ValueError as error:
        state = reading.state
        of_topic = _TEMPLATES.get(state.topic, state.topic.replace("_topic", "_template"))
        key = of_topic if "{" in state.template else state.template
        return "", f"{key}: Where does the value stand? {template[:80]!a}: {error}."
    return template, ""


def _command(entity: Entity, reading: Reading) -> tuple[Command | None, str]:
    try:
        return command(entity, reading), ""
    except UnsupportedError as error:
        return None, str(error)


def _questions(entity: Entity, reading: Reading, symbol: str) -> Iterator[str]:
    """What a person has to say before the announcement can be believed."""
    state = reading.state
    if symbol and unit_iri(symbol) is None:
        yield f"unit_of_measurement: Which QUDT unit is {symbol[:40]!a}?"
    if not reading.topic:
        told = entity.topic(state.command)[:100]
        yield f"{state.topic}: is not told. Is {told!a}, where it is commanded, its state?"
    elif not is_topic(reading.topic):
        has = "has a wildcard" if {"+", "#"}.intersection(reading.topic) else "is none"
        yield f"Which topic? {state.topic}: {reading.topic[:100]!a} {has}."
    if entity.keys.get("enabled_by_default") is False:
        yield "enabled_by_default: Home Assistant leaves it off until somebody wants it."
    if entity.text("encoding").lower() not in _UTF8 or entity.keys.get("encoding") == "":
        yield f"encoding: {entity.text('encoding')[:40]!a} is not read."
    if entity.component == "lawn_mower" and not state.command:
        several = sorted(key for key in entity.keys if key.endswith("_command_topic"))
        if several:
            yield f"{', '.join(several)}: commands have several topics."
    for key, reason in _UNSUPPORTED.items():
        if entity.text(key):
            yield f"{key}: {reason}."


def _seconds(text: str) -> float | None:
    is_whole = text.isascii() and text.isdigit() and 0 < len(text) < 9
    return float(text) if is_whole and int(text) else None
