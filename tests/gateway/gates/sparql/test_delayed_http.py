"""Delayed UPDATEs by HTTP: sent, seen, cancelled, executed."""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest
from pyoxigraph import NamedNode

from gateway.engine import Engine
from gateway.engine.request import UpdateRequest
from gateway.errors import ForbiddenError
from gateway.rdf.namespaces import DELAYED_GRAPH
from gateway.rdf.rights import ALL_RIGHTS, Rights
from gateway.security.policy import EVERYTHING, Policy
from tests.kit.fake_guard import FakeGuard
from tests.kit.gateways import running, settings, watch, write_profile
from tests.kit.http_client import check_error, open_gate

INSERT = "INSERT DATA { <urn:later> <urn:p> 1 }"
LATER = {"update": INSERT, "delay": "1000"}


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with open_gate() as client:
        yield client


async def test_update_that_waits_is_seen_and_cancelled(client: httpx.AsyncClient) -> None:
    before = datetime.now(UTC)
    response = await client.post("/update", data=LATER)
    assert response.status_code == 202
    seen = (await client.get(response.headers["location"])).json()
    assert seen["sparql"] == INSERT
    assert seen["id"] == response.json()["id"]
    due = datetime.fromisoformat(seen["due"])
    assert timedelta(seconds=999) < due - before < timedelta(seconds=1100)
    assert (await client.get("/update/delayed")).json() == {"delayed": [seen]}
    assert (await client.delete(response.headers["location"])).status_code == 204
    check_error(await client.get(response.headers["location"]), 404, "not_found")
    check_error(await client.delete(response.headers["location"]), 404, "not_found")
    assert (await client.get("/update/delayed")).json() == {"delayed": []}


@pytest.mark.parametrize("at", ["2999-07-01T12:00:00Z", "2999-07-01T14:00:00.000+02:00"])
async def test_update_waits_until_a_time(client: httpx.AsyncClient, at: str) -> None:
    headers = {"Content-Type": "application/sparql-update"}
    response = await client.post("/sparql", params={"at": at}, content=INSERT, headers=headers)
    assert response.status_code == 202
    assert response.json()["due"] == "2999-07-01T12:00:00.000000Z"


@pytest.mark.parametrize(
    "parameters",
    [
        {"delay": "-1"},
        {"delay": "soon"},
        {"delay": "NaN"},
        {"delay": "9" * 30},
        {"delay": ""},
        {"delay": ["1", "2"]},
        {"delay": "1", "at": "2999-07-01T12:00:00Z"},
        {"at": "2999-07-01T12:00:00"},
        {"at": "2999-07-01"},
        {"at": "2999-13-01T12:00:00Z"},
        {"at": "tomorrow"},
    ],
)
async def test_time_that_is_none_is_refused(
    client: httpx.AsyncClient, parameters: dict[str, str | list[str]]
) -> None:
    response = await client.post("/update", data={"update": INSERT, **parameters})
    check_error(response, 400, "bad_request")
    assert (await client.get("/update/delayed")).json() == {"delayed": []}


@pytest.mark.parametrize("parameters", [{"delay": "999999999999"}, {"at": "999999999999.5"}])
async def test_time_beyond_the_calendar_is_kept(
    client: httpx.AsyncClient, parameters: dict[str, str]
) -> None:
    response = await client.post("/update", data={"update": INSERT, **parameters})
    assert response.status_code == 202
    assert len((await client.get("/update/delayed")).json()["delayed"]) == 1


async def test_bad_text_is_refused_at_once(client: httpx.AsyncClient) -> None:
    response = await client.post("/update", data={"update": "INSERT", "delay": "1"})
    check_error(response, 400, "sparql_syntax")


async def test_client_sees_and_cancels_its_own_alone() -> None:
    some = Policy(query=frozenset(), update=frozenset({NamedNode("urn:g")}))
    guard = FakeGuard(eve=some, ann=some, root=EVERYTHING)
    async with open_gate(guard=guard) as client:

        async def send(name: str, method: str, url: str, **data: str) -> httpx.Response:
            headers = {"Authorization": f"Bearer {name}"}
            return await client.request(method, url, headers=headers, data=data or None)

        location = (await send("ann", "POST", "/update", **LATER)).headers["location"]
        for method in ("GET", "DELETE"):
            check_error(await send("eve", method, location), 404, "not_found")
            check_error(await send("nobody", method, location), 401, "invalid_grant")
        assert (await send("eve", "GET", "/update/delayed")).json() == {"delayed": []}
        assert len((await send("ann", "GET", "/update/delayed")).json()["delayed"]) == 1
        assert len((await send("root", "GET", "/update/delayed")).json()["delayed"]) == 1
        assert (await send("ann", "DELETE", location)).status_code == 204
        location = (await send("ann", "POST", "/update", **LATER)).headers["location"]
        assert (await send("root", "DELETE", location)).status_code == 204


def test_rights_are_those_of_both_times() -> None:
    time = 0
    engine = Engine.open(clock=lambda: time)
    g, h = NamedNode("urn:g"), NamedNode("urn:h")
    then = Rights(write=frozenset({g}))
    present = {"ann": ALL_RIGHTS, "eve": Rights(write=frozenset({h}))}

    def rights_of(owner: str) -> Rights:
        if owner not in present:
            raise ForbiddenError("gone")
        return present[owner]

    engine.rights_of = rights_of
    for owner in ("ann", "eve", "gone"):
        for graph in ("g", "h"):
            text = f"INSERT DATA {{ GRAPH <urn:{graph}> {{ <urn:{owner}> <urn:p> 1 }} }}"
            engine.update(UpdateRequest(text, rights=then, at=1, owner=owner))
    time = 2
    outcomes = 0
    while engine.run_due() is not None:
        outcomes += 1
    assert (outcomes, engine.statistics.delayed_failed) == (6, 5)
    assert engine.query("ASK { GRAPH <urn:g> { <urn:ann> ?p ?o } }")
    assert not engine.query("ASK { GRAPH ?g { ?s ?p ?o } FILTER(?s != <urn:ann>) }")
    engine.close()


async def test_update_is_executed_after_its_delay(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        told = await watch(gateway, "SELECT ?o { <urn:later> <urn:p> ?o }")
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{gateway.http_port}") as client:
            sent = await client.post("/update", data={**LATER, "delay": "0.05"})
            assert sent.status_code == 202
            await told.until(lambda: len(told.notifications) == 2)
            graph = f"ASK {{ GRAPH {DELAYED_GRAPH} {{ ?s ?p ?o }} }}"
            async with asyncio.timeout(30):
                answer = await client.get("/query", params={"query": graph})
            assert answer.json()["boolean"] is False
    assert told.values() == ["1"]
