"""Queries of a profile, saved ones and rules that are about several gateways."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode

from gateway.app.gateway import Gateway
from gateway.client import AsyncClient
from jsap import Profile
from tests.gateway.app.test_federated_gateways import WARM_AND_EMPTY, house, tell, whole
from tests.gateway.app.test_windows_at_the_gates import http, socket
from tests.kit.gateways import LOOPBACK, Device, update

Json = dict[str, Any]
QUERIES: Json = {
    "WARM": {"sparql": WARM_AND_EMPTY, "gateways": "all"},
    "ROOMS": {
        "sparql": "SELECT ?room { ?room <urn:occupied> true }",
        "gateways": ["attic", "cellar"],
        "mode": "each",
    },
}
RULE: Json = {
    "id": "urn:rule:fan",
    "query": "WARM",
    "on": "added",
    "topic": "fan/{value}/set",
    "payload": '{"room":"{room}"}',
    "retain": True,
}


def with_rule(folder: Path) -> None:
    """The profile of hall: two queries over several gateways, and a rule that names one."""
    path = folder / "hall" / "test.jsap"
    profile = json.loads(path.read_text(encoding="utf-8"))
    profile["queries"] = QUERIES
    profile["extended"]["rules"] = [RULE]
    path.write_text(json.dumps(profile), encoding="utf-8")


def as_client(gateway: Gateway) -> Profile:
    """What a client of the gateway reads: the same queries, and where it is."""
    channel = {"port": gateway.websocket_port, "path": "/subscribe"}
    members: Json = {
        "host": LOOPBACK,
        "queries": QUERIES,
        "sparql11protocol": {"protocol": "http", "port": gateway.http_port},
        "sparql11seprotocol": {"protocol": "ws", "availableProtocols": {"ws": channel}},
    }
    return Profile.parse(members, source="test")


def command(port: int) -> tuple[str, bytes]:
    """The first that the fan is sent, also where that was before it came."""
    with Device(port, "fan") as fan:
        fan.subscribe("fan/+/set")
        return fan.receive()


async def test_a_rule_of_here_follows_a_reading_of_there(tmp_path: Path) -> None:
    async with house(tmp_path, with_rule) as opened:
        commanded = asyncio.create_task(asyncio.to_thread(command, opened["hall"].mqtt_port))
        await tell(opened["attic"], 7, 34)
        topic, payload = await commanded
    assert (topic, json.loads(payload)) == ("fan/34/set", {"room": "urn:room:7"})


async def test_a_client_names_the_query_alone(tmp_path: Path) -> None:
    async with house(tmp_path, with_rule) as opened:
        await update(opened["cellar"], "INSERT DATA { <urn:room:2> <urn:occupied> true }")
        async with AsyncClient(as_client(opened["hall"])) as client:
            async with socket(opened["hall"]) as waiting:
                await whole(waiting, WARM_AND_EMPTY)
            async with client.subscribe("WARM") as consumer:
                await tell(opened["attic"], 3, 33)
                async for told in consumer:
                    if told.added:
                        break
            assert [str(row["room"]) for row in told.added] == ["<urn:room:3>"]
            rows = await client.query("ROOMS")
    assert rows == [{"room": NamedNode("urn:room:2"), "gateway": Literal("cellar")}]


async def test_a_saved_query_keeps_of_whom_it_is_asked(tmp_path: Path) -> None:
    kept = {**QUERIES["ROOMS"], "label": "who is where"}
    async with house(tmp_path, with_rule) as opened, http(opened["hall"]) as client:
        saved = await client.put("/saved/occupied", json=kept)
        assert saved.status_code == 200, saved.text
        (told,) = (await client.get("/saved")).json()["saved"]
        assert (told["gateways"], told["mode"]) == (["attic", "cellar"], "each")
        listed = (await client.get("/profiles/queries")).json()["queries"]
        assert {each["name"]: each.get("gateways") for each in listed}["WARM"] == "all"
        quiet = await client.post("/why/quiet", json={"name": "occupied"})
        assert quiet.status_code == 400
        assert "several gateways" in quiet.json()["error_description"]


@pytest.mark.parametrize(
    "wrong", [{"gateways": "attic"}, {"gateways": 3}, {"absent": "drop", "mode": "both"}]
)
def test_what_a_profile_cannot_say_is_told(wrong: Json) -> None:
    with pytest.raises(ValueError, match=r"queries\.Q"):
        Profile.parse({"queries": {"Q": {"sparql": "ASK {}", **wrong}}}, source="test")
