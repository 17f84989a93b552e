"""Rehearsal: what changed mappings would make of the last messages, and nothing is changed."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import DefaultGraph

from gateway.admin.rehearsal import runner
from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.config.reasoning import ReasoningSettings
from gateway.config.settings import SecuritySettings
from gateway.engine import SubscribeRequest
from gateway.gates.admin import rehearsal
from gateway.rdf.namespaces import ONTOLOGY_GRAPH, RDFS
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.gateway.security.clients import identity
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    VALUES,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    update,
    watch,
    write_profile,
)

TEMPERATURE = mapping("temperature", "room/+", selector="$.t", unit="unit:DEG_C")
HUMIDITY = mapping("humidity", "room/+", selector="$.h", unit="unit:PERCENT")
WARM = "SELECT ?r ?v { ?o sosa:hasFeatureOfInterest ?r ; sosa:hasSimpleResult ?v FILTER(?v > 30) }"
READINGS = [(f"room/{room}", b'{"t":%d,"h":%d,"x":%d}' % (n, n + 10, n + 20))
            for n, room in enumerate("abcab", 18)]  # fmt: skip


@asynccontextmanager
async def asking(gateway: Gateway) -> AsyncIterator[httpx.AsyncClient]:
    url = f"http://{LOOPBACK}:{gateway.http_port}"
    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        yield client


async def rehearse(client: httpx.AsyncClient, **body: object) -> dict[str, Any]:
    answer = await client.post("/mappings/rehearse", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


async def test_differences_are_told_by_field_and_nothing_is_changed(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE, HUMIDITY])
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        await watch(gateway, PREFIXES + WARM)
        await publish(gateway.mqtt_port, READINGS)
        before = rows_of(gateway, "SELECT ?s ?p ?o { ?s ?p ?o }"), gateway.statistics()
        other = {**TEMPERATURE, "selector": "$.x", "property": "urn:property:warmth"}
        told = await rehearse(client, replace=[other], remove=["urn:mapping:humidity"])
        assert (told["messages"], told["kept"], told["same"]) == (5, 5, 0)
        assert told["counts"]["observations_changed"] == 5
        assert told["counts"]["observations_removed"] == 5
        gone, changed = told["observations"][:2]
        assert (changed["topic"], changed["fields"]) == ("room/a", ["property", "result"])
        assert (changed["old"]["result"], changed["new"]["result"]) == ("18", "38")
        assert (gone["old"]["property"], gone["new"]) == ("urn:property:humidity", None)
        results = [each for each in told["triples"]["added"] if "hasSimpleResult" in each]
        assert '"38"' in results[0]
        (standing,) = told["subscriptions"]
        rows = sorted((row["r"], row["v"].split('"')[1]) for row in standing["added"])
        assert rows == [("<urn:room:a>", "41"), ("<urn:room:b>", "42"), ("<urn:room:c>", "40")]
        passing = {row["v"].split('"')[1] for row in standing["passing"]["added"]}
        assert passing == {"38", "39"}, "those that later ones replaced"
        assert (rows_of(gateway, "SELECT ?s ?p ?o { ?s ?p ?o }"), gateway.statistics()) == before


async def test_the_same_mappings_make_no_difference(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE, HUMIDITY])
    async with running(settings(tmp_path, profile, latest=2)) as gateway, asking(gateway) as client:
        await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [*READINGS, ("room/a", b'{"t":null,"h":1}')])
        told = await rehearse(client, replace=[TEMPERATURE], queries=[PREFIXES + WARM, "SELECT {"])
        assert (told["same"], told["counts"], told["observations"]) == (11, {}, [])
        assert told["triples"] == {"added": [], "removed": []}
        own, broken, standing = told["subscriptions"]
        assert own["counts"] == standing["counts"] == {"added": 0, "removed": 0}
        assert "error" in broken


async def test_a_profile_with_new_mappings_reads_what_nobody_read(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, [*READINGS, ("hall/1", b"7"), ("hall/2", b"?")])
        members = json.loads(profile.read_text())
        members["extended"]["mappings"] = [mapping("hall", "hall/+", format="scalar")]
        told = await rehearse(client, profile=members, topic="hall/#")
        assert (told["messages"], told["counts"]["observations_added"]) == (2, 1)
        assert told["faults"][0]["kind"] == "added"
        wrong = {"profile": {"extended": {"mappings": 7}}}
        answer = await client.post("/mappings/rehearse", json=wrong)
        assert answer.status_code == 400
        answer = await client.post(
            "/mappings/rehearse", json={"replace": [{**TEMPERATURE, "selector": "no path"}]}
        )
        assert (answer.status_code, answer.json()["error"]) == (400, "invalid_mapping")
        bodies: list[object] = [{"topic": "a/#/b"}, {"nonsense": 1}, {"queries": [7]}, []]
        for body in bodies:
            assert (await client.post("/mappings/rehearse", json=body)).status_code == 400


async def test_what_follows_is_rehearsed_by_the_axioms_of_the_gateway(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    reasoning = ReasoningSettings.model_validate({"graphs": ["default"]})
    config = settings(tmp_path, profile).model_copy(update={"reasoning": reasoning})
    sensors = "SELECT ?s { ?s a <urn:x:Sensor> }"
    async with running(config) as gateway, asking(gateway) as client:
        above = f"<urn:x:Acme> <{RDFS}subClassOf> <urn:x:Sensor>"
        await update(gateway, f"INSERT DATA {{ GRAPH {ONTOLOGY_GRAPH} {{ {above} }} }}")
        for infer in (True, False):
            request = SubscribeRequest(sensors, infer=infer)
            await gateway.scheduler.subscribe(request, sink=lambda _: None)
        await publish(gateway.mqtt_port, [("hall/1", b"7"), ("hall/2", b"8")])
        members = json.loads(profile.read_text())
        hall = mapping("hall", "hall/+", format="scalar", sensorClass="urn:x:Acme")
        members["extended"]["mappings"] = [hall]
        told = await rehearse(client, profile=members)
        counts = sorted(each["counts"]["added"] for each in told["subscriptions"])
        assert counts == [0, 2]


async def test_its_bounds_are_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, READINGS)
        monkeypatch.setattr(rehearsal, "MOST_QUADS", 5)
        told = await rehearse(client, remove=["urn:mapping:temperature"])
        assert told["subscriptions"] == []
        assert told["subscriptions_skipped"] == "the store has more than 5 quads"
        assert told["counts"]["observations_removed"] == 5
        monkeypatch.setattr(runner, "TIME_S", 0.0)
        told = await rehearse(client, remove=["urn:mapping:temperature"])
        assert (told["messages"], told["kept"]) == (0, 5)
        monkeypatch.setattr(runner, "_END_S", 0.01)
        answers = await asyncio.gather(
            *(client.post("/mappings/rehearse", json={}) for _ in range(2))
        )
        assert sorted(answer.status_code for answer in answers) == [429, 503]
        monkeypatch.setattr(runner, "_PROGRAM", "raise SystemExit('it broke')")
        monkeypatch.setattr(runner, "_END_S", 30.0)
        answer = await client.post("/mappings/rehearse", json={})
        assert (answer.status_code, "it broke" in answer.text) == (500, True)
        await publish(gateway.mqtt_port, [("room/a", b'{"t":99}')])
        assert "99" in [value for _, value in rows_of(gateway, VALUES)]


async def test_a_query_that_is_too_much_costs_the_rehearsal_alone(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    config = settings(tmp_path, profile, query_solutions=1000)
    async with running(config) as gateway, asking(gateway) as client:
        await publish(gateway.mqtt_port, READINGS)
        values = " ".join(f"<urn:s> <urn:p> {n} ." for n in range(400))
        await update(gateway, f"INSERT DATA {{ {values} }}")
        product = "{ ?a ?b ?c . ?d ?e ?f . ?g ?h ?i }"
        told = await rehearse(client, queries=[f"SELECT * {product}"])
        assert "1000 solutions" in told["subscriptions"][0]["error"]
        all_at_once = f"SELECT * {product} ORDER BY ?c ?f ?i"
        answer = await client.post("/mappings/rehearse", json={"queries": [all_at_once]})
        assert answer.status_code in {413, 503}, answer.text
        await publish(gateway.mqtt_port, [("room/a", b'{"t":99}')])
        assert "99" in [value for _, value in rows_of(gateway, VALUES)]


async def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway:
        await publish(gateway.mqtt_port, READINGS)
        await update(gateway, "INSERT DATA { <urn:a> <urn:p> 1 }")

        async def run(*arguments: str) -> tuple[int, str]:
            url = f"http://{LOOPBACK}:{gateway.http_port}"
            words = ["mapping", "rehearse", *arguments, "--url", url]
            code = await asyncio.to_thread(main, words)
            told = capsys.readouterr()
            return code, told.out + told.err

        edits = json.dumps({"replace": [{**TEMPERATURE, "selector": "$.x"}]})
        code, out = await run(edits, "--query", PREFIXES + WARM)
        assert code == 0
        for words in ("5 of 5 messages", "5 observations changed", "result: 18 -> 38", "+ ?r="):
            assert words in out
        assert (await run(f"@{profile}"))[1].count("no difference") == 1
        code, out = await run(edits, "--json", "--topic", "room/a")
        assert json.loads(out)["messages"] == 2
        assert (await run("{"))[0] == 1


MAPS = frozenset({Capability.MAPPINGS})
POLICIES = {
    "boss": EVERYTHING,
    "mapper": Policy(
        query=frozenset({DefaultGraph()}), receive=frozenset({"room/a"}), capabilities=MAPS
    ),
    "blind": Policy(query=frozenset(), receive=None, capabilities=MAPS),
    "reader": Policy(query=None, receive=None),
}


async def test_a_client_rehearses_what_its_rights_let_it_see(tmp_path: Path) -> None:
    store = IdentityStore(tmp_path / "data" / "security" / "identities.sqlite")
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.APPLICATION))
    profile = write_profile(tmp_path, [TEMPERATURE])
    config = settings(tmp_path, profile).model_copy(
        update={"security": SecuritySettings(enabled=True)}
    )
    async with running(config) as gateway, asking(gateway) as client:

        async def ask(who: str, **body: object) -> httpx.Response:
            token = await client.post(
                "/oauth/token",
                data={"grant_type": "client_credentials"},
                auth=(f"{who}-id", f"{who}-secret"),
            )
            headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
            return await client.post("/mappings/rehearse", json=body, headers=headers)

        await watch(gateway, VALUES)
        await watch(gateway, PREFIXES + WARM)
        async with await RawClient.connect(
            gateway.mqtt_port, "device", "boss", "boss-secret"
        ) as device:
            for topic, payload in READINGS:
                await device.publish(topic, payload)
        async with asyncio.timeout(60):
            while gateway.statistics()["observations"] < 5:
                await asyncio.sleep(0.01)
        every = {"remove": ["urn:mapping:temperature"], "queries": [VALUES]}
        assert (await ask("reader", **every)).status_code == 403
        whole = (await ask("boss", **every)).json()
        assert (whole["messages"], len(whole["subscriptions"])) == (5, 3)
        part = (await ask("mapper", **every)).json()
        assert (part["messages"], len(part["subscriptions"])) == (2, 1)
        (own,) = part["subscriptions"]
        assert own["counts"] == {"added": 0, "removed": 1}
        nothing = (await ask("blind", **every)).json()
        assert nothing["messages"] == 5
        seen = [row for each in nothing["subscriptions"] for row in each["removed"]]
        assert len(seen) == 3, "of the messages alone, which it may receive"


async def test_what_rules_would_have_sent_is_told_with_the_message(tmp_path: Path) -> None:
    rules = [
        {"id": "fan", "sparql": PREFIXES + WARM, "topic": "fan/{v}", "payload": '{"on":{v}}'},
        {"id": "off", "sparql": PREFIXES + WARM, "topic": "off", "payload": "", "on": "removed"},
        {"id": "bad", "sparql": "SELECT", "topic": "t", "payload": ""},
        {"id": "empty", "sparql": PREFIXES + WARM, "topic": "{nothing}", "payload": ""},
    ]
    sent: list[tuple[str, str]] = []
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway, asking(gateway) as client:
        for number in (29, 31, 30, 32):
            await publish(gateway.mqtt_port, [("room/a", b'{"t":%d}' % number)])
        told = await rehearse(client, rules=rules)
        sent = [(each["rule"], each["topic"]) for each in told["commands"]]
        assert sent == [("fan", "fan/31"), ("off", "off"), ("fan", "fan/32")]
        assert told["commands_count"] == 3
        assert told["commands"][0]["payload"] == '{"on":31}'
        assert told["commands"][0]["message"]["topic"] == "room/a"
        assert {each["rule"] for each in told["rules_failed"]} == {"bad", "empty"}
        assert gateway.statistics()["commands_out"] == 0
        assert "commands" not in await rehearse(client)
