"""QUERY over several gateways that run, and how they are: by HTTP and by the command line."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.rdf.namespaces import GW
from tests.gateway.app.test_federated_gateways import NAMES, bound, config, house, whole
from tests.gateway.app.test_windows_at_the_gates import http, notification, socket
from tests.kit.gateways import LOOPBACK, WAIT_S, free_port, running, settings, update, write_profile

pytest.importorskip("zenoh", reason="the extra federation is not installed")

Json = dict[str, Any]
ALL = {"gateways": "all"}
EVERY = "SELECT ?o { ?s <urn:p> ?o }"
AWAY = f"""SELECT ?name ?state {{ GRAPH <https://sosa-gateway.example/graph/federation> {{
  ?m <{GW}memberName> ?name ; <{GW}memberState> ?state ; <{GW}awaySince> ?since }} }}"""
JSON = {"Accept": "application/sparql-results+json"}


async def rows(client: httpx.AsyncClient, query: str, **more: str) -> tuple[Json, httpx.Headers]:
    answer = await client.get("/query", params={"query": query, **ALL, **more}, headers=JSON)
    assert answer.status_code == 200, answer.text
    return answer.json(), answer.headers


def values(answer: Json, *names: str) -> list[tuple[str, ...]]:
    found = answer["results"]["bindings"]
    return sorted(tuple(row[name]["value"] for name in names) for row in found)


@asynccontextmanager
async def heard(folder: Path) -> AsyncIterator[tuple[dict[str, Gateway], httpx.AsyncClient]]:
    """Three gateways that hear each other, and a client of one."""
    async with house(folder) as opened, http(opened["hall"]) as client:
        async with asyncio.timeout(WAIT_S):
            while not all(each["state"] == "up" for each in await members(client)):
                await asyncio.sleep(0.05)
        yield opened, client


async def members(client: httpx.AsyncClient) -> list[Json]:
    found: list[Json] = (await client.get("/federation")).json()["members"]
    return found


async def test_a_query_is_answered_on_what_all_have(tmp_path: Path) -> None:
    async with heard(tmp_path) as (opened, client):
        await update(opened["attic"], "INSERT DATA { <urn:a> <urn:p> 1 . <urn:s> <urn:p> 9 }")
        await update(opened["cellar"], "INSERT DATA { <urn:a> <urn:q> 2 . <urn:s> <urn:p> 9 }")
        await update(opened["hall"], "INSERT DATA { <urn:b> <urn:p> 3 }")
        answer, headers = await rows(client, EVERY)
        assert values(answer, "o") == [("1",), ("3",), ("9",)]
        places = dict(each.split("=") for each in headers["Federation-Position"].split(", "))
        assert set(places) == set(NAMES)
        assert "Federation-Missing" not in headers
        joined, _ = await rows(client, "SELECT ?x ?y { ?s <urn:p> ?x ; <urn:q> ?y }")
        assert values(joined, "x", "y") == [("1", "2")]
        each, _ = await rows(client, EVERY, mode="each")
        assert values(each, "gateway", "o") == [
            ("attic", "1"), ("attic", "9"), ("cellar", "9"), ("hall", "3"),
        ]  # fmt: skip
        some = await client.get(
            "/query", params={"query": EVERY, "gateways": "attic,hall"}, headers=JSON
        )
        assert values(some.json(), "o") == [("1",), ("3",), ("9",)]
        path, _ = await rows(client, "SELECT ?o { <urn:a> <urn:p>|<urn:q>/<urn:p>* ?o }")
        assert values(path, "o") == [("1",), ("2",)]
        counted, _ = await rows(client, "SELECT (COUNT(*) AS ?n) { ?s <urn:p> ?o }", mode="each")
        assert values(counted, "gateway", "n") == [("attic", "2"), ("cellar", "1"), ("hall", "1")]


async def test_an_answer_is_no_older_than_what_was_written(tmp_path: Path) -> None:
    async with heard(tmp_path) as (opened, client), http(opened["attic"]) as writer:
        for number in range(5):
            text = f"INSERT DATA {{ <urn:s> <urn:p> {number} }}"
            told = await writer.post("/update", data={"update": text})
            gateway, _, position = told.headers["Federation-Position"].partition("=")
            assert gateway == "attic"
            answer, _ = await rows(client, EVERY, after=json.dumps({gateway: position}))
            assert (str(number),) in values(answer, "o")


async def test_who_is_missing_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ports = {name: free_port() for name in NAMES}
    made = config(tmp_path / "hall", "hall", ports)
    federation = made.federation.model_copy(update={"wait_s": 0.2})
    alone = made.model_copy(update={"federation": federation})
    async with running(alone) as hall, http(hall) as client:
        await update(hall, "INSERT DATA { <urn:b> <urn:p> 3 }")
        refused = await client.get("/query", params={"query": EVERY, **ALL})
        assert (refused.status_code, refused.json()["error"]) == (503, "federation_incomplete")
        assert "attic, cellar" in refused.json()["error_description"]
        assert "Retry-After" in refused.headers
        answer, headers = await rows(client, EVERY, missing="allow")
        assert values(answer, "o") == [("3",)]
        assert headers["Federation-Missing"] == "attic, cellar"
        url = f"http://{LOOPBACK}:{hall.http_port}"
        command = ["query", "--gateways", "all", "--missing", "allow", EVERY, "--url", url]
        assert await asyncio.to_thread(main, command) == 0
        assert capsys.readouterr().err == "missing: attic, cellar\n"
        alarms = (await client.get("/alarms")).json()["alarms"]
        health = await client.get("/health")
        async with asyncio.timeout(WAIT_S):
            while {each["where"] for each in alarms} != {"attic", "cellar"}:
                await asyncio.sleep(0.1)
                alarms = (await client.get("/alarms")).json()["alarms"]
        assert {each["kind"] for each in alarms} == {"federation"}
        asked = {"query": AWAY}
        answer = (await client.get("/query", params=asked, headers=JSON)).json()
        assert values(answer, "name", "state") == [("attic", "away"), ("cellar", "away")]
        assert (health.status_code, health.json()["status"]) == (200, "ok")
        assert health.json()["federation"]["away"] == ["attic", "cellar"]


async def test_what_cannot_be_asked_of_others_is_refused(tmp_path: Path) -> None:
    async with heard(tmp_path) as (_, client):
        for query, more, said in (
            (EVERY, {"infer": "true"}, "leave out `infer`"),
            (EVERY, {"mode": "event"}, "subscribe in mode event"),
            (EVERY, {"missing": "never"}, "missing=allow"),
            ("SELECT * { ?s ?p ?o }", {}, "everything"),
            ("ASK { ?s <urn:p> ?o }", {"mode": "each"}, "SELECT"),
            ("SELECT ?gateway { ?gateway <urn:p> ?o }", {"mode": "each"}, "?gateway"),
        ):
            answer = await client.get("/query", params={"query": query, **ALL, **more})
            assert answer.status_code == 400, answer.text
            assert said in answer.json()["error_description"]
        for word, value in (("missing", "allow"), ("mode", "union"), ("after", "{}")):
            answer = await client.get("/query", params={"query": EVERY, word: value})
            assert answer.status_code == 400
            assert "gateways" in answer.json()["error_description"]


async def test_each_by_socket_has_the_gateway_of_a_row(tmp_path: Path) -> None:
    async with heard(tmp_path) as (opened, _), socket(opened["hall"]) as client:
        await update(opened["attic"], "INSERT DATA { <urn:s> <urn:p> 1 }")
        first = await whole(client, EVERY, mode="each")
        assert list(zip(bound(first, "gateway"), bound(first, "o"), strict=True)) == [
            ("attic", "1")
        ]
        await update(opened["cellar"], "INSERT DATA { <urn:s> <urn:p> 1 }")
        told = await notification(client)
        assert (bound(told, "gateway"), bound(told, "o")) == (["cellar"], ["1"])
        assert set(told["federation"]["positions"]) == set(NAMES)


async def test_explain_says_what_comes_from_others(tmp_path: Path) -> None:
    async with heard(tmp_path) as (opened, client):
        await update(opened["attic"], "INSERT DATA { <urn:a> <urn:p> 1, 2 . <urn:a> <urn:q> 3 }")
        await update(opened["hall"], "INSERT DATA { <urn:a> <urn:p> 5 }")
        asked = {"query": "SELECT * { ?s <urn:p> ?o ; <urn:q> 3 }", **ALL}
        answer = await client.get("/explain", params=asked, headers={"Accept": "application/json"})
        told = answer.json()["federation"]
        quads = {each["entry"]: each["quads"] for each in told["entries"]}
        number = '"3"^^<http://www.w3.org/2001/XMLSchema#integer>'
        assert quads == {
            "* <urn:p> * DEFAULT": {"attic": 2, "cellar": 0, "hall": 1},
            f"* <urn:q> {number} DEFAULT": {"attic": 1, "cellar": 0, "hall": 0},
        }
        assert told["missing"] == []
        text = (await client.get("/explain", params=asked)).text
        assert "* <urn:p> * DEFAULT: attic 2, cellar 0, hall 1" in text
        event = await client.get("/explain", params={**asked, "mode": "event"})
        assert "each event that answers it, once" in event.text


async def test_status_and_metrics_say_how_each_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with heard(tmp_path) as (opened, client), socket(opened["hall"]) as asking:
        await update(opened["attic"], "INSERT DATA { <urn:s> <urn:p> 1, 2 }")
        await whole(asking, EVERY)
        async with asyncio.timeout(WAIT_S):
            while {each["replica_quads"] for each in await members(client)} != {0, 2}:
                await asyncio.sleep(0.05)
        attic, cellar = await members(client)
        assert (attic["name"], attic["state"], attic["entries"]) == ("attic", "up", 1)
        assert attic["received_bytes"] > 0 < attic["sent_bytes"]
        assert attic["position"] is not None
        assert attic["lag_s"] < 20
        assert (cellar["name"], cellar["resyncs"], cellar["gaps"]) == ("cellar", 0, 0)
        metrics = (await client.get("/metrics")).text
        assert 'sosa_gateway_federation_members{peer="attic"} 1.0' in metrics
        assert 'sosa_gateway_federation_replica_quads{peer="attic"} 2.0' in metrics
        url = f"http://{LOOPBACK}:{opened['hall'].http_port}"
        for command, said in (
            (["federation", "status", "--url", url], "attic up since"),
            (["query", "--gateways", "all", "--mode", "each", EVERY, "--url", url], '"gateway"'),
            (
                ["query", "--gateways", "all", "--missing", "allow", EVERY, "--url", url],
                '"bindings"',
            ),
            (["explain", "--gateways", "attic,hall", EVERY, "--url", url], "attic 2, hall 0"),
        ):
            assert await asyncio.to_thread(main, command) == 0
            assert said in capsys.readouterr().out


async def test_without_a_federation_there_is_none_to_see(tmp_path: Path) -> None:
    alone = settings(tmp_path, write_profile(tmp_path))
    async with running(alone) as opened, http(opened) as client:
        assert (await client.get("/federation")).status_code == 404
        refused = await client.get("/query", params={"query": EVERY, **ALL})
        assert "[federation]" in refused.json()["error_description"]
