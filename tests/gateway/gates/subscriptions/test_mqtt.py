"""SUBSCRIBE over MQTT, by Mosquitto's own clients, with the embedded broker and with Mosquitto."""

import asyncio
import json
import shutil
import subprocess
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client as PahoClient
from paho.mqtt.enums import CallbackAPIVersion

from gateway.app.gateway import Gateway
from gateway.app.subscribers import Subscribing, identify_by
from gateway.engine import Engine
from gateway.errors import TooLargeError
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.sparql.queries_apart import QueriesApart
from gateway.gates.subscriptions.mqtt import MqttGate
from gateway.gates.subscriptions.outbox import OutboxLimits
from gateway.gates.subscriptions.subscriber import Client
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import SubscriberLimits
from gateway.runtime.loop_calls import LoopCalls
from gateway.scheduler.scheduler import Scheduler
from gateway.security.guard import OpenGuard
from gateway.security.passwords import hash_password
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    Program,
    mosquitto,
    running,
    settings,
    until_subscribed,
    write_profile,
)
from tests.kit.lanes import Lanes

Json = dict[str, Any]
MOSQUITTO_PUB = ("mosquitto_pub", "-h", LOOPBACK, "-q", "1")
MOSQUITTO_SUB = ("stdbuf", "-oL", "mosquitto_sub", "-h", LOOPBACK, "-v", "-d")
"""mosquitto_sub prints each message at once, and before them that it has subscribed."""
ALL = "SELECT ?o { ?s <urn:p> ?o }"
GRAPHS = "SELECT ?o { GRAPH ?g { ?s <urn:p> ?o } }"

needs_mosquitto = pytest.mark.skipif(
    shutil.which("mosquitto_sub") is None, reason="mosquitto-clients is not installed"
)


class Listener:
    """mosquitto_sub: what it prints, as topic and JSON."""

    def __init__(self, program: Program) -> None:
        self.program = program

    def next(self) -> tuple[str, Json]:
        while not (line := self.program.wait_for("sparql/")).startswith("sparql/"):
            pass
        topic, _, text = line.partition(" ")
        message: Json = json.loads(text)
        return topic, message

    def notification(self) -> Json:
        found: Json = self.next()[1]["notification"]
        return found


@contextmanager
def listening(port: int, *options: str, name: str = "me") -> Iterator[Listener]:
    """mosquitto_sub on a client's topics, subscribed on entry."""
    command = [*MOSQUITTO_SUB, "-p", str(port), "-q", "1", *options]
    for what in ("answer", "notification/+"):
        command += ["-t", f"sparql/{name}/{what}"]
    with Program(*command) as program:
        program.wait_for("Subscribed (mid")
        yield Listener(program)


def ask(port: int, message: object, *options: str, name: str = "me") -> None:
    """mosquitto_pub of a request."""
    text = message if isinstance(message, str) else json.dumps(message)
    subprocess.run(
        [*MOSQUITTO_PUB, "-p", str(port), *options, "-t", f"sparql/{name}/request", "-m", text],
        check=True,
        timeout=WAIT_S,
    )


@asynccontextmanager
async def gateway_behind(mode: str, folder: Path) -> AsyncIterator[tuple[Gateway, int]]:
    profile = write_profile(folder)
    if mode == "embedded":
        async with running(settings(folder, profile)) as gateway:
            yield gateway, gateway.mqtt_port
        return
    with mosquitto(folder) as broker:
        async with running(settings(folder, profile, mosquitto=broker.port)) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, "sparql/+/request")
            yield gateway, broker.port


