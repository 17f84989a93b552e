"""A journal that is full: nothing is acknowledged, everybody is told, and it goes on by itself."""

import asyncio
import json
import resource
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.config.journal import JournalSettings, ShippingSettings
from gateway.errors import StorageError
from gateway.journal import Journal, JournalLimits, read_journal
from tests.gateway.shipping.journals import ORIGIN, fill, landed
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    Device,
    journal_records,
    mapping,
    running,
    settings,
    write_profile,
)
from tests.kit.metrics import metrics

READINGS = 4000
FEWER = 1800


async def health(gateway: Gateway) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.get(f"http://{LOOPBACK}:{gateway.http_port}/health")


async def test_a_full_journal_stops_acknowledging_until_the_landing_zone_is_back(
    tmp_path: Path,
) -> None:
    zone = tmp_path / "zone"
    profile = write_profile(tmp_path, [mapping("v", "box/+", selector="$.v", sequence="$.v")])
    config = settings(tmp_path, profile).model_copy(
        update={
            "journal": JournalSettings(segment_observations=20, max_bytes=65_536, keep_s=0),
            "shipping": ShippingSettings(to=str(zone), retry_s=0.05, retry_most_s=0.1),
        }
    )
    async with running(config) as gateway:
        with Device(gateway.mqtt_port, window=100) as device:
            for value in range(READINGS):
                device.send("box/1", json.dumps({"v": value}))
            async with asyncio.timeout(WAIT_S):
                while (answer := await health(gateway)).status_code == 200:
                    await asyncio.sleep(0.05)
            assert answer.status_code == 503
            assert answer.json()["status"] == "alarm"
            assert "full" in answer.json()["alarms"][0]
            seen = await metrics(gateway)
            assert seen["journal_full"] == 1
            assert seen["shipping_failing"] == 1
            assert seen['journal_segments{state="shipped"}'] == 0
            assert seen["journal_hours_left"] < 1
            assert seen["journal_bytes"] <= 65_536
            zone.mkdir()
            assert await asyncio.to_thread(device.wait_acknowledged, READINGS, 40.0) == READINGS
        assert (await health(gateway)).json()["status"] == "ok"
        assert (await metrics(gateway))["journal_dropped_total"] == 0
    values = {int(each.observation.lexical) for each in journal_records(tmp_path)}
    values |= {int(str(fields["v"])) for fields in landed(zone).values()}
    assert values == {*range(READINGS)}


async def test_where_it_is_allowed_the_oldest_unshipped_go_with_a_gap_and_an_alarm(
    tmp_path: Path,
) -> None:
    profile = write_profile(tmp_path, [mapping("v", "box/+", selector="$.v", sequence="$.v")])
    limits = {"segment_observations": 8, "max_bytes": 65_536, "keep_s": 0, "drop_unshipped": True}
    config = settings(tmp_path, profile).model_copy(
        update={"journal": JournalSettings.model_validate(limits)}
    )
    async with running(config) as gateway:
        with Device(gateway.mqtt_port, window=100) as device:
            for value in range(FEWER):
                device.send("box/1", json.dumps({"v": value}))
            assert await asyncio.to_thread(device.wait_acknowledged, FEWER, 60.0) == FEWER
        answer = await health(gateway)
        assert answer.status_code == 200
        assert any("had to go" in alarm for alarm in answer.json()["alarms"])
        seen = await metrics(gateway)
        assert seen["journal_bytes"] <= 65_536
        dropped = seen["journal_dropped_total"]
        async with httpx.AsyncClient() as client:
            url = f"http://{LOOPBACK}:{gateway.http_port}/health/history"
            entries = (await client.get(url)).json()["entries"]
        assert [each["what"] for each in entries[:2]] == ["started", "alarm"]
    kept = [each.position.sequence for each in journal_records(tmp_path)]
    assert len(kept) == FEWER - dropped
    assert kept == [*range(FEWER - len(kept) + 1, FEWER + 1)]
    gaps = [*(tmp_path / "data" / "journal").glob("*.gap*")]
    told = [json.loads(path.read_bytes()) for path in gaps]
    assert sum(each["count"] for each in told) == dropped
    assert {each["reason"] for each in told} == {"dropped"}


@contextmanager
def longest_file(size: int) -> Iterator[None]:
    """No file may grow longer: a write goes as far as it can, then fails, as on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_write_that_the_disk_takes_half_leaves_whole_groups(tmp_path: Path) -> None:
    with Journal(tmp_path, ORIGIN, JournalLimits(free_bytes=0)) as journal:
        written = fill(journal, 2)
        with longest_file(journal._segment.size + 50), pytest.raises(StorageError, match="written"):
            fill(journal, 1, 7)
        journal._sequence -= 1
        written += fill(journal, 3, 10)
    assert list(read_journal(tmp_path)) == written
    with Journal(tmp_path, ORIGIN) as journal:
        journal.seal()
        assert [item.count for item in journal.manifest.sealed()] == [2, 3]


def test_a_disk_without_room_for_sealing_keeps_the_raw_segment(tmp_path: Path) -> None:
    with Journal(tmp_path, ORIGIN) as journal:
        written = fill(journal, 200)
    with Journal(tmp_path, ORIGIN) as journal:
        with longest_file(500), pytest.raises(StorageError, match="written"):
            journal.seal()
        assert list(journal.after(None)) == written
        journal.seal()
        assert list(journal.after(None)) == written
        assert journal.manifest.waiting == 1
