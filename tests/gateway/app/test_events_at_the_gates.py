"""Compound events at every door of a gateway that runs: messages, requests, whoever subscribes."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection

from gateway.app.gateway import Gateway
from tests.gateway.app.test_windows_at_the_gates import message, notification, rows, socket
from tests.kit.gateways import (
    PREFIXES,
    mapping,
    publish,
    running,
    settings,
    update,
    write_profile,
)

Json = dict[str, Any]

SAID = "SELECT ?o { ?s <urn:p> ?o }"
WARM = f"""{PREFIXES}
SELECT ?g ?value ?room {{ GRAPH ?g {{
  ?o sosa:hasSimpleResult ?value ; sosa:hasFeatureOfInterest ?room
}} FILTER(?value > 20) }}"""
BASE = "https://sosa-gateway.example/id/test"


@asynccontextmanager
async def gateway(folder: Path, **members: object) -> AsyncIterator[Gateway]:
    profile = write_profile(folder, [mapping("t", "room/+", selector="$.t")], **members)  # type: ignore[arg-type]
    async with running(settings(folder, profile)) as opened:
        yield opened


async def subscribe(opened: ClientConnection, sparql: str = SAID, **members: object) -> Json:
    """Subscribe to events; the first notification, which has no rows."""
    body = {"sparql": sparql, "mode": "event", **members}
    await opened.send(json.dumps({"subscribe": body}))
    first = await notification(opened)
    assert (first["sequence"], first["events"]) == (0, [])
    return first


def values(told: Json, name: str) -> list[str]:
    bindings = told["addedResults"]["results"]["bindings"]
    return [row[name]["value"] for row in bindings]


async def tell(opened: Gateway, room: int, value: float) -> None:
    """A reading, which is in the store when this returns."""
    await publish(opened.mqtt_port, [(f"room/{room}", json.dumps({"t": value}).encode())])


async def test_socket_tells_of_messages_and_requests(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client, socket(opened) as other:
        await subscribe(client, WARM)
        await subscribe(other)
        await tell(opened, 1, 19)
        await tell(opened, 2, 21.5)
        told = await notification(client)
        (event,) = told["events"]
        assert (event["gateway"], event["rows"]) == ("test", 1)
        message_iri = f"{BASE}/message/{event['position'].removesuffix('.0')}"
        assert event["graph"] == message_iri
        assert event["time"] == told["time"]
        assert (values(told, "value"), values(told, "g")) == (["21.5"], [message_iri])
        await update(
            opened, "INSERT DATA { <urn:s> <urn:p> 1 GRAPH <urn:g> { <urn:s> <urn:p> 2 } }"
        )
        one, two = await notification(other), await notification(other)
        assert [rows(one), rows(two)] == [["1"], ["2"]]
        assert {one["events"][0]["position"], two["events"][0]["position"]} == {
            f"{event['position'].removesuffix('.0')}.1"
        }
        assert two["events"][0]["graph"] == "urn:g"


async def test_the_same_value_again_is_an_event_of_its_own(tmp_path: Path) -> None:
    """A message is new whatever it says; what the store has of it is another question."""
    async with gateway(tmp_path) as opened, socket(opened) as client:
        await subscribe(client, WARM)
        for _ in range(2):
            await tell(opened, 2, 21.5)
            assert values(await notification(client), "value") == ["21.5"]


async def test_what_cannot_be_an_event_query_is_said(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        for members, said in (
            ({"mode": "each"}, "mode: 'each' is none (give union or event)"),
            ({"mode": "event", "output": "added"}, "mode event"),
            ({"mode": "event", "infer": True}, "leave out `infer`"),
            ({"mode": "event", "default-graph-uri": "urn:g"}, "leave out FROM"),
            ({"mode": "event", "after": {"test": "yesterday"}}, "is no position"),
            ({"mode": "event", "after": ["1-1.1"]}, "after: "),
            ({"after": {"test": "1-1.1"}}, "after: is for events"),
        ):
            await client.send(json.dumps({"subscribe": {"sparql": SAID, "alias": "a", **members}}))
            refused = await message(client)
            assert (refused["status_code"], refused["alias"]) == (400, "a"), members
            assert said in refused["error_description"]
