"""Server-sent events on real sockets, over the real engine."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

import httpx
import pytest
from websockets.asyncio.client import connect

from gateway.engine import Engine
from gateway.gates.http.operations import ServerSettings, application, serve
from gateway.gates.subscriptions.event_stream import EventStreamGate
from gateway.gates.subscriptions.outbox import OutboxLimits
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import SubscriberLimits
from gateway.gates.subscriptions.websocket import WebSocketGate
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.scheduler import Scheduler
from gateway.security.guard import Guard
from tests.kit.lanes import Lanes

ALL = "SELECT ?o { ?s <urn:p> ?o }"
WAIT_S = 30.0
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Event:
    """One event as a browser reads it."""

    name: str
    id: str
    data: Json

    @property
    def notification(self) -> Json:
        assert self.name == "message"
        found: Json = self.data["notification"]
        return found

    @property
    def values(self) -> list[str]:
        bindings = self.notification["addedResults"]["results"]["bindings"]
        return sorted(row["o"]["value"] for row in bindings)


class Stream:
    """A response that is read line by line."""

    def __init__(self, response: httpx.Response) -> None:
        self.response = response
        self.comments = 0
        self._lines = response.aiter_lines()

    async def event(self) -> Event:
        """The next event."""
        async with asyncio.timeout(WAIT_S):
            fields = {"event": "message", "id": ""}
            while (line := await anext(self._lines)) or "data" not in fields:
                if line.startswith(":"):
                    self.comments += 1
                elif line:
                    name, _, value = line.partition(": ")
                    fields[name] = value
        return Event(fields["event"], fields["id"], json.loads(fields["data"]))

    async def end(self) -> list[str]:
        """The lines until the end."""
        async with asyncio.timeout(WAIT_S):
            return [line async for line in self._lines]


@dataclass(frozen=True, slots=True)
class Open:
    """A gateway that serves."""

    scheduler: Scheduler
    subscribers: Subscribers
    gate: EventStreamGate
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/subscribe"

    @property
    def engine_subscriptions(self) -> int:
        return self.scheduler.engine.statistics.subscriptions

    @asynccontextmanager
    async def stream(
        self, query: str | None = ALL, headers: dict[str, str] | None = None, **parameters: Any
    ) -> AsyncIterator[Stream]:
        """Parameters are written with `_` for `-`."""
        given = {name.replace("_", "-"): value for name, value in parameters.items()}
        if query is not None:
            given["query"] = query
        async with (
            httpx.AsyncClient(timeout=WAIT_S) as client,
            client.stream("GET", self.url, params=given, headers=headers) as response,
        ):
            assert response.status_code == 200, await response.aread()
            yield Stream(response)

    async def refused(self, method: str = "GET", **request: Any) -> httpx.Response:
        async with httpx.AsyncClient() as client:
            return await client.request(method, self.url, **request)

    async def update(self, text: str) -> None:
        await self.scheduler.update(text)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S):
            while not condition():
                await asyncio.sleep(0.005)


@asynccontextmanager
async def open_gateway(
    limits: SubscriberLimits | None = None,
    guard: Guard | None = None,
    heartbeat_s: float = 15.0,
    server: ServerSettings | None = None,
) -> AsyncIterator[Open]:
    with Scheduler(Engine.open()) as scheduler:
        loop_calls = LoopCalls(asyncio.get_running_loop())
        async with Subscribers(scheduler, loop_calls, limits, guard) as subscribers:
            gate = EventStreamGate(subscribers, heartbeat_s=heartbeat_s)
            routes = [*WebSocketGate(subscribers).routes(), *gate.routes()]
            async with serve(application(routes), "127.0.0.1", 0, server) as address:
                yield Open(scheduler, subscribers, gate, address.port)


@pytest.fixture
async def gateway() -> AsyncIterator[Open]:
    async with open_gateway() as gateway:
        yield gateway


async def test_stream_shows_the_answer_and_what_each_update_changes(gateway: Open) -> None:
    await gateway.update('INSERT DATA { <urn:a> <urn:p> "1" }')
    async with gateway.stream(alias="mine") as stream:
        assert stream.response.headers["content-type"] == "text/event-stream; charset=utf-8"
        first = await stream.event()
        await gateway.update('INSERT DATA { <urn:a> <urn:p> "2\\n\\u2028" }')
        second = await stream.event()
    spuid = first.notification["spuid"]
    assert (first.values, second.values) == (["1"], ["2\n\u2028"])
    assert [each.notification["alias"] for each in (first, second)] == ["mine", "mine"]
    assert [first.id, second.id] == [f"{spuid}#0", f"{spuid}#1"]


async def test_stream_takes_the_dataset_and_the_other_name_of_the_query(gateway: Open) -> None:
    await gateway.update('INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> "1" } }')
    async with gateway.stream(None, sparql=ALL, default_graph_uri=["urn:g", "urn:h"]) as stream:
        assert (await stream.event()).values == ["1"]
    query = "SELECT ?o { GRAPH ?g { ?s <urn:p> ?o } }"
    for graph, expected in (("urn:g", ["1"]), ("urn:h", [])):
        async with gateway.stream(query, named_graph_uri=graph) as stream:
            assert (await stream.event()).values == expected


@pytest.mark.parametrize(
    ("content_type", "body", "parameters"),
    [
        ("application/sparql-query", ALL, {"alias": "mine"}),
        ("application/x-www-form-urlencoded", urlencode({"query": ALL, "alias": "mine"}), {}),
        ("application/x-www-form-urlencoded", urlencode({"sparql": ALL, "alias": "mine"}), {}),
    ],
)
async def test_query_may_be_posted(
    gateway: Open, content_type: str, body: str, parameters: dict[str, str]
) -> None:
    async with (
        httpx.AsyncClient(timeout=WAIT_S) as client,
        client.stream(
            "POST",
            gateway.url,
            params=parameters,
            content=body,
            headers={"Content-Type": content_type},
        ) as response,
    ):
        first = await Stream(response).event()
    assert first.notification["alias"] == "mine"


async def test_web_socket_and_stream_share_the_path(gateway: Open) -> None:
    url = f"ws://127.0.0.1:{gateway.port}/subscribe"
    async with connect(url, proxy=None) as socket, gateway.stream() as stream:
        await socket.send(json.dumps({"subscribe": {"sparql": ALL}}))
        assert json.loads(await socket.recv())["notification"]["sequence"] == 0
        assert (await stream.event()).notification["sequence"] == 0


@pytest.mark.parametrize(
    ("parameters", "status", "code"),
    [
        ({}, 400, "bad_request"),
        ({"query": ["ASK {}", "ASK {}"]}, 400, "bad_request"),
        ({"query": "ASK {}", "sparql": "ASK {}"}, 400, "bad_request"),
        ({"query": "SELECT"}, 400, "sparql_syntax"),
        ({"query": "DESCRIBE <urn:a>"}, 400, "unsupported_query"),
        ({"query": ALL, "default-graph-uri": "no iri"}, 400, "bad_request"),
    ],
)
async def test_what_is_wrong_is_answered_before_the_stream(
    gateway: Open, parameters: Any, status: int, code: str
) -> None:
    response = await gateway.refused(params=parameters)
    assert response.status_code == status
    assert response.json()["error"] == code
    assert response.json()["error_description"]
    assert gateway.subscribers.statistics.connections["events"] == 0


async def test_other_methods_are_refused(gateway: Open) -> None:
    assert (await gateway.refused("PUT")).status_code == 405
    assert (await gateway.refused("HEAD")).headers["content-type"].startswith("text/event-stream")


@pytest.mark.parametrize(
    ("limits", "status"),
    [
        (SubscriberLimits(connections=1), 503),
        (SubscriberLimits(client_connections=1), 429),
        (SubscriberLimits(subscriptions=1), 503),
        (SubscriberLimits(client_subscriptions=1), 429),
    ],
)
async def test_streams_beyond_a_limit_are_told_when_to_try_again(
    limits: SubscriberLimits, status: int
) -> None:
    async with open_gateway(limits) as gateway, gateway.stream() as stream:
        await stream.event()
        response = await gateway.refused(params={"query": ALL})
        assert response.status_code == status
        assert int(response.headers["Retry-After"]) > 0


async def test_client_that_is_gone_frees_its_spu() -> None:
    async with open_gateway(SubscriberLimits(resume_s=0.1)) as gateway:
        async with gateway.stream() as stream:
            await stream.event()
            assert gateway.engine_subscriptions == 1
        await gateway.until(lambda: gateway.engine_subscriptions == 0)
        assert gateway.subscribers.statistics.connections["events"] == 0


async def test_client_that_comes_back_gets_what_it_missed(gateway: Open) -> None:
    async with gateway.stream() as stream:
        await stream.event()
        for value in range(3):
            await gateway.update(f"INSERT DATA {{ <urn:a> <urn:p> {value} }}")
        events = [await stream.event() for _ in range(3)]
    await gateway.until(lambda: gateway.subscribers.statistics.away == 1)
    await gateway.update("INSERT DATA { <urn:a> <urn:p> 3 }")
    async with gateway.stream(headers={"Last-Event-ID": events[0].id}) as stream:
        resumed = await stream.event()
        again = [await stream.event() for _ in range(3)]
    assert (resumed.name, resumed.data["resumed"]["sequence"]) == ("resumed", 1)
    assert again[:2] == events[1:]
    assert (again[2].notification["sequence"], again[2].values) == (4, ["3"])


@pytest.mark.parametrize("last_id", ["sepa://subscription/none#3", "nonsense", "#", "a#1e5", "a#9"])
async def test_client_that_cannot_go_on_starts_again(gateway: Open, last_id: str) -> None:
    async with gateway.stream(headers={"Last-Event-ID": last_id}) as stream:
        assert (await stream.event()).notification["sequence"] == 0


async def test_client_that_cannot_go_on_and_names_no_query_is_told_so(gateway: Open) -> None:
    response = await gateway.refused(headers={"Last-Event-ID": "sepa://subscription/none#3"})
    assert response.status_code == 410
    assert response.json()["error"] == "cannot_resume"


async def test_stream_that_another_connection_goes_on_with_ends(gateway: Open) -> None:
    async with gateway.stream() as stream:
        first = await stream.event()
        async with gateway.stream(headers={"Last-Event-ID": first.id}) as other:
            assert (await other.event()).name == "resumed"
            assert not any("data" in line for line in await stream.end())
            await gateway.update("INSERT DATA { <urn:a> <urn:p> 1 }")
            assert (await other.event()).values == ["1"]


async def test_heartbeats_are_sent_while_nothing_happens() -> None:
    async with open_gateway(heartbeat_s=0.02) as gateway, gateway.stream() as stream:
        await stream.event()
        await asyncio.sleep(0.1)
        await gateway.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        await stream.event()
        assert stream.comments >= 2


async def test_stream_is_for_the_rights_of_its_token_and_ends_with_them() -> None:
    guard = Lanes()
    async with open_gateway(guard=guard) as gateway:
        await gateway.update('INSERT DATA { GRAPH <urn:graph:a> { <urn:s> <urn:p> "a" } }')
        await gateway.update('INSERT DATA { GRAPH <urn:graph:b> { <urn:s> <urn:p> "b" } }')
        refused = await gateway.refused(params={"query": ALL})
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_request")
        query = "SELECT ?o { GRAPH ?g { ?s <urn:p> ?o } }"
        async with gateway.stream(query, {"Authorization": "Bearer a"}) as stream:
            first = await stream.event()
            assert first.values == ["a"]
            stolen = {"Authorization": "Bearer b", "Last-Event-ID": first.id}
            async with gateway.stream(query, stolen) as other:
                assert (await other.event()).values == ["b"]
            guard.end("a")
            end = await stream.event()
            assert (end.name, end.id, end.data["error"]) == ("end", "", "invalid_grant")
            assert await stream.end() == []


async def test_slow_reader_is_merged_for_and_then_ended_with_a_reason() -> None:
    limits = SubscriberLimits(outbox=OutboxLimits(messages=5, rows=500))
    async with open_gateway(limits) as gateway:
        reader, writer = await asyncio.open_connection("127.0.0.1", gateway.port, limit=1024)
        query = "SELECT%20?o%20%7B%20?s%20%3Curn:p%3E%20?o%20%7D"
        writer.write(f"GET /subscribe?query={query} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        await gateway.until(lambda: gateway.engine_subscriptions == 1)
        transport = cast("asyncio.Transport", writer.transport)
        transport.pause_reading()
        padding = "x" * 100_000
        for number in range(700):
            await gateway.update(f'INSERT DATA {{ <urn:a> <urn:p> "{number} {padding}" }}')
        transport.resume_reading()
        ended = asyncio.create_task(_read_to_the_end(reader))
        await gateway.until(lambda: gateway.engine_subscriptions == 0)
        assert b'event: end\nid: \ndata: {"error": "too_many_requests"' in await ended
        assert gateway.subscribers.statistics.overflows == 1
        writer.close()


async def _read_to_the_end(reader: asyncio.StreamReader) -> bytes:
    tail = b""
    while chunk := await reader.read(65536):
        tail = (tail + chunk)[-2000:]
        if b"\r\n0\r\n\r\n" in tail:
            break
    return tail


@pytest.mark.alone
async def test_streams_end_before_the_server_does() -> None:
    async with open_gateway() as gateway, gateway.stream() as stream:
        await stream.event()
        begun = time.monotonic()
        await gateway.gate.close()
        end = await stream.event()
        assert (end.name, end.data["status_code"]) == ("end", 503)
        await stream.end()
    assert time.monotonic() - begun < 2
