"""The disk of a gateway is full, then has room: it tells everybody, loses nothing, and goes on."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gateway.app import vitals
from gateway.app.gateway import Gateway
from gateway.config.journal import JournalSettings
from gateway.config.settings import Config
from gateway.scheduler import scheduler
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    WAIT_S,
    Device,
    journal_records,
    mapping,
    running,
    settings,
    update_url,
    write_profile,
)
from tests.kit.small_disk import SmallDisk, small_disk

READINGS = 50


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "disk", "48m") as made:
        yield made


def config_on(disk: SmallDisk, tmp_path: Path, free_bytes: int) -> Config:
    profile = write_profile(tmp_path, [mapping("v", "box/+", selector="$.v", sequence="$.v")])
    config = settings(disk.path, profile, kind="disk")
    journal = JournalSettings(segment_observations=100, free_bytes=free_bytes)
    return config.model_copy(update={"journal": journal})


async def update(gateway: Gateway, number: int) -> httpx.Response:
    text = f"{PREFIXES} INSERT DATA {{ <urn:s> <urn:p> {number} }}"
    async with httpx.AsyncClient(timeout=5) as client:
        return await client.post(update_url(gateway), data={"update": text})


async def updated(gateway: Gateway) -> set[int]:
    url = f"http://{LOOPBACK}:{gateway.http_port}/query"
    async with httpx.AsyncClient(timeout=5) as client:
        answer = await client.post(url, data={"query": "SELECT ?o { <urn:s> <urn:p> ?o }"})
    return {int(row["o"]["value"]) for row in answer.json()["results"]["bindings"]}


async def until_health(gateway: Gateway, status: str) -> None:
    async with asyncio.timeout(WAIT_S), httpx.AsyncClient(timeout=5) as client:
        while True:
            answer = await client.get(f"http://{LOOPBACK}:{gateway.http_port}/health")
            if answer.json()["status"] == status:
                assert answer.status_code == (200 if status == "ok" else 503)
                return
            await asyncio.sleep(0.5)


@pytest.mark.parametrize("free_bytes", [0, 2_000_000])
@pytest.mark.parametrize("cycles", [3, pytest.param(20, marks=pytest.mark.slow)])
async def test_gateway_goes_on_after_the_disk_was_full(
    disk: SmallDisk, tmp_path: Path, free_bytes: int, cycles: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vitals, "_PROBE_S", 0.1)
    monkeypatch.setattr(scheduler, "_FLUSH_S", 0.2)
    taken: set[int] = set()
    sent = number = 0
    async with running(config_on(disk, tmp_path, free_bytes)) as gateway:
        with Device(gateway.mqtt_port, window=1000) as device:
            for _ in range(cycles):
                disk.fill()
                for _ in range(READINGS):
                    device.send(f"box/{sent % 7}", json.dumps({"v": sent}))
                    sent += 1
                await until_health(gateway, "alarm")
                number += 1
                while (answer := await update(gateway, number)).status_code == 200:
                    taken.add(number)  # there was room in the last page of a file
                    number += 1
                for _ in range(5):
                    assert answer.status_code == 503
                    assert "free space" in answer.text
                    number += 1
                    answer = await update(gateway, number)
                disk.make_room()
                assert await asyncio.to_thread(device.wait_acknowledged, READINGS) == READINGS
                await until_health(gateway, "ok")
                number += 1
                assert (await update(gateway, number)).status_code == 200
                taken.add(number)
                assert await updated(gateway) == taken
    values = {int(each.observation.lexical) for each in journal_records(disk.path)}
    assert values == {*range(sent)}
    async with running(config_on(disk, tmp_path, free_bytes)) as gateway:
        assert await updated(gateway) == taken
