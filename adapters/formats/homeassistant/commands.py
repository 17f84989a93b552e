"""Commands as Home Assistant sends them: to the announced topic, in the announced words.

Place on the way: discovery makes a `Command` of each state that can be set; the gateway has a
filled-in payload made to bytes by `encode`. Where a template only puts the value into a text, the
payload is that text with `{value}`; any other one goes along as JSON and is run when it is sent:

    {"template": "{{ 1 if value == 'ON' else 0 }}", "value": {value}}
"""

import json
import re
from datetime import datetime
from functools import lru_cache

from adapters.formats.homeassistant.announcement import Entity
from adapters.formats.homeassistant.components import Word
from adapters.formats.homeassistant.readings import Reading
from adapters.formats.homeassistant.template import CommandTemplate
from adapters.values.payload import parse_json
from adapters.values.proposal import Command
from adapters.values.topic_filter import TopicFilter

_PLACED = re.compile(
    r"(?P<before>.*?)\{\{-?\s*(?:value|action|position|tilt_position)\s*(?:\|\s*(?:string|float)\s*)*-?\}\}(?P<after>.*)",
    re.DOTALL,
)
_MARK = re.compile(r"\{[A-Za-z_]\w*\}|\{[{%#]")
_MEMBERS = {"template", "value"}
_NUMBER = re.compile(r"-?\d{1,15}(?:\.\d{1,15})?")


class UnsupportedError(ValueError):
    """A member that says how to command in a way that is not known here; the text names it."""


def command(entity: Entity, reading: Reading) -> Command | None:
    """How a state is set, None where it cannot be; raises UnsupportedError."""
    state = reading.state
    topic = entity.topic(state.command)
    if not topic:
        return None
    if not is_topic(topic):
        raise UnsupportedError(f"{state.command}: {topic[:100]!a} is no topic to publish to.")
    is_switched = state.command_template == "command_on_template"
    words = [_told(entity, each) for each in state.words if _is_supported(entity, each)]
    if is_switched:
        words = [_switched(entity, on) for on in ("on", "off")]
    values = list(dict.fromkeys(filter(None, words))) or _choice(entity, reading)
    has_truth = len(words) > 1 and (state.true is not None or state.term == "cover_state")
    least, most, step = _limits(entity, reading)
    return Command(
        topic,
        state.payload if is_switched else _payload(entity, reading),
        tuple(values),
        least,
        most,
        step,
        retain=entity.is_true("retain"),
        true_value=words[0] if has_truth else "",
        false_value=words[1] if has_truth else "",
    )


def encode(payload: str, sent_at: datetime) -> bytes:
    """The bytes of a filled-in payload; raises ValueError where its template cannot be run."""
    del sent_at
    told = parse_json(payload) if payload.startswith('{"template":') else None
    if not isinstance(told, dict) or set(told) != _MEMBERS or not isinstance(told["template"], str):
        return payload.encode()
    return _compiled(told["template"]).render(told["value"]).encode()


@lru_cache(maxsize=256)
def _compiled(template: str) -> CommandTemplate:
    return CommandTemplate.compile(template)


def is_topic(topic: str) -> bool:
    """Whether it is one topic, and no filter."""
    try:
        return bool(topic) and TopicFilter.parse(topic).wildcards == 0
    except ValueError:
        return False


def _is_supported(entity: Entity, word: Word) -> bool:
    """Whether the features that are listed, if any are, have the word."""
    listed = entity.words("supported_features")
    if not listed or entity.component not in {"alarm_control_panel", "vacuum"}:
        return True
    feature = _FEATURES.get(word.key, word.key.removeprefix("payload_"))
    return not feature or feature in listed


_FEATURES = {"payload_return_to_base": "return_home", "payload_disarm": ""}


def _told(entity: Entity, word: Word) -> str:
    """A word; empty where it is announced to be none."""
    if word.key in entity.keys and entity.keys[word.key] is None:
        return ""
    return entity.text(word.key) or word.usual


def _switched(entity: Entity, state: str) -> str:
    """What a light with templates is sent for on or off, when nothing else is to change."""
    key = f"command_{state}_template"
    try:
        return _compiled(f"{{% set state = '{state}' %}}{entity.text(key)}").render(state)
    except ValueError as error:
        raise UnsupportedError(f"{key}: {entity.text(key)[:100]!a}: {error}.") from error


def _choice(entity: Entity, reading: Reading) -> list[str]:
    key, usual = reading.state.choice
    return list(entity.words(key) if key in entity.keys else usual)


def _limits(entity: Entity, reading: Reading) -> tuple[str, str, str]:
    limits = reading.state.limits
    if limits is None:
        return "", "", ""
    least, most, step = (_told(entity, each) for each in (limits.least, limits.most, limits.step))
    told = [each if _NUMBER.fullmatch(each) else "" for each in (least, most, step)]
    return told[0], told[1], told[2]


def _payload(entity: Entity, reading: Reading) -> str:
    """With `{value}` in it."""
    key = reading.state.command_template
    told = entity.text(key)
    if not told:
        if reading.scale.is_percent:
            return reading.state.payload
        told = "{{ value }}"
    placed = _PLACED.fullmatch(told)
    if placed is not None and reading.scale.is_percent:
        around = placed["before"] + placed["after"]
        if not _MARK.search(around):
            return placed["before"] + "{value}" + placed["after"]
    return _run(key, f"{reading.scale.write}{_named(told)}", entity, reading)


def _named(template: str) -> str:
    """With the other names that Home Assistant has for the value."""
    names = ("action", "position", "tilt_position")
    return "".join(f"{{% set {name} = value %}}" for name in names if name in template) + template


def _run(key: str, template: str, entity: Entity, reading: Reading) -> str:
    """A payload that says by which template it is made; it is tried with a value first."""
    choice = [_told(entity, each) for each in reading.state.words] + _choice(entity, reading)
    try:
        _compiled(template).render(choice[0] if choice else "1")
    except ValueError as error:
        raise UnsupportedError(f"{key}: {entity.text(key)[:100]!a}: {error}.") from error
    quoted = json.dumps(template).replace("{", "\\u007b")
    return f'{{"template":{quoted},"value":{{value}}}}'
