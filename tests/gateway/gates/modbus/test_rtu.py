"""Registers over RTU, on a pair of pseudo-terminals: read, cut, garbled, late."""

from contextlib import AsyncExitStack
from pathlib import Path

from tests.gateway.actuation.lamps import command, until_last
from tests.gateway.gates.modbus.devices import Device, cable, rtu
from tests.gateway.gates.modbus.heatpump import (
    ABSENT,
    ACTUATOR,
    VALUES,
    alarms,
    config_of,
    line,
    register,
    until_alarms,
)
from tests.kit.gateways import running, watch

FLOW = register("flow", "holding 0 int16")


async def test_two_devices_on_a_line_and_a_cable_that_is_cut(tmp_path: Path) -> None:
    first, second = Device(1, registers={0: 11}), Device(2, registers={0: 22})
    mappings = [FLOW, register("meter", "cellar/2 holding 0 int16", topic="modbus/meter")]
    with cable() as wire:
        async with (
            rtu([first, second], wire.ends[0]),
            running(config_of(tmp_path, [line(wire.ends[1])], mappings)) as gateway,
        ):
            told, absent = await watch(gateway, VALUES), await watch(gateway, ABSENT)
            await told.until(lambda: sorted(told.values()) == ["11", "22"])
            wire.is_cut = True
            await absent.until(lambda: len(absent.answer) == 2)
            assert [each.where for each in alarms(gateway)] == ["cellar/1", "cellar/2"]
            first.registers[0] = 12
            wire.is_cut = False
            await told.until(lambda: told.values()[-1:] == ["12"])
            await absent.until(lambda: not absent.answer)


async def test_garbled_frames_are_no_answers(tmp_path: Path) -> None:
    device = Device(registers={0: 11})
    with cable() as wire:
        wire.garble = lambda data: data[:-1] + bytes([data[-1] ^ 0xFF])
        async with (
            rtu([device], wire.ends[0]),
            running(config_of(tmp_path, [line(wire.ends[1])], [FLOW])) as gateway,
        ):
            told = await watch(gateway, VALUES)
            await until_alarms(gateway, "cellar/1")
            assert told.values() == []
            wire.garble = lambda data: data
            device.registers[0] = 12
            await told.until(lambda: told.values() == ["12"])


async def test_an_adapter_that_is_not_there_and_comes(tmp_path: Path) -> None:
    adapter = tmp_path / "ttyUSB0"
    config = config_of(tmp_path, [line(str(adapter))], [FLOW])
    with cable() as wire:
        async with AsyncExitStack() as there, running(config) as gateway:
            told = await watch(gateway, VALUES)
            await until_alarms(gateway, "[modbus] cellar")
            assert alarms(gateway)[0].what == f"{adapter} is not there"
            await there.enter_async_context(rtu([Device(registers={0: 5})], wire.ends[0]))
            adapter.symlink_to(wire.ends[1])
            await told.until(lambda: told.values() == ["5"])


async def test_a_unit_for_everybody_is_not_asked(tmp_path: Path) -> None:
    mappings = [register("all", "cellar/0 holding 0 int16")]
    with cable() as wire:
        config = config_of(tmp_path, [line(wire.ends[1])], mappings)
        async with running(config) as gateway:
            [alarm] = alarms(gateway)
            assert alarm.what == "cellar/0: a serial line has the units 1 to 247"


async def test_a_command_to_everybody_is_not_written(tmp_path: Path) -> None:
    device = Device(1, registers={5: 200})
    actuator = {**ACTUATOR, "payload": "cellar/0 holding 5 int16 = {value}"}
    with cable() as wire:
        config = config_of(tmp_path, [line(wire.ends[1])], [], [actuator])
        async with rtu([device], wire.ends[0]), running(config) as gateway:
            await command(gateway, 20, "setpoint")
            entry = await until_last(gateway, "failed", "setpoint")
            assert "units 1 to 247" in entry["reason"]
            assert not device.asked
