"""Recorded-style messages of device families with their mappings, as files.

Place on the way of the data: what `bench families` replays, and what the tests of the families
compare field by field. One file is one case: mappings in the words of a JSAP profile, messages in
the order in which they came, and what is expected of each. The tests/data/families/README.md of a
checkout describes the members.
"""

import json
import random
import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from adapters.values import mapping as adapters_mapping
from adapters.values.message import Message
from adapters.values.payload import parse_json
from adapters.values.result import JsonNumber

MOST_DIGITS = 8
"""The most digits of a number that is varied; a longer one is a time or an identifier."""

RECEIVED = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

_NAMED = re.compile(r"@\.(\w+)")
"""Members that a condition names."""

_MEMBERS = {
    "id": "iri",
    "topic": "topic_filter",
    "property": "observed_property",
    "feature": "feature_of_interest",
    "time": "time_selector",
    "sequence": "sequence_selector",
    "deviceUnit": "device_unit",
    "trueValue": "true_value",
    "falseValue": "false_value",
    "expiresAfter": "expires_after_s",
    "availability": "availability_topic",
    "decimalSign": "decimal_sign",
}


@dataclass(frozen=True, slots=True)
class Sent:
    """A message of a case, and the members of the file that say what is expected of it."""

    message: Message
    expected: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Case:
    """One file; `family` is its folder."""

    family: str
    name: str
    mappings: Sequence[adapters_mapping.Mapping]
    sent: Sequence[Sent]


def cases(folder: Path) -> Iterator[Case]:
    """The cases of all families in `folder`, sorted; ValueError names a file that is none."""
    for path in sorted(folder.glob("*/*.json")):
        try:
            yield _case(path)
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise ValueError(f"{path} is no case: {error!r}") from error


def to_json(value: Any) -> str:
    """JSON text with numbers as they stand in the file."""
    if isinstance(value, JsonNumber):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(k)}:{to_json(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(to_json, value)) + "]"
    return json.dumps(value)


def identifying(mappings: Iterable[adapters_mapping.Mapping]) -> frozenset[str]:
    """The members by which mappings know whose a message is: others make it somebody else's.

    >>> condition = "@.model == 'X' && @.id == 133"
    >>> sorted(_NAMED.findall(condition))
    ['id', 'model']
    """
    return frozenset(name for each in mappings for name in _NAMED.findall(each.condition))


def varied(dice: random.Random, message: Message, kept: Container[str] = ()) -> Message:
    """The message with other numbers of the same kind, but in members that are `kept`.

    As it is where it is no JSON.
    """
    try:
        document = parse_json(message.payload.decode())
    except UnicodeDecodeError:
        return message
    if not isinstance(document, dict | list):
        return message
    payload = to_json(_varied(dice, document, kept)).encode()
    return Message(message.topic, payload, message.received_at, retained=message.retained)


def _varied(dice: random.Random, value: Any, kept: Container[str]) -> Any:
    if isinstance(value, JsonNumber):
        if len(value.partition(".")[0]) > MOST_DIGITS:
            return value
        if "." in value:
            return JsonNumber(f"{float(value) * dice.uniform(0.5, 1.5):.3f}")
        return JsonNumber(int(value) + dice.randrange(3))
    if isinstance(value, dict):
        return {
            key: inner if key in kept else _varied(dice, inner, kept)
            for key, inner in value.items()
        }
    if isinstance(value, list):
        return [_varied(dice, inner, kept) for inner in value]
    return value


def _case(path: Path) -> Case:
    document = json.loads(path.read_text(), parse_int=JsonNumber, parse_float=JsonNumber)
    mappings = [_mapping(members) for members in document.get("mappings", ())]
    sent = [_sent(members) for members in document["messages"]]
    return Case(path.parent.name, path.stem, mappings, sent)


def _mapping(members: Mapping[str, Any]) -> adapters_mapping.Mapping:
    given = {_MEMBERS.get(name, name): value for name, value in members.items()}
    if "expires_after_s" in given:
        given["expires_after_s"] = float(given["expires_after_s"])
    if isinstance(rule := given.get("availabilities"), dict):
        given["availabilities"] = to_json(rule)
    return adapters_mapping.Mapping(**given)


def _sent(members: dict[str, Any]) -> Sent:
    received = members.get("received")
    message = Message(
        members["topic"],
        _payload(members),
        datetime.fromisoformat(received) if received else RECEIVED,
        retained=bool(members.get("retained")),
    )
    return Sent(message, members)


def _payload(members: Mapping[str, Any]) -> bytes:
    if "hex" in members:
        return bytes.fromhex(members["hex"])
    payload = members["payload"]
    is_text = isinstance(payload, str) and not isinstance(payload, JsonNumber)
    return (payload if is_text else to_json(payload)).encode()
