"""The WebSocket gate on real sockets, over the real engine."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from pyoxigraph import Literal, NamedNode
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.crossing import Crossing
from gateway.engine import Engine, Notification
from gateway.errors import TooManyRequestsError
from gateway.gates.operations import ServerSettings, application, serve
from gateway.gates.outbox import OutboxLimits
from gateway.gates.websocket import SocketLimits, Subscriptions, WebSocketGate
from gateway.rdf.solutions import ResultsDelta
from gateway.scheduler import Scheduler

ALL = "SELECT ?o { ?s <urn:p> ?o }"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Open:
    """A gateway that serves; `connect` opens a socket to it."""

    scheduler: Scheduler
    gate: WebSocketGate
    port: int

    def connect(self, path: str = "/subscribe", **settings: Any) -> connect:
        url = f"ws://127.0.0.1:{self.port}{path}"
        return connect(url, compression=None, proxy=None, max_size=None, **settings)

    async def update(self, text: str) -> None:
        await self.scheduler.update(text)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0.005)

    @property
    def engine_subscriptions(self) -> int:
        return self.scheduler.engine.statistics.subscriptions


@asynccontextmanager
async def open_gateway(
    limits: SocketLimits | None = None,
    server: ServerSettings | None = None,
    subscriptions: Subscriptions | None = None,
) -> AsyncIterator[Open]:
    with Scheduler(Engine.open()) as scheduler:
        crossing = Crossing(asyncio.get_running_loop())
        gate = WebSocketGate(subscriptions or scheduler, crossing, limits)
        async with serve(application(gate.routes()), "127.0.0.1", 0, server) as address:
            yield Open(scheduler, gate, address.port)


@pytest.fixture
async def gateway() -> AsyncIterator[Open]:
    async with open_gateway() as gateway:
        yield gateway


async def _receive(client: ClientConnection) -> Json:
    message: Json = json.loads(await asyncio.wait_for(client.recv(), 5))
    return message


async def _send(client: ClientConnection, message: object) -> None:
    await client.send(json.dumps(message))


async def _subscribe(client: ClientConnection, sparql: str = ALL, **members: object) -> Json:
    """Subscribe; members of the message are written with `_` for `-`."""
    body = {name.replace("_", "-"): value for name, value in members.items()}
    await _send(client, {"subscribe": {"sparql": sparql, **body}})
    first: Json = (await _receive(client))["notification"]
    assert first["sequence"] == 0
    return first


async def _end(client: ClientConnection) -> tuple[int | None, str | None]:
    """Read to the end; the code and reason that the gateway closed with."""
    with suppress(ConnectionClosed):
        while True:
            await asyncio.wait_for(client.recv(), 5)
    return client.close_code, client.close_reason


def _values(results: Json) -> list[str]:
    return sorted(row["o"]["value"] for row in results["results"]["bindings"])


def _check_error(message: Json, status: int, code: str) -> None:
    assert (message["status_code"], message["error"]) == (status, code)
    assert message["error_description"]


async def test_subscribe_answers_with_the_first_results_and_the_alias(gateway: Open) -> None:
    await gateway.update('INSERT DATA { <urn:a> <urn:p> "1", "2" }')
    async with gateway.connect() as client:
        first = await _subscribe(client, alias="all", timeout=5000)
    assert first["alias"] == "all"
    assert first["spuid"].startswith("sepa://subscription/")
    assert _values(first["addedResults"]) == ["1", "2"]
    assert first["removedResults"] == {"head": {"vars": ["o"]}, "results": {"bindings": []}}


async def test_subscriber_is_told_what_each_update_changed(gateway: Open) -> None:
    async with gateway.connect() as client:
        first = await _subscribe(client)
        await gateway.update('INSERT DATA { <urn:a> <urn:p> "1", "2" }')
        await gateway.update('INSERT DATA { <urn:a> <urn:q> "1" }')
        await gateway.update('DELETE DATA { <urn:a> <urn:p> "2" }')
        told = [(await _receive(client))["notification"] for _ in range(2)]
    assert [each["sequence"] for each in told] == [1, 2]
    assert [_values(each["addedResults"]) for each in told] == [["1", "2"], []]
    assert [_values(each["removedResults"]) for each in told] == [[], ["2"]]
    assert first["time"] < told[0]["time"] < told[1]["time"]
    assert {each["spuid"] for each in told} == {first["spuid"]}


async def test_subscriptions_on_one_socket_are_told_apart(gateway: Open) -> None:
    async with gateway.connect() as client:
        here = await _subscribe(client, alias="here")
        there = await _subscribe(client, alias="there", default_graph_uri=["urn:g"])
        assert here["spuid"] != there["spuid"]
        await gateway.update('INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> "1" } }')
        told = (await _receive(client))["notification"]
    assert (told["spuid"], told["alias"], told["sequence"]) == (there["spuid"], "there", 1)


async def test_subscribe_with_named_graphs_uses_them(gateway: Open) -> None:
    await gateway.update('INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> "1" } }')
    query = "SELECT ?o { GRAPH ?g { ?s <urn:p> ?o } }"
    async with gateway.connect() as client:
        for graph, expected in (("urn:g", ["1"]), ("urn:h", [])):
            first = await _subscribe(client, query, named_graph_uri=[graph])
            assert _values(first["addedResults"]) == expected


async def test_unsubscribe_ends_the_subscription_and_says_so(gateway: Open) -> None:
    async with gateway.connect() as client:
        first, other = await _subscribe(client), await _subscribe(client)
        await _send(client, {"unsubscribe": {"spuid": first["spuid"], "alias": "x"}})
        assert await _receive(client) == {"unsubscribed": {"spuid": first["spuid"]}}
        assert gateway.engine_subscriptions == 1
        await gateway.update('INSERT DATA { <urn:a> <urn:p> "1" }')
        assert (await _receive(client))["notification"]["spuid"] == other["spuid"]


async def test_unsubscribe_of_another_socket_is_refused(gateway: Open) -> None:
    async with gateway.connect() as client, gateway.connect() as stranger:
        first = await _subscribe(client)
        await _send(stranger, {"unsubscribe": {"spuid": first["spuid"], "alias": "mine?"}})
        error = await _receive(stranger)
        _check_error(error, 404, "not_found")
        assert error["alias"] == "mine?"
        assert gateway.engine_subscriptions == 1


@pytest.mark.parametrize(
    ("message", "status", "code"),
    [
        ("{", 400, "bad_request"),
        (b"{}", 400, "bad_request"),
        ('{"subscribe": {"sparql": "SELECT"}}', 400, "sparql_syntax"),
        ('{"subscribe": {"sparql": "DESCRIBE <urn:a>"}}', 400, "unsupported_query"),
    ],
)
async def test_bad_message_costs_an_error_and_not_the_socket(
    gateway: Open, message: str | bytes, status: int, code: str
) -> None:
    async with gateway.connect() as client:
        await client.send(message)
        _check_error(await _receive(client), status, code)
        await _subscribe(client)


async def test_subscribe_to_malformed_sparql_returns_the_alias(gateway: Open) -> None:
    async with gateway.connect() as client:
        await _send(client, {"subscribe": {"sparql": "SELECT {", "alias": "wrong"}})
        assert (await _receive(client))["alias"] == "wrong"


async def test_subscriptions_beyond_the_limit_are_refused() -> None:
    limits = SocketLimits(subscriptions=1)
    async with open_gateway(limits) as gateway, gateway.connect() as client:
        await _subscribe(client)
        await _send(client, {"subscribe": {"sparql": ALL, "alias": "second"}})
        error = await _receive(client)
        _check_error(error, 429, "too_many_requests")
        assert error["alias"] == "second"


async def test_message_beyond_its_size_closes_the_socket_only() -> None:
    server = ServerSettings(message_bytes=1000)
    async with (
        open_gateway(server=server) as gateway,
        gateway.connect() as client,
        gateway.connect() as other,
    ):
        await client.send("x" * 1001)
        assert (await _end(client))[0] == 1009
        await _subscribe(other)


@pytest.mark.parametrize("abrupt", [False, True])
async def test_closed_socket_ends_its_subscriptions(gateway: Open, abrupt: bool) -> None:
    async with gateway.connect() as client, gateway.connect() as other:
        for _ in range(3):
            await _subscribe(client)
        await _subscribe(other)
        assert gateway.engine_subscriptions == 4
        if abrupt:
            client.transport.abort()
        else:
            await client.close()
        await gateway.until(lambda: gateway.engine_subscriptions == 1)
        assert gateway.gate.statistics.sockets == 1
        assert gateway.gate.statistics.subscriptions == 1


async def test_peer_that_answers_no_ping_loses_its_subscriptions() -> None:
    server = ServerSettings(ping_interval_s=0.05, ping_timeout_s=0.05)
    async with (
        open_gateway(server=server) as gateway,
        gateway.connect() as live,
        gateway.connect() as dead,
    ):
        await _subscribe(live)
        await _subscribe(dead)
        dead.transport.pause_reading()
        await gateway.until(lambda: gateway.engine_subscriptions == 1)
        await _subscribe(live)
        dead.transport.abort()


@pytest.mark.parametrize(
    ("path", "headers", "status"),
    [
        ("/", {}, 404),
        ("/subscribe", {"Origin": "http://evil.example"}, 403),
        ("/subscribe", {"Origin": "null"}, 403),
    ],
)
async def test_handshake_that_is_not_for_us_is_refused(
    gateway: Open, path: str, headers: dict[str, str], status: int
) -> None:
    with pytest.raises(InvalidStatus) as refused:
        async with gateway.connect(path, additional_headers=headers):
            pytest.fail("connected")
    response = refused.value.response
    assert response.status_code == status
    assert json.loads(response.body)["status_code"] == status


async def test_origin_of_loopback_may_subscribe(gateway: Open) -> None:
    async with gateway.connect(origin=f"http://localhost:{gateway.port}") as client:
        await _subscribe(client)


class Flood:
    """Subscriptions that a test notifies by hand, from a thread of its own as the scheduler."""

    def __init__(self, refusals: int = 0) -> None:
        self.sinks: dict[str, Callable[[Notification], None]] = {}
        self.refusals = refusals
        self.sent = 0

    async def subscribe(
        self,
        text: str,
        /,
        *,
        default_graphs: Sequence[NamedNode],
        named_graphs: Sequence[NamedNode],
        alias: str | None,
        sink: Callable[[Notification], None],
    ) -> str:
        spuid = f"urn:{len(self.sinks)}"
        self.sinks[spuid] = sink
        first = Notification(spuid, 0, alias, 0, ResultsDelta(("o",)))
        await asyncio.to_thread(sink, first)
        return spuid

    async def unsubscribe(self, spuid: str) -> None:
        if self.refusals:
            self.refusals -= 1
            raise TooManyRequestsError("full", retry_after_s=0.01)
        del self.sinks[spuid]

    async def notify(self, count: int, size: int = 1) -> None:
        """Add a row of `size` characters `count` times, as fast as it goes."""
        await asyncio.to_thread(self._notify, count, size)

    def _notify(self, count: int, size: int) -> None:
        for _ in range(count):
            self.sent += 1
            row = (Literal(f"{self.sent}".ljust(size)),)
            for spuid, sink in list(self.sinks.items()):
                results = ResultsDelta(("o",), (row,))
                sink(Notification(spuid, self.sent, None, self.sent, results))


async def test_serve_ends_in_time_with_open_and_stuck_sockets() -> None:
    flood = Flood()
    server = ServerSettings(grace_s=1)
    async with open_gateway(server=server, subscriptions=flood) as gateway:
        client = await gateway.connect()
        stuck = await gateway.connect(max_queue=1)
        await _subscribe(client)
        await _subscribe(stuck)
        stuck.transport.pause_reading()
        await flood.notify(1, size=8_000_000)
        begun = time.monotonic()
    assert time.monotonic() - begun < 3
    assert not flood.sinks
    assert (await _end(client))[0] == 1012
    stuck.transport.abort()
    await stuck.wait_closed()


async def test_slow_subscriber_gets_everything_in_fewer_messages() -> None:
    flood = Flood()
    limits = SocketLimits(outbox=OutboxLimits(messages=10))
    async with open_gateway(limits, subscriptions=flood) as gateway, gateway.connect() as client:
        await _subscribe(client)
        client.transport.pause_reading()
        await flood.notify(2000, size=10_000)
        client.transport.resume_reading()
        seen: Counter[str] = Counter()
        sequences, merged = [], 0
        while seen.total() < 2000:
            message = (await _receive(client))["notification"]
            seen.update(value.strip() for value in _values(message["addedResults"]))
            sequences.append(message["sequence"])
            merged += message.get("merged", 1)
    assert seen == Counter(str(n) for n in range(1, 2001))
    assert sequences == list(range(1, len(sequences) + 1))
    assert len(sequences) < merged == 2000
    assert gateway.gate.statistics.merged == 2000 - len(sequences)


async def test_subscriber_far_behind_is_closed_with_a_reason() -> None:
    flood = Flood()
    limits = SocketLimits(outbox=OutboxLimits(messages=10, rows=100))
    async with open_gateway(limits, subscriptions=flood) as gateway, gateway.connect() as client:
        await _subscribe(client)
        client.transport.pause_reading()
        await flood.notify(2000, size=10_000)
        client.transport.resume_reading()
        assert await _end(client) == (1013, "the subscriber reads too slowly; subscribe again")
        await gateway.until(lambda: not flood.sinks)
        assert gateway.gate.statistics.overflows == 1


async def test_subscriber_that_reads_nothing_any_more_is_given_up() -> None:
    flood = Flood()
    limits = SocketLimits(stall_s=0.1)
    async with open_gateway(limits, subscriptions=flood) as gateway, gateway.connect() as client:
        await _subscribe(client)
        client.transport.pause_reading()
        await flood.notify(1000, size=10_000)
        await gateway.until(lambda: not flood.sinks)
        assert gateway.gate.statistics.stalls == 1
        client.transport.abort()


async def test_subscriptions_of_a_closed_socket_end_even_when_the_queue_is_full() -> None:
    flood = Flood(refusals=3)
    async with open_gateway(subscriptions=flood) as gateway:
        async with gateway.connect() as client:
            await _subscribe(client)
        await gateway.until(lambda: not flood.sinks)
    assert flood.refusals == 0


class SlowSubscribe(Flood):
    """A SUBSCRIBE that is under way when its socket closes."""

    def __init__(self) -> None:
        super().__init__()
        self.started = asyncio.Event()
        self.go = asyncio.Event()

    async def subscribe(self, text: str, /, **members: Any) -> str:
        self.started.set()
        await self.go.wait()
        return await super().subscribe(text, **members)


async def test_subscribe_under_way_when_the_socket_closes_does_not_stay() -> None:
    slow = SlowSubscribe()
    async with open_gateway(subscriptions=slow) as gateway:
        async with gateway.connect() as client:
            await _send(client, {"subscribe": {"sparql": ALL}})
            await slow.started.wait()
        slow.go.set()
        await gateway.until(lambda: gateway.gate.statistics.sockets == 0)
        assert slow.sinks == {}


async def test_many_notifications_arrive_in_order_from_another_thread() -> None:
    flood = Flood()
    async with open_gateway(subscriptions=flood) as gateway, gateway.connect() as client:
        await _subscribe(client)
        telling = asyncio.create_task(flood.notify(5000))
        rows: list[str] = []
        while len(rows) < 5000:
            told = (await _receive(client))["notification"]["addedResults"]
            rows += [row["o"]["value"] for row in told["results"]["bindings"]]
        await telling
    assert rows == [str(n) for n in range(1, 5001)]
