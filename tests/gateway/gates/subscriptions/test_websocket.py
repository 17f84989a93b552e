"""The WebSocket gate on real sockets, over the real engine."""

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from pyoxigraph import Literal
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

from gateway.engine import Engine, Notification
from gateway.engine.request import SubscribeRequest
from gateway.errors import GatewayError, SubscriptionFailedError, TooManyRequestsError
from gateway.gates.http.operations import ServerSettings, application, serve
from gateway.gates.subscriptions.kept import KeptLimits
from gateway.gates.subscriptions.outbox import OutboxLimits
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import SubscriberLimits
from gateway.gates.subscriptions.websocket import WebSocketGate
from gateway.rdf.solutions import ResultsDelta
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.scheduler import Scheduler
from gateway.scheduler.subscriptions import Subscriptions
from gateway.security.guard import Guard
from tests.kit.lanes import Lanes

ALL = "SELECT ?o { ?s <urn:p> ?o }"
Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Open:
    """A gateway that serves; `connect` opens a socket to it."""

    scheduler: Scheduler
    subscribers: Subscribers
    port: int

    def connect(self, path: str = "/subscribe", **settings: Any) -> connect:
        url = f"ws://127.0.0.1:{self.port}{path}"
        return connect(url, compression=None, proxy=None, max_size=None, **settings)

    async def update(self, text: str) -> None:
        await self.scheduler.update(text)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(30):
            while not condition():
                await asyncio.sleep(0.005)

    @property
    def sockets(self) -> int:
        return self.subscribers.statistics.connections["websocket"]

    @property
    def engine_subscriptions(self) -> int:
        return self.scheduler.engine.statistics.subscriptions


@asynccontextmanager
async def open_gateway(
    limits: SubscriberLimits | None = None,
    server: ServerSettings | None = None,
    subscriptions: Subscriptions | None = None,
    guard: Guard | None = None,
) -> AsyncIterator[Open]:
    with Scheduler(Engine.open()) as scheduler:
        loop_calls = LoopCalls(asyncio.get_running_loop())
        async with Subscribers(
            subscriptions or scheduler, loop_calls, limits, guard
        ) as subscribers:
            routes = WebSocketGate(subscribers).routes()
            async with serve(application(routes), "127.0.0.1", 0, server) as address:
                yield Open(scheduler, subscribers, address.port)


@pytest.fixture
async def gateway() -> AsyncIterator[Open]:
    async with open_gateway() as gateway:
        yield gateway


async def _receive(client: ClientConnection) -> Json:
    message: Json = json.loads(await asyncio.wait_for(client.recv(), 30))
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
            await asyncio.wait_for(client.recv(), 30)
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


async def test_messages_of_one_socket_come_in_the_order_of_the_updates(gateway: Open) -> None:
    async with gateway.connect() as client:
        for predicate in "ab":
            query = f"SELECT ?o {{ ?s <urn:{predicate}> ?o }}"
            await _subscribe(client, query, alias=predicate)
        client.transport.pause_reading()
        written = "abbbaab" * 20
        for number, predicate in enumerate(written):
            await gateway.update(f"INSERT DATA {{ <urn:s> <urn:{predicate}> {number} }}")
        client.transport.resume_reading()
        told = [(await _receive(client))["notification"]["alias"] for _ in written]
    assert "".join(told) == written


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
    limits = SubscriberLimits(held=1)
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
async def test_closed_socket_ends_its_subscriptions(abrupt: bool) -> None:
    limits = SubscriberLimits(resume_s=0.1 if abrupt else 1000)
    async with (
        open_gateway(limits) as gateway,
        gateway.connect() as client,
        gateway.connect() as other,
    ):
        for _ in range(3):
            await _subscribe(client)
        await _subscribe(other)
        assert gateway.engine_subscriptions == 4
        if abrupt:
            client.transport.abort()
        else:
            await client.close()
        await gateway.until(lambda: gateway.engine_subscriptions == 1)
        assert gateway.sockets == 1
        assert len(gateway.subscribers) == 1


