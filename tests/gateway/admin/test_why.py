"""Why: from a triple back to message, payload path, mapping and template; and the last messages."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import DefaultGraph, NamedNode

from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.config.settings import SecuritySettings
from gateway.rdf.terms import GraphName
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.gateway.ingest.test_mappings import insert
from tests.gateway.security.clients import identity
from tests.kit.gateways import (
    LOOPBACK,
    MAPPINGS,
    VALUES,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    update,
    write_profile,
)

TEMPERATURE = mapping("temperature", "room/+", selector="$.t", unit="unit:DEG_C")
HUMIDITY = mapping("humidity", "room/+", selector="$.h", unit="unit:PERCENT")
SOSA = "http://www.w3.org/ns/sosa/"
DECIMAL = "http://www.w3.org/2001/XMLSchema#decimal"


@asynccontextmanager
async def asking(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as client:
        yield client


async def why(client: httpx.AsyncClient, **asked: str) -> dict[str, Any]:
    answer = await client.get("/mappings/why", params=asked)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def observation(gateway: Gateway, value: str) -> str:
    return next(iri for iri, found in rows_of(gateway, VALUES) if found == value)


async def test_a_triple_is_led_back_to_its_message(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE, HUMIDITY])
    config = settings(tmp_path, profile, kind="disk")
    async with running(config) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [("room/a", b'{"t":21.50,"h":40}')])
        iri = observation(gateway, "21.5")
        triples = [
            (iri, f"{SOSA}hasSimpleResult", f'"21.50"^^<{DECIMAL}>'),
            (f"<{iri}/result>", "http://qudt.org/schema/qudt/numericValue", f'"21.5"^^<{DECIMAL}>'),
            (f"{iri}/time", "http://www.w3.org/1999/02/22-rdf-syntax-ns#type",
             "http://www.w3.org/2006/time#Instant"),
            ("urn:sensor:a", f"{SOSA}observes", "urn:property:temperature"),
        ]  # fmt: skip
        for subject, predicate, object_ in triples:
            told = await why(client, subject=subject, predicate=predicate, object=object_)
            (origin,) = told["observations"]
            assert (told["stored"], told["reason"], origin["iri"]) == (True, "", iri)
        assert origin["certain"]
        assert origin["message"]["payload"] == '{"t":21.50,"h":40}'
        assert (origin["message"]["topic"], origin["message"]["kept_in"]) == ("room/a", "ring")
        (made_by,) = origin["mappings"]
        assert (made_by["id"], made_by["selector"]) == ("urn:mapping:temperature", "$.t")
        assert made_by["source"] == f"{profile}: extended.mappings[0]"
        assert origin["template"]["id"] == "OBSERVE_QUANTITY"
        assert origin["template"]["file"].endswith("observations.jsap")
        line = origin["journal"]
        assert (line["result"], line["position"]) == ("21.50", iri.rpartition("/")[2])
    async with running(config) as gateway, asking(gateway) as client:
        (origin,) = (await why(client, iri=iri))["observations"]
        assert (origin["message"], origin["certain"]) == (None, False)
        assert origin["journal"] == line | {"segment": origin["journal"]["segment"]}
        assert [each["id"] for each in origin["mappings"]] == ["urn:mapping:temperature"]


async def test_what_no_observation_wrote_is_told_so(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [("room/a", b'{"t":1}')])
        iri = observation(gateway, "1")
        await update(gateway, f"INSERT DATA {{ <{iri}> <urn:note> 'mine' . <urn:x> <urn:y> 1 }}")
        for asked in (
            {"subject": iri, "predicate": "urn:note", "object": '"mine"'},
            {"subject": "urn:sensor:a", "predicate": "urn:note", "object": '"mine"'},
            {"subject": "urn:x", "predicate": "urn:y", "object": "urn:z"},
            {"iri": "urn:x"},
            {"iri": iri.rpartition("-")[0] + "-999"},
        ):
            told = await why(client, **asked)
            found = [each for each in told["observations"] if each["journal"]]
            assert not found, asked
            assert told["stored"] == (asked in ({"iri": "urn:x"},) or asked.get("subject") == iri)
        assert (await why(client, iri="urn:x"))["reason"].startswith("no observation")
        stream = f"{iri.partition('observation')[0]}stream/0"
        assert "of a stream" in (await why(client, iri=stream))["reason"]
        for wrong in WRONG:
            assert (await client.get(f"/mappings/why{wrong}")).status_code == 400, wrong


WRONG = (
    *("", "?iri=", "?iri=a b", "?iri=_:b", "?subject=urn:a", "?x=1", "?iri=urn:a&subject=urn:b"),
    "?subject=urn:a&predicate=_:p&object=urn:b",
    "?subject=<urn:a> <urn:p> <urn:o> .%0A<urn:b>&predicate=urn:p&object=urn:o",
)


async def test_mappings_tell_where_they_are_from(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        await update(gateway, insert("humidity"))
        await publish(gateway.mqtt_port, [("room/a", b'{"t":1,"h":2}')])
        (origin,) = (await why(client, iri=observation(gateway, "2")))["observations"]
        assert [each["source"] for each in origin["mappings"]] == ["UPDATE"]
        edits = {"replace": [{**HUMIDITY, "unit": "http://qudt.org/vocab/unit/FRACTION"}]}
        assert (await client.post("/mappings/apply", json=edits)).status_code == 200
        await publish(gateway.mqtt_port, [("room/a", b'{"h":3}')])
        (origin,) = (await why(client, iri=observation(gateway, "3")))["observations"]
        assert origin["mappings"][0]["source"].startswith("applied over HTTP: change 1, ")
        asked = {
            "subject": "urn:mapping:temperature",
            "predicate": "https://sosa-gateway.example/ns#format",
            "object": '"json"',
            "graph": MAPPINGS,
        }
        told = await why(client, **asked)
        assert (told["stored"], told["reason"]) == (
            True,
            f"as {profile}: extended.mappings[0] has it",
        )
        other = (
            f"WITH <{MAPPINGS}> DELETE {{ ?m gw:selector ?s }} INSERT {{ ?m gw:selector '$.x' }}"
        )
        await update(gateway, f"{other} WHERE {{ ?m gw:selector ?s FILTER(?s = '$.t') }}")
        assert (await why(client, **asked))["reason"] == "an UPDATE wrote this"
        (before,) = (await why(client, iri=observation(gateway, "1")))["observations"]
        assert before["mappings"][0]["selector"] == "$.t", "the mapping of then"


async def test_a_message_that_left_the_ring_may_be_in_quarantine(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE, HUMIDITY])
    config = settings(tmp_path, profile, raw_messages=0)
    async with running(config) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [("room/a", b'{"t":1,"h":null}')])
        (origin,) = (await why(client, iri=observation(gateway, "1")))["observations"]
        assert (origin["message"]["kept_in"], origin["certain"]) == ("quarantine", True)
        assert (await client.get("/messages")).json() == {"messages": [], "next": None}


async def test_the_last_messages_are_listed_in_pages(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    config = settings(tmp_path, profile, raw_messages=5)
    async with running(config) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [(f"room/{n}", b'{"t":%d}' % n) for n in range(8)])
        await publish(gateway.mqtt_port, [("nobody/knows", b"\xff")])
        first = (await client.get("/messages", params={"limit": 2})).json()
        assert first["messages"][0]["payload_base64"] == "/w=="
        assert first["messages"][0]["observation"] is None
        rest = (await client.get("/messages", params={"before": first["next"]})).json()
        topics = [each["topic"] for page in (first, rest) for each in page["messages"]]
        assert topics == ["nobody/knows", "room/7", "room/6", "room/5", "room/4"]
        assert rest["next"] is None
        some = (await client.get("/messages", params={"topic": "room/6"})).json()["messages"]
        assert some[0]["observation"] == observation(gateway, "6")
        for wrong in ("limit=0", "before=x", "topic=%23/a", "reason=null"):
            assert (await client.get(f"/messages?{wrong}")).status_code == 400


DEFAULT: frozenset[GraphName] = frozenset({DefaultGraph()})
OPERATES = frozenset({Capability.OPERATIONS})
POLICIES = {
    "boss": EVERYTHING,
    "reader": Policy(query=DEFAULT, capabilities=OPERATES),
    "plain": Policy(query=DEFAULT, receive=None),
    "blind": Policy(query=frozenset({NamedNode("urn:g")}), receive=None, capabilities=OPERATES),
}


async def test_a_client_is_told_what_its_rights_let_it_see(tmp_path: Path) -> None:
    store = IdentityStore(tmp_path / "data" / "security" / "identities.sqlite")
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.APPLICATION))
    mapped = write_profile(tmp_path, [TEMPERATURE])
    config = settings(tmp_path, mapped).model_copy(
        update={"security": SecuritySettings(enabled=True)}
    )
    async with running(config) as gateway, asking(gateway) as client:

        async def ask(who: str, path: str, **asked: str) -> httpx.Response:
            token = await client.post(
                "/oauth/token",
                data={"grant_type": "client_credentials"},
                auth=(f"{who}-id", f"{who}-secret"),
            )
            headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
            return await client.get(path, params=asked, headers=headers)

        await publish_as_boss(gateway)
        async with asyncio.timeout(60):
            while not rows_of(gateway, VALUES):
                await asyncio.sleep(0.01)
        iri = observation(gateway, "1")
        whole = (await ask("boss", "/mappings/why", iri=iri)).json()["observations"][0]
        assert whole["message"]["payload"] == '{"t":1}'
        assert whole["mappings"][0]["id"] == "urn:mapping:temperature"
        for who in ("reader", "plain"):
            (part,) = (await ask(who, "/mappings/why", iri=iri)).json()["observations"]
            assert (part["message"], part["mappings"]) == (None, []), who
            assert part["journal"]["result"] == "1"
            mapped_graph = {"subject": "urn:m", "predicate": "urn:p", "object": "urn:o"}
            answer = await ask(who, "/mappings/why", graph=MAPPINGS, **mapped_graph)
            assert answer.status_code == 403
        assert (await ask("blind", "/mappings/why", iri=iri)).status_code == 403
        assert (await ask("plain", "/messages")).status_code == 403
        assert (await ask("reader", "/messages")).json()["messages"] == []
        assert len((await ask("blind", "/messages")).json()["messages"]) == 1


async def publish_as_boss(gateway: Gateway) -> None:
    async with await RawClient.connect(
        gateway.mqtt_port, "device", "boss", "boss-secret"
    ) as device:
        await device.publish("room/a", b'{"t":1}')


async def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway:
        await publish(gateway.mqtt_port, [("room/a", b'{"t":1}'), ("x", b"\x1b[2J")])
        iri = observation(gateway, "1")

        async def run(*arguments: str) -> tuple[int, str]:
            url = f"http://{LOOPBACK}:{gateway.http_port}"
            code = await asyncio.to_thread(main, ["mapping", *arguments, "--url", url])
            told = capsys.readouterr()
            return code, told.out + told.err

        code, out = await run("why", iri)
        assert code == 0
        for words in ("room/a", "payload", "urn:mapping:temperature", "OBSERVE_QUANTITY", "$.t"):
            assert words in out
        code, out = await run("why", "urn:x", "urn:y", "urn:z")
        assert (code, "no observation" in out, "not in the store" in out) == (1, True, True)
        assert (await run("why", "urn:x", "urn:y"))[0] == 1
        code, out = await run("messages")
        assert (code, "(1 observation)" in out, "\x1b" in out) == (0, True, False)
        code, out = await run("messages", "--topic", "none", "--json")
        assert json.loads(out) == {"messages": [], "next": None}
