"""What a device is told for a value, and which values it is not told."""

from datetime import UTC, datetime

import pytest
from pyoxigraph import Literal, NamedNode

from adapters.sparkplug.payload import SparkplugPayload, decode_payload
from gateway.actuation.actuator import Actuator
from gateway.actuation.values import Reading, value_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
TRUE = value_of("true")
SHELLY = '{"id":1,"src":"s","method":"Switch.Set","params":{"id":0,"on":{value}}}'


def told(value: Literal, *values: str, **fields: str) -> str:
    actuator = Actuator.of("urn:a", {"topic": "t", **fields}, values)
    return actuator.message(value, NOW).payload.decode()


@pytest.mark.parametrize(
    ("value", "words", "fields", "payload"),
    [
        ("ON", ("ON", "OFF"), {}, "ON"),
        ("on", ("ON", "OFF"), {}, "ON"),
        ("true", ("ON", "OFF"), {}, "ON"),
        ("false", ("ON", "OFF"), {}, "OFF"),
        ("TOGGLE", ("ON", "OFF", "TOGGLE"), {}, "TOGGLE"),
        ("true", ("ON", "OFF"), {"payload": '{"state":{value}}'}, '{"state":"ON"}'),
        ("ON", ("ON", "OFF"), {"payload": '{"state":"{value}"}'}, '{"state":"ON"}'),
        ("true", ("true", "false"), {"payload": SHELLY}, SHELLY.replace("{value}", "true")),
        ("off", ("true", "false"), {"payload": SHELLY}, SHELLY.replace("{value}", "false")),
        ("true", ("OPEN", "CLOSE"), {"trueValue": "OPEN", "falseValue": "CLOSE"}, "OPEN"),
        ("closed", ("OPEN", "CLOSE"), {"trueValue": "OPEN", "falseValue": "CLOSE"}, "CLOSE"),
        ("true", (), {"trueValue": "1", "falseValue": "0"}, "1"),
        ("true", ("OPEN", "CLOSE"), {"trueValue": "open", "falseValue": "closed"}, "OPEN"),
        ("true", (), {}, "true"),
        ("21.50", (), {"minimum": "5", "maximum": "30"}, "21.5"),
        ("21.0", (), {"step": "0.5"}, "21"),
        ("0.3", (), {"step": "0.1"}, "0.3"),
        ("68", (), {"unit": "°F", "deviceUnit": "°C"}, "20"),
        ("20", (), {"unit": "°C", "payload": '{"t":{value}}'}, '{"t":20}'),
        ('say "hi"', (), {"payload": '{"text":{value}}'}, '{"text":"say \\"hi\\""}'),
        ("2", ("1", "2"), {"payload": '{"speed":{value}}'}, '{"speed":2}'),
    ],
)
def test_value_in_the_words_of_the_device(
    value: str, words: tuple[str, ...], fields: dict[str, str], payload: str
) -> None:
    assert told(value_of(value), *words, **fields) == payload


def test_number_as_a_text_stays_one() -> None:
    assert told(Literal("2"), "1", "2", payload='{"speed":{value}}') == '{"speed":"2"}'


@pytest.mark.parametrize(
    ("value", "words", "fields", "reason"),
    [
        ("BLUE", ("ON", "OFF"), {}, "is not one of OFF, ON"),
        ("open", ("ON", "OFF"), {}, "is not one of OFF, ON"),
        ("", ("ON", "OFF"), {}, "is not one of"),
        ("false", ("OPEN", "CLOSE"), {"falseValue": "closed"}, "is not one of CLOSE, OPEN"),
        ("4.9", (), {"minimum": "5"}, "below the minimum, 5"),
        ("31", (), {"maximum": "30"}, "above the maximum, 30"),
        ("31", (), {"minimum": "5", "maximum": "30"}, r"above the maximum, 30 \(5 to 30\)"),
        ("5.3", (), {"minimum": "5", "step": "0.5"}, r"steps of 0.5 \(at least 5\)"),
        ("BLUE", (), {"trueValue": "open", "falseValue": "shut"}, "is neither open nor shut"),
        ("warm", (), {"maximum": "30"}, "is no number"),
        ("warm", (), {"maximum": "30"}, r"is no number \(at most 30\)"),
        ("warm", (), {"minimum": "5", "maximum": "30", "unit": "°C"}, r"\(5 to 30 DEG_C\)"),
        ("warm", ("OFF",), {"minimum": "5"}, r"is no number \(at least 5\) and not one of OFF"),
        ("warm", (), {"unit": "%"}, r"is no number \(in PERCENT\)"),
        ("true", (), {"maximum": "30"}, "is no number"),
        ("NaN", (), {"maximum": "30"}, "is no number"),
        ("1e999999999", (), {"maximum": "30"}, "is no number"),
        ("9" * 5000, (), {}, "too long"),
        (
            "maybe",
            (),
            {
                "format": "sparkplug",
                "payload": '{"metric":"P","datatype":"Boolean","value":{value}}',
            },
            "is no Boolean",
        ),
    ],
)
def test_value_that_the_device_is_not_told(
    value: str, words: tuple[str, ...], fields: dict[str, str], reason: str
) -> None:
    with pytest.raises(ValueError, match=reason):
        told(value_of(value), *words, **fields)


