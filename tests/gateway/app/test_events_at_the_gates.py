"""Compound events at every door of a gateway that runs: messages, requests, whoever subscribes."""

import asyncio
import json
from collections.abc import AsyncIterator, Generator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any, cast

import pytest
from pyoxigraph import Literal
from websockets.asyncio.client import ClientConnection

from gateway.app.gateway import Gateway
from gateway.cli.asking import service
from gateway.cli.command import main
from gateway.client import AgentError, AsyncConsumer
from tests.gateway.app.test_windows_at_the_gates import (
    http,
    message,
    notification,
    rows,
    socket,
)
from tests.gateway.gates.subscriptions.test_event_stream import Stream
from tests.gateway.gates.subscriptions.test_mqtt import ask, listening, needs_mosquitto
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    WAIT_S,
    Device,
    JsonObject,
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
        assert event["time"] <= told["time"]
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
            ({"mode": "all"}, "mode: 'all' is none (give union or event or each)"),
            ({"mode": "each"}, "mode: each is for several gateways (add gateways)"),
            ({"absent": "drop"}, "absent: is about what several gateways have"),
            ({"gateways": "all", "absent": "lose"}, "absent: 'lose' is none"),
            ({"gateways": "all", "absent": "drop", "mode": "event"}, "without mode event"),
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


async def test_event_stream_tells_of_events(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, http(opened) as client:
        asked = {"query": SAID, "mode": "event"}
        async with client.stream("GET", "/subscribe", params=asked) as response:
            stream = Stream(response)
            assert (await stream.event()).notification["events"] == []
            await update(opened, "INSERT DATA { <urn:s> <urn:p> 1 }")
            told = (await stream.event()).notification
            assert (rows(told), told["events"][0]["rows"]) == (["1"], 1)
        refused = await client.get("/subscribe", params={**asked, "after": "{"})
        assert refused.status_code == 400
        assert "after: is no JSON" in refused.json()["error_description"]


@needs_mosquitto
async def test_mqtt_tells_of_events(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened:

        def work() -> tuple[Json, Json]:
            with listening(opened.mqtt_port) as heard:
                ask(opened.mqtt_port, {"subscribe": {"sparql": SAID, "mode": "event"}})
                first = heard.notification()
                said = update(opened, "INSERT DATA { <urn:s> <urn:p> 7 }")
                asyncio.run_coroutine_threadsafe(said, loop).result(WAIT_S)
                return first, heard.notification()

        loop = asyncio.get_running_loop()
        first, second = await asyncio.to_thread(work)
        assert first["events"] == []
        assert rows(second) == ["7"]


async def test_command_line_and_explain_know_events(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with gateway(tmp_path) as opened:
        url = f"http://{LOOPBACK}:{opened.http_port}"

        def first() -> tuple[Json, Json]:
            place = f"ws://{LOOPBACK}:{opened.http_port}/subscribe"
            told = service.notifications(place, SAID, over={"mode": "event"})
            with closing(cast("Generator[Json]", told)) as notifications:
                begun = next(notifications)
                said = update(opened, "INSERT DATA { <urn:s> <urn:p> 5 }")
                asyncio.run_coroutine_threadsafe(said, loop).result(WAIT_S)
                return begun, next(notifications)

        loop = asyncio.get_running_loop()
        begun, told = await asyncio.to_thread(first)
        assert (begun["events"], rows(told)) == ([], ["5"])
        asked = ["explain", SAID, "--mode", "event", "--url", url]
        assert await asyncio.to_thread(main, asked) == 0
        said = capsys.readouterr().out
        assert "would be served by the tier: event join" in said
        assert "in mode event" in said
        assert await asyncio.to_thread(main, ["explain", SAID, "--after", "x", "--url", url]) == 1
        assert "--after: 'x' is no GATEWAY=POSITION" in capsys.readouterr().err


async def test_clients_rules_and_saved_queries_have_the_mode(tmp_path: Path) -> None:
    rule: JsonObject = {
        "id": "urn:rule:1",
        "query": "SAID",
        "on": "added",
        "topic": "told/{o}",
        "payload": "{o}",
    }
    profile = write_profile(tmp_path, rules=[rule])
    members = json.loads(profile.read_text())
    members["queries"] = {"SAID": {"sparql": SAID, "mode": "event"}}
    profile.write_text(json.dumps(members))
    async with running(settings(tmp_path, profile)) as opened, http(opened) as client:
        spoken = {"protocol": "http", "port": opened.http_port, "query": {"path": "/query"}}
        members["sparql11protocol"] = spoken | {"update": {"path": "/update"}}
        members["sparql11seprotocol"] = {
            "protocol": "ws",
            "availableProtocols": {"ws": {"port": opened.http_port, "path": "/subscribe"}},
        }
        elsewhere = tmp_path / "client.jsap"
        elsewhere.write_text(json.dumps(members))

        def work() -> tuple[str, bytes]:
            with Device(opened.mqtt_port) as device:
                device.subscribe("told/+")
                said = update(opened, "INSERT DATA { <urn:s> <urn:p> 3 }")
                asyncio.run_coroutine_threadsafe(said, loop).result(WAIT_S)
                return device.receive()

        loop = asyncio.get_running_loop()
        async with AsyncConsumer(elsewhere, "SAID") as consumer:
            assert (await consumer.receive()).events == ()
            assert await asyncio.to_thread(work) == ("told/3", b"3")
            told = await consumer.receive()
            assert [each.rows for each in told.events] == [1]
            assert [row["o"] for row in told.added] == [Literal(3)]
            with pytest.raises(AgentError, match="no answer"):
                _ = consumer.solutions
        kept = await client.put("/saved/MINE", json={"sparql": SAID, "mode": "event"})
        assert kept.status_code == 200, kept.text
        (saved,) = (await client.get("/saved")).json()["saved"]
        assert saved["mode"] == "event"
        quiet = await client.post("/why/quiet", json={"name": "SAID"})
        assert (quiet.status_code, "mode event" in quiet.text) == (400, True)
        standing = (await client.get("/subscriptions")).json()["subscriptions"]
        assert [each["tier"] for each in standing if each.get("mode")] == ["event join"]
