"""Queries that people save: kept, in force at once, never in the way of a profile's."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from tests.kit.gateways import LOOPBACK, MAPPINGS, running, settings, update, write_profile

ASK = "SELECT ?room { ?room <urn:warm> true }"


@asynccontextmanager
async def _served(folder: Path) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    config = settings(folder, write_profile(folder, queries={"LISTED": ASK}), kind="disk")
    async with running(config) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url) as client:
            yield gateway, client


async def test_what_is_saved_is_listed_and_still_there_after_a_restart(tmp_path: Path) -> None:
    async with _served(tmp_path) as (_, client):
        assert (await client.get("/saved")).json() == {"saved": []}
        body = {"sparql": ASK, "label": "warm rooms"}
        kept = await client.put("/saved/WARM", json=body)
        assert (kept.status_code, kept.json()) == (200, {"name": "WARM", **body})
        assert (await client.put("/saved/COLD", json={"sparql": ASK})).status_code == 200
    async with _served(tmp_path) as (_, client):
        found = (await client.get("/saved")).json()["saved"]
        assert [(each["name"], each["label"]) for each in found] == [
            ("COLD", ""),
            ("WARM", "warm rooms"),
        ]
        assert (await client.delete("/saved/WARM")).status_code == 204
        assert (await client.delete("/saved/WARM")).status_code == 404


async def test_windows_are_saved_with_their_query(tmp_path: Path) -> None:
    last = {"urn:w": {"stream": "urn:s", "triples": 3}}
    body = {"sparql": "SELECT ?o { GRAPH <urn:w> { ?s ?p ?o } }", "label": ""}
    async with _served(tmp_path) as (_, client):
        kept = await client.put("/saved/LAST", json={**body, "windows": last, "output": "added"})
        told = {"name": "LAST", **body, "windows": last, "output": "added"}
        assert (kept.status_code, kept.json()) == (200, told)
        assert (await client.get("/saved")).json()["saved"] == [told]
        wrong = {"urn:w": {"stream": "urn:s", "tripples": 3}}
        refused = await client.put("/saved/LAST", json={**body, "windows": wrong})
        assert refused.status_code == 400
        assert "urn:w: tripples: no such member" in refused.json()["error_description"]


async def test_queries_of_the_profiles_are_listed_beside_what_was_saved(tmp_path: Path) -> None:
    async with _served(tmp_path) as (_, client):
        await client.put("/saved/WARM", json={"sparql": ASK})
        listed = (await client.get("/profiles/queries")).json()["queries"]
        by_name = {each["name"]: each["sparql"] for each in listed}
        assert by_name["LISTED"] == ASK
        assert "WARM" not in by_name
        assert by_name["ABSENT"].startswith("PREFIX ")
        assert list(by_name) == sorted(by_name)


async def test_a_rule_may_name_what_was_saved_and_is_an_alarm_when_it_is_gone(
    tmp_path: Path,
) -> None:
    rule = (
        f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:r> a gw:RepublishRule ; gw:query 'WARM' ;"
        " gw:topicTemplate 'fan/set' ; gw:payloadTemplate 'ON' ; gw:on gw:Added } }"
    )
    async with _served(tmp_path) as (gateway, client):
        await client.put("/saved/WARM", json={"sparql": ASK})
        await update(gateway, rule)
        await gateway.stages.control.republisher.settled()
        await update(gateway, "INSERT DATA { <urn:hall> <urn:warm> true }")
        assert gateway.statistics()["commands_out"] == 1
        assert (await client.delete("/saved/WARM")).status_code == 204
        (alarm,) = (await client.get("/alarms")).json()["alarms"]
        assert (alarm["kind"], alarm["where"]) == ("broken_rule", "urn:r")


@pytest.mark.parametrize(
    ("name", "body", "status"),
    [
        ("LISTED", {"sparql": ASK}, 409),
        ("MAPPINGS", {"sparql": ASK}, 409),
        ("OBSERVE_QUANTITY", {"sparql": ASK}, 409),
        ("1st", {"sparql": ASK}, 400),
        ("x" * 65, {"sparql": ASK}, 400),
        ("BAD", {"sparql": "SELECT ?s {"}, 400),
        ("BAD", {"sparql": "INSERT DATA { <urn:a> <urn:b> 1 }"}, 400),
        ("BAD", {"sparql": "SELECT * { ?s nowhere:p ?o }"}, 400),
        ("BAD", {"sparql": "x" * 70_000}, 400),
        ("BAD", {}, 400),
        ("BAD", {"sparql": ASK, "other": 1}, 400),
    ],
)
async def test_what_cannot_be_saved_changes_nothing(
    name: str, body: dict[str, object], status: int, tmp_path: Path
) -> None:
    async with _served(tmp_path) as (_, client):
        answer = await client.put(f"/saved/{name}", json=body)
        assert answer.status_code == status, answer.text
        assert answer.json()["error_description"]
        assert not (tmp_path / "data" / "saved.jsap").exists()


async def test_many_who_save_at_once_lose_nothing(tmp_path: Path) -> None:
    async with _served(tmp_path) as (_, client):
        names = [f"Q{number}" for number in range(20)]
        answers = await asyncio.gather(
            *(client.put(f"/saved/{name}", json={"sparql": ASK}) for name in names)
        )
        assert {each.status_code for each in answers} == {200}
        found = (await client.get("/saved")).json()["saved"]
        assert {each["name"] for each in found} == set(names)


async def test_what_cannot_be_brought_into_force_is_taken_back(tmp_path: Path) -> None:
    async with _served(tmp_path) as (_, client):
        await client.put("/saved/GOOD", json={"sparql": ASK})
        (tmp_path / "test.jsap").write_text("{", encoding="utf-8")
        answer = await client.put("/saved/NEXT", json={"sparql": ASK})
        assert (answer.status_code, answer.json()["error"]) == (500, "configuration")
        kept = json.loads((tmp_path / "data" / "saved.jsap").read_text(encoding="utf-8"))
        assert list(kept["queries"]) == ["GOOD"]


async def test_a_file_that_somebody_broke_is_told_and_left_alone(tmp_path: Path) -> None:
    async with _served(tmp_path) as (_, client):
        await client.put("/saved/GOOD", json={"sparql": ASK})
        file = tmp_path / "data" / "saved.jsap"
        file.write_text("{", encoding="utf-8")
        for answer in (
            await client.get("/saved"),
            await client.put("/saved/NEXT", json={"sparql": ASK}),
        ):
            assert (answer.status_code, answer.json()["error"]) == (503, "storage")
        assert file.read_text(encoding="utf-8") == "{"