@needs_mosquitto
@pytest.mark.parametrize("mode", ["embedded", "external"])
async def test_mosquitto_clients_subscribe_with_sparql(mode: str, tmp_path: Path) -> None:
    async with gateway_behind(mode, tmp_path) as (gateway, port):
        before = gateway.scheduler.engine.statistics.subscriptions
        update = asyncio.get_running_loop()

        def tell(text: str) -> None:
            asyncio.run_coroutine_threadsafe(gateway.scheduler.update(text), update).result(WAIT_S)

        def work() -> None:
            with listening(port) as listener:
                ask(port, {"subscribe": {"sparql": ALL, "alias": "mine"}})
                topic, first = listener.next()
                spuid = first["notification"]["spuid"]
                assert topic == f"sparql/me/notification/{spuid.rpartition('/')[2]}"
                assert first["notification"]["alias"] == "mine"
                tell('INSERT DATA { <urn:a> <urn:p> "1" }')
                told = listener.notification()
                assert (told["sequence"], told["spuid"]) == (1, spuid)
                ask(port, "{")
                _, error = listener.next()
                assert (error["error"], error["status_code"]) == ("bad_request", 400)
                ask(port, {"subscribe": {"spuid": spuid, "sequence": 0}})
                assert listener.next()[1]["resumed"]["sequence"] == 0
                assert listener.notification() == told
                ask(port, {"unsubscribe": {"spuid": spuid}}, name="other")
                tell('INSERT DATA { <urn:a> <urn:p> "2" }')
                assert listener.notification()["sequence"] == 2
                ask(port, {"unsubscribe": {"spuid": spuid}})
                assert listener.next() == ("sparql/me/answer", {"unsubscribed": {"spuid": spuid}})

        await asyncio.to_thread(work)
        assert gateway.scheduler.engine.statistics.subscriptions == before


@needs_mosquitto
@pytest.mark.parametrize("mode", ["embedded", "external"])
async def test_will_frees_the_spus(mode: str, tmp_path: Path) -> None:
    will = ["--will-topic", "sparql/me/request", "--will-payload", '{"unsubscribe":{"spuid":"*"}}']
    async with gateway_behind(mode, tmp_path) as (gateway, port):
        before = gateway.scheduler.engine.statistics.subscriptions

        def work() -> None:
            with listening(port, *will) as listener:
                for _ in range(2):
                    ask(port, {"subscribe": {"sparql": ALL}})
                    assert listener.notification()["sequence"] == 0

        await asyncio.to_thread(work)  # ends by killing mosquitto_sub
        await until_subscribed(gateway, before)


@needs_mosquitto
async def test_users_of_the_embedded_broker_have_their_own_topics(tmp_path: Path) -> None:
    base = settings(tmp_path, write_profile(tmp_path))
    users = {name: hash_password(name) for name in ("me", "spy")}
    config = base.model_copy(update={"mqtt": base.mqtt.model_copy(update={"users": users})})
    mine, spys = (["-u", name, "-P", name] for name in users)
    async with running(config) as gateway:
        port = gateway.mqtt_port

        def work() -> None:
            every = [*MOSQUITTO_SUB, "-p", str(port), "-t", "#", *spys]
            with Program(*every) as spy, listening(port, *mine) as listener:
                spy.wait_for("Subscribed (mid")
                ask(port, {"subscribe": {"sparql": "ASK {}", "alias": "forged"}}, *spys)
                ask(port, {"subscribe": {"sparql": ALL, "alias": "mine"}}, *mine)
                assert listener.notification()["alias"] == "mine"
                ask(port, {"subscribe": {"sparql": ALL}}, *spys, name="spy")
                while not (line := spy.wait_for("sparql/")).startswith("sparql/"):
                    pass
                assert line.startswith("sparql/spy/")

        await asyncio.to_thread(work)


class Wire:
    """An exchange that a test holds both ends of."""

    def __init__(self) -> None:
        self.is_heard = True
        self.largest = 1_000_000
        self.room = asyncio.Event()
        self.room.set()
        self.sent: asyncio.Queue[tuple[str, Json]] = asyncio.Queue()

    async def send(self, topic: str, payload: bytes) -> bool:
        await self.room.wait()
        if len(payload) > self.largest:
            raise TooLargeError("too large", "ask for less")
        if self.is_heard:
            self.sent.put_nowait((topic, json.loads(payload)))
        return self.is_heard

    async def next(self) -> tuple[str, Json]:
        return await asyncio.wait_for(self.sent.get(), WAIT_S)


@dataclass(slots=True)
class Desk:
    """A gate on a real engine, without a broker."""

    scheduler: Scheduler
    gate: MqttGate
    wire: Wire = field(default_factory=Wire)

    async def ask(self, message: object, name: str = "me") -> None:
        payload = message if isinstance(message, bytes) else json.dumps(message).encode()
        client = Client(f"mqtt:{name}", OpenGuard().principal)
        await self.gate.request(f"sparql/{name}/request", payload, client)

    async def until_free(self) -> None:
        async with asyncio.timeout(WAIT_S):
            while self.scheduler.engine.statistics.subscriptions or self.clients:
                await asyncio.sleep(0.005)

    @property
    def clients(self) -> int:
        return self.gate.subscribers.statistics.connections["mqtt"]


