"""/explain: how the running gateway serves a query, for those who operate it."""

import asyncio

import pytest

from gateway.cli.command import main
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.kit.fake_guard import FakeGuard
from tests.kit.http_client import ALL, check_error, open_gate

AGGREGATE = "SELECT (COUNT(?o) AS ?n) { ?s <urn:p> ?o }"


async def test_explained_as_text_and_as_json() -> None:
    async with open_gate() as client:
        text = await client.post("/explain", data={"query": ALL})
        assert text.headers["content-type"].startswith("text/plain")
        assert "would be served by the tier: single pattern" in text.text
        assert "LUTT (look-up triples table) * <urn:p> *" in text.text
        headers = {"Accept": "application/json"}
        answer = await client.get("/explain", params={"query": AGGREGATE}, headers=headers)
        explained = answer.json()
        assert explained["query"] == AGGREGATE
        assert explained["is_subscribed"] is False
        assert explained["lutt"][0]["predicate"] == "<urn:p>"
        assert explained["lutt"][0]["subject"] is None
        assert explained["refused"]
        assert explained["costs"] == {"updates": 0, "ms": 0.0, "rows": 0}


async def test_what_cannot_be_subscribed_is_said() -> None:
    async with open_gate() as client:
        broken = await client.post("/explain", data={"query": "SELECT ?s {"})
        check_error(broken, 400, "sparql_syntax")
        random = await client.post("/explain", data={"query": "SELECT (RAND() AS ?r) {}"})
        check_error(random, 400, "unsupported_query")


async def test_only_those_who_operate_are_told() -> None:
    one_graph = Policy(subscribe=frozenset(), capabilities=frozenset({Capability.OPERATIONS}))
    guard = FakeGuard(boss=EVERYTHING, mallory=Policy(query=None, subscribe=None), ops=one_graph)
    async with open_gate(guard=guard) as client:
        for name, status in (("mallory", 403), ("ops", 200), ("boss", 200)):
            headers = {"Authorization": f"Bearer {name}"}
            asked = await client.post("/explain", data={"query": ALL}, headers=headers)
            assert asked.status_code == status
        assert (await client.post("/explain", data={"query": ALL})).status_code == 401


async def test_from_the_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    async with open_gate() as client:
        url = str(client.base_url).rstrip("/")
        assert await asyncio.to_thread(main, ["explain", ALL, "--url", url]) == 0
        assert "would be served by the tier" in capsys.readouterr().out
        assert await asyncio.to_thread(main, ["explain", "SELECT", "--url", url]) == 1
        assert "sparql_syntax" in capsys.readouterr().err
