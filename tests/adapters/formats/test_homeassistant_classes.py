"""Every device class of Home Assistant with each of its units is what the class says.

`make interop` sets homeassistant up below build/; without it the tests are skipped. The classes and
units are read from its constants, which are evaluated alone: nothing else of it is imported.
"""

import ast
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

import pytest

from adapters.discovery import Discovery
from adapters.formats.homeassistant.abbreviations import ABBREVIATIONS
from adapters.registry import Registry
from adapters.values.message import Message
from adapters.values.properties import VOCABULARY, Kind, Shape
from adapters.values.proposal import Proposal
from adapters.values.units import unit_iri
from tests.paths import ROOT

INTEROP = ROOT / "build" / "interop" / "homeassistant"
NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)

NO_PROPERTY = {"date", "enum", "monetary", "timestamp"}
"""Classes of sensors that say what form a value has, and not what it is of."""

NO_UNIT = {
    *("CCF", "fl. oz.", "st", "BTU/(h⋅ft²)", "in/d", "PB", "EB", "ZB", "YB", "PiB", "EiB", "ZiB"),
    *("YiB", "B/s", "GB/s", "KiB/s", "MiB/s", "GiB/s"),
}
"""Units that the crosswalk does not have: they are asked for."""


@pytest.fixture(scope="module")
def package() -> Path:
    if not (INTEROP / ".ready").exists():
        pytest.skip("homeassistant is not installed: make interop, which needs PyPI")
    [found] = INTEROP.glob("lib/python*/site-packages/homeassistant")
    return found


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [each.id for each in targets if isinstance(each, ast.Name)]


def evaluated(path: Path, wanted: Any, known: Mapping[str, Any] = {}) -> dict[str, Any]:
    """The classes and constants of a module whose names are wanted, and nothing else of it."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    nodes = [node for node in tree.body if any(map(wanted, _names(node)))]
    for node in nodes:
        if isinstance(node, ast.AnnAssign):
            node.annotation = ast.Name("Final", ast.Load())
    module = ast.fix_missing_locations(ast.Module(nodes, []))
    found: dict[str, Any] = {"StrEnum": StrEnum, "Final": Final, **known}
    exec(compile(module, str(path), "exec"), found)
    return found


def units(package: Path) -> dict[str, Any]:
    def is_unit(name: str) -> bool:
        starts = ("UnitOf", "CONCENTRATION_", "SIGNAL_", "PERCENTAGE", "LIGHT_", "POWER_VOLT")
        return name.startswith(starts)

    return evaluated(package / "const.py", is_unit)


def allowed(package: Path, platform: str) -> Mapping[str, set[str | None]]:
    """Units by class, {None} where a class has none."""
    name = f"{platform.capitalize()}DeviceClass"
    path = package / "components" / platform / "const.py"
    found = evaluated(path, {name, "DEVICE_CLASS_UNITS"}.__contains__, units(package))
    by_class = found["DEVICE_CLASS_UNITS"]
    return {each.value: set(map(plain, by_class.get(each, {None}))) for each in found[name]}


def plain(unit: str | None) -> str | None:
    return None if unit is None else str(unit)


def classes(package: Path, platform: str, name: str) -> list[str]:
    path = package / "components" / platform / "__init__.py"
    return [each.value for each in evaluated(path, {name}.__contains__)[name]]


def announced(component: str, device_class: str, unit: str | None = None) -> Proposal:
    members = {
        "name": "Thing",
        "unique_id": "u",
        "device_class": device_class,
        "state_topic": "t/s",
        "unit_of_measurement": unit,
    }
    payload = json.dumps({name: value for name, value in members.items() if value}).encode()
    found = Discovery().discover(Message(f"homeassistant/{component}/x/config", payload, NOW))
    return found.proposals[0]


def reads(proposal: Proposal, text: str) -> list[str]:
    registry, errors = Registry.compile([proposal.mapping])
    assert not errors
    decoded = registry.decode(Message(proposal.mapping.topic_filter, text.encode(), NOW))
    return [seen.lexical for seen in decoded.observations]


def test_each_class_of_sensors_with_each_unit_is_a_property_that_may_have_it(package: Path) -> None:
    by_class = allowed(package, "sensor")
    assert len(by_class) > 45
    own = set()
    for device_class, told in by_class.items():
        for unit in told:
            proposal = announced("sensor", device_class, unit)
            meaning = proposal.meaning
            if not meaning.is_known:
                own.add(device_class)
                continue
            known = VOCABULARY[meaning.name]
            assert known.shape is Shape.NUMBER, device_class
            assert known.kind is not Kind.SETTING, device_class
            if unit is None:
                assert proposal.mapping.unit is None
            elif unit in NO_UNIT:
                assert "Which QUDT unit is" in proposal.question, (device_class, unit)
            else:
                iri = unit_iri(proposal.mapping.unit or "")
                assert iri is not None, (device_class, unit)
                assert known.may_have(iri), (device_class, unit)
    assert own == NO_PROPERTY


def test_each_class_of_numbers_is_a_setting_with_its_unit(package: Path) -> None:
    by_class = allowed(package, "number")
    assert len(by_class) > 40
    for device_class, told in by_class.items():
        for unit in told:
            proposal = announced("number", device_class, unit)
            assert proposal.meaning.kind is Kind.SETTING, device_class
            if proposal.meaning.is_known:
                assert VOCABULARY[proposal.meaning.name].kind is Kind.SETTING, device_class
            assert proposal.mapping.unit == (None if unit in NO_UNIT else unit) or unit == "%"


def test_on_is_true_for_each_class_of_binary_sensors_but_an_open_lock(package: Path) -> None:
    found = classes(package, "binary_sensor", "BinarySensorDeviceClass")
    assert len(found) > 25
    own = set()
    for device_class in found:
        proposal = announced("binary_sensor", device_class)
        if not proposal.meaning.is_known:
            own.add(device_class)
        else:
            assert VOCABULARY[proposal.meaning.name].shape is Shape.TRUTH, device_class
        on, off = ("false", "true") if device_class == "lock" else ("true", "false")
        assert reads(proposal, "ON") == [on], device_class
        assert reads(proposal, "OFF") == [off], device_class
        assert reads(proposal, "other") == [], device_class
    assert own == set()


@pytest.mark.parametrize(
    ("component", "name"),
    [
        ("cover", "CoverDeviceClass"),
        ("switch", "SwitchDeviceClass"),
        ("valve", "ValveDeviceClass"),
        ("humidifier", "HumidifierDeviceClass"),
        ("event", "EventDeviceClass"),
        ("update", "UpdateDeviceClass"),
    ],
)
def test_each_class_of_the_others_is_known(package: Path, component: str, name: str) -> None:
    for device_class in classes(package, component, name):
        assert announced(component, device_class).meaning.is_known, device_class


def test_each_abbreviation_is_written_out(package: Path) -> None:
    path = package / "components" / "mqtt" / "abbreviations.py"
    told = evaluated(path, {"ABBREVIATIONS"}.__contains__)["ABBREVIATIONS"]
    assert len(told) > 200
    assert {short: ABBREVIATIONS.get(short, short) for short in told} == told
