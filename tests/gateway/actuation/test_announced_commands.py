"""What Home Assistant's discovery announces is commanded as Home Assistant does, and confirmed.

The announcements are those of the cases; what is expected is by Home Assistant's documentation.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

from adapters.discovery import Discovery
from adapters.registry import Registry
from adapters.values.message import Message
from adapters.values.observation import Observation
from adapters.values.proposal import Proposal
from gateway.actuation.actuator import Actuator
from gateway.actuation.values import Reading, value_of
from tests.paths import DATA

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


def announced(case: str) -> list[Proposal]:
    """The proposals of the first announcement of a case."""
    told = json.loads((DATA / "families" / "homeassistant" / f"{case}.json").read_text())
    first = told["messages"][0]
    message = Message(first["topic"], json.dumps(first["payload"]).encode(), NOW)
    return list(Discovery().discover(message).proposals)


def proposal(case: str, term: str) -> Proposal:
    return next(each for each in announced(case) if each.meaning.name == term)


def actuator(proposed: Proposal) -> Actuator:
    mapping, command = proposed.mapping, proposed.command
    assert command is not None
    fields: Mapping[str, str] = {
        "topic": command.topic,
        "payload": command.payload,
        "format": "homeassistant",
        "minimum": command.minimum,
        "maximum": command.maximum,
        "step": command.step,
        "unit": mapping.unit or "",
        "trueValue": command.true_value or mapping.true_value,
        "falseValue": command.false_value or mapping.false_value,
    }
    return Actuator.of("urn:actuator", fields, command.values)


def reading(proposed: Proposal, topic: str, payload: Any) -> Reading:
    """What the state says."""
    registry, errors = Registry.compile([proposed.mapping])
    assert not errors
    raw = payload if isinstance(payload, str) else json.dumps(payload)
    seen: Observation = registry.decode(Message(topic, raw.encode(), NOW)).observations[0]
    return Reading(Literal(seen.lexical, datatype=NamedNode(seen.datatype)), seen.unit)


@pytest.mark.parametrize(
    ("case", "term", "value", "sent"),
    [
        ("cover-state", "cover_state", "CLOSE_", b"CLOSE_"),
        ("cover-garage", "opening", "false", b"CLOSE"),
        ("cover-zwave-position", "position", "50", b"50"),
        ("cover-zwave-position", "position", "100", b"99"),
        ("cover-inverted", "position", "30", b"70"),
        ("cover-inverted", "position", "100", b"0"),
        ("cover-tilt", "tilt_position", "50", b"90"),
        ("cover-json-commands", "position", "40", b'{"position": 40}'),
        ("cover-json-commands", "cover_state", "false", b'{"action": "CLOSE"}'),
        ("valve-state", "valve_open", "true", b"OPEN"),
        ("valve-position", "valve_position", "50", b"50"),
        ("lock-words", "locked", "true", b"LOCK_"),
        ("lock-zwave", "locked", "false", b"0"),
        ("climate-trv", "set_point", "21.5", b"21.5"),
        ("climate-trv", "hvac_mode", "off", b"off"),
        ("climate-fahrenheit", "hvac_mode", "B1", b"mode=B1"),
        ("climate-air-conditioner", "hvac_mode", "off", b'{"ps":"off"}'),
        ("climate-air-conditioner", "hvac_mode", "fan_only", b'{"ps":"on","acmd":"fan"}'),
        ("climate-air-conditioner", "hvac_mode", "dry", b'{"ps":"on","acmd":"dry"}'),
        ("light-json-rgb", "power_state", "true", b'{"state":"ON"}'),
        ("light-json-rgb", "brightness", "80", b'{"state":"ON","brightness":80}'),
        ("light-json-color-temp", "effect", "blink", b'{"state":"ON","effect":"blink"}'),
        ("light-template", "power_state", "false", b'{"turn":"off", "mode": "white"}'),
        ("light-template", "power_state", "true", b'{"turn": "on", "mode": "white"}'),
        ("light-zwave-dimmer", "power_state", "false", b"OFF"),
        ("fan-modes", "fan_speed", "34", b"medium"),
        ("fan-modes", "fan_speed", "0", b"off"),
        ("fan-complex", "fan_speed", "35", b"4"),
        ("fan-complex", "oscillating", "true", b"true"),
        ("fan-command-template", "power_state", "true", b"set to ON_"),
        ("water-heater", "operation_mode", "eco", b"on"),
        ("water-heater", "operation_mode", "off", b"off"),
        ("humidifier", "target_humidity", "45", b"45"),
        ("vacuum-words", "vacuum_state", "HOME", b"HOME"),
        ("siren", "power_state", "true", b'{"state":"ON"}'),
        ("lawn-mower-one-topic", "mower_state", "dock", b'{"activity": "dock"}'),
        ("switch-enum", "power_state", "true", b'{"EnumIdx":1}'),
    ],
)
def test_a_value_is_sent_as_home_assistant_sends_it(
    case: str, term: str, value: str, sent: bytes
) -> None:
    assert actuator(proposal(case, term)).message(value_of(value), NOW).payload == sent


@pytest.mark.parametrize(
    ("case", "term", "value"),
    [
        ("light-zwave-dimmer", "power_state", "true"),
        ("climate-trv", "set_point", "36"),
        ("climate-trv", "set_point", "20.3"),
        ("humidifier", "target_humidity", "20"),
        ("climate-trv", "hvac_mode", "dry"),
        ("fan-modes", "fan_speed", "101"),
    ],
)
def test_a_value_that_it_does_not_take_is_refused(case: str, term: str, value: str) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        actuator(proposal(case, term)).message(value_of(value), NOW)


@pytest.mark.parametrize(
    ("case", "term", "value", "state", "confirmed"),
    [
        ("cover-state", "cover_state", "CLOSE_", "closed", True),
        ("cover-state", "cover_state", "CLOSE_", "closing", False),
        ("cover-state", "cover_state", "OPEN_", "open", True),
        ("cover-garage", "opening", "CLOSE", "closed", True),
        ("cover-garage", "opening", "true", "closed", False),
        ("lock-words", "locked", "LOCK_", "LOCKED_", True),
        ("lock-words", "locked", "LOCK_", "UNLOCKED_", False),
        ("cover-inverted", "position", "30", "70", True),
        ("switch-enum", "power_state", "true", {"EnumIdx": 1}, True),
        ("switch-enum", "power_state", "false", {"EnumIdx": 1}, False),
        ("fan-modes", "power_state", "ON", {"fan_state": "ON", "fan_mode": "low"}, True),
        ("climate-trv", "hvac_mode", "off", {"system_mode": "off"}, True),
        ("climate-trv", "set_point", "21.5", {"current_heating_setpoint": "21.5"}, True),
        ("siren", "power_state", "ON", {"state": "ON"}, True),
    ],
)
def test_the_state_confirms_what_was_commanded(
    case: str, term: str, value: str, state: Any, confirmed: bool
) -> None:
    proposed = proposal(case, term)
    seen = reading(proposed, proposed.mapping.topic_filter, state)
    assert actuator(proposed).is_confirmed(value_of(value), seen) is confirmed


def test_a_template_that_makes_nothing_of_a_value_sends_nothing() -> None:
    fields = {"topic": "t", "format": "homeassistant"}
    fields["payload"] = '{"template":"\\u007b\\u007b \\u007b1: 2}[value] }}","value":{value}}'
    made = Actuator.of("urn:a", fields)
    assert made.message(value_of("1"), NOW).payload == b"2"
    with pytest.raises(ValueError, match="nothing"):
        made.message(value_of("3"), NOW)