def test_sparkplug_command_is_a_payload_with_the_metric() -> None:
    fields = {
        "topic": "spBv1.0/g/DCMD/n/d",
        "format": "sparkplug",
        "payload": '{"metric":"Pump","datatype":"Boolean","value":{value}}',
    }
    message = Actuator.of("urn:a", fields, ["true", "false"]).message(value_of("on"), NOW)
    sent = decode_payload(message.payload)
    assert isinstance(sent, SparkplugPayload)
    (metric,) = sent.metrics
    assert (metric.name, metric.field, metric.value) == ("Pump", "boolean_value", True)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"topic": ""}, "none to publish to"),
        ({"topic": "a/+"}, "none to publish to"),
        ({"payload": "ON"}, "has no {value}"),
        ({"format": "morse"}, "is not known"),
        ({"minimum": "low"}, "minimum 'low' is no number"),
        ({"step": "0"}, "step is not above 0"),
        ({"timeLimit": "0"}, "timeLimit is not above 0"),
        ({"tolerance": "-1"}, "tolerance is below 0"),
        ({"unit": "furlongs"}, "is no unit that is known"),
        ({"unit": "°C", "deviceUnit": "W"}, "does not convert"),
        ({"qos": "3"}, "qos is 0, 1 or 2"),
        ({"qos": "one"}, "qos"),
        ({"name": "a/b"}, "is no topic level"),
    ],
)
def test_actuator_that_is_wrong_says_why(fields: dict[str, str], reason: str) -> None:
    with pytest.raises(ValueError, match=reason.replace("{", "\\{")):
        Actuator.of("urn:a", {"topic": "t", **fields})


@pytest.mark.parametrize(
    ("wanted", "seen", "is_confirmed"),
    [
        ("ON", "true", True),
        ("true", "on", True),
        ("true", "1", True),
        ("false", "0", True),
        ("true", "0", False),
        ("21.5", "21.50", True),
        ("21.5", "21.6", False),
        ("heat", "HEAT", True),
        ("heat", "cool", False),
        ("open", "on", False),
        ("off", "off", True),
        ("false", "off", True),
        ("true", "maybe", False),
        ("TOGGLE", "ON", False),
        ("5", "five", False),
    ],
)
def test_reading_has_the_value_or_not(wanted: str, seen: str, is_confirmed: bool) -> None:
    actuator = Actuator.of("urn:a", {"topic": "t"})
    assert actuator.is_confirmed(value_of(wanted), Reading(value_of(seen))) is is_confirmed


def test_half_a_step_is_near_enough() -> None:
    actuator = Actuator.of("urn:a", {"topic": "t", "step": "0.5"})
    assert actuator.is_confirmed(value_of("21.5"), Reading(value_of("21.7")))
    assert not actuator.is_confirmed(value_of("21.5"), Reading(value_of("22")))


def test_name_is_the_iri_where_there_is_none() -> None:
    assert Actuator.of("urn:a/b", {"topic": "t"}).name == "urn%3Aa%2Fb"


def test_values_of_texts() -> None:
    kinds = {"1": "integer", "-1.5": "decimal", "true": "boolean", "01": "string", "1e3": "string"}
    for text, kind in kinds.items():
        datatype = NamedNode(f"http://www.w3.org/2001/XMLSchema#{kind}")
        assert value_of(text) == Literal(text, datatype=datatype)
