"""The gates on real sockets in front of the real scheduler: ports, life cycle, one event loop."""

import json
import socket
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.engine.engine import Engine
from gateway.errors import ConfigurationError
from gateway.gates.operations import Address
from gateway.gates.serving import Addresses, Gates, GateSettings
from gateway.scheduler import Scheduler

TWO_PORTS = GateSettings(http_port=0, websocket_port=0)
SHARED_PORT = GateSettings(http_port=0, websocket_port=None)
SELECT = "SELECT ?o { <urn:s> <urn:p> ?o }"


@pytest.fixture
def scheduler() -> Iterator[Scheduler]:
    with Scheduler(Engine.open()) as scheduler:
        yield scheduler


@asynccontextmanager
async def opened(scheduler: Scheduler, settings: GateSettings) -> AsyncIterator[Addresses]:
    gates = Gates(scheduler, scheduler.engine.query, settings)
    registry = CollectorRegistry()
    Counter("readings", "What a test counts.", registry=registry).inc(3)
    async with gates.open(registry, lambda: {"sockets": gates.websocket.statistics.sockets}) as at:
        yield at


def url(address: Address, path: str, scheme: str = "http") -> str:
    return f"{scheme}://{address.host}:{address.port}{path}"


async def insert(at: Addresses, data: str) -> None:
    async with httpx.AsyncClient() as client:
        text = f"INSERT DATA {{ {data} }}"
        answer = await client.post(url(at.http, "/update"), data={"update": text})
    assert answer.status_code == 200


async def next_message(socket: ClientConnection) -> Mapping[str, Any]:
    message: Mapping[str, Any] = json.loads(await socket.recv())
    return message


async def subscribe(socket: ClientConnection) -> Mapping[str, Any]:
    await socket.send(json.dumps({"subscribe": {"sparql": SELECT, "alias": "a"}}))
    return await next_message(socket)


@pytest.mark.parametrize("settings", [TWO_PORTS, SHARED_PORT], ids=["two ports", "one port"])
async def test_subscriber_is_told_of_an_update_over_http(
    scheduler: Scheduler, settings: GateSettings
) -> None:
    async with (
        opened(scheduler, settings) as at,
        connect(url(at.websocket, "/subscribe", "ws")) as subscriber,
    ):
        first = await subscribe(subscriber)
        assert first["notification"]["sequence"] == 0
        await insert(at, '<urn:s> <urn:p> "1"')
        told = (await next_message(subscriber))["notification"]
    assert told["sequence"] == 1
    assert told["spuid"] == first["notification"]["spuid"]
    assert told["addedResults"]["results"]["bindings"] == [{"o": {"type": "literal", "value": "1"}}]
    assert told["removedResults"]["results"]["bindings"] == []


async def test_addresses_are_equal_where_the_port_is_shared(scheduler: Scheduler) -> None:
    async with opened(scheduler, SHARED_PORT) as at:
        assert at.http == at.websocket
    async with opened(scheduler, TWO_PORTS) as at:
        assert at.http.port != at.websocket.port


async def test_subscribe_on_the_http_port_when_it_is_not_shared(scheduler: Scheduler) -> None:
    async with opened(scheduler, TWO_PORTS) as at:
        with pytest.raises(InvalidStatus) as refused:
            await connect(url(at.http, "/subscribe", "ws"))
    assert refused.value.response.status_code == 404


async def test_health_and_metrics_read_what_they_were_given(scheduler: Scheduler) -> None:
    async with (
        opened(scheduler, TWO_PORTS) as at,
        connect(url(at.websocket, "/subscribe", "ws")) as subscriber,
        httpx.AsyncClient() as client,
    ):
        await subscribe(subscriber)
        health = await client.get(url(at.http, "/health"))
        metrics = await client.get(url(at.http, "/metrics"))
    assert health.json()["counters"] == {"sockets": 1}
    assert "readings_total 3.0" in metrics.text


@pytest.mark.parametrize("settings", [TWO_PORTS, SHARED_PORT], ids=["two ports", "one port"])
async def test_closing_with_an_open_socket_ends_its_subscription(
    scheduler: Scheduler, settings: GateSettings
) -> None:
    async with opened(scheduler, settings) as at:
        subscriber = await connect(url(at.websocket, "/subscribe", "ws"))
        await subscribe(subscriber)
        assert scheduler.engine.statistics.subscriptions == 1
    assert scheduler.engine.statistics.subscriptions == 0
    with pytest.raises(ConnectionClosed) as closed:
        await subscriber.recv()
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012


async def test_port_in_use_is_named_and_the_other_server_is_closed(scheduler: Scheduler) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free, port = probe.getsockname()[1], taken.getsockname()[1]
        probe.close()
        settings = GateSettings(http_port=free, websocket_port=port)
        with pytest.raises(ConfigurationError, match=str(port)):
            async with opened(scheduler, settings):
                pytest.fail("a port that is in use was bound")
    async with opened(scheduler, GateSettings(http_port=free, websocket_port=0)) as at:
        assert at.http.port == free
