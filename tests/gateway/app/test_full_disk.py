"""The disk of a gateway is full, then has room: it tells everybody, loses nothing, and goes on."""

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from time import monotonic

import httpx
import pytest

from gateway.app import vitals
from gateway.app.gateway import Gateway
from gateway.config.journal import JournalSettings
from gateway.config.settings import Config
from gateway.rdf.answer import Answer
from gateway.rdf.namespaces import ALARMS_GRAPH
from gateway.scheduler import scheduler
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    WAIT_S,
    Device,
    Program,
    free_port,
    journal_records,
    mapping,
    running,
    settings,
    update_url,
    wait_until,
    write_profile,
)
from tests.kit.metrics import metrics, parsed
from tests.kit.small_disk import SmallDisk, small_disk

ALARMS = (
    f"{PREFIXES} SELECT ?what {{ GRAPH {ALARMS_GRAPH} {{ ?a gw:what ?what ; gw:isFault true }} }}"
)
READINGS = 50
STOP_S = 5.0
INBOX = 100


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
    async with httpx.AsyncClient(timeout=WAIT_S) as client:
        return await client.post(update_url(gateway), data={"update": text})


async def updated(gateway: Gateway) -> set[int]:
    url = f"http://{LOOPBACK}:{gateway.http_port}/query"
    async with httpx.AsyncClient(timeout=WAIT_S) as client:
        answer = await client.post(url, data={"query": "SELECT ?o { <urn:s> <urn:p> ?o }"})
    return {int(row["o"]["value"]) for row in answer.json()["results"]["bindings"]}


async def until_told(alarms: Answer, *, is_alarm: bool) -> None:
    """Wait until the graph of alarms, as a subscriber knows it, has a fault or has none."""
    async with asyncio.timeout(WAIT_S):
        while bool(alarms.rows) is not is_alarm:
            await asyncio.sleep(0.02)


async def until_health(gateway: Gateway, status: str) -> None:
    async with asyncio.timeout(WAIT_S), httpx.AsyncClient(timeout=WAIT_S) as client:
        while True:
            answer = await client.get(f"http://{LOOPBACK}:{gateway.http_port}/health")
            if answer.json()["status"] == status:
                assert answer.status_code == (200 if status == "ok" else 503)
                return
            await asyncio.sleep(0.05)


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
        alarms = Answer()
        await gateway.scheduler.subscribe(ALARMS, sink=lambda told: alarms.change(told.results))
        with Device(gateway.mqtt_port, window=1000) as device:
            for _ in range(cycles):
                disk.fill()
                for _ in range(READINGS):
                    device.send(f"box/{sent % 7}", json.dumps({"v": sent}))
                    sent += 1
                await until_health(gateway, "alarm")
                await until_told(alarms, is_alarm=True)
                number += 1
                while (answer := await update(gateway, number)).status_code == 200:
                    taken.add(number)  # there was room in the last page of a file
                    number += 1
                for _ in range(5):
                    assert answer.status_code == 503
                    assert "free space" in answer.text
                    number += 1
                    answer = await update(gateway, number)
                assert (await metrics(gateway))["store_failing"] == 1
                disk.make_room()
                assert await asyncio.to_thread(device.wait_acknowledged, READINGS) == READINGS
                await until_health(gateway, "ok")
                await until_told(alarms, is_alarm=False)
                number += 1
                assert (await update(gateway, number)).status_code == 200
                taken.add(number)
                assert await updated(gateway) == taken
    values = {int(each.observation.lexical) for each in journal_records(disk.path)}
    assert values == {*range(sent)}
    async with running(config_on(disk, tmp_path, free_bytes)) as gateway:
        assert await updated(gateway) == taken


@pytest.mark.alone
def test_stop_with_a_full_disk_and_a_full_inbox_ends_soon(disk: SmallDisk, tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [mapping("v", "box/+", selector="$.v", sequence="$.v")])
    port, http_port, file = free_port(), free_port(), tmp_path / "gateway.toml"
    file.write_text(
        f'[gateway]\nid = "test"\ndata_dir = "{disk.path / "data"}"\n[store]\nkind = "disk"\n'
        f"[mqtt]\nport = {port}\n[http]\nport = {http_port}\n[websocket]\nport = 0\n"
        f'[limits]\ninbox = {INBOX}\n[journal]\nfree_bytes = 0\n[log]\nformat = "json"\n'
        f'[jsap]\nprofiles = ["observations", "{profile}"]\n',
        encoding="utf-8",
    )
    command = (sys.executable, "-m", "gateway", "run", "--config", str(file))
    readings = [("box/a", json.dumps({"v": number}).encode()) for number in range(50)]
    with Program(*command) as program:
        program.wait_for('"serving"')
        disk.fill()
        with Device(port, "flood") as flood, Device(port, "a", window=100) as device:
            for topic, payload in readings:
                device.send(topic, payload)
            for number in range(2000):
                flood.send("box/flood", json.dumps({"v": number}), qos=0)
            wait_until(lambda: inbox_of(http_port) == INBOX)
            begun = monotonic()
            program.terminate()
            assert monotonic() - begun < STOP_S
        assert device.wait_acknowledged(1, timeout_s=0.0) == 0
    assert journal_records(disk.path) == []
    disk.make_room()
    with Program(*command) as program:
        program.wait_for('"serving"')
        with Device(port, "a", window=100) as device:
            device.publish(readings)
        assert program.terminate() == 0
    values = [int(each.observation.lexical) for each in journal_records(disk.path)]
    assert values == [*range(50)]


def inbox_of(http_port: int) -> float:
    return parsed(httpx.get(f"http://{LOOPBACK}:{http_port}/metrics").text)["inbox"]
