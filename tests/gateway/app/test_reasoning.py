"""A gateway that reasons: ontologies, both views on every transport, bounds, contradictions."""

import asyncio
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest
from pyoxigraph import NamedNode
from websockets.asyncio.client import connect

from gateway.app.gateway import Gateway
from gateway.cli.checking.axioms import ontology_findings
from gateway.cli.command import main
from gateway.client import AsyncClient
from gateway.config.reasoning import ReasoningSettings
from gateway.config.settings import Config, JsapSettings
from gateway.engine import Engine
from gateway.errors import ForbiddenError, OntologyError
from gateway.rdf.terms import DEFAULT_GRAPH
from jsap import Profile
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    Device,
    mapping,
    publish,
    running,
    settings,
    update,
    write_profile,
)
from tests.kit.metrics import until_metric

ONTOLOGY = "https://sosa-gateway.example/graph/ontology"
PREFIXES = """@prefix : <urn:x:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""
MAKES = ":Acme rdfs:subClassOf :Thermometer . :Thermometer rdfs:subClassOf :Sensor .\n"
MADE_BY_SENSOR = "http://www.w3.org/ns/sosa/madeBySensor"
SENSORS = "SELECT ?s { ?s a <urn:x:Sensor> }"
TEMPERATURE = mapping("t", "room/+", selector="$.t", sensorClass="urn:x:Acme")


def written(folder: Path, text: str) -> Path:
    path = folder / "house.ttl"
    path.write_text(PREFIXES + text)
    return path


def reasoning(folder: Path, text: str = MAKES, **members: object) -> Config:
    """Settings of a gateway that reasons on the default graph, by one ontology."""
    base = settings(folder, write_profile(folder, [TEMPERATURE]))
    said = {"graphs": ["default"], "ontologies": [written(folder, text)], **members}
    return base.model_copy(update={"reasoning": ReasoningSettings.model_validate(said)})


def address(gateway: Gateway) -> str:
    return f"http://{LOOPBACK}:{gateway.http_port}"


async def asked(gateway: Gateway, query: str, **parameters: str) -> list[str]:
    async with httpx.AsyncClient(timeout=20) as client:
        answer = await client.get(
            f"{address(gateway)}/query", params={"query": query, **parameters}
        )
    assert answer.status_code == 200, answer.text
    rows = answer.json()["results"]["bindings"]
    return sorted(next(iter(row.values()))["value"] for row in rows)


async def status(gateway: Gateway) -> Any:
    async with httpx.AsyncClient(timeout=20) as client:
        return (await client.get(f"{address(gateway)}/reasoning")).json()


async def sent(gateway: Gateway, *rooms: str) -> None:
    await publish(gateway.mqtt_port, [(f"room/{room}", b'{"t":1}') for room in rooms])


async def test_what_a_reading_means_follows_by_its_mapping_and_the_axioms(tmp_path: Path) -> None:
    async with running(reasoning(tmp_path)) as gateway:
        await sent(gateway, "a")
        assert await asked(gateway, SENSORS) == []
        assert await asked(gateway, SENSORS, infer="true") == ["urn:sensor:a"]
        told = await status(gateway)
        assert (told["on"], told["used"]) == (True, {"SubClass": 2})
        assert told["domains"] == [{"graphs": ["default"], "into": "default", "suspended": ""}]
        assert {"axiom": "a <urn:x:Acme> is a <urn:x:Thermometer>", "derived": 1} in [
            {**each, "derived": min(each["derived"], 1)} for each in told["by_axiom"]
        ]


async def test_why_a_query_is_quiet_is_asked_of_either_view(tmp_path: Path) -> None:
    async with running(reasoning(tmp_path)) as gateway, httpx.AsyncClient(timeout=20) as client:
        await sent(gateway, "a")
        for said, rows in (({}, 0), ({"infer": False}, 0), ({"infer": True}, 1)):
            body = {"query": SENSORS, **said}
            answer = await client.post(f"{address(gateway)}/why/quiet", json=body)
            told = answer.json()
            assert (told["rows"], told["first_starved"]) == (rows, None if rows else 0)
    base = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]))
    async with running(base) as gateway, httpx.AsyncClient(timeout=20) as client:
        body = {"query": SENSORS, "infer": True}
        answer = await client.post(f"{address(gateway)}/why/quiet", json=body)
        assert answer.status_code == 400


@pytest.mark.parametrize(("infer", "count"), [(True, 1), (False, 0), (None, 0)])
async def test_a_rule_with_a_text_follows_what_is_derived_where_it_says_so(
    tmp_path: Path, infer: bool | None, count: int
) -> None:
    rule: dict[str, Any] = {
        "id": "urn:rule",
        "sparql": SENSORS,
        "on": "added",
        "topic": "told/{s}",
        "payload": "1",
    }
    if infer is not None:
        rule["infer"] = infer
    config = reasoning(tmp_path)
    write_profile(tmp_path, [TEMPERATURE], rules=[rule])
    async with running(config) as gateway:
        with Device(gateway.mqtt_port, "listener") as device:
            await asyncio.to_thread(device.subscribe, "told/#")
            await sent(gateway, "a")
            await update(gateway, "INSERT DATA { <urn:b> a <urn:x:Sensor> }")
            told = [await asyncio.to_thread(device.receive) for _ in range(count + 1)]
            assert [topic for topic, _ in told] == ["told/urn:sensor:a", "told/urn:b"][-count - 1 :]


async def test_infer_may_be_what_is_meant(tmp_path: Path) -> None:
    async with running(reasoning(tmp_path, infer=True)) as gateway:
        await sent(gateway, "a")
        assert await asked(gateway, SENSORS) == ["urn:sensor:a"]
        assert await asked(gateway, SENSORS, infer="false") == []
        async with httpx.AsyncClient(timeout=20) as client:
            explained = await client.get(f"{address(gateway)}/explain", params={"query": SENSORS})
            assert "on the entailed view" in explained.text
            graph = await client.get(f"{address(gateway)}/rdf-graph-store?default")
            assert "urn:x:Acme" in graph.text
            assert "urn:x:Sensor" not in graph.text, "GET then PUT makes no facts of conclusions"
            there = f"{address(gateway)}/rdf-graph-store?default"
            kind = {"Content-Type": graph.headers["Content-Type"]}
            put = await client.put(there, content=graph.content, headers=kind)
            assert put.is_success, put.text
            assert await asked(gateway, SENSORS, infer="false") == []
            assert await asked(gateway, SENSORS) == ["urn:sensor:a"]
            whole = await client.get(f"{address(gateway)}/rdf-graph-store?default&infer=true")
            assert "urn:x:Sensor" in whole.text
        where = "INSERT { ?s <urn:seen> 1 } WHERE { ?s a <urn:x:Sensor> }"
        await update(gateway, where)
        assert await asked(gateway, "SELECT ?s { ?s <urn:seen> 1 }") == []
        async with httpx.AsyncClient(timeout=20) as client:
            data = {"update": where, "infer": "true"}
            answer = await client.post(f"{address(gateway)}/update", data=data)
            assert answer.json()["response"]["body"] == {"added": 1, "removed": 0}


def profile(gateway: Gateway) -> Profile:
    channel = {"host": LOOPBACK, "port": gateway.websocket_port, "path": "/subscribe"}
    return Profile.parse(
        {
            "host": LOOPBACK,
            "sparql11protocol": {"port": gateway.http_port, "protocol": "http"},
            "sparql11seprotocol": {"protocol": "ws", "availableProtocols": {"ws": channel}},
            "queries": {"SENSORS": {"sparql": SENSORS, "infer": True}},
        }
    )


async def test_subscribers_of_every_transport_are_told_once(tmp_path: Path) -> None:
    async with (
        running(reasoning(tmp_path)) as gateway,
        AsyncClient(profile(gateway)) as client,
        client.subscribe("SENSORS") as consumer,
        httpx.AsyncClient(timeout=WAIT_S) as http,
    ):
        await consumer.receive()
        parameters = {"query": SENSORS, "infer": "true"}
        with Device(gateway.mqtt_port, "me") as device:
            await asyncio.to_thread(device.subscribe, "sparql/me/notification/+")
            device.send(
                "sparql/me/request", json.dumps({"subscribe": {"sparql": SENSORS, "infer": True}})
            )
            await asyncio.to_thread(device.receive)
            events = http.stream("GET", f"{address(gateway)}/subscribe", params=parameters)
            async with events as stream:
                lines = stream.aiter_lines()
                data = (line async for line in lines if line.startswith("data:"))
                await anext(data)
                await sent(gateway, "a", "a")
                await sent(gateway, "b")
                for name in ("a", "b"):
                    [row] = (await consumer.receive()).added
                    assert str(row["s"]) == f"<urn:sensor:{name}>"
                    for text in (
                        (await anext(data)).removeprefix("data:"),
                        (await asyncio.to_thread(device.receive))[1],
                    ):
                        rows = json.loads(text)["notification"]["addedResults"]["results"]
                        assert [each["s"]["value"] for each in rows["bindings"]] == [
                            f"urn:sensor:{name}"
                        ]


async def test_axioms_change_by_update_and_by_their_file(tmp_path: Path) -> None:
    config = reasoning(tmp_path)
    async with running(config) as gateway:
        await sent(gateway, "a")
        axiom = f"GRAPH <{ONTOLOGY}> {{ <urn:x:Acme> rdfs:subClassOf <urn:x:Thermometer> }}"
        prefix = "PREFIX rdfs: <http://www.w3.org/2000/01/rdf-schema#> "
        await update(gateway, f"{prefix} DELETE DATA {{ {axiom} }}")
        assert await asked(gateway, SENSORS, infer="true") == []
        written(tmp_path, MAKES + ":Acme rdfs:subClassOf :Sensor .")
        await until_metric(gateway, 'profile_reloads_total{outcome="changed"}', 1)
        assert await asked(gateway, SENSORS, infer="true") == ["urn:sensor:a"]
        written(tmp_path, ":Acme rdfs:subClassOf [ a owl:Restriction ; owl:someValuesFrom :S ] .")
        await until_metric(gateway, 'profile_reloads_total{outcome="refused"}', 1)
        assert await asked(gateway, SENSORS, infer="true") == ["urn:sensor:a"]
        assert "house.ttl" in gateway.stages.control.reload.error


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (":A rdfs:subClassOf <NoScheme> .", "house.ttl:3"),
        (":A rdfs:subClassOf [ a owl:Restriction ; owl:someValuesFrom :B ] .", "house.ttl: "),
        (
            ":A owl:unionOf [ <http://www.w3.org/1999/02/22-rdf-syntax-ns#first> :B ] .",
            "house.ttl: ",
        ),
        (":A owl:equivalentClass [ owl:unionOf ( :B ) ] . :p owl:inverseOf rdf:type .", "house"),
    ],
    ids=["no-iri", "no-property", "broken-list", "unknown-prefix"],
)
async def test_a_gateway_does_not_start_with_broken_axioms(
    tmp_path: Path, text: str, reason: str
) -> None:
    config = reasoning(tmp_path, text)
    with pytest.raises(OntologyError, match=reason):
        await Gateway(config).__aenter__()


async def test_a_gateway_does_not_start_without_a_file_that_it_names(tmp_path: Path) -> None:
    config = reasoning(tmp_path)
    (tmp_path / "house.ttl").unlink()
    with pytest.raises(OntologyError, match=r"house\.ttl cannot be read"):
        await Gateway(config).__aenter__()


BOTH = ":Acme rdfs:subClassOf :Sensor , :Device , :Thing .\n"


async def test_a_bound_that_a_reading_passes_suspends_and_is_resumed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(reasoning(tmp_path, BOTH, derived=7)) as gateway:
        url = address(gateway)
        await sent(gateway, "a", "b")
        assert await asked(gateway, SENSORS, infer="true") == ["urn:sensor:a", "urn:sensor:b"]
        await sent(gateway, "c", "d")
        assert len(await asked(gateway, "SELECT DISTINCT ?s { ?s a <urn:x:Acme> }")) == 4
        async with httpx.AsyncClient(timeout=20) as client:
            parameters = {"query": SENSORS, "infer": "true"}
            refused = await client.get(f"{url}/query", params=parameters)
            assert refused.status_code == 503
            assert "more than 7 quads would be derived" in refused.text
            health = (await client.get(f"{url}/health")).json()
            assert any("reasoning" in each for each in health["alarms"]), health
        assert await asyncio.to_thread(main, ["reasoning", "status", "--url", url]) == 1
        assert "SUSPENDED" in capsys.readouterr().out
        removed = (
            "DELETE { ?s a <urn:x:Acme> } WHERE { VALUES ?s { <urn:sensor:c> <urn:sensor:d> } }"
        )
        await update(gateway, removed)
        assert await asyncio.to_thread(main, ["reasoning", "resume", "--url", url]) == 0
        assert await asked(gateway, SENSORS, infer="true") == ["urn:sensor:a", "urn:sensor:b"]


async def test_who_subscribed_to_what_is_suspended_is_told_why_it_ends(tmp_path: Path) -> None:
    async with running(reasoning(tmp_path, BOTH, derived=7)) as gateway:
        async with connect(f"ws://{LOOPBACK}:{gateway.websocket_port}/subscribe") as socket:
            await socket.send(json.dumps({"subscribe": {"sparql": SENSORS, "infer": True}}))
            assert "notification" in await socket.recv(decode=True)
            await sent(gateway, "a", "b", "c", "d")
            while "notification" in (told := json.loads(await socket.recv())):
                assert not told["notification"]["removedResults"]["results"]["bindings"]
        assert (told["error"], told["status_code"]) == ("suspended", 503)
        assert "more than 7 quads would be derived" in told["error_description"]
        assert len(await asked(gateway, "SELECT DISTINCT ?s { ?s a <urn:x:Acme> }")) == 4


async def test_the_tail_of_the_journal_is_derived_from_before_anybody_subscribes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """To a store in memory all of the journal is the tail, as some of it is after a kill."""
    config = reasoning(tmp_path, f"<{MADE_BY_SENSOR}> rdfs:range :Sensor .")
    async with running(config) as gateway:
        await sent(gateway, "a", "b")
    started: list[tuple[int, set[str]]] = []
    start = Engine.start_reasoning

    def noted(engine: Engine) -> None:
        start(engine)
        assert engine.reasoner is not None
        found = engine.reasoner.derived.match(None, None, NamedNode("urn:x:Sensor"), DEFAULT_GRAPH)
        started.append((engine.statistics.subscriptions, {str(quad.subject) for quad in found}))

    monkeypatch.setattr(Engine, "start_reasoning", noted)
    async with running(config) as gateway:
        assert started == [(0, {"<urn:sensor:a>", "<urn:sensor:b>"})]
        assert await asked(gateway, SENSORS, infer="true") == ["urn:sensor:a", "urn:sensor:b"]


async def test_a_rule_follows_what_is_derived_where_its_query_says_so(tmp_path: Path) -> None:
    rule = {"id": "urn:rule", "query": "SENSORS", "topic": "seen/{s}", "payload": "1"}
    extended = {"mappings": [TEMPERATURE], "rules": [{**rule, "on": "added"}]}
    config = reasoning(tmp_path, BOTH, derived=7)
    (tmp_path / "test.jsap").write_text(
        json.dumps(
            {"queries": {"SENSORS": {"sparql": SENSORS, "infer": True}}, "extended": extended}
        )
    )
    async with running(config) as gateway:
        with Device(gateway.mqtt_port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "seen/#")
            await sent(gateway, "a")
            topic, _ = await asyncio.to_thread(device.receive)
            assert topic == "seen/urn:sensor:a"
        republisher = gateway.stages.control.republisher
        await sent(gateway, "b", "c", "d")
        await republisher.settled()
        assert "derived" in republisher.errors["urn:rule"]
        assert not republisher.standing


async def test_contradictions_are_counted_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = MAKES + ":Sensor owl:disjointWith :Room ."
    async with running(reasoning(tmp_path, text)) as gateway:
        await sent(gateway, "a")
        assert (await status(gateway))["contradicted"] == 0
        await update(gateway, "INSERT DATA { <urn:sensor:a> a <urn:x:Room> }")
        told = await status(gateway)
        assert told["contradicted"] == 1
        assert "<urn:sensor:a>" in told["contradictions"][0]
        url = address(gateway)
        assert await asyncio.to_thread(main, ["reasoning", "status", "--url", url]) == 0
        assert "1 contradictions" in capsys.readouterr().out


async def test_what_a_joint_domain_concludes_is_written_by_nobody(tmp_path: Path) -> None:
    joint = [{"graphs": ["default", "urn:rooms"], "into": "urn:all"}]
    async with running(reasoning(tmp_path, graphs=[], joint=joint)) as gateway:
        await sent(gateway, "a")
        query = "SELECT ?s { GRAPH <urn:all> { ?s a <urn:x:Sensor> } }"
        assert await asked(gateway, query, infer="true") == ["urn:sensor:a"]
        with pytest.raises(ForbiddenError):
            await gateway.scheduler.update("INSERT DATA { GRAPH <urn:all> { <urn:a> a <urn:b> } }")


def checked(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> Sequence[str]:
    assert main(["reasoning", "check", *arguments]) == code
    told = capsys.readouterr()
    return (told.out + told.err).splitlines()


def test_ontologies_are_checked_without_a_gateway(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, MAKES + ":p a owl:FunctionalProperty .")
    lines = checked(capsys, str(path))
    assert "  axioms: 2 (SubClass 2)" in lines
    assert any(line.startswith("  not used: 1 ") for line in lines)
    written(tmp_path, ":A rdfs:subClassOf <NoScheme> .")
    assert "house.ttl:3" in checked(capsys, str(path), code=1)[0]
    assert "no ontology 'buildin' ships" in checked(capsys, "buildin", code=1)[0]
    (tmp_path / "gateway.toml").write_text(
        '[reasoning]\nontologies = ["sosa-profile"]\n'
        '[[reasoning.joint]]\ngraphs = ["default", "urn:a"]\ninto = "urn:b"\n'
    )
    assert "  who may read urn:b sees what follows from all of them" in checked(capsys)


def test_a_check_tells_of_ontologies_what_a_start_would(tmp_path: Path) -> None:
    profile = tmp_path / "own.jsap"
    profile.write_text('{"extended": {"ontologies": ["bilding", "gone.ttl"]}}')
    base = reasoning(tmp_path, ":A rdfs:subClassOf <NoScheme> .")
    config = base.model_copy(update={"jsap": JsapSettings(profiles=(profile,))})
    told = [str(each) for each in ontology_findings(config, lambda *place: ".".join(place))]
    assert len(told) == 3
    assert "reasoning.ontologies" in told[-1]
    assert "house.ttl:3" in told[-1]
    assert "own.jsap: extended.ontologies: " in told[0]
    assert "no ontology 'bilding' ships" in told[0]
    assert "gone.ttl cannot be read: No such file" in told[1]
