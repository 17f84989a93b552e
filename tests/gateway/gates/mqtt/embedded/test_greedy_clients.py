"""One client that takes all it can get: its share is full, everybody else is served as before."""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import monotonic, process_time

import httpx
import pytest

from gateway.config.settings import MqttSettings
from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker
from gateway.gates.mqtt.embedded.entrance.openings import GRACE_S
from tests.gateway.gates.mqtt.embedded.brokers import eventually
from tests.gateway.gates.mqtt.embedded.fakes import FakeStore, running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import (
    SUBACK,
    SUBSCRIBE,
    RawClient,
    connect_packet,
    packet,
    publish_packet,
    text,
)
from tests.gateway.gates.mqtt.embedded.resident import GROWTH_BYTES, resident_bytes
from tests.kit import gateways
from tests.kit.metrics import metrics

SETTINGS = BrokerSettings(
    port=0,
    max_connections=12,
    max_client_connections=6,
    max_connecting=5,
    max_sessions=40,
    max_client_sessions=20,
    max_retained=40,
    max_client_retained=20,
)
UNAVAILABLE = 3


async def bob(broker: EmbeddedBroker, name: str, clean: bool = True) -> RawClient:
    return await RawClient.connect(broker.port, name, "bob", "b-secret", clean=clean)


async def alice(broker: EmbeddedBroker, name: str, clean: bool = True) -> RawClient:
    return await RawClient.connect(broker.port, name, "alice", "a-secret", clean=clean)


@asynccontextmanager
async def others(broker: EmbeddedBroker, store: FakeStore) -> AsyncIterator[None]:
    """Somebody who listens and somebody who measures, before, meanwhile and after."""
    async with await alice(broker, "watch") as watch, await alice(broker, "device") as device:
        assert (watch.code, device.code) == (0, 0)
        await watch.subscribe("lab/#")
        yield
        await device.publish("lab/t", b"21.5")
        assert store.payloads[-1] == b"21.5"
        assert (await watch.next_message()).payload == b"21.5"
    async with await alice(broker, "new", clean=False) as new:
        assert new.code == 0
        await new.publish("lab/t", b"22.5", retain=True)
        assert store.payloads[-1] == b"22.5"


async def test_sessions_beyond_a_share_cost_their_owner_its_oldest() -> None:
    store = FakeStore()
    async with running(SETTINGS, store) as broker:
        await (await alice(broker, "kept", clean=False)).disconnect()
        async with others(broker, store):
            for number in range(60):
                greedy = await bob(broker, f"g{number}", clean=False)
                assert greedy.code == 0
                await greedy.disconnect()
            assert broker.statistics.forgotten == 40
            async with await bob(broker, "g39", clean=False) as gone:
                assert not gone.session_present
            async with await bob(broker, "g59", clean=False) as last:
                assert last.session_present
            async with await alice(broker, "kept", clean=False) as kept:
                assert kept.session_present


async def test_sessions_of_many_are_those_of_whoever_has_most() -> None:
    store = FakeStore()
    settings = replace(SETTINGS, max_sessions=5, max_client_sessions=5)
    async with running(settings, store) as broker:
        await (await alice(broker, "kept", clean=False)).disconnect()
        for number in range(9):
            await (await bob(broker, f"g{number}", clean=False)).disconnect()
        async with others(broker, store), await alice(broker, "kept", clean=False) as kept:
            assert kept.session_present


async def cpu_of_others(broker: EmbeddedBroker) -> float:
    """Seconds for messages to new topics, while subscriptions come and go."""
    async with await alice(broker, "many") as many:
        begin = process_time()
        for number in range(100):
            await many.subscribe(f"own/{number}")
            await many.publish(f"own/{number}", b"x", qos=0)
            assert (await many.next_message()).payload == b"x"
            await (await alice(broker, "short")).disconnect()
        return process_time() - begin


@pytest.mark.alone
async def test_many_filters_of_one_client_slow_nobody_elses_messages() -> None:
    store = FakeStore()
    settings = replace(SETTINGS, max_connections=60, max_client_connections=50)
    async with running(settings, store) as broker, AsyncExitStack() as stack:
        alone_s = await cpu_of_others(broker)
        for number in range(50):
            greedy = await stack.enter_async_context(await bob(broker, f"g{number}"))
            filters = (text(f"g/{number}/+/{n}/#") + b"\0" for n in range(200))
            greedy.send(packet(SUBSCRIBE, 2, b"\0\1" + b"".join(filters)))
            await greedy.expect(SUBACK)
        assert broker.statistics.subscriptions == 10_000
        async with others(broker, store):
            assert await cpu_of_others(broker) < 3 * alone_s, "a look at each filter takes 10 times"


async def test_connections_beyond_a_share_are_refused() -> None:
    store = FakeStore()
    async with (
        running(SETTINGS, store) as broker,
        AsyncExitStack() as stack,
        others(broker, store),
    ):
        codes = []
        for number in range(20):
            greedy = await stack.enter_async_context(await bob(broker, f"g{number}"))
            codes.append(greedy.code)
        assert codes == [0] * 6 + [UNAVAILABLE] * 14
        async with await bob(broker, "g0") as again:
            assert again.code == 0, "a client id taken over needs no room"


async def test_share_without_users_is_that_of_an_address() -> None:
    async def accept(_: object) -> None:
        return

    async with (
        EmbeddedBroker(SETTINGS, accept, None) as broker,
        AsyncExitStack() as stack,
    ):
        for number in range(8):
            name, source = f"g{number}", "127.0.0.2"
            greedy = await RawClient.connect(broker.port, name, f"u{number}", source=source)
            await stack.enter_async_context(greedy)
            assert greedy.code == (0 if number < 6 else UNAVAILABLE)
        async with await RawClient.connect(broker.port, "d") as other:
            assert other.code == 0
            await other.publish("lab/t", b"21.5")


