"""A command in the dialect of each family, to a device that speaks it, and back."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.gateway.actuation.dialects import DIALECTS, Dialect
from tests.gateway.actuation.lamps import command, lamp_profile, last, until_last
from tests.kit.gateways import VALUES, Device, behind, mapping, watch


@pytest.mark.parametrize("name", DIALECTS)
async def test_device_is_told_in_its_dialect_and_confirms_in_it(tmp_path: Path, name: str) -> None:
    await _confirmed(tmp_path, DIALECTS[name], "embedded")


@pytest.mark.parametrize("name", ["zigbee2mqtt", "sparkplug"])
async def test_through_an_external_broker_too(tmp_path: Path, name: str) -> None:
    await _confirmed(tmp_path, DIALECTS[name], "mosquitto")


async def _confirmed(folder: Path, dialect: Dialect, mode: str) -> None:
    mapped = mapping("state", **dialect.mapping)  # type: ignore[arg-type]
    topic_filter = str(mapped["topic"])
    changed: Any = {"values": [], **dialect.actuator}
    profile = lamp_profile(folder, mappings=(mapped,), **changed)
    async with behind(mode, folder, profile, topic_filter) as (gateway, port):
        with Device(port, "device") as device:
            await asyncio.to_thread(device.subscribe, str(dialect.actuator["topic"]))
            told = await watch(gateway, VALUES)
            for topic, payload in dialect.greets:
                device.send(topic, payload)
            if dialect.greets and b"state" in dialect.greets[-1][1]:
                await told.until(lambda: told.count_added == 1)
            assert (await command(gateway, dialect.value)).status_code == 202
            topic, payload = await asyncio.to_thread(device.receive)
            if "NCMD" in topic:
                while b"Rebirth" in payload:
                    topic, payload = await asyncio.to_thread(device.receive)
            assert dialect.payload in (None, payload)
            assert (await last(gateway))["status"] == "sent"
            for publication in dialect.answers(payload):
                device.send(*publication)
            entry = await until_last(gateway, "confirmed")
            assert entry["observation"].startswith("https://sosa-gateway.example/id/test/obs")
