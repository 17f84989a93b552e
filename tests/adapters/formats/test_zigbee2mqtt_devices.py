"""Every device that zigbee2mqtt knows, from its own package: its exposes become right mappings.

`make interop` sets zigbee-herdsman-converters up below build/; without it the tests are skipped.
What is expected is read from the exposes here, by their documentation, and not by our adapter.
"""

import json
import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.discovery import Discovery
from adapters.registry import Registry
from adapters.values.message import Message
from adapters.values.observation import XSD
from adapters.values.properties import BASE, Kind
from adapters.values.proposal import Proposal
from adapters.values.units import unit_iri
from tests.paths import AGENTS, ROOT

AGENT = AGENTS / "zigbee_devices.js"
PACKAGE = ROOT / "build" / "interop" / "zigbee"
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
PUBLISHED, SETTABLE = 1, 2
SCALARS = {"numeric", "binary", "enum", "text"}
NO_VALUE = {"unknown", "unavailable", "null"}
DECODED = 8
"""Every so manieth device sends states."""

RESPELT = {("%RH", "%"), ("°C", "C"), ("°C", "  C"), ("lx", "Lx"), ("h", "H")}
"""Symbols of mappings, and what some converters write for them."""

OPENINGS = {"contact", "garage_door_contact", "window", "window_open", "valve", "valve_state"}
CLOSED_WORDS = {"CLOSE", "CLOSED"}

Expose = Mapping[str, Any]
Path_ = tuple[str, ...]
Device = Mapping[str, Any]


@pytest.fixture(scope="module")
def devices() -> list[Device]:
    node = shutil.which("node")
    if node is None or not (PACKAGE / ".ready").exists():
        pytest.skip("zigbee-herdsman-converters is not installed: make interop, needs apt and npm")
    environment = {"PATH": os.environ["PATH"], "NODE_PATH": str(PACKAGE / "node_modules")}
    said = subprocess.run(
        [node, str(AGENT)], check=False, env=environment, capture_output=True, timeout=60
    )
    assert said.returncode == 0, said.stderr.decode()
    return [
        {
            "ieee_address": f"0x{number:016x}",
            "type": "EndDevice",
            "friendly_name": f"room {number}/device",
            "definition": json.loads(line),
        }
        for number, line in enumerate(said.stdout.splitlines())
    ]


def parts(devices: Sequence[Device]) -> Iterator[Sequence[Device]]:
    """As many at a time as a big house has."""
    for start in range(0, len(devices), 100):
        yield devices[start : start + 100]


def announced(devices: Sequence[Device]) -> list[Proposal]:
    """What discovery makes of a bridge with these devices."""
    message = Message("z2m/bridge/devices", json.dumps(devices).encode(), NOW, retained=True)
    found = Discovery().discover(message)
    assert found.family == "zigbee2mqtt"
    assert found.omitted == 0
    return list(found.proposals)


def leaves(exposes: Sequence[Expose], within: Path_ = ()) -> Iterator[tuple[Path_, Expose]]:
    """Published values: a composite has a member of its own, lights and locks only group."""
    for expose in exposes:
        if expose["type"] in SCALARS:
            if expose["access"] & PUBLISHED:
                yield (*within, expose["property"]), expose
        elif expose["type"] == "composite":
            yield from leaves(expose["features"], (*within, expose["property"]))
        elif expose["type"] != "list":
            yield from leaves(expose["features"], within)


def told(device: Device) -> dict[Path_, Expose]:
    return dict(leaves(device["definition"]["exposes"]))


def member(proposal: Proposal) -> Path_:
    """The members that a selector names."""
    document: Any = (
        json.loads(proposal.command.payload.replace("{value}", "0")) if (proposal.command) else None
    )
    path: list[str] = []
    while isinstance(document, dict):
        [(name, document)] = document.items()
        path.append(name)
    return tuple(path)


def test_each_published_value_of_each_device_is_proposed_with_unit_and_command(
    devices: list[Device],
) -> None:
    assert len(devices) > 3000
    count = 0
    for some in parts(devices):
        by_device: dict[str, list[Proposal]] = {}
        for proposal in announced(some):
            by_device.setdefault(proposal.device, []).append(proposal)
        for device in some:
            expected = told(device)
            proposals = by_device.get(device["friendly_name"], [])
            assert len(proposals) == len(expected), device["definition"]["model"]
            assert len({each.mapping.iri for each in proposals}) == len(expected)
            for proposal, (path, expose) in zip(proposals, expected.items(), strict=True):
                check_proposal(proposal, path, expose, device)
                count += 1
    assert count > 20_000