@asynccontextmanager
async def desk(limits: SubscriberLimits | None = None) -> AsyncIterator[Desk]:
    with Scheduler(Engine.open()) as scheduler:
        loop_calls = LoopCalls(asyncio.get_running_loop())
        async with Subscribers(scheduler, loop_calls, limits) as subscribers:
            wire = Wire()
            async with MqttGate(subscribers, wire, "sparql", patience_s=0.1) as gate:
                yield Desk(scheduler, gate, wire)


async def test_subscription_that_nobody_listens_to_ends() -> None:
    async with desk() as me:
        me.wire.is_heard = False
        await me.ask({"subscribe": {"sparql": ALL, "alias": "x"}})
        assert me.clients == 1
        await me.until_free()


async def test_who_listens_a_little_later_is_told_everything() -> None:
    async with desk() as me:
        me.gate.patience_s = WAIT_S
        me.wire.is_heard = False
        await me.ask({"subscribe": {"sparql": ALL}})
        await asyncio.sleep(0.01)
        me.wire.is_heard = True
        assert (await me.wire.next())[1]["notification"]["sequence"] == 0


async def test_request_is_finished_where_its_publisher_is_gone() -> None:
    async with desk() as me:
        asking = asyncio.create_task(me.ask({"subscribe": {"sparql": ALL}}))
        await asyncio.sleep(0)
        asking.cancel()
        assert (await me.wire.next())[1]["notification"]["sequence"] == 0
        await me.ask({"unsubscribe": {"spuid": "*"}})
        await me.until_free()


@pytest.mark.parametrize("payload", [b"\xff", b"", b"{}", b"[1]", b'{"unsubscribe":{"spuid":"x"}}'])
async def test_bad_request_is_answered_and_leaves_nothing(payload: bytes) -> None:
    async with desk() as me:
        await me.ask(payload)
        topic, error = await me.wire.next()
        assert topic == "sparql/me/answer"
        assert error["status_code"] in {400, 404}
        await me.until_free()


async def test_clients_beyond_the_limit_are_refused() -> None:
    async with desk(SubscriberLimits(connections=1)) as me:
        await me.ask({"subscribe": {"sparql": ALL}})
        await me.wire.next()
        await me.ask({"subscribe": {"sparql": ALL}}, name="other")
        topic, error = await me.wire.next()
        assert (topic, error["error"]) == ("sparql/other/answer", "overloaded")
        await me.ask({"unsubscribe": {"spuid": "*"}})
        assert (await me.wire.next())[1] == {"unsubscribed": {"spuid": "*"}}
        await me.until_free()


async def test_slow_client_gets_larger_steps_and_then_an_end() -> None:
    limits = SubscriberLimits(outbox=OutboxLimits(messages=2, rows=10))
    async with desk(limits) as me:
        await me.ask({"subscribe": {"sparql": ALL, "alias": "x"}})
        _, first = await me.wire.next()
        me.wire.room.clear()
        for value in range(5):
            await me.scheduler.update(f"INSERT DATA {{ <urn:a> <urn:p> {value} }}")
        me.wire.room.set()
        told: list[Json] = []
        while sum(each.get("merged", 1) for each in told) < 5:
            told.append((await me.wire.next())[1]["notification"])
        assert [each["sequence"] for each in told] == list(range(1, len(told) + 1))
        assert len(told) < 5
        me.wire.room.clear()
        for value in range(10, 30):
            await me.scheduler.update(f"INSERT DATA {{ <urn:a> <urn:p> {value} }}")
        me.wire.room.set()
        while "notification" in (last := (await me.wire.next())[1]):
            pass
        assert (last["error"], last["alias"]) == ("too_many_requests", "x")
        assert last["spuid"] == first["notification"]["spuid"]
        await me.until_free()


async def test_notification_that_the_broker_does_not_take_ends_its_subscription() -> None:
    async with desk() as me:
        await me.ask({"subscribe": {"sparql": ALL}})
        await me.wire.next()
        me.wire.largest = 500
        await me.scheduler.update(f'INSERT DATA {{ <urn:a> <urn:p> "{"x" * 1000}" }}')
        _, error = await me.wire.next()
        assert error["error"] == "too_large"
        await me.until_free()


