"""The trail of a value: its stations in order, what is broken and what is waited for."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from pyoxigraph import DefaultGraph

from gateway.app.gateway import Gateway
from gateway.security.policy import EVERYTHING, Policy
from tests.gateway.gates.looking.guarded import guarded
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.kit.gateways import (
    LOOPBACK,
    VALUES,
    WAIT_S,
    JsonObject,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    update,
    write_profile,
)

TEMPERATURE = mapping("temperature", "room/+", selector="$.t", unit="unit:DEG_C")
POWER = mapping("power", "meter/1", selector="$.p", unit="unit:W")
WARM = (
    "SELECT ?room ?t { ?o sosa:hasFeatureOfInterest ?room ; sosa:hasSimpleResult ?t ;"
    " sosa:observedProperty <urn:property:temperature> FILTER(?t > 20) }"
)
RULE: JsonObject = {
    "id": "urn:rule:fan",
    "query": "WARM",
    "topic": "fan/set",
    "payload": "ON",
    "on": "added",
}
DATE = '"2026-03-02T07:22:40Z"^^xsd:dateTime'
ACTUATIONS = "https://sosa-gateway.example/graph/actuations"


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    profile = write_profile(folder, [TEMPERATURE, POWER], [RULE], {"WARM": WARM})
    async with running(settings(folder, profile)) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
            yield gateway, client


async def trail(client: httpx.AsyncClient, **asked: str) -> dict[str, Any]:
    answer = await client.get("/why/trail", params=asked)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def by_kind(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {each["kind"]: each for each in told["stations"]}


def values(station: dict[str, Any]) -> dict[str, str]:
    return {each["name"]: each["value"] for each in station["items"]}


async def test_an_observation_is_followed_from_its_message_to_the_rule(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await gateway.stages.control.republisher.settled()
        await publish(gateway.mqtt_port, [("room/hall", b'{"t":21.5}')])
        ((iri, _),) = rows_of(gateway, VALUES)
        told = await trail(client, iri=iri)
        assert told["about"] == iri
        assert [each["kind"] for each in told["stations"]] == [
            *("message", "mapping", "observation", "triples", "question", "rule", "command")
        ]
        found = by_kind(told)
        assert {kind: each["status"] for kind, each in found.items()} == {
            **dict.fromkeys(("message", "mapping", "observation", "triples"), "ok"),
            "question": "ok",
            "rule": "ok",
            "command": "waiting",
        }
        assert values(found["message"])["payload"] == '{"t":21.5}'
        assert found["message"]["time"]
        assert found["mapping"]["items"][0]["link"] == {
            "kind": "mapping",
            "id": "urn:mapping:temperature",
        }
        assert values(found["observation"])["value"] == "21.5 http://qudt.org/vocab/unit/DEG_C"
        assert values(found["rule"]) == {"rule": "urn:rule:fan"}
        triple = {
            "subject": iri,
            "predicate": "http://www.w3.org/ns/sosa/madeBySensor",
            "object": "urn:sensor:hall",
        }
        assert (await trail(client, **triple))["stations"] == told["stations"]
        newest = await trail(client, sensor="urn:sensor:hall", property="urn:property:temperature")
        assert newest == told
        row = json.dumps({"room": {"type": "uri", "value": "urn:room:hall"}})
        of_row = await trail(client, query="WARM", row=row)
        assert of_row["about"] == iri
        assert by_kind(of_row)["question"]["title"] == "a row of"
        gone = json.dumps({"room": {"type": "uri", "value": "urn:room:none"}})
        (question,) = (await trail(client, query="WARM", row=gone))["stations"]
        assert (question["kind"], question["status"]) == ("question", "broken")
        assert "POST /why/quiet" in question["advice"]


async def test_a_silent_sensor_breaks_the_trail_where_it_is(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, [("room/hall", b'{"t":1}')])
        stream = (
            "<urn:stream> gw:ofSensor <urn:sensor:hall> ; gw:ofProperty <urn:property:temperature>"
            f" ; gw:absenceReason gw:Offline ; gw:absentSince {DATE}"
        )
        await update(gateway, f"INSERT DATA {{ {stream} }}")
        told = await trail(client, sensor="<urn:sensor:hall>", property="urn:property:temperature")
        broken = by_kind(told)["observation"]
        assert broken["status"] == "broken"
        assert "offline: 2026-03-02T07:22:40Z" in broken["problem"]
        assert "battery" in broken["advice"]
        assert values(broken)["sensor"] == "urn:sensor:hall"


async def test_what_was_never_observed_says_what_is_in_its_way(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        power = {"sensor": "urn:sensor:1", "property": "urn:property:power"}
        told = by_kind(await trail(client, **power))
        assert [told[kind]["status"] for kind in ("message", "mapping", "observation")] == [
            "waiting"
        ] * 3
        assert "meter/1" in told["mapping"]["problem"]
        await publish(gateway.mqtt_port, [("meter/1", b"{")])
        told = by_kind(await trail(client, **power))
        assert told["message"]["status"] == "broken"
        assert "in quarantine" in told["message"]["problem"]
        noise = {"sensor": "urn:sensor:1", "property": "urn:property:noise"}
        told = by_kind(await trail(client, **noise))
        assert told["mapping"]["status"] == "broken"
        assert "no mapping gives it" in told["mapping"]["problem"]


async def test_a_command_is_followed_back_to_the_reading_that_confirmed_it(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, [("room/hall", b'{"t":1}')])
        ((iri, _),) = rows_of(gateway, VALUES)
        states = {
            "urn:sent": "gw:status gw:Sent",
            "urn:failed": f"gw:status gw:Failed ; gw:endedAt {DATE} ; gw:failureReason 'no answer'",
            "urn:done": (
                f"gw:status gw:Confirmed ; gw:endedAt {DATE} ; sosa:relatedObservation <{iri}>"
            ),
        }
        for actuation, state in states.items():
            known = f"sosa:madeByActuator <urn:fan> ; gw:requestedAt {DATE}"
            quads = f"GRAPH <{ACTUATIONS}> {{ <{actuation}> {known} ; {state} }}"
            await update(gateway, f"INSERT DATA {{ {quads} }}")
        (waiting,) = (await trail(client, command="urn:sent"))["stations"]
        assert (waiting["kind"], waiting["status"]) == ("command", "waiting")
        (failed,) = (await trail(client, command="urn:failed"))["stations"]
        assert (failed["status"], failed["problem"]) == ("broken", "no answer")
        done = await trail(client, command="urn:done")
        assert [each["kind"] for each in done["stations"]] == [
            *("message", "mapping", "observation", "triples", "rule", "command")
        ]
        assert done["stations"][-1]["status"] == "ok"
        confirmed = by_kind(await trail(client, iri=iri))["command"]
        assert confirmed["items"][0]["link"] == {"kind": "command", "id": "urn:done"}
        assert (await client.get("/why/trail?command=nobody")).status_code == 404


WRONG = (
    *("", "?iri=", "?iri=a b", "?x=1", "?iri=urn:a&sensor=urn:b", "?sensor=urn:a", "?sensor=a b"),
    *("?iri=urn:a&x=1", "?query=WARM", "?query=WARM&row=1", "?query=WARM&row={}"),
    '?query=WARM&row={"nobody":{"type":"uri","value":"urn:a"}}',
)


async def test_what_is_wrong_is_refused_and_what_nobody_wrote_is_told(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        for wrong in WRONG:
            assert (await client.get(f"/why/trail{wrong}")).status_code == 400, wrong
        assert (await client.get("/why/trail?query=NOBODY&row={}")).status_code == 404
        await update(gateway, "INSERT DATA { <urn:x> <urn:y> 1 }")
        (station,) = (await trail(client, iri="urn:x"))["stations"]
        assert station["problem"].startswith("no observation")


async def test_nobody_is_told_what_they_may_not_know(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE, POWER], [RULE], {"WARM": WARM})
    policies = {
        "boss": EVERYTHING,
        "plain": Policy(query=frozenset({DefaultGraph()})),
        "blind": Policy(),
    }
    config = settings(tmp_path, profile)
    async with guarded(config, tmp_path, policies) as (gateway, ask):
        async with await RawClient.connect(
            gateway.mqtt_port, "device", "boss", "boss-secret"
        ) as device:
            await device.publish("room/hall", b'{"t":1}')
        async with asyncio.timeout(WAIT_S):
            while not (found := rows_of(gateway, VALUES)):
                await asyncio.sleep(0.01)
        path = f"/why/trail?iri={found[0][0]}"
        assert (await ask("", "GET", path)).status_code == 401
        assert (await ask("blind", "GET", path)).status_code == 403
        told = (await ask("plain", "GET", path)).json()
        assert [each["kind"] for each in told["stations"]] == [
            *("message", "mapping", "observation", "triples", "command")
        ]
        assert "urn:mapping" not in json.dumps(told)
        assert '{"t":1}' not in json.dumps(told)
        whole = (await ask("boss", "GET", path)).text
        assert "urn:mapping:temperature" in whole
        assert "urn:rule:fan" in whole
        sensor = "/why/trail?sensor=urn:sensor:1&property=urn:property:power"
        told = (await ask("plain", "GET", sensor)).json()
        assert "meter" not in json.dumps(told)