async def test_peer_that_answers_no_ping_loses_its_subscriptions() -> None:
    server = ServerSettings(ping_interval_s=0.05, ping_timeout_s=0.05)
    async with (
        open_gateway(SubscriberLimits(resume_s=0.1), server) as gateway,
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
        ("/subscribe?pause=10001", {}, 400),
        ("/subscribe?pause=-1", {}, 400),
        ("/subscribe?pause=soon", {}, 400),
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


async def test_page_of_the_gateway_itself_may_subscribe(gateway: Open) -> None:
    async with gateway.connect(origin=f"http://127.0.0.1:{gateway.port}") as client:
        await _subscribe(client)


class Flood:
    """Subscriptions that a test notifies by hand, from a thread of its own as the scheduler."""

    def __init__(self, refusals: int = 0) -> None:
        self.sinks: dict[str, Callable[[Notification], None]] = {}
        self.ended: dict[str, Callable[[GatewayError], None]] = {}
        self.refusals = refusals
        self.sent = 0

    async def subscribe(
        self,
        query: SubscribeRequest,
        /,
        *,
        sink: Callable[[Notification], None],
        ended: Callable[[GatewayError], None],
    ) -> str:
        spuid = f"urn:{len(self.sinks)}"
        self.sinks[spuid] = sink
        self.ended[spuid] = ended
        first = Notification(spuid, 0, query.alias, 0, ResultsDelta(("o",)))
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


@pytest.mark.alone
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


async def test_serve_ends_in_time_beside_a_socket_that_is_closing() -> None:
    """A peer that has said Close, and does not read what is on its way to it."""
    flood = Flood()
    async with open_gateway(subscriptions=flood) as gateway:
        client = await gateway.connect(max_queue=1)
        await _subscribe(client)
        client.transport.pause_reading()
        await flood.notify(1, size=8_000_000)
        client.protocol.send_close(1000)
        client.transport.write(b"".join(client.protocol.data_to_send()))
        await gateway.until(lambda: not flood.sinks)
    client.transport.abort()
    await client.wait_closed()


async def test_slow_subscriber_gets_everything_in_fewer_messages() -> None:
    flood = Flood()
    limits = SubscriberLimits(outbox=OutboxLimits(messages=10))
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
    assert gateway.subscribers.statistics.merged == 2000 - len(sequences)


async def test_subscriber_far_behind_is_closed_with_a_reason() -> None:
    flood = Flood()
    limits = SubscriberLimits(outbox=OutboxLimits(messages=10, rows=100))
    async with open_gateway(limits, subscriptions=flood) as gateway, gateway.connect() as client:
        await _subscribe(client)
        client.transport.pause_reading()
        await flood.notify(2000, size=10_000)
        client.transport.resume_reading()
        assert await _end(client) == (1013, "the subscriber reads too slowly; subscribe again")
        await gateway.until(lambda: not flood.sinks)
        assert gateway.subscribers.statistics.overflows == 1


async def test_subscriber_that_reads_nothing_any_more_is_given_up() -> None:
    flood = Flood()
    limits = SubscriberLimits(stall_s=0.1, resume_s=0)
    async with open_gateway(limits, subscriptions=flood) as gateway, gateway.connect() as client:
        await _subscribe(client)
        client.transport.pause_reading()
        await flood.notify(1000, size=10_000)
        await gateway.until(lambda: not flood.sinks)
        assert gateway.subscribers.statistics.stalls == 1
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

    async def subscribe(
        self,
        query: SubscribeRequest,
        /,
        *,
        sink: Callable[[Notification], None],
        ended: Callable[[GatewayError], None],
    ) -> str:
        self.started.set()
        await self.go.wait()
        return await super().subscribe(query, sink=sink, ended=ended)


async def test_subscribe_under_way_when_the_socket_closes_does_not_stay() -> None:
    slow = SlowSubscribe()
    async with open_gateway(subscriptions=slow) as gateway:
        async with gateway.connect() as client:
            await _send(client, {"subscribe": {"sparql": ALL}})
            await slow.started.wait()
        slow.go.set()
        await gateway.until(lambda: gateway.sockets == 0)
        await gateway.until(lambda: not slow.sinks)


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


async def test_changes_gather_in_a_pause_and_answers_do_not(gateway: Open) -> None:
    async with gateway.connect("/subscribe?pause=10000") as client:
        await _subscribe(client)
        for number in range(3):
            await gateway.update(f"INSERT DATA {{ <urn:a> <urn:p> {number} }}")
        await client.send("{}")
        assert "error" in await _receive(client)
        await client.send(json.dumps({"subscribe": {"sparql": ALL, "alias": "other"}}))
        told = [(await _receive(client))["notification"] for _ in range(4)]
    assert [each["sequence"] for each in told] == [1, 2, 3, 0]
    assert [_values(each["addedResults"]) for each in told] == [
        ["0"],
        ["1"],
        ["2"],
        ["0", "1", "2"],
    ]


async def test_what_came_in_a_pause_is_told_when_it_is_over(gateway: Open) -> None:
    async with gateway.connect("/subscribe?pause=20") as client:
        await _subscribe(client)
        for number in range(50):
            await gateway.update(f"INSERT DATA {{ <urn:a> <urn:p> {number} }}")
        told = [(await _receive(client))["notification"]["sequence"] for _ in range(50)]
    assert told == list(range(1, 51))


@pytest.mark.parametrize("path", ["/subscribe", "/secure/subscribe"])
async def test_ask_tells_the_answer_now_and_the_one_before(gateway: Open, path: str) -> None:
    async with gateway.connect(path) as client:
        first = await _subscribe(client, "ASK { <urn:a> <urn:p> ?o }")
        await gateway.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        await gateway.update("INSERT DATA { <urn:a> <urn:p> 2 }")
        await gateway.update("DELETE WHERE { <urn:a> <urn:p> ?o }")
        told = [(await _receive(client))["notification"] for _ in range(2)]
    assert first["addedResults"] == {"head": {}, "boolean": False}
    assert first["removedResults"] == {"head": {}}
    assert [each["addedResults"]["boolean"] for each in told] == [True, False]
    assert [each["removedResults"]["boolean"] for each in told] == [False, True]


async def test_construct_tells_triples_as_bindings(gateway: Open) -> None:
    async with gateway.connect() as client:
        await _subscribe(client, "CONSTRUCT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o }")
        await gateway.update("INSERT DATA { <urn:a> <urn:p> <urn:b> }")
        added = (await _receive(client))["notification"]["addedResults"]
    assert added["head"]["vars"] == ["subject", "predicate", "object"]
    (binding,) = added["results"]["bindings"]
    assert {name: term["value"] for name, term in binding.items()} == {
        "subject": "urn:a",
        "predicate": "urn:q",
        "object": "urn:b",
    }


async def _resume(client: ClientConnection, spuid: str, sequence: int, **members: object) -> Json:
    await _send(client, {"subscribe": {"spuid": spuid, "sequence": sequence, **members}})
    return await _receive(client)


async def test_client_that_was_lost_gets_what_it_missed(gateway: Open) -> None:
    async with gateway.connect() as client:
        spuid = (await _subscribe(client, alias="mine"))["spuid"]
        for value in range(3):
            await gateway.update(f"INSERT DATA {{ <urn:a> <urn:p> {value} }}")
        told = [(await _receive(client))["notification"] for _ in range(3)]
        client.transport.abort()
    await gateway.until(lambda: gateway.subscribers.statistics.away == 1)
    await gateway.update("INSERT DATA { <urn:a> <urn:p> 3 }")
    async with gateway.connect() as client:
        answer = await _resume(client, spuid, 1)
        assert answer == {"resumed": {"spuid": spuid, "sequence": 1, "alias": "mine"}}
        await gateway.update("INSERT DATA { <urn:a> <urn:p> 4 }")
        again = [(await _receive(client))["notification"] for _ in range(4)]
        assert again[:2] == told[1:]
        assert [each["sequence"] for each in again] == [2, 3, 4, 5]
        assert [_values(each["addedResults"]) for each in again[2:]] == [["3"], ["4"]]
        assert gateway.engine_subscriptions == 1
        assert gateway.subscribers.statistics.away == 0
    await gateway.until(lambda: gateway.engine_subscriptions == 0)


async def test_client_that_lost_a_second_of_many_updates_gets_each_of_them() -> None:
    """What was written to a connection that is dead counts as sent, and is sent again."""
    flood = Flood()
    async with open_gateway(subscriptions=flood) as gateway, gateway.connect() as dead:
        spuid = (await _subscribe(dead))["spuid"]
        await flood.notify(600, size=10)
        await gateway.until(lambda: gateway.subscribers.statistics.messages == 601)
        async with gateway.connect() as client:
            assert "resumed" in await _resume(client, spuid, 0)
            again = [(await _receive(client))["notification"] for _ in range(600)]
    assert [each["sequence"] for each in again] == list(range(1, 601))
    assert gateway.subscribers.kept.total == 0


async def test_client_that_comes_back_before_its_loss_is_known_takes_over(gateway: Open) -> None:
    async with gateway.connect() as lost, gateway.connect() as client:
        spuid = (await _subscribe(lost))["spuid"]
        assert "resumed" in await _resume(client, spuid, 0)
        await gateway.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        assert (await _receive(client))["notification"]["sequence"] == 1
        await lost.close()
        await gateway.update("INSERT DATA { <urn:a> <urn:p> 2 }")
        assert (await _receive(client))["notification"]["sequence"] == 2


async def test_what_comes_while_a_client_is_away_is_merged_beyond_the_limit() -> None:
    limits = SubscriberLimits(outbox=OutboxLimits(messages=2))
    async with open_gateway(limits) as gateway:
        async with gateway.connect() as client:
            spuid = (await _subscribe(client))["spuid"]
            client.transport.abort()
        await gateway.until(lambda: gateway.subscribers.statistics.away == 1)
        for value in range(5):
            await gateway.update(f"INSERT DATA {{ <urn:a> <urn:p> {value} }}")
        async with gateway.connect() as client:
            await _resume(client, spuid, 0)
            told = [(await _receive(client))["notification"] for _ in range(2)]
    assert [each["sequence"] for each in told] == [1, 2]
    assert [each.get("merged") for each in told] == [None, 4]
    assert [_values(each["addedResults"]) for each in told] == [["0"], ["1", "2", "3", "4"]]


@pytest.mark.parametrize("case", ["unknown", "ahead", "expired", "overflowed"])
async def test_what_cannot_be_resumed_is_told_alike(case: str) -> None:
    limits = SubscriberLimits(
        resume_s=0.05 if case == "expired" else 60,
        outbox=OutboxLimits(messages=1, rows=1),
    )
    async with open_gateway(limits) as gateway:
        async with gateway.connect() as client:
            spuid = (await _subscribe(client))["spuid"]
            client.transport.abort()
        await gateway.until(lambda: gateway.sockets == 0)
        if case == "expired":
            await gateway.until(lambda: gateway.engine_subscriptions == 0)
        if case == "overflowed":
            await gateway.update("INSERT DATA { <urn:a> <urn:p> 1, 2, 3 }")
            await gateway.update("INSERT DATA { <urn:a> <urn:p> 4 }")
            await gateway.until(lambda: gateway.engine_subscriptions == 0)
        asked = "sepa://subscription/none" if case == "unknown" else spuid
        async with gateway.connect() as client:
            answer = await _resume(client, asked, 5, alias="x")
            assert answer == {
                "error": "cannot_resume",
                "error_description": "this subscription cannot be resumed (subscribe again)",
                "status_code": 410,
                "alias": "x",
            }
        if case != "unknown":
            await gateway.until(lambda: gateway.engine_subscriptions == 0)


async def test_subscription_whose_buffer_gave_way_cannot_be_resumed() -> None:
    """The older one had to go for the younger one, which has all."""
    limits = SubscriberLimits(outbox=OutboxLimits(kept=KeptLimits(total_bytes=3_000)))
    async with open_gateway(limits) as gateway, gateway.connect() as lost:
        older = (await _subscribe(lost))["spuid"]
        await gateway.update("INSERT DATA { <urn:a> <urn:p> 1 }")
        assert (await _receive(lost))["notification"]["sequence"] == 1
        younger = (await _subscribe(lost, "SELECT ?o { ?s <urn:q> ?o }"))["spuid"]
        await gateway.update("INSERT DATA { <urn:a> <urn:q> '%s' }" % ("x" * 2_000))
        assert (await _receive(lost))["notification"]["spuid"] == younger
        assert gateway.subscribers.kept.given_way == 1
        async with gateway.connect() as client:
            _check_error(await _resume(client, older, 0), 410, "cannot_resume")
            assert "resumed" in await _resume(client, younger, 0)
            assert (await _receive(client))["notification"]["sequence"] == 1


async def test_no_more_subscriptions_wait_than_may() -> None:
    limits = SubscriberLimits(away=2)
    async with open_gateway(limits) as gateway:
        async with gateway.connect() as client:
            spuids = [(await _subscribe(client))["spuid"] for _ in range(3)]
            client.transport.abort()
        await gateway.until(lambda: gateway.engine_subscriptions == 2)
        async with gateway.connect() as client:
            answers = [await _resume(client, spuid, 0) for spuid in spuids]
    assert ["resumed" in answer for answer in answers] == [False, True, True]


async def test_subscription_is_for_the_rights_of_its_token() -> None:
    everything = "SELECT ?o { GRAPH ?g { ?s <urn:p> ?o } }"
    async with open_gateway(guard=Lanes()) as gateway:
        await gateway.update('INSERT DATA { GRAPH <urn:graph:a> { <urn:s> <urn:p> "a" } }')
        await gateway.update('INSERT DATA { GRAPH <urn:graph:b> { <urn:s> <urn:p> "b" } }')
        headers = {"Authorization": "Bearer a"}
        async with gateway.connect(additional_headers=headers) as client:
            by_header = await _subscribe(client, everything)
            by_message = await _subscribe(client, everything, authorization="Bearer b")
        assert _values(by_header["addedResults"]) == ["a"]
        assert _values(by_message["addedResults"]) == ["b"]
        async with gateway.connect() as client:
            await _send(client, {"subscribe": {"sparql": everything, "alias": "x"}})
            error = await _receive(client)
            _check_error(error, 401, "invalid_request")
            assert error["alias"] == "x"


async def test_only_the_same_identity_can_resume() -> None:
    async with open_gateway(guard=Lanes()) as gateway:
        async with gateway.connect() as client:
            first = await _subscribe(client, authorization="Bearer a")
            client.transport.abort()
        await gateway.until(lambda: gateway.subscribers.statistics.away == 1)
        async with gateway.connect() as client:
            stolen = await _resume(client, first["spuid"], 0, authorization="Bearer b")
            _check_error(stolen, 410, "cannot_resume")
            assert stolen == await _resume(client, "urn:none", 0, authorization="Bearer b")
            answer = await _resume(client, first["spuid"], 0, authorization="Bearer a")
            assert "resumed" in answer


@pytest.mark.parametrize("is_away", [False, True])
async def test_subscription_ends_with_its_token(is_away: bool) -> None:
    guard = Lanes()
    async with open_gateway(guard=guard) as gateway, gateway.connect() as client:
        first = await _subscribe(client, authorization="Bearer a", alias="mine")
        other = await _subscribe(client, authorization="Bearer b")
        if is_away:
            client.transport.abort()
            await gateway.until(lambda: gateway.subscribers.statistics.away == 2)
        guard.end("a")
        await gateway.until(lambda: gateway.engine_subscriptions == 1)
        if not is_away:
            error = await _receive(client)
            _check_error(error, 401, "invalid_grant")
            assert (error["alias"], error["spuid"]) == ("mine", first["spuid"])
            await gateway.update("INSERT DATA { GRAPH <urn:graph:b> { <urn:a> <urn:p> 1 } }")
            await _send(client, {"unsubscribe": {"spuid": first["spuid"]}})
            _check_error(await _receive(client), 404, "not_found")
            await _send(client, {"unsubscribe": {"spuid": other["spuid"]}})
            assert "unsubscribed" in await _receive(client)


async def test_subscription_that_cannot_be_served_any_more_is_ended_with_an_error() -> None:
    flood = Flood()
    async with open_gateway(subscriptions=flood) as gateway, gateway.connect() as client:
        first = await _subscribe(client, alias="mine")
        error = SubscriptionFailedError("no more", "ask for less")
        await asyncio.to_thread(flood.ended[first["spuid"]], error)
        told = await _receive(client)
        _check_error(told, 500, "subscription_failed")
        assert (told["alias"], told["spuid"]) == ("mine", first["spuid"])
        await gateway.until(lambda: not flood.sinks)


@pytest.mark.parametrize(
    ("limits", "status"),
    [(SubscriberLimits(connections=1), 503), (SubscriberLimits(client_connections=1), 429)],
)
async def test_connections_beyond_the_limit_are_refused(
    limits: SubscriberLimits, status: int
) -> None:
    async with open_gateway(limits) as gateway:
        async with gateway.connect():
            with pytest.raises(InvalidStatus) as refused:
                async with gateway.connect():
                    pytest.fail("connected")
        response = refused.value.response
        assert response.status_code == status
        assert int(response.headers["Retry-After"]) > 0
        assert json.loads(response.body)["status_code"] == status
        await gateway.until(lambda: gateway.sockets == 0)
        async with gateway.connect() as client:
            await _subscribe(client)


@pytest.mark.parametrize(
    ("limits", "status", "code"),
    [
        (SubscriberLimits(subscriptions=1), 503, "overloaded"),
        (SubscriberLimits(client_subscriptions=1), 429, "too_many_requests"),
    ],
)
async def test_subscriptions_of_several_sockets_have_limits(
    limits: SubscriberLimits, status: int, code: str
) -> None:
    async with (
        open_gateway(limits) as gateway,
        gateway.connect() as one,
        gateway.connect() as two,
    ):
        first = await _subscribe(one)
        await _send(two, {"subscribe": {"sparql": ALL, "alias": "x"}})
        error = await _receive(two)
        _check_error(error, status, code)
        assert error["alias"] == "x"
        await _send(one, {"unsubscribe": {"spuid": first["spuid"]}})
        await _receive(one)
        await gateway.until(lambda: gateway.engine_subscriptions == 0)
        await _subscribe(two)


async def test_compression_is_used_where_it_is_configured() -> None:
    server = ServerSettings(compression=True)
    async with open_gateway(server=server) as gateway:
        url = f"ws://127.0.0.1:{gateway.port}/subscribe"
        async with connect(url, proxy=None) as client:
            assert client.response is not None
            assert "permessage-deflate" in client.response.headers["Sec-WebSocket-Extensions"]
            await _subscribe(client)
            await gateway.update("INSERT DATA { <urn:a> <urn:p> 'told while nobody writes' }")
            told = (await _receive(client))["notification"]["addedResults"]
            assert _values(told) == ["told while nobody writes"]


@pytest.mark.parametrize("behind", [b"", b"\x88\x80\0\0\0\0", b"\x81\x81\0\0\0\0\xff"])
async def test_text_that_is_not_utf8_closes_the_socket_and_is_no_traceback(
    gateway: Open, caplog: pytest.LogCaptureFixture, behind: bytes
) -> None:
    async with gateway.connect() as client:
        client.transport.write(b"\x81\x81\0\0\0\0\xff" + behind)
        assert (await _end(client))[0] in {1005, 1006, 1007}
    assert not [record for record in caplog.records if record.exc_info]
