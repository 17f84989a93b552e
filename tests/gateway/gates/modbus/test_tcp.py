"""Registers over Modbus TCP through a whole gateway: read, refused, late, silent, written, cut."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from pymodbus.constants import ExcCodes

from gateway.app.gateway import Gateway
from gateway.config.modbus import BusSettings, ModbusSettings
from gateway.config.settings import Config
from tests.gateway.actuation.lamps import command, until_last
from tests.gateway.gates.modbus.devices import Device, answering, tcp
from tests.kit.gateways import (
    LOOPBACK,
    MAPPINGS,
    PREFIXES,
    WAIT_S,
    JsonObject,
    mapping,
    rows_of,
    running,
    settings,
    update,
    watch,
    write_profile,
)
from tests.kit.metrics import metrics

QUICK = {"interval_s": 0.1, "timeout_s": 0.1}
VALUES = f"""{PREFIXES} SELECT ?property ?value {{
  ?o sosa:observedProperty ?property ; sosa:hasSimpleResult ?value }}"""
ABSENT = f"""{PREFIXES} SELECT ?property ?reason {{ GRAPH ?g {{
  ?s gw:absentSince ?since ; gw:absenceReason ?reason ; sosa:observedProperty ?property }} }}"""


def register(name: str, selector: str, **members: str | float) -> JsonObject:
    """A register of the heat pump, at bus cellar and unit 1 where it names no other."""
    text = selector if "/" in selector else f"cellar/1 {selector}"
    return mapping(name, "modbus/heatpump", format="modbus", selector=text, **members)


def bus(port: int, name: str = "cellar", **changed: object) -> BusSettings:
    given = {"name": name, "host": LOOPBACK, "port": port, **QUICK, **changed}
    return BusSettings.model_validate(given)


def config_of(
    folder: Path,
    buses: Sequence[BusSettings],
    mappings: Sequence[JsonObject],
    actuators: Sequence[JsonObject] = (),
) -> Config:
    profile = write_profile(folder, mappings)
    document = json.loads(profile.read_text())
    document["extended"]["actuators"] = list(actuators)
    profile.write_text(json.dumps(document))
    config = settings(folder, profile)
    return config.model_copy(update={"modbus": ModbusSettings(buses=tuple(buses))})


@asynccontextmanager
async def at(
    folder: Path, device: Device, *mappings: JsonObject, **changed: object
) -> AsyncIterator[Gateway]:
    """A gateway that reads one device."""
    async with (
        tcp([device]) as port,
        running(config_of(folder, [bus(port, **changed)], mappings)) as gateway,
    ):
        yield gateway


async def test_registers_become_observations(tmp_path: Path) -> None:
    device = Device(registers={10: 215, 11: 0xFFFF, 12: 0x41AC, 13: 0x0000})
    mappings = (
        register("flow", "holding 10 int16", scale=0.1, unit="Cel"),
        register("outside", "holding 11 int16", unit="Cel"),
        register("return", "holding 12 float32"),
    )
    async with at(tmp_path, device, *mappings) as gateway:
        told = await watch(gateway, VALUES)
        await told.until(lambda: len(told.answer) == 3)
        assert sorted(map(str, told.values())) == ["-1", "21.5", "21.5"]
    assert set(device.asked) == {(3, 10, 4)}
