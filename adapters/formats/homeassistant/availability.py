"""How an announcement says that the device is there, as members of a mapping.

Place on the way: a part of discovery. One topic with the usual words is the mapping's
`availability_topic`; several topics, other words and templates are its `availabilities`.
Source: Home Assistant's documentation of MQTT availability.
"""

from collections.abc import Iterator
from typing import NamedTuple

from adapters.availabilities import MAX_TOPICS, MODES, Availabilities, AvailabilityTopic
from adapters.availability import WORDS
from adapters.formats.homeassistant.abbreviations import full_names
from adapters.formats.homeassistant.announcement import Entity, Object, text, topic
from adapters.formats.homeassistant.commands import is_topic
from adapters.formats.homeassistant.template import ValueTemplate

_OF_STATE = "{{value_json.state}}"


class Announced(NamedTuple):
    """The two members of a mapping, and what has to be asked."""

    topic: str = ""
    rule: str = ""
    question: str = ""


def availability(entity: Entity) -> Announced:
    """What is announced, in the shortest form that says it."""
    topics = list(dict.fromkeys(_topics(entity)))
    if not topics:
        return Announced()
    wrong = next(filter(None, map(_defect, topics)), "")
    mode = entity.text("availability_mode") or "latest"
    if mode not in MODES:
        wrong = f"availability_mode: {mode[:40]!a} is none of {', '.join(MODES)}."
    if wrong or len(topics) > MAX_TOPICS:
        return Announced(question=wrong or f"availability: more than {MAX_TOPICS} topics.")
    if len(topics) == 1 and _is_usual(topics[0]):
        return Announced(topics[0].topic)
    return Announced(rule=Availabilities(mode, tuple(topics)).text)


def _topics(entity: Entity) -> Iterator[AvailabilityTopic]:
    listed = entity.keys.get("availability")
    for each in listed if isinstance(listed, list) else [listed]:
        if isinstance(each, dict):
            keys = {"~": entity.text("~"), **full_names(each)}
            yield _topic(keys, topic(keys, "topic"), text(keys, "value_template"))
    if entity.topic("availability_topic"):
        template = entity.text("availability_template")
        yield _topic(entity.keys, entity.topic("availability_topic"), template)


def _topic(keys: Object, name: str, template: str) -> AvailabilityTopic:
    available = text(keys, "payload_available") or "online"
    return AvailabilityTopic(
        name, available, text(keys, "payload_not_available") or "offline", template
    )


def _defect(told: AvailabilityTopic) -> str:
    if not is_topic(told.topic):
        return f"availability_topic: {told.topic[:100]!a} is no topic of one device."
    if told.available == told.not_available:
        return f"payload_available: {told.available[:40]!a} is payload_not_available too."
    try:
        ValueTemplate.compile(told.template or "{{ value }}")
    except ValueError as error:
        return f"availability_template: {told.template[:100]!a}: {error}."
    return ""


def _is_usual(told: AvailabilityTopic) -> bool:
    words = (WORDS.get(told.available.lower()), WORDS.get(told.not_available.lower()))
    return words == (True, False) and told.template.replace(" ", "") in {"", _OF_STATE}
