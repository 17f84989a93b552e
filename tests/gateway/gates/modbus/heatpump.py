"""A gateway that reads a heat pump: its buses, mappings and actuators, and what is to be seen."""

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from gateway.app.gateway import Gateway
from gateway.config.modbus import BusSettings, ModbusSettings
from gateway.config.settings import Config
from gateway.gates.modbus.measures import modbus_alarms
from gateway.runtime.alarms import Condition
from tests.gateway.gates.modbus.devices import Device, tcp
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    WAIT_S,
    JsonObject,
    mapping,
    running,
    settings,
    write_profile,
)

QUICK = {"interval_s": 0.1, "timeout_s": 0.4}
"""Long enough for devices in the same event loop, on a machine that has much to do."""

VALUES = f"""{PREFIXES} SELECT ?property ?value {{
  ?o sosa:observedProperty ?property ; sosa:hasSimpleResult ?value }}"""
ABSENT = f"""{PREFIXES} SELECT ?property {{
  ?s gw:absentSince ?since ; gw:ofProperty ?property }}"""

ACTUATOR: JsonObject = {
    "id": "urn:actuator:setpoint",
    "name": "setpoint",
    "format": "modbus",
    "topic": "modbus/heatpump/set",
    "payload": "cellar/1 holding 5 int16 scale 0.1 = {value}",
    "minimum": 15,
    "maximum": 25,
    "property": "urn:property:setpoint",
    "feature": "urn:room:1",
    "timeLimit": 5,
}


def register(name: str, selector: str, **members: str | float) -> JsonObject:
    """A register of the heat pump, at bus cellar and unit 1 where it names no other."""
    text = selector if "/" in selector else f"cellar/1 {selector}"
    given = {"topic": "modbus/heatpump", "format": "modbus", "selector": text, **members}
    topic = str(given.pop("topic"))
    return mapping(name, topic, **given)


def bus(port: int, name: str = "cellar", **changed: object) -> BusSettings:
    """A device that speaks TCP at this machine."""
    given = {"name": name, "host": LOOPBACK, "port": port, **QUICK, **changed}
    return BusSettings.model_validate(given)


def line(device: str, name: str = "cellar", **changed: object) -> BusSettings:
    """A serial line."""
    return BusSettings.model_validate({"name": name, "device": device, **QUICK, **changed})


def config_of(
    folder: Path,
    buses: Sequence[BusSettings],
    mappings: Sequence[JsonObject],
    actuators: Sequence[JsonObject] = (),
    mosquitto: int | None = None,
) -> Config:
    """The settings of a gateway with these buses."""
    profile = write_profile(folder, mappings)
    document = json.loads(profile.read_text())
    document["extended"]["actuators"] = list(actuators)
    profile.write_text(json.dumps(document))
    config = settings(folder, profile, mosquitto=mosquitto)
    return config.model_copy(update={"modbus": ModbusSettings(buses=tuple(buses))})


@asynccontextmanager
async def reading(
    folder: Path,
    device: Device,
    *mappings: JsonObject,
    actuators: Sequence[JsonObject] = (),
) -> AsyncIterator[Gateway]:
    """A gateway that reads one device over TCP."""
    async with tcp([device]) as port:
        config = config_of(folder, [bus(port)], mappings, actuators)
        async with running(config) as gateway:
            yield gateway


def alarms(gateway: Gateway) -> list[Condition]:
    """What is wrong with Modbus now."""
    return list(modbus_alarms(gateway.stages.modbus)())


async def until_alarms(gateway: Gateway, *where: str) -> None:
    """Wait until these are what is wrong."""
    async with asyncio.timeout(WAIT_S):
        while [each.where for each in alarms(gateway)] != list(where):
            await asyncio.sleep(0.02)


async def until_quarantined(gateway: Gateway, count: int) -> None:
    """Wait until so many messages are in quarantine."""
    async with asyncio.timeout(WAIT_S):
        while len(gateway.stages.reception.quarantine) < count:
            await asyncio.sleep(0.02)
