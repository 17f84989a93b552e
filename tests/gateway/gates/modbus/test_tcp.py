"""Registers over Modbus TCP through a whole gateway: read, refused, late, silent, cut."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from pymodbus.constants import ExcCodes

from tests.gateway.gates.modbus.devices import Device, answering, delaying, tcp
from tests.gateway.gates.modbus.heatpump import (
    ABSENT,
    VALUES,
    alarms,
    bus,
    config_of,
    reading,
    register,
    until_alarms,
    until_quarantined,
)
from tests.kit.gateways import (
    MAPPINGS,
    free_port,
    mosquitto,
    publish,
    running,
    update,
    watch,
)
from tests.kit.metrics import until_metric


async def test_registers_become_observations(tmp_path: Path) -> None:
    device = Device(registers={10: 215, 11: 0xFFFF, 12: 0x41AC, 13: 0x0000})
    mappings = (
        register("flow", "holding 10 int16", scale=0.1, unit="Cel"),
        register("outside", "holding 11 int16", unit="Cel"),
        register("return", "holding 12 float32"),
        register("pump", "coil 3"),
    )
    async with reading(tmp_path, device, *mappings) as gateway:
        told = await watch(gateway, VALUES)
        await told.until(lambda: len(told.answer) == 4)
        assert sorted(told.values()) == ["-1", "21.5", "21.5", "false"]
    assert set(device.asked) == {(3, 10, 4), (1, 3, 1)}


async def test_nothing_is_asked_without_a_mapping(tmp_path: Path) -> None:
    device = Device()
    async with reading(tmp_path, device) as gateway:
        told = await watch(gateway, VALUES)
        await update(
            gateway,
            f"""INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:m> a gw:Mapping ;
              gw:topicFilter "modbus/heatpump" ; gw:format "modbus" ;
              gw:selector "cellar/1 input 7 uint16" ; gw:sensor "urn:s" ;
              gw:observedProperty <urn:p> ; gw:featureOfInterest "urn:f" }} }}""",
        )
        await told.until(lambda: len(told.answer) == 1)
        assert set(device.asked) == {(4, 7, 1)}
        await update(gateway, f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <urn:m> ?p ?o }} }}")
        await until_metric(gateway, "modbus_devices", 0)
        asked = len(device.asked)
        await gateway.stages.modbus.buses["cellar"].work()
        assert len(device.asked) == asked


async def test_a_refused_register_costs_itself_alone(tmp_path: Path) -> None:
    device = Device(refused={11: ExcCodes.ILLEGAL_ADDRESS})
    mappings = [register(f"r{at}", f"input {at} uint16") for at in (10, 11, 12)]
    async with reading(tmp_path, device, *mappings) as gateway:
        told = await watch(gateway, VALUES)
        await told.until(lambda: len(told.answer) == 2)
        await until_quarantined(gateway, 1)
        entry = next(iter(gateway.stages.reception.quarantine))
        assert [fault.mapping for fault in entry.faults] == ["urn:mapping:r11"]
        assert "illegal data address (2)" in entry.faults[0].detail
        assert (4, 10, 3) in device.asked
        first = len(device.asked)
        await device.until(lambda: device.asked[first:].count((4, 12, 1)) > 8)
        assert device.asked[first:].count((4, 11, 1)) < 6


async def test_a_silent_device_costs_itself_alone(tmp_path: Path) -> None:
    shy, prompt = Device(1), Device(2)
    mappings = [
        register("shy", "cellar/1 input 0 uint16"),
        register("prompt", "cellar/2 input 0 uint16", topic="modbus/meter"),
    ]
    async with (
        tcp([shy, prompt]) as port,
        running(config_of(tmp_path, [bus(port)], mappings)) as gateway,
    ):
        told, absent = await watch(gateway, VALUES), await watch(gateway, ABSENT)
        await told.until(lambda: len(told.answer) == 2)
        shy.is_silent = True
        await absent.until(lambda: bool(absent.answer))
        assert absent.values() == ["urn:property:shy"]
        [alarm] = alarms(gateway)
        assert (alarm.where, alarm.what) == ("cellar/1", "modbus/heatpump: no answer in 0.4 s")
        before = len(prompt.asked)
        await prompt.until(lambda: len(prompt.asked) > before + 3)
        shy.is_silent = False
        await absent.until(lambda: not absent.answer)
        await until_alarms(gateway)


async def test_a_late_answer_is_nobody_elses(tmp_path: Path) -> None:
    late, prompt = Device(1, registers={0: 1}), Device(2, registers={0: 2})
    mappings = [
        register("late", "cellar/1 holding 0 uint16"),
        register("prompt", "cellar/2 holding 0 uint16", topic="modbus/meter"),
    ]
    async with (
        tcp([late, prompt]) as behind,
        delaying(behind, {1: 0.6}) as port,
        running(config_of(tmp_path, [bus(port)], mappings)) as gateway,
    ):
        told = await watch(gateway, VALUES)
        await until_alarms(gateway, "cellar/1")
        before = len(prompt.asked)
        await prompt.until(lambda: len(prompt.asked) > before + 10)
        assert told.values() == ["2"]


async def test_one_register_that_is_never_answered_costs_itself_alone(tmp_path: Path) -> None:
    device = Device(silent_at=frozenset({0}))
    mappings = [register("deaf", "input 0 uint16"), register("fine", "input 50 uint16")]
    async with reading(tmp_path, device, *mappings) as gateway:
        told = await watch(gateway, VALUES)
        await told.until(lambda: told.values(0) == ["urn:property:fine"])
        await until_quarantined(gateway, 1)
        assert not alarms(gateway)


@pytest.mark.parametrize(
    "reply",
    [
        b"\xff" * 40,
        b"\x00\x01\x00\x00\x00\x03\x01\x04\x00",
        b"\x00\x01\x00\x00\x00\x05\x01\x04\x02\x00",
        b"\x00\x01\x00\x00\x00\x02\x01\x63",
        b"\x00\x01\x00\x00\x00\x07\x01\x03\x04\x00\x01\x00\x02",
        b"",
    ],
    ids=["noise", "no registers", "half of one", "no function", "too many", "nothing"],
)
async def test_what_is_no_answer_costs_its_device_alone(tmp_path: Path, reply: bytes) -> None:
    def answer(request: bytes) -> bytes:
        return request[:2] + reply[2:]

    good = Device()
    mappings = [
        register("bad", "hostile/1 input 0 uint16", topic="modbus/hostile"),
        register("good", "input 0 uint16"),
    ]
    async with answering(answer) as hostile, tcp([good]) as port:
        buses = [bus(port), bus(hostile, "hostile")]
        async with running(config_of(tmp_path, buses, mappings)) as gateway:
            told = await watch(gateway, VALUES)
            await until_alarms(gateway, "hostile/1")
            await told.until(lambda: told.values(0) == ["urn:property:good"])
            before = len(good.asked)
            await good.until(lambda: len(good.asked) > before + 3)


async def test_a_cable_that_is_cut_and_mended(tmp_path: Path) -> None:
    port, device = free_port(), Device(registers={0: 1})
    config = config_of(tmp_path, [bus(port)], [register("flow", "holding 0 int16")])
    async with AsyncExitStack() as there, running(config) as gateway:
        told, absent = await watch(gateway, VALUES), await watch(gateway, ABSENT)
        await until_alarms(gateway, "[modbus] cellar")
        assert alarms(gateway)[0].what == f"127.0.0.1:{port} takes no connection"
        await there.enter_async_context(tcp([device], port))
        await told.until(lambda: told.values() == ["1"])
        await until_alarms(gateway)
        await there.aclose()
        await absent.until(lambda: bool(absent.answer))
        device.registers[0] = 2
        async with tcp([device], port):
            await told.until(lambda: told.values() == ["1", "2"])
            await absent.until(lambda: not absent.answer)


@pytest.mark.parametrize("mode", ["embedded", "mosquitto"])
async def test_what_a_broker_has_in_the_name_of_a_device_is_not_taken(
    tmp_path: Path, mode: str
) -> None:
    device, flow = Device(registers={0: 1}), register("flow", "holding 0 int16")
    forged = b'{"bus":"cellar","unit":1,"holding":{"0":[7]}}'
    async with AsyncExitStack() as there:
        modbus_port = await there.enter_async_context(tcp([device]))
        broker = there.enter_context(mosquitto(tmp_path)) if mode == "mosquitto" else None
        config = config_of(
            tmp_path, [bus(modbus_port)], [flow], mosquitto=broker.port if broker else None
        )
        gateway = await there.enter_async_context(running(config))
        told = await watch(gateway, VALUES)
        await told.until(lambda: told.values() == ["1"])
        if broker is not None:
            await asyncio.to_thread(broker.wait_subscribed, "modbus/heatpump")
        await publish(broker.port if broker else gateway.mqtt_port, [("modbus/heatpump", forged)])
        await until_metric(gateway, "modbus_forged_total", 1)
        device.registers[0] = 2
        await told.until(lambda: len(told.values()) == 2)
        assert told.values() == ["1", "2"]


async def test_a_mapping_of_no_bus_is_an_alarm(tmp_path: Path) -> None:
    mappings = [register("flow", "attic/1 holding 0 int16")]
    async with running(config_of(tmp_path, [], mappings)) as gateway:
        [alarm] = alarms(gateway)
        assert (alarm.where, alarm.what) == ("modbus/heatpump", "[modbus] buses has no 'attic'")
