"""A gateway that has lost its disk, and whose clock is behind, in a federation that runs."""

import json
from contextlib import AsyncExitStack
from pathlib import Path
from shutil import rmtree
from time import monotonic
from types import SimpleNamespace
from unittest.mock import patch

import pytest
from websockets.asyncio.client import ClientConnection

from gateway.journal import Position, read_journal
from tests.gateway.app.test_federated_gateways import bound, config, tell
from tests.gateway.app.test_windows_at_the_gates import message, notification, socket
from tests.kit.gateways import PREFIXES, free_port, running, update

pytest.importorskip("zenoh", reason="the extra federation is not installed")

QUERY = f"{PREFIXES} SELECT ?v {{ {{ ?o sosa:hasSimpleResult ?v }} UNION {{ ?s <urn:p> ?v }} }}"
_IN_1970 = SimpleNamespace(time=lambda: 30.0, monotonic=monotonic)


async def subscribed(client: ClientConnection) -> None:
    """Subscribe over both once both have told."""
    while True:
        await client.send(json.dumps({"subscribe": {"sparql": QUERY, "gateways": "all"}}))
        first = await notification(client)
        if len(first["federation"]["positions"]) == 2:
            return
        await client.send(json.dumps({"unsubscribe": {"spuid": first["spuid"]}}))
        while "unsubscribed" not in await message(client):
            pass


async def test_a_gateway_without_disk_and_clock_goes_on_in_a_later_epoch(tmp_path: Path) -> None:
    """What it had leaves in one step; messages and requests then are told, journalled, kept."""
    ports = {name: free_port() for name in ("attic", "hall")}
    hall, attic = (config(tmp_path / name, name, ports) for name in ("hall", "attic"))
    async with AsyncExitStack() as stack:
        asked = await stack.enter_async_context(running(hall))
        client = await stack.enter_async_context(socket(asked))
        async with running(attic) as told:
            await subscribed(client)
            await update(told, "INSERT DATA { <urn:s> <urn:p> 1 }")
            await tell(told, 1, 31)
            rows = [bound(await notification(client), "v") for _ in range(2)]
            assert sorted(rows) == [["1"], ["31"]]
            before = told.scheduler.engine.events.places.last.epoch
        rmtree(attic.gateway.data_dir)
        attic.gateway.data_dir.mkdir()
        with patch("gateway.journal.spool.time", _IN_1970):
            told = await stack.enter_async_context(running(attic))
            left = await notification(client)
            assert sorted(bound(left, "v", "removedResults")) == ["1", "31"]
            await tell(told, 1, 32)
            assert bound(await notification(client), "v") == ["32"]
            await update(told, "INSERT DATA { <urn:s> <urn:p> 2 }")
            last = await notification(client)
            assert bound(last, "v") == ["2"]
            # Of its requests behind that message some may be the gateway's own.
            at = last["federation"]["positions"]["attic"]
            assert at.rpartition(".")[0] == f"{before + 1}-1"
        (record,) = read_journal(attic.gateway.data_dir / "journal")
        assert record.position == Position(before + 1, 1)
        assert asked.stages.federation is not None
        assert not asked.stages.federation.guard.closings
