"""Three gateways that run as people run them: a question over all by WebSocket, events and CLI."""

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from websockets.asyncio.client import ClientConnection

from gateway.app.gateway import Gateway
from gateway.config.federation import FederationSettings
from gateway.config.settings import Config, GatewaySettings
from tests.gateway.app.test_windows_at_the_gates import http, message, notification, socket
from tests.gateway.gates.subscriptions.test_event_stream import Stream
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    free_port,
    mapping,
    publish,
    running,
    settings,
    update,
    write_profile,
)

pytest.importorskip("zenoh", reason="the extra federation is not installed")

Json = dict[str, Any]
NAMES = ("attic", "cellar", "hall")
WARM_AND_EMPTY = f"""{PREFIXES}
SELECT ?room ?value {{
  ?o sosa:hasFeatureOfInterest ?room ; sosa:hasSimpleResult ?value FILTER(?value > 30)
  FILTER NOT EXISTS {{ ?room <urn:occupied> true }}
}}"""


def config(folder: Path, name: str, ports: Mapping[str, int]) -> Config:
    folder.mkdir()
    profile = write_profile(folder, [mapping("t", "room/+", selector="$.t")])
    plain = settings(folder, profile)
    peers = {each: {"at": f"{LOOPBACK}:{port}"} for each, port in ports.items() if each != name}
    federation = FederationSettings.model_validate(
        {"listen": f"{LOOPBACK}:{ports[name]}", "peers": peers}
    )
    gateway = GatewaySettings(id=name, data_dir=plain.gateway.data_dir)
    return plain.model_copy(update={"gateway": gateway, "federation": federation})


@asynccontextmanager
async def house(
    folder: Path, change: Callable[[Path], None] = lambda _: None
) -> AsyncIterator[dict[str, Gateway]]:
    """The gateways by name; `change` is called before they start."""
    ports = {name: free_port() for name in NAMES}
    async with AsyncExitStack() as stack:
        made = {name: config(folder / name, name, ports) for name in NAMES}
        change(folder)
        opened = {
            name: await stack.enter_async_context(running(each)) for name, each in made.items()
        }
        yield opened


async def whole(client: ClientConnection, sparql: str, **members: object) -> Json:
    """Subscribe over all until all are there; the first notification, with nobody missing."""
    while True:
        body = {"sparql": sparql, "gateways": "all", **members}
        await client.send(json.dumps({"subscribe": body}))
        first = await notification(client)
        if set(first["federation"]["positions"]) == set(NAMES):
            return first
        await client.send(json.dumps({"unsubscribe": {"spuid": first["spuid"]}}))
        while "unsubscribed" not in await message(client):
            pass


def bound(told: Json, name: str, member: str = "addedResults") -> list[str]:
    return [row[name]["value"] for row in told[member]["results"]["bindings"]]


async def tell(opened: Gateway, room: int, value: float) -> None:
    await publish(opened.mqtt_port, [(f"room/{room}", json.dumps({"t": value}).encode())])


async def test_rooms_that_are_warm_here_and_empty_there(tmp_path: Path) -> None:
    async with house(tmp_path) as opened, socket(opened["hall"]) as client:
        first = await whole(client, WARM_AND_EMPTY)
        assert (first["sequence"], bound(first, "room")) == (0, [])
        assert "missing" not in first["federation"]
        await tell(opened["attic"], 1, 31)
        told = await notification(client)
        assert (bound(told, "room"), bound(told, "value")) == (["urn:room:1"], ["31"])
        before = told["federation"]["positions"]
        await update(opened["cellar"], "INSERT DATA { <urn:room:1> <urn:occupied> true }")
        told = await notification(client)
        assert bound(told, "room", "removedResults") == ["urn:room:1"]
        after = told["federation"]["positions"]
        assert after["attic"] == before["attic"]
        assert after["cellar"] != before["cellar"]


async def test_events_of_all_by_socket_and_stream(tmp_path: Path) -> None:
    async with house(tmp_path) as opened, socket(opened["hall"]) as client:
        query = "SELECT ?o { ?s <urn:p> ?o }"
        await whole(client, query, mode="event")
        asked = {"query": query, "mode": "event", "gateways": "attic,hall"}
        async with (
            http(opened["hall"]) as asking,
            asking.stream("GET", "/subscribe", params=asked) as response,
        ):
            stream = Stream(response)
            first = (await stream.event()).notification
            assert set(first["federation"]["positions"]) == {"attic", "hall"}
            for number, name in enumerate(NAMES):
                await update(opened[name], f"INSERT DATA {{ <urn:s> <urn:p> {number} }}")
            every = [await notification(client) for _ in NAMES]
            found = {each["events"][0]["gateway"]: bound(each, "o") for each in every}
            assert found == {"attic": ["0"], "cellar": ["1"], "hall": ["2"]}
            some = [(await stream.event()).notification for _ in range(2)]
            assert {each["events"][0]["gateway"] for each in some} == {"attic", "hall"}


async def test_what_cannot_be_asked_of_others_is_said(tmp_path: Path) -> None:
    async with house(tmp_path) as opened, socket(opened["hall"]) as client:
        for sparql, members, said in (
            ("SELECT * { ?s ?p ?o }", {"gateways": "all"}, "everything that other gateways"),
            ("ASK { ?s <urn:p> ?o }", {"gateways": ["yard"]}, "called yard"),
            ("ASK { ?s <urn:p> ?o }", {"gateways": []}, "gateways: [] names none"),
            ("ASK { ?s <urn:p> ?o }", {"gateways": "all", "infer": True}, "leave out `infer`"),
            ("ASK { ?s <urn:p> ?o }", {"gateways": "all", "output": "added"}, "leave out"),
        ):
            await client.send(json.dumps({"subscribe": {"sparql": sparql, **members}}))
            refused = await message(client)
            assert refused["status_code"] == 400, refused
            assert said in refused["error_description"]


async def test_without_a_federation_gateways_are_refused(tmp_path: Path) -> None:
    alone = settings(tmp_path, write_profile(tmp_path))
    async with running(alone) as opened, socket(opened) as client:
        body = {"sparql": "ASK { ?s <urn:p> ?o }", "gateways": "all"}
        await client.send(json.dumps({"subscribe": body}))
        refused = await message(client)
        assert "[federation]" in refused["error_description"]


def test_settings_that_cannot_be_are_said() -> None:
    with pytest.raises(ValidationError, match="nowhere to listen"):
        FederationSettings.model_validate({"peers": {"attic": {"at": "127.0.0.1:1"}}})
    with pytest.raises(ValidationError, match="at"):
        FederationSettings.model_validate(
            {"listen": "127.0.0.1:1", "peers": {"attic": {"at": "http://x"}}}
        )


async def test_explain_is_about_one_gateway(tmp_path: Path) -> None:
    alone = settings(tmp_path, write_profile(tmp_path))
    async with running(alone) as opened, http(opened) as client:
        asked = {"query": "ASK { ?s <urn:p> ?o }", "gateways": "all"}
        refused = await client.get("/explain", params=asked)
        assert refused.status_code == 400
        assert "leave out `gateways`" in refused.json()["error_description"]
