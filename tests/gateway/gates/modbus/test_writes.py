"""Registers written by actuations, read back, and by nothing else."""

from pathlib import Path

import pytest
from pymodbus.constants import ExcCodes

from gateway.errors import ConfigurationError
from gateway.gates.modbus import line
from tests.gateway.actuation.lamps import command, until_last
from tests.gateway.gates.modbus.devices import Device
from tests.gateway.gates.modbus.heatpump import (
    ACTUATOR,
    VALUES,
    bus,
    config_of,
    reading,
    register,
)
from tests.kit.gateways import JsonObject, free_port, publish, running, watch
from tests.kit.metrics import metrics

SETPOINT = register("setpoint", "holding 5 int16 every 3600", scale=0.1)


async def test_a_register_is_written_and_read_back(tmp_path: Path) -> None:
    device = Device(registers={5: 200})
    async with reading(tmp_path, device, SETPOINT, actuators=[ACTUATOR]) as gateway:
        told = await watch(gateway, VALUES)
        await told.until(lambda: told.values() == ["20"])
        await command(gateway, 21.5, "setpoint")
        entry = await until_last(gateway, "confirmed", "setpoint")
        assert entry["value"] == 21.5
        assert device.written == [(5, [215])]
        assert told.values() == ["20", "21.5"]
        assert [function for function, _, _ in device.asked] == [3, 6, 6, 3]


@pytest.mark.parametrize(
    ("value", "why"),
    [
        (14.9, "below the minimum"),
        (26, "above the maximum"),
        (21.55, "no whole multiple of 0.1"),
        ("warm", "no number"),
        ("20 = 30", "no number"),
    ],
)
async def test_what_is_out_of_range_is_never_written(
    tmp_path: Path, value: object, why: str
) -> None:
    device = Device(registers={5: 200})
    async with reading(tmp_path, device, SETPOINT, actuators=[ACTUATOR]) as gateway:
        await command(gateway, value, "setpoint")
        entry = await until_last(gateway, "failed", "setpoint")
        assert why in entry["reason"]
        assert not device.written


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"maximum": None}, "minimum and maximum are missing"),
        ({"payload": "cellar/1 input 5 int16 = {value}"}, "read only"),
        ({"payload": "cellar/1 holding {value} int16 = 3"}, "a payload is a register"),
        ({"payload": "{value}"}, "a payload is a register"),
        ({"payload": "cellar/1 holding 5 bit:3 = {value}"}, "a bit of a register"),
        ({"topic": "lamp/set"}, "is not modbus/DEVICE/set"),
    ],
)
async def test_an_actuator_of_a_register_is_named_with_its_range(
    tmp_path: Path, changed: JsonObject, why: str
) -> None:
    wrong = {name: each for name, each in {**ACTUATOR, **changed}.items() if each is not None}
    async with running(config_of(tmp_path, [], [], [wrong])) as gateway:
        [error] = gateway.stages.control.actuating.actuators.errors.values()
        assert why in error


async def test_a_write_that_the_device_does_not_take_is_not_confirmed(tmp_path: Path) -> None:
    device = Device(registers={5: 200}, is_deaf=True)
    actuator = {**ACTUATOR, "timeLimit": 0.5}
    async with reading(tmp_path, device, SETPOINT, actuators=[actuator]) as gateway:
        await command(gateway, 21, "setpoint")
        entry = await until_last(gateway, "failed", "setpoint")
        assert "no reading confirmed it" in entry["reason"]
        assert device.written == [(5, [210])]


async def test_a_refused_write_fails_at_once_with_what_the_device_says(tmp_path: Path) -> None:
    device = Device(refused={5: ExcCodes.ILLEGAL_VALUE})
    actuator = {**ACTUATOR, "timeLimit": 300}
    async with reading(tmp_path, device, actuators=[actuator]) as gateway:
        await command(gateway, 21, "setpoint")
        entry = await until_last(gateway, "failed", "setpoint")
        assert entry["reason"] == "the device refused it: illegal data value (3)"
        assert (await metrics(gateway))['modbus_writes_total{outcome="refused"}'] == 1


async def test_a_command_to_a_bus_that_is_not_there_fails_at_once(tmp_path: Path) -> None:
    actuator = {**ACTUATOR, "timeLimit": 300}
    async with running(config_of(tmp_path, [], [], [actuator])) as gateway:
        await command(gateway, 21, "setpoint")
        entry = await until_last(gateway, "failed", "setpoint")
        assert entry["reason"] == "[modbus] buses has no 'cellar'"


async def test_a_command_to_a_device_that_cannot_be_reached_fails_at_once(tmp_path: Path) -> None:
    actuator = {**ACTUATOR, "timeLimit": 300}
    port = free_port()
    async with running(config_of(tmp_path, [bus(port)], [], [actuator])) as gateway:
        await command(gateway, 21, "setpoint")
        entry = await until_last(gateway, "failed", "setpoint")
        assert entry["reason"] == f"127.0.0.1:{port} takes no connection"


async def test_a_coil_takes_true_and_false(tmp_path: Path) -> None:
    device = Device()
    actuator: JsonObject = {
        **{name: ACTUATOR[name] for name in ("id", "format", "topic", "feature", "timeLimit")},
        "name": "pump",
        "payload": "cellar/1 coil 3 = {value}",
        "property": "urn:property:pump",
    }
    pump = register("pump", "coil 3 every 3600")
    async with reading(tmp_path, device, pump, actuators=[actuator]) as gateway:
        told = await watch(gateway, VALUES)
        await told.until(lambda: told.values() == ["false"])
        await command(gateway, True, "pump")
        await until_last(gateway, "confirmed", "pump")
        assert told.values() == ["false", "true"]


@pytest.mark.parametrize("way", ["topic of the device", "an actuator of another format", "rule"])
async def test_nothing_else_writes(tmp_path: Path, way: str) -> None:
    device = Device(registers={5: 200})
    words = '{"bus":"cellar","unit":1,"holding":{"5":[999]}}'
    other: JsonObject = {
        **{name: ACTUATOR[name] for name in ("id", "topic", "property", "feature", "timeLimit")},
        "name": "other",
    }
    async with reading(tmp_path, device, SETPOINT, actuators=[ACTUATOR, other][1:]) as gateway:
        told = await watch(gateway, VALUES)
        await told.until(lambda: told.values() == ["20"])
        if way == "topic of the device":
            await publish(gateway.mqtt_port, [("modbus/heatpump/set", words.encode())])
        elif way == "rule":
            through = gateway.stages.control.actuating.publisher_of_rules()
            through.publish("modbus/heatpump/set", words.encode(), 1, False)
        else:
            await command(gateway, words, "other")
        buses = gateway.stages.modbus.buses
        await buses["cellar"].work()
        assert not device.written
        assert not [name for name in await metrics(gateway) if name.startswith("modbus_writes")]


def test_buses_without_the_extra_say_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> object:
        raise ImportError(f"No module named {name!r}", name=name)

    monkeypatch.setattr(line, "import_module", missing)
    with pytest.raises(ConfigurationError) as told:
        line.Line(bus(502))
    assert "pymodbus is not installed" in str(told.value)
    assert "pip install 'sosa-gateway[modbus]'" in told.value.hint
