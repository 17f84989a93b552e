"""Agents over windows: declared by profile or call, fed by `push`, exact behind lost lines."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pyoxigraph import Literal, NamedNode, Triple

from gateway.app.gateway import Gateway
from gateway.client import (
    AgentError,
    AsyncClient,
    Backoff,
    Client,
    Notification,
    RefusedError,
    Settings,
)
from gateway.client.notification import Answer
from gateway.engine.windowed.declared import Declared
from tests.gateway.client.places import JsonObject, Relay, on_ports
from tests.kit.gateways import WAIT_S, running, settings, text, write_profile

SETTINGS = Settings(timeout_s=20, backoff=Backoff(first_s=0.01, most_s=0.1))
STREAM = "urn:my:building"
LAST: JsonObject = {"stream": "my:building", "triples": 2}
PROFILE: JsonObject = {
    "namespaces": {"my": "urn:my:"},
    "queries": {
        "LAST": {
            "sparql": "SELECT ?o { GRAPH <urn:my:w> { ?s <urn:p> ?o } }",
            "windows": {"my:w": LAST},
        },
        "OF": {
            "sparql": "SELECT ?o { GRAPH <urn:my:w> { ?s <urn:p> ?o } }",
            "forcedBindings": {"s": {"type": "uri"}},
            "windows": {"my:w": LAST},
        },
    },
    "updates": {},
}


@asynccontextmanager
async def gateway(folder: Path, resume_s: int = 10) -> AsyncIterator[Gateway]:
    async with running(settings(folder, write_profile(folder), resume_s=resume_s)) as opened:
        opened.scheduler.engine.windowed.declared = Declared(streams=frozenset((STREAM,)))
        yield opened


@asynccontextmanager
async def kept(folder: Path, opened: Gateway) -> AsyncIterator[None]:
    """Somebody else has the window meanwhile: what nobody sees holds nothing."""
    profile = on_ports(folder, PROFILE, opened.http_port, opened.websocket_port)
    async with AsyncClient(profile, SETTINGS) as client, client.subscribe("LAST"):
        yield


def triples(*values: int, subject: str = "urn:s") -> list[Triple]:
    node = NamedNode(subject)
    return [Triple(node, NamedNode("urn:p"), Literal(value)) for value in values]


def values(notification: Notification) -> tuple[list[int], list[int]]:
    """What came and what went."""
    found = [
        sorted(int(text(each["o"])) for each in rows)
        for rows in (notification.added, notification.removed)
    ]
    return found[0], found[1]


@pytest.mark.parametrize("resume_s", [10, 0])
async def test_lost_line_loses_and_doubles_nothing(tmp_path: Path, resume_s: int) -> None:
    async with gateway(tmp_path, resume_s=resume_s) as opened:
        relay = Relay(opened.websocket_port)
        profile = on_ports(tmp_path, PROFILE, opened.http_port, relay.port)
        async with (
            kept(tmp_path, opened),
            relay.running(),
            AsyncClient(profile, SETTINGS) as client,
            client.subscribe("LAST") as consumer,
            asyncio.timeout(WAIT_S * 2),
        ):
            first = await consumer.receive()
            assert first.windows["urn:my:w"]["elements"] == 0
            assert await client.push("my:building", triples(1)) == {
                "stream": STREAM,
                "elements": 1,
                "triples": 1,
            }
            assert values(await consumer.receive()) == ([1], [])
            relay.cut()
            await client.push(STREAM, triples(2, 3), by_line=True)
            told = await consumer.receive()
            assert values(told) == ([2, 3], [1])
            assert told.again == (not resume_s)
            assert len(consumer.solutions) == 2


@pytest.mark.parametrize("resume_s", [10, 0])
async def test_outputs_behind_a_lost_line(tmp_path: Path, resume_s: int) -> None:
    async with gateway(tmp_path, resume_s=resume_s) as opened:
        relay = Relay(opened.websocket_port)
        profile = on_ports(tmp_path, PROFILE, opened.http_port, relay.port)
        async with (
            kept(tmp_path, opened),
            relay.running(),
            AsyncClient(profile, SETTINGS) as client,
            client.subscribe("LAST", output="added") as added,
            client.subscribe("LAST", output="whole") as whole,
            asyncio.timeout(WAIT_S * 2),
        ):
            for consumer in (added, whole):
                await consumer.receive()
            await client.push(STREAM, triples(1))
            for consumer in (added, whole):
                assert values(await consumer.receive()) == ([1], [])
            relay.cut()
            await client.push(STREAM, triples(2))
            assert values(await added.receive()) == (([2] if resume_s else [1, 2]), [])
            assert values(await whole.receive()) == ([1, 2], [])
            assert len(whole.solutions) == 2
            with pytest.raises(AgentError, match="makes no answer"):
                _ = added.solutions


async def test_call_says_otherwise_than_the_profile(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened:
        profile = on_ports(tmp_path, PROFILE, opened.http_port, opened.websocket_port)
        one = {"urn:my:w": {"stream": STREAM, "triples": 1}}
        async with (
            AsyncClient(profile, SETTINGS) as client,
            client.subscribe("OF", {"s": "urn:s"}, windows=one) as consumer,
            asyncio.timeout(WAIT_S),
        ):
            await consumer.receive()
            await client.push(STREAM, triples(1, subject="urn:other"), datetime.now(UTC))
            await client.push(STREAM, triples(2))
            assert values(await consumer.receive()) == ([2], [])
        with pytest.raises(RefusedError, match="rang"):
            async with (
                AsyncClient(profile, SETTINGS) as client,
                client.subscribe("LAST", windows={"urn:w": {"stream": STREAM, "rang": 1}}),
            ):
                pass


async def test_push_that_is_refused(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened:
        profile = on_ports(tmp_path, PROFILE, opened.http_port, opened.websocket_port)
        async with AsyncClient(profile, SETTINGS) as client:
            with pytest.raises(RefusedError, match="no stream urn:nowhere") as caught:
                await client.push("urn:nowhere", triples(1))
            assert caught.value.status == 404


async def test_without_asyncio(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened:
        profile = on_ports(tmp_path, PROFILE, opened.http_port, opened.websocket_port)

        def work() -> Notification:
            with Client(profile, SETTINGS) as client, client.subscribe("LAST") as consumer:
                consumer.receive(WAIT_S)
                client.push("my:building", triples(1, 2), by_line=True)
                return consumer.receive(WAIT_S)

        assert values(await asyncio.to_thread(work)) == ([1, 2], [])


def test_answer_of_whole_is_the_last_one() -> None:
    answer = Answer("whole")
    one, two = ({"o": Literal(value)} for value in (1, 2))
    assert answer.replace([one]) == ((one,), ())
    answer.change([two, two], [])
    assert answer.solutions() == [two, two]
    assert answer.replace([two]) == ((two,), ())