@pytest.mark.alone
@pytest.mark.parametrize("count", [14, 210])
async def test_silent_sockets_keep_nobody_out(count: int) -> None:
    store = FakeStore()
    settings = replace(SETTINGS, connect_timeout_s=30.0)
    async with (
        running(settings, store) as broker,
        AsyncExitStack() as stack,
        others(broker, store),
    ):
        begin = monotonic()
        silent = []
        for _ in range(count):
            client = await RawClient.open(broker.port)
            silent.append(await stack.enter_async_context(client))
        async with await alice(broker, "meanwhile") as device:
            assert device.code == 0
        few = settings.max_connecting + 2
        assert await eventually(lambda: broker.statistics.connections <= few, 5)
        assert monotonic() - begin < GRACE_S + 3
        assert await silent[0].closed()
        assert not await silent[-1].closed(0.05), "the oldest goes first"


async def test_silence_in_tls_handshakes_keeps_nobody_out(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    settings = replace(SETTINGS, tls=server_tls, connect_timeout_s=30.0)
    async with running(settings) as broker, AsyncExitStack() as stack:
        for _ in range(60):
            await stack.enter_async_context(await RawClient.open(broker.port))
        streams = await asyncio.open_connection("127.0.0.1", broker.port, ssl=client_tls)
        async with RawClient(*streams) as device:
            device.send(connect_packet("d", "bob", "b-secret"))
            answer = await device.next_packet()
            assert answer is not None
            assert answer.body == b"\0\0"
            few = settings.max_connecting + 1
            assert await eventually(lambda: broker.statistics.connections <= few, 20)
            await device.publish("lab/t", b"21.5")


async def test_silent_sockets_of_one_address_cost_no_other_its_place() -> None:
    settings = replace(SETTINGS, connect_timeout_s=30.0)
    async with running(settings) as broker, AsyncExitStack() as stack:
        other = await RawClient.open(broker.port, "127.0.0.3")
        await stack.enter_async_context(other)
        for _ in range(60):
            await stack.enter_async_context(await RawClient.open(broker.port, "127.0.0.2"))
        other.send(connect_packet("d", "bob", "b-secret"))
        answer = await other.next_packet()
        assert answer is not None
        assert answer.body == b"\0\0"


async def test_devices_that_come_all_at_once_get_in() -> None:
    settings = replace(SETTINGS, max_connections=120, max_client_connections=120)
    async with running(settings) as broker, AsyncExitStack() as stack:
        clients = await asyncio.gather(*(bob(broker, f"d{number}") for number in range(100)))
        for client in clients:
            await stack.enter_async_context(client)
        assert [client.code for client in clients] == [0] * 100


async def test_retained_messages_beyond_a_share_are_told_and_cost_nobody_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    store = FakeStore()
    async with (
        running(SETTINGS, store) as broker,
        others(broker, store),
        await bob(broker, "greedy") as greedy,
        await alice(broker, "late") as late,
    ):
        with caplog.at_level(logging.WARNING):
            for number in range(50):
                await greedy.publish(f"g/{number}", b"x", retain=True)
        told = [each for each in caplog.records if each.msg == "broker_message_not_retained"]
        assert [(vars(each)["client"], vars(each)["topic"]) for each in told] == [("bob", "g/20")]
        assert (broker.statistics.retained, broker.statistics.not_retained) == (20, 30)
        assert len(store.payloads) == 50, "passed on, though not retained"
        await late.publish("state/1", b"on", retain=True)
        await late.subscribe("state/#")
        assert (await late.next_message()).retain


async def test_gateway_goes_on_beside_a_client_that_takes_all_it_can_get(tmp_path: Path) -> None:
    """With the defaults and without users, where a greedy program is a client like all others."""
    profile = gateways.write_profile(tmp_path, [gateways.mapping("t", "lab/t", format="scalar")])
    async with (
        gateways.running(gateways.settings(tmp_path, profile)) as gateway,
        AsyncExitStack() as stack,
    ):
        port, mqtt = gateway.mqtt_port, MqttSettings()
        told = await gateways.watch(gateway, gateways.VALUES)
        watch = await stack.enter_async_context(await RawClient.connect(port, "watch"))
        await watch.subscribe("lab/#")
        before = resident_bytes()
        for number in range(1_000):
            greedy = await RawClient.connect(port, f"g{number}", clean=False)
            assert greedy.code == 0
            await greedy.vanish()
        for _ in range(210):
            await stack.enter_async_context(await RawClient.open(port))
        async with await RawClient.connect(port, "greedy") as greedy:
            for number in range(mqtt.client_retained_messages + 100):
                greedy.send(publish_packet(f"g/{number}", b"x", retain=True))
            assert await greedy.ping() == []
        async with await RawClient.connect(port, "device", clean=False) as device:
            assert device.code == 0
            await device.publish("lab/t", b"21.5")
        await told.until(lambda: told.values() == ["21.5"])
        assert (await watch.next_message()).payload == b"21.5"
        async with httpx.AsyncClient() as client:
            health = await client.get(f"http://127.0.0.1:{gateway.http_port}/health")
        assert health.status_code == 200
        counted = await metrics(gateway)
        turned_away = 'broker_turned_away_total{what="%s"}'
        assert counted[turned_away % "not_retained"] == 100
        assert counted[turned_away % "forgotten"] >= 1_000 - mqtt.client_sessions
        assert counted['broker_held{what="sessions"}'] <= mqtt.client_sessions + 3
        assert resident_bytes() - before < GROWTH_BYTES