def check_proposal(proposal: Proposal, path: Path_, expose: Expose, device: Device) -> None:
    mapping, command = proposal.mapping, proposal.command
    assert mapping.topic_filter == f"z2m/{device['friendly_name']}"
    assert mapping.selector == ".".join(path) or "['" in mapping.selector
    unit = expose.get("unit", "")
    if mapping.unit is None:
        assert unit in {"", "lqi", "VOC Index points"} or ascii(unit) in proposal.question
    else:
        assert mapping.unit == unit or (mapping.unit, unit) in RESPELT
        assert unit_iri(mapping.unit) is not None
    assert (command is not None) == bool(expose["access"] & SETTABLE)
    if command is None:
        return
    assert command.topic == f"z2m/{device['friendly_name']}/set"
    assert member(proposal) == path
    bounds = (command.minimum, command.maximum, command.step)
    names = ("value_min", "value_max", "value_step")
    assert bounds == tuple(json.dumps(expose[n]) if n in expose else "" for n in names)
    words = [expose.get(f"value_{n}") for n in ("on", "off", "toggle")]
    allowed = expose["values"] if expose["type"] == "enum" else words
    allowed = [each for each in allowed if each not in {None, ""}]
    assert command.values == tuple(w if isinstance(w, str) else json.dumps(w) for w in allowed)


def test_states_are_decoded_by_the_proposed_mappings(devices: list[Device]) -> None:
    some = devices[::DECODED]
    proposals = [each for part in parts(some) for each in announced(part)]
    registry, errors = Registry.compile([each.mapping for each in proposals])
    assert not errors
    units = {each.mapping.sensor: each.mapping.unit for each in proposals}
    count = 0
    for device in some:
        for which in ("value_on", "value_off"):
            state: dict[str, Any] = {}
            expected = []
            for path, expose in told(device).items():
                value, result = sample(expose, which)
                put(state, path, value)
                expected.append(result)
            text = json.dumps(state).encode()
            decoded = registry.decode(Message(f"z2m/{device['friendly_name']}", text, NOW))
            assert not decoded.faults, device["definition"]["model"]
            found = [(s.lexical, s.datatype.removeprefix(XSD)) for s in decoded.observations]
            repeated = len(expected) - len(found)
            assert repeated == sum(1 for each in decoded.notices)
            if which == "value_on":
                assert found == expected, device["definition"]["model"]
                for seen in decoded.observations:
                    symbol = units[seen.sensor]
                    is_number = seen.datatype in {XSD + "integer", XSD + "decimal"}
                    assert seen.unit == (unit_iri(symbol) if symbol and is_number else None)
            count += len(found)
    assert count > 2000


def sample(expose: Expose, which: str) -> tuple[Any, tuple[str, str]]:
    """A value that the device may send, and the result that it is."""
    match expose["type"]:
        case "numeric":
            value = expose.get("value_min", 1)
            return value, (json.dumps(value), "decimal" if isinstance(value, float) else "integer")
        case "binary":
            value = expose[which]
            is_on = which == "value_on"
            if expose["name"] in OPENINGS:
                is_on ^= expose["value_on"] in CLOSED_WORDS
            return value, (json.dumps(is_on), "boolean")
        case "enum":
            value = next(each for each in expose["values"] if str(each).lower() not in NO_VALUE)
            return value, of_word(value)
        case _:
            return "some text", ("some text", "string")


def of_word(value: Any) -> tuple[str, str]:
    """A word of an enumeration is text, but for ON and OFF; numbers in quotes are numbers."""
    if value in {"ON", "OFF"}:
        return json.dumps(value == "ON"), "boolean"
    if isinstance(value, str) and not is_number(value):
        return value, "string"
    return str(value), "decimal" if "." in str(value) else "integer"


def is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text == text.strip("+") and (text == "0" or not text.startswith("0"))


def put(state: dict[str, Any], path: Path_, value: Any) -> None:
    for name in path[:-1]:
        state = state.setdefault(name, {})
    state[path[-1]] = value


