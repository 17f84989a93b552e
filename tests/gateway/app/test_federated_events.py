"""Events of several gateways behind a position: what happened while nobody asked comes, once."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection

from gateway.app.gateway import Gateway
from gateway.config.events import EventsSettings
from tests.gateway.app.test_federated_gateways import NAMES, config, tell, whole
from tests.gateway.app.test_windows_at_the_gates import http, notification, socket
from tests.kit.gateways import PREFIXES, free_port, running, update

pytest.importorskip("zenoh", reason="the extra federation is not installed")

Json = dict[str, Any]
EVERY = f"{PREFIXES} SELECT ?v {{ {{ ?s <urn:p> ?v }} UNION {{ ?s sosa:hasSimpleResult ?v }} }}"


@asynccontextmanager
async def house(folder: Path, *, log: bool | None = None) -> AsyncIterator[dict[str, Gateway]]:
    """Three gateways; `log` None is as [federation] alone has it."""
    ports = {name: free_port() for name in NAMES}
    async with AsyncExitStack() as stack:
        opened = {}
        for name in NAMES:
            made = config(folder / name, name, ports)
            if log is not None:
                made = made.model_copy(update={"events": EventsSettings(log=log)})
            opened[name] = await stack.enter_async_context(running(made))
        yield opened


async def told(client: ClientConnection, count: int) -> dict[str, list[str]]:
    """So many events, by gateway, in the order in which they came; their last positions."""
    found: dict[str, list[str]] = {}
    while sum(map(len, found.values())) < count:
        each = await notification(client)
        rows = [row["v"]["value"] for row in each["addedResults"]["results"]["bindings"]]
        names = [event["gateway"] for event in each["events"] for _ in range(event["rows"])]
        for name, value in zip(names, rows, strict=True):
            found.setdefault(name, []).append(value)
    return found


async def until_confirmed(opened: Gateway, peer: str) -> None:
    """Return once a peer has confirmed all events that this gateway keeps."""
    async with http(opened) as client:
        while True:
            members = (await client.get("/federation")).json()["members"]
            told = next(each for each in members if each["name"] == peer)["event_log_bytes"]
            text = (await client.get("/metrics")).text
            counted = f'sosa_gateway_federation_event_log_bytes{{peer="{peer}"}} 0' in text
            if told == 0 and counted:  # what happens meanwhile is confirmed a moment later
                break
            await asyncio.sleep(0.1)
        assert "\nsosa_gateway_event_log_bytes 0" not in text


async def test_what_happened_meanwhile_comes_once(tmp_path: Path) -> None:
    async with house(tmp_path) as opened:
        async with socket(opened["hall"]) as client:
            first = await whole(client, EVERY, mode="event")
        for number in range(3):
            await update(opened["attic"], f"INSERT DATA {{ <urn:s> <urn:p> {number} }}")
            await tell(opened["cellar"], 1, 20 + number)
            await update(opened["hall"], f"INSERT DATA {{ <urn:s> <urn:p> {10 + number} }}")
        async with socket(opened["hall"]) as client:
            after = first["federation"]["positions"]
            again = await whole(client, EVERY, mode="event", after=after)
            assert "gap" not in again["federation"]
            await update(opened["attic"], "INSERT DATA { <urn:s> <urn:p> 3 }")
            found = await told(client, 10)
            assert found == {
                "attic": ["0", "1", "2", "3"],
                "cellar": ["20", "21", "22"],
                "hall": ["10", "11", "12"],
            }
            await until_confirmed(opened["attic"], "hall")


async def test_without_a_log_what_is_lost_is_said(tmp_path: Path) -> None:
    async with house(tmp_path, log=False) as opened:
        async with socket(opened["hall"]) as client:
            first = await whole(client, EVERY, mode="event")
        await update(opened["attic"], "INSERT DATA { <urn:s> <urn:p> 1 }")
        async with socket(opened["hall"]) as client:
            after = {"attic": first["federation"]["positions"]["attic"]}
            body = {"sparql": EVERY, "mode": "event", "gateways": "all", "after": after}
            await client.send(json.dumps({"subscribe": body}))
            await notification(client)
            gap = await notification(client)
            assert gap["federation"]["gap"]["attic"]["from"] == after["attic"]
