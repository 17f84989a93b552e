"""Ten thousand messages that make no sense: each costs itself, the gateway stays as it was."""

import random
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.config.settings import LimitsSettings
from tests.kit.gateways import (
    LOOPBACK,
    VALUES,
    Publication,
    journal_records,
    mapping,
    publish,
    running,
    settings,
    watch,
    write_profile,
)
from tests.kit.metrics import metrics

BATCH = 2_500
RSS_GROWTH_BYTES = 40_000_000
MAPPINGS = [
    mapping("t", "json/+", selector="$.t", time="$.at", sequence="$.n", unit="unit:DEG_C"),
    mapping("scalar", "scalar/+", format="scalar"),
    mapping("senml", "senml/+", format="senml", selector="*", sensor="urn:s:{1}:{name}"),
    mapping("text", "text/+", format="text", selector="T=(?P<value>[0-9.]+)"),
]
MALFORMED = [
    b"",
    b" ",
    b"{",
    b"[]",
    b"null",
    b'{"t":null}',
    b'{"t":NaN}',
    b'{"t":1e999999}',
    b'{"t":1,"t":2}',
    b'{"t":{}}',
    b'{"T":1}',
    b"[" * 5_000,
    b'{"t":' + b"9" * 20_000 + b"}",
    b"\xff\xfe\x00",
    b"\x00" * 64,
    b'[{"n":"a","v":1,"bver":99}]',
    b'[{"v":{}}]',
    b"-",
    b"T=",
    b"x" * 65_000,
]


def malformed(chance: random.Random) -> Iterator[Publication]:
    for number in range(BATCH):
        topic = chance.choice(["json", "scalar", "senml", "text"])
        payload = chance.choice(MALFORMED)
        if topic in {"scalar", "text"}:
            payload = b"\xff" + payload[:100]
        elif chance.random() < 0.3:
            payload = b"{" + chance.randbytes(40)
        yield f"{topic}/{number % 50}", payload


def resident_bytes() -> int:
    """The memory of this process, which the gateway and the publisher share."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * 4096


async def check_health(gateway: Gateway) -> None:
    async with httpx.AsyncClient() as client:
        answer = await client.get(f"http://{LOOPBACK}:{gateway.http_port}/health")
    assert answer.status_code == 200


@pytest.mark.alone
async def test_ten_thousand_malformed_payloads_cost_only_themselves(tmp_path: Path) -> None:
    chance = random.Random(7)
    config = settings(tmp_path, write_profile(tmp_path, MAPPINGS))
    async with running(config) as gateway:
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, list(malformed(chance)))
        before = resident_bytes()
        for _ in range(3):
            await publish(gateway.mqtt_port, list(malformed(chance)))
        assert resident_bytes() - before < RSS_GROWTH_BYTES
        counted = gateway.statistics()
        assert counted["readings_in"] == counted["quarantined"] == 4 * BATCH
        assert counted["observations"] == counted["failed"] == 0
        await check_health(gateway)
        await publish(gateway.mqtt_port, [("json/1", b'{"t":21.5}'), ("scalar/1", b"7")])
        assert told.values() == ["21.5", "7"]
        seen = await metrics(gateway)
        assert 0 < seen["quarantine_bytes"] <= LimitsSettings().quarantine_bytes
        faults = [count for name, count in seen.items() if name.startswith("quarantine_total{")]
        assert sum(faults) >= 4 * BATCH
    files = sorted((tmp_path / "data").glob("quarantine*"))
    assert (
        0
        < sum(file.stat().st_size for file in files)
        < 2 * LimitsSettings().quarantine_bytes + 100_000
    )
    assert len(journal_records(tmp_path)) == 2


async def test_topics_without_a_mapping_are_counted_and_forgotten(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path, MAPPINGS))
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [(f"nobody/{n}", b"{}") for n in range(6_000)])
        assert gateway.statistics()["unmapped"] == 6_000
        assert gateway.statistics()["quarantined"] == 0
    assert journal_records(tmp_path) == []