TEMPERATURES = {"°C", "°F", "K"}
UNITS: Mapping[str, set[str]] = {
    **dict.fromkeys(("temperature", "dew_point", "set_point", "device_temperature"), TEMPERATURES),
    "color_temperature": {"mired", "K"},
    "humidity": {"%RH", "%"},
    **{name: {"%"} for name in ("battery", "soil_moisture", "position", "heating_demand")},
    "illuminance": {"lx"},
    "atmospheric_pressure": {"hPa", "kPa", "Pa", "mbar"},
    "pressure": {"bar", "psi"},
    "voltage": {"V"},
    "battery_voltage": {"V", "mV"},
    "current": {"A", "mA"},
    "power": {"W", "kW"},
    "apparent_power": {"VA"},
    "reactive_power": {"VAR", "VAr", "var"},
    **{name: {"kWh", "Wh"} for name in ("energy", "exported_energy", "energy_today")},
    "frequency": {"Hz"},
    "carbon_dioxide": {"ppm"},
    "volatile_organic_compounds": {"µg/m³", "mg/m³"},
    "volatile_organic_compounds_parts": {"ppb", "ppm"},
    **{name: {"µg/m³"} for name in ("pm1", "pm25", "pm10")},
}
"""Which units a property can have, as physics has it and not as our tables."""

TRUTHS = {
    "opening",
    "occupancy",
    "motion",
    "water_leak",
    "smoke",
    "tamper",
    "battery_low",
    "locked",
}
NAMES_THAT_MISLEAD = {
    *("power_on_behavior", "power_outage_memory", "power_outage_count", "power_factor"),
    *("occupancy_timeout", "occupancy_sensitivity", "motion_sensitivity", "motion_timeout"),
    *("local_temperature_calibration", "temperature_calibration", "temperature_unit"),
    *("min_temperature", "max_temperature", "comfort_temperature", "eco_temperature"),
    *("humidity_calibration", "window_detection", "battery_type", "current_level_startup"),
    *("color_temp_startup", "voltage_threshold", "over_voltage_threshold", "illuminance_interval"),
}
MEASURED = {"temperature", "humidity", "power", "voltage", "current", "occupancy", "motion"} | {
    *("illuminance", "battery", "energy", "opening", "brightness", "color_temperature"),
}


def test_no_leaf_contradicts_its_property(devices: list[Device]) -> None:
    """The audit: unit, type and category of each leaf of each model, against its property."""
    own: Counter[str] = Counter()
    count = 0
    for some in parts(devices):
        proposals = {(each.device, each.mapping.selector): each for each in announced(some)}
        exposes = {
            (device["friendly_name"], path): expose
            for device in some
            for path, expose in told(device).items()
        }
        assert len(proposals) == len(exposes)
        for proposal, ((_, path), expose) in zip(proposals.values(), exposes.items(), strict=True):
            audit(proposal, expose)
            own[path[-1]] += not proposal.meaning.is_known
            count += 1
    page = (ROOT / "docs" / "families" / "zigbee2mqtt.md").read_text(encoding="utf-8")
    assert f"{sum(own.values()):,} of {count:,} leaves have a name of their own" in page


def audit(proposal: Proposal, expose: Expose) -> None:
    found, unit = proposal.meaning, proposal.mapping.unit
    where = (proposal.device, expose, found)
    if found.is_known and unit is not None and found.name in UNITS:
        assert unit in UNITS[found.name], where
    if found.name in UNITS and found.is_known:
        assert expose["type"] == "numeric", where
    if found.name in TRUTHS and found.is_known:
        assert expose["type"] == "binary", where
    if expose.get("category") == "config" or expose["access"] & SETTABLE:
        assert found.kind is not Kind.MEASUREMENT, where
    if expose.get("category") == "config":
        assert found.kind in {Kind.SETTING, Kind.STATE}, where
    if expose.get("category") == "diagnostic":
        assert found.kind in {Kind.DIAGNOSTIC, Kind.EVENT}, where
    if expose["name"] in NAMES_THAT_MISLEAD:
        assert found.name not in MEASURED, where
    property_iri = proposal.mapping.observed_property
    assert found.is_known == property_iri.startswith(BASE), where