async def test_client_of_the_embedded_broker_that_was_away_gets_everything(tmp_path: Path) -> None:
    """What its session has no room for waits in the outbox, and is merged there."""
    config = settings(tmp_path, write_profile(tmp_path), outbox=10)
    async with running(config) as gateway:
        seen: Counter[str] = Counter()
        sequences: list[int] = []
        told = asyncio.Event()
        loop = asyncio.get_running_loop()

        def on_message(_client: object, _data: object, message: Any) -> None:
            body = json.loads(message.payload)["notification"]
            if body["sequence"] in sequences:  # at least once, says QoS 1
                return
            sequences.append(body["sequence"])
            rows = body["addedResults"]["results"]["bindings"]
            seen.update(row["o"]["value"] for row in rows)
            loop.call_soon_threadsafe(told.set)

        async def until(count: int) -> None:
            async with asyncio.timeout(WAIT_S):
                while seen.total() < count or not sequences:
                    await told.wait()
                    told.clear()

        request = json.dumps({"subscribe": {"sparql": ALL}})
        device = _device(gateway.mqtt_port, on_message)
        device.subscribe("sparql/me/notification/+", 1)
        device.publish("sparql/me/request", request, 1)
        device.loop_start()
        await until(0)
        await asyncio.to_thread(_leave, device)
        for value in range(200):
            await gateway.scheduler.update(f"INSERT DATA {{ <urn:a> <urn:p> {value} }}")
        device = _device(gateway.mqtt_port, on_message)
        device.loop_start()
        await until(200)
        await asyncio.to_thread(_leave, device)
    assert seen == Counter(str(value) for value in range(200))
    assert sequences == list(range(len(sequences)))
    assert len(sequences) < 100


def _device(port: int, on_message: Callable[[object, object, Any], None]) -> PahoClient:
    """A client whose session outlives it."""
    device = PahoClient(CallbackAPIVersion.VERSION2, "device", clean_session=False)
    device.on_message = on_message
    device.connect(LOOPBACK, port)
    return device


def _leave(device: PahoClient) -> None:
    device.disconnect()
    device.loop_stop()


@needs_mosquitto
async def test_token_in_the_message_decides_over_an_external_broker(tmp_path: Path) -> None:
    guard = Lanes()
    with mosquitto(tmp_path) as broker, Scheduler(Engine.open()) as scheduler:
        loop_calls = LoopCalls(asyncio.get_running_loop())
        async with Subscribers(scheduler, loop_calls, None, guard) as subscribers:
            apart = QueriesApart(scheduler.engine, tmp_path / "copies")
            subscribing = Subscribing(subscribers, apart, "sparql", identify_by(None))
            async with subscribing.over(ExternalSettings(LOOPBACK, broker.port)):
                await asyncio.to_thread(broker.wait_subscribed, "sparql/+/request")
                await scheduler.update("INSERT DATA { GRAPH <urn:graph:a> { <urn:s> <urn:p> 1 } }")
                await asyncio.to_thread(_ask_with_tokens, broker.port)
                async with asyncio.timeout(WAIT_S):
                    while scheduler.engine.statistics.subscriptions != 1:
                        await asyncio.sleep(0.01)
                guard.end("b")
                async with asyncio.timeout(WAIT_S):
                    while scheduler.engine.statistics.subscriptions:
                        await asyncio.sleep(0.01)


def _ask_with_tokens(port: int) -> None:
    def subscribe(token: str) -> Json:
        return {"subscribe": {"sparql": GRAPHS, "authorization": token}}

    with listening(port) as listener:
        ask(port, {"subscribe": {"sparql": ALL, "alias": "x"}})
        _, error = listener.next()
        assert (error["error"], error["alias"]) == ("invalid_request", "x")
        ask(port, subscribe("Bearer a"))
        mine = listener.notification()
        assert len(mine["addedResults"]["results"]["bindings"]) == 1
        ask(port, subscribe("Bearer b"))
        theirs = listener.notification()
        assert theirs["addedResults"]["results"]["bindings"] == []
        unsubscribe = {"spuid": mine["spuid"], "authorization": "Bearer b"}
        ask(port, {"unsubscribe": unsubscribe})
        assert listener.next()[1]["status_code"] == 404
        ask(port, {"unsubscribe": {**unsubscribe, "authorization": "Bearer a"}})
        assert listener.next()[1] == {"unsubscribed": {"spuid": mine["spuid"]}}
