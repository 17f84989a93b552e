"""gateway.demo.effects and .readings: cause and effect, and who speaks which dialect."""

from datetime import timedelta

import pytest
from pyoxigraph import Literal, NamedNode

from gateway.demo.effects import KEPT, Effects
from gateway.demo.readings import Readings
from tests.gateway.demo.sights import (
    AT,
    FOUND,
    HOUSE,
    command,
    mapping,
    microseconds,
    reading,
    told,
)

CELSIUS = NamedNode("http://qudt.org/vocab/unit/DEG_C")
OFFICE = {"room": NamedNode(f"{HOUSE}room/office")}
SENSOR = "urn:s:senml-office"


def office(degrees: float, *, occupied: bool = False) -> Readings:
    """The value that was there when the command was asked for, and a later one."""
    readings = Readings()
    for celsius, at in ((degrees, AT), (99.0, AT + timedelta(seconds=1))):
        warm = reading(SENSOR, "temperature", celsius, at, unit=CELSIUS)
        readings.told(told(1, [warm, reading(SENSOR, "occupancy", occupied, at)]))
    return readings


def done(value: bool, status: str = "Confirmed", *, by_rule: bool = True) -> Effects:
    effects = Effects()
    if by_rule:
        turned = ([OFFICE], []) if value else ([], [OFFICE])
        effects.wanted(told(1, *turned, time=microseconds(AT)))
    took_s = None if status in {"Requested", "Sent"} else 0.4
    effects.told(told(1, [command(1, value, status, AT + timedelta(milliseconds=3), took_s)]))
    return effects


@pytest.mark.parametrize(
    ("effects", "readings", "sentence"),
    [
        (
            done(True),
            office(26.01),
            "office too warm (26.01 °C), nobody in → fan7 on → confirmed in 0.40 s",
        ),
        (
            done(True, "Sent"),
            office(26.5),
            "office too warm (26.5 °C), nobody in → fan7 on → sent…",
        ),
        (done(False), office(24.4), "office cool again (24.4 °C) → fan7 off → confirmed in 0.40 s"),
        (
            done(False),
            office(25.2, occupied=True),
            "office (25.2 °C): somebody came in → fan7 off → confirmed in 0.40 s",
        ),
        (
            done(True, by_rule=False),
            office(21.0),
            "office: asked for by hand → fan7 on → confirmed in 0.40 s",
        ),
        (done(False, "Failed"), Readings(), "office cool again → fan7 off → failed in 0.40 s"),
    ],
)
def test_a_command_is_told_with_its_cause_and_its_outcome(
    effects: Effects, readings: Readings, sentence: str
) -> None:
    (effect,) = effects.latest
    assert effects.sentence(effect, readings) == sentence


def test_a_command_that_no_rule_asked_for_is_told_so() -> None:
    """Another one after the rule's, and one against what the rule wants."""
    effects = done(True)
    for number, (value, seconds) in enumerate([(True, 1), (False, 2)], start=2):
        at = AT + timedelta(seconds=seconds)
        effects.told(told(number, [command(number, value, "Confirmed", at, 0.1)]))
    causes = [effects.cause(each, office(26.5)) for each in effects.latest]
    assert causes == ["office too warm (26.5 °C), nobody in", *["office: asked for by hand"] * 2]


def test_a_command_is_one_line_from_request_to_confirmation_and_outlives_its_row() -> None:
    effects = Effects()
    sent, confirmed = command(1, True, "Sent"), command(1, True, "Confirmed", AT, 0.2)
    effects.told(told(0, [sent]))
    assert not effects.latest[0].is_confirmed
    effects.told(told(1, [confirmed], [sent]))
    effects.told(told(2, [], [confirmed]))
    (effect,) = effects.latest
    assert effect.is_confirmed
    assert effect.outcome == "confirmed in 0.20 s"


def test_the_latest_commands_are_kept() -> None:
    effects = Effects()
    for number in range(100):
        at = AT + timedelta(seconds=number)
        effects.told(told(number, [command(number, True, "Confirmed", at, 0.1)]))
    assert len(effects.latest) == KEPT
    assert effects.latest[-1].requested == AT + timedelta(seconds=99)


def test_a_dialect_is_that_of_the_mapping_that_reads_the_device() -> None:
    readings = Readings()
    readings.mapped(
        told(
            0,
            [
                mapping(f"{FOUND}mapping/shelly/a/b", "urn:s:heater", "shelly", "heater/events"),
                mapping(f"{FOUND}mapping/homeassistant/a/b", "urn:s:lamp", "scalar", "lamp/state"),
                mapping(f"{HOUSE}mapping/board", "urn:s:board-{1}", "scalar", "home/+/x"),
                mapping(f"{HOUSE}mapping/climate", "urn:s:climate", "json", "zigbee2mqtt/climate"),
                mapping("urn:my:own", "urn:s:own", "cbor", "own/x"),
            ],
        )
    )
    for name in ("heater", "lamp", "board-kitchen", "climate", "own", "unmapped"):
        readings.told(told(1, [reading(f"urn:s:{name}", "power", 3)]))
    assert [dialect for dialect, _ in readings.of_each_dialect()] == [
        "Zigbee2MQTT",
        "Shelly",
        "ESPHome",
        "bare number",
        "cbor",
    ]


def test_the_device_of_a_dialect_stays_the_same_and_has_its_last_value() -> None:
    readings = Readings()
    readings.mapped(told(0, [mapping("urn:m", "urn:s:{1}", "senml", "senml/+")]))
    first = reading("urn:s:b", "occupancy", True)
    readings.told(told(1, [first]))
    assert [each.text for _, each in readings.of_each_dialect()] == ["true"]
    warm = reading("urn:s:b", "temperature", 20.5, unit=CELSIUS)
    warmer = reading("urn:s:b", "temperature", 21.5, unit=CELSIUS, label=Literal("hall"))
    readings.told(told(2, [warm]))
    readings.told(told(3, [warmer, reading("urn:s:c", "temperature", 5)], [warm]))
    assert [(each.name, each.text) for _, each in readings.of_each_dialect()] == [
        ("hall", "21.5 °C")
    ]
    readings.told(told(4, [], [warmer]))
    assert [each.text for _, each in readings.of_each_dialect()] == ["5"]


def test_a_device_whose_mapping_is_gone_has_no_dialect() -> None:
    readings = Readings()
    row = mapping("urn:m", "urn:s:{1}", "senml", "senml/+")
    readings.mapped(told(0, [row]))
    readings.told(told(1, [reading("urn:s:b", "power", 1)]))
    assert readings.of_each_dialect()
    readings.mapped(told(1, [], [row]))
    assert not readings.of_each_dialect()
