"""A gateway at rest hands what came to its disk."""

import asyncio
from pathlib import Path

import pytest

from gateway.app import storage
from gateway.store.disk.upkeep import REST_CHANGES
from tests.kit.gateways import WAIT_S, mapping, running, settings, update, write_profile


async def test_the_store_of_a_gateway_is_flushed_at_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(storage, "_REST_S", 0.05)
    profile = write_profile(tmp_path, [mapping("v", "box/+")])
    async with running(settings(tmp_path, profile, kind="disk")) as gateway:

        def flushed() -> int:
            return sum(file.stat().st_size for file in (tmp_path / "data").rglob("*.sst"))

        before = flushed()
        values = ", ".join(map(str, range(REST_CHANGES)))
        await update(gateway, f"INSERT DATA {{ <urn:a> <urn:p> {values} }}")
        async with asyncio.timeout(WAIT_S):
            while flushed() == before:
                await asyncio.sleep(0.02)
