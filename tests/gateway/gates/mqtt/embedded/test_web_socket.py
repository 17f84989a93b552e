"""MQTT over WebSocket: the same broker behind another handshake, and another framing."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Subprotocol
from websockets.utils import apply_mask

from gateway.config.settings import Config, MqttSettings
from gateway.gates.http.origins import Names
from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker
from tests.gateway.gates.mqtt.embedded.brokers import eventually
from tests.gateway.gates.mqtt.embedded.fakes import FakeStore, running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import (
    CONNACK,
    PINGREQ,
    PUBACK,
    RawClient,
    Will,
    connect_packet,
    packet,
    publish_packet,
    text,
)
from tests.gateway.gates.mqtt.embedded.resident import GROWTH_BYTES, resident_bytes
from tests.kit import gateways

SETTINGS = BrokerSettings(port=0, web_socket_port=0, max_payload_bytes=1000)
FIN, CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0x80, 0, 1, 2, 8, 9, 10
MASK = b"\x01\x80\xff\x07"
ACCEPTED = b"\x20\2\0\0"
ACKNOWLEDGED = b"\x40\2\0\1"


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
async def broker(store: FakeStore) -> AsyncIterator[EmbeddedBroker]:
    async with running(SETTINGS, store) as broker:
        yield broker


def uri(broker: EmbeddedBroker, scheme: str = "ws") -> str:
    return f"{scheme}://127.0.0.1:{broker.web_socket_port}/mqtt"


@asynccontextmanager
async def raw_client(address: str, **options: Any) -> AsyncIterator[RawClient]:
    """A RawClient whose bytes go as binary messages, by the client of a library."""
    spoken = [Subprotocol("mqtt")]
    async with connect(address, subprotocols=spoken, ping_interval=None, **options) as socket:
        stream = asyncio.StreamReader()

        async def read() -> None:
            try:
                async for message in socket:
                    assert isinstance(message, bytes)
                    stream.feed_data(message)
            except ConnectionClosed:
                pass
            finally:
                stream.feed_eof()

        def write(data: bytes) -> None:
            socket.protocol.send_binary(data)
            socket.send_data()

        reading = asyncio.create_task(read())
        writer: Any = SimpleNamespace(
            write=write, transport=socket.transport, wait_closed=socket.wait_closed
        )
        try:
            yield RawClient(stream, writer)
        finally:
            reading.cancel()
            await asyncio.wait({reading})


async def accepted(client: RawClient) -> RawClient:
    client.send(connect_packet("d", "bob", "b-secret"))
    assert (await client.expect(CONNACK)).body == b"\0\0"
    return client


async def reading_passes(broker: EmbeddedBroker, store: FakeStore) -> None:
    """By TCP, to somebody who listens by WebSocket, and the other way."""
    async with (
        raw_client(uri(broker)) as socket,
        await RawClient.connect(broker.port, "good", "alice", "a-secret") as device,
    ):
        watch = await accepted(socket)
        await watch.subscribe("lab/t", 1)
        await device.publish("lab/t", b"21.5")
        assert (await watch.next_message()).payload == b"21.5"
        await watch.publish("lab/u", b"22.5")
    assert store.payloads[-2:] == [b"21.5", b"22.5"]


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_messages_go_both_ways(broker: EmbeddedBroker, store: FakeStore, qos: int) -> None:
    async with raw_client(uri(broker)) as socket:
        client = await accepted(socket)
        await client.subscribe("echo/#", qos)
        await client.publish("lab/t", b"x" * 1000, qos)
        await broker.publish("echo/1", b"y" * 900, qos)
        assert (await client.next_message()).payload == b"y" * 900
        assert await client.ping() == []
        assert store.payloads == [b"x" * 1000]
        await client.disconnect()
    await reading_passes(broker, store)


async def test_tls_is_that_of_every_port(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext, store: FakeStore
) -> None:
    async with running(replace(SETTINGS, tls=server_tls), store) as broker:
        async with raw_client(uri(broker, "wss"), ssl=client_tls) as socket:
            await (await accepted(socket)).publish("lab/t", b"21.5")
        async with await RawClient.open(broker.web_socket_port or 0) as plain:
            plain.send(b"GET /mqtt HTTP/1.1\r\n\r\n")
            assert await plain.closed()
    assert store.payloads == [b"21.5"]


async def test_who_may_not_log_in_may_not_here(broker: EmbeddedBroker) -> None:
    async with raw_client(uri(broker)) as client:
        client.send(connect_packet("d", "bob", "wrong"))
        assert (await client.expect(CONNACK)).body == b"\0\5"
        assert await client.closed()


async def test_packets_may_begin_and_end_anywhere(broker: EmbeddedBroker, store: FakeStore) -> None:
    async with raw_client(uri(broker)) as socket:
        client = await accepted(socket)
        several = b"".join(publish_packet("lab/t", b"%d" % n, 1, n) for n in range(1, 20))
        client.send(several[:-7])
        for byte in several[-7:]:
            client.send(bytes([byte]))
        client.send(b"")
        for number in range(1, 20):
            assert (await client.expect(PUBACK)).packet_id == number
    assert store.payloads == [b"%d" % number for number in range(1, 20)]


def request(**changed: str | None) -> bytes:
    """A handshake; None leaves a header out."""
    headers: dict[str, str | None] = {
        "Host": "localhost:8083",
        "Upgrade": "websocket",
        "Connection": "Upgrade",
        "Sec-WebSocket-Key": base64.b64encode(bytes(16)).decode(),
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Protocol": "mqtt",
    }
    headers.update({name.replace("_", "-"): value for name, value in changed.items()})
    lines = [f"{name}: {value}" for name, value in headers.items() if value is not None]
    return "\r\n".join(["GET /mqtt HTTP/1.1", *lines, "", ""]).encode()


REFUSED = {
    "no-subprotocol": (request(Sec_WebSocket_Protocol=None), b"400"),
    "other-subprotocol": (request(Sec_WebSocket_Protocol="mqttv3.1"), b"400"),
    "no-upgrade": (request(Upgrade=None), b"426"),
    "no-key": (request(Sec_WebSocket_Key=None), b"400"),
    "other-version": (request(Sec_WebSocket_Version="8"), b"400"),
    "no-host": (request(Host=None), b"403"),
    "foreign-host": (request(Host="gateway.evil.example"), b"403"),
    "foreign-page": (request(Origin="https://evil.example"), b"403"),
    "page-of-a-file": (request(Origin="null"), b"403"),
    "no-http": (b"\x10\x1a\x00\x04MQTT" + bytes(20) + b"\r\n\r\n", b""),
    "post": (request().replace(b"GET", b"POST"), b""),
    "endless-head": (b"GET / HTTP/1.1\r\n" + b"a: b\r\n" * 40_000, b""),
}


@pytest.mark.parametrize("name", REFUSED)
async def test_handshake_that_is_wrong_is_refused(
    broker: EmbeddedBroker, store: FakeStore, name: str
) -> None:
    sent, status = REFUSED[name]
    async with await RawClient.open(broker.web_socket_port or 0) as client:
        client.send(sent)
        try:
            answer = await asyncio.wait_for(client.reader.read(), 30)
        except ConnectionError:
            answer = b""
        assert answer[9:12] == status
    assert broker.statistics.refused == 1
    await reading_passes(broker, store)


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://localhost:8000", "localhost:8083"),
        ("http://127.0.0.1:8083", "127.0.0.1:8083"),
        ("https://dash.lan", "localhost"),
    ],
)
async def test_pages_of_ours_and_those_that_are_configured_may_call(origin: str, host: str) -> None:
    names = Names(origins=frozenset({"https://dash.lan"})).with_pages_of(8000)
    async with (
        running(replace(SETTINGS, names=names)) as broker,
        await RawClient.open(broker.web_socket_port or 0) as client,
    ):
        client.send(request(Origin=origin, Host=host, Sec_WebSocket_Protocol="x, mqtt"))
        head = await asyncio.wait_for(client.reader.readuntil(b"\r\n\r\n"), 30)
        assert head.startswith(b"HTTP/1.1 101 ")
        assert b"Sec-WebSocket-Protocol: mqtt\r\n" in head


def frame(opcode: int, data: bytes = b"", *, fin: bool = True) -> bytes:
    size = len(data)
    if size < 126:
        length = bytes([0x80 | size])
    elif size < 65_536:
        length = b"\xfe" + size.to_bytes(2, "big")
    else:
        length = b"\xff" + size.to_bytes(8, "big")
    return bytes([FIN * fin | opcode]) + length + MASK + apply_mask(data, MASK)


@asynccontextmanager
async def open_broker(store: FakeStore, **changed: Any) -> AsyncIterator[EmbeddedBroker]:
    """Without users."""
    settings = replace(SETTINGS, **changed)
    async with EmbeddedBroker(settings, store.accept, None, refuse=store.refuse) as broker:
        yield broker


@asynccontextmanager
async def shaken_hands(broker: EmbeddedBroker) -> AsyncIterator[RawClient]:
    """A socket after the handshake, and a CONNECT with a will that was accepted."""
    async with await RawClient.open(broker.web_socket_port or 0) as client:
        client.send(request() + frame(BINARY, connect_packet("d", will=Will("gone", b"broken"))))
        await asyncio.wait_for(client.reader.readuntil(b"\r\n\r\n"), 30)
        assert await received_frame(client) == (BINARY, ACCEPTED)
        yield client


async def received_frame(client: RawClient) -> tuple[int, bytes]:
    async with asyncio.timeout(30):
        head, size = await client.reader.readexactly(2)
        assert head & FIN
        assert size < 126
        return head & 0x0F, await client.reader.readexactly(size)


async def test_fragments_and_pings_between_them(store: FakeStore) -> None:
    async with open_broker(store) as broker, shaken_hands(broker) as client:
        sent = publish_packet("lab/t", b"21.5", 1)
        client.send(frame(BINARY, sent[:5], fin=False) + frame(PING, b"there?"))
        assert await received_frame(client) == (PONG, b"there?")
        client.send(frame(CONTINUATION, fin=False) + frame(PONG) + frame(CONTINUATION, sent[5:]))
        assert await received_frame(client) == (BINARY, ACKNOWLEDGED)
        assert store.payloads == [b"21.5"]


BREACHES = {
    "text": frame(TEXT, b"21.5"),
    "fragment-of-nothing": frame(CONTINUATION, b"x"),
    "message-within-a-message": frame(BINARY, b"\xc0", fin=False) + frame(BINARY, b"\0"),
    "reserved-bits": bytes([0xC0 | BINARY, 0x80]) + MASK,
    "without-mask": bytes([FIN | BINARY, 2]) + packet(PINGREQ, 0, b""),
    "unknown-opcode": frame(3, b"x"),
    "unknown-control": frame(11),
    "ping-too-long": frame(PING, bytes(126)),
    "ping-in-fragments": frame(PING, b"x", fin=False),
}


@pytest.mark.parametrize("name", BREACHES)
async def test_frame_that_breaks_a_rule_ends_the_connection(store: FakeStore, name: str) -> None:
    async with open_broker(store) as broker, await RawClient.connect(broker.port, "w") as watch:
        await watch.subscribe("#")
        async with shaken_hands(broker) as client:
            client.send(BREACHES[name])
            assert await received_frame(client) == (CLOSE, (1002).to_bytes(2, "big"))
            assert await client.closed()
        assert (await watch.next_message()).payload == b"broken"
        await watch.publish("lab/t", b"21.5", qos=0)
        assert (await watch.next_message()).payload == b"21.5"


async def test_goodbye_is_answered_and_publishes_the_will(store: FakeStore) -> None:
    async with open_broker(store) as broker, shaken_hands(broker) as client:
        client.send(frame(CLOSE, (1000).to_bytes(2, "big")))
        assert await received_frame(client) == (CLOSE, (1000).to_bytes(2, "big"))
        assert await client.closed()
        await store.has(1)
        assert store.payloads == [b"broken"]


async def test_longest_packet_in_one_frame_is_never_held(store: FakeStore) -> None:
    rest = 268_435_455 - len(text("lab/log")) - 2
    begin = b"\x32\xff\xff\xff\x7f" + text("lab/log") + b"\0\1"
    size = (len(begin) + rest).to_bytes(8, "big")
    chunk, unmasked = bytes(1_048_576), bytes(4)
    async with open_broker(store) as broker, shaken_hands(broker) as client:
        client.send(bytes([FIN | BINARY, 0xFF]) + size + unmasked + begin)
        before, most = resident_bytes(), 0
        for sent in range(0, rest, len(chunk)):
            client.send(chunk[: rest - sent])
            await client.writer.drain()
            most = max(most, resident_bytes() - before)
        assert await received_frame(client) == (BINARY, ACKNOWLEDGED)
        assert most < GROWTH_BYTES
        assert [told for _, told in store.refused] == [rest]
        client.send(frame(BINARY, publish_packet("lab/t", b"21.5", 1)))
        assert await received_frame(client) == (BINARY, ACKNOWLEDGED)
        assert store.payloads == [b"21.5"]


async def test_slow_store_holds_the_socket_back(store: FakeStore) -> None:
    """What a client sends beyond the window stays in its socket: nothing grows here."""
    store.hold()
    few = {"max_inflight": 2, "drain_timeout_s": 0.1}
    async with open_broker(store, **few) as broker, shaken_hands(broker) as client:
        several = b"".join(publish_packet("t", bytes(1000), 1, n) for n in range(1, 65_000))
        sent = frame(BINARY, several)
        before = resident_bytes()
        client.send(sent)
        await store.has(2)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.writer.drain(), 0.3)
        assert len(store.messages) == 2
        assert resident_bytes() - before < GROWTH_BYTES + len(sent), "the client has them"
        async with await RawClient.connect(broker.port, "other") as other:
            assert await other.ping() == []


async def test_silent_sockets_keep_nobody_out(store: FakeStore) -> None:
    few = {"max_connections": 12, "max_connecting": 5, "connect_timeout_s": 30.0}
    async with open_broker(store, **few) as broker, AsyncExitStack() as stack:
        for number in range(60):
            silent = await RawClient.open(broker.web_socket_port or 0)
            await stack.enter_async_context(silent)
            if number % 2:
                silent.send(request())
        async with shaken_hands(broker) as client:
            assert await eventually(lambda: broker.statistics.connections <= 6, 20)
            client.send(frame(BINARY, publish_packet("lab/t", b"21.5", 1)))
            assert await received_frame(client) == (BINARY, ACKNOWLEDGED)


async def test_gateway_listens_where_it_is_told_to(tmp_path: Path) -> None:
    assert Config().mqtt_websocket_port is None
    profile = gateways.write_profile(tmp_path, [gateways.mapping("t", "lab/t", format="scalar")])
    port = gateways.free_port()
    mqtt = MqttSettings(port=0, websocket=True, websocket_port=port)
    config = gateways.settings(tmp_path, profile).model_copy(update={"mqtt": mqtt})
    async with gateways.running(config) as gateway:
        told = await gateways.watch(gateway, gateways.VALUES)
        async with raw_client(f"ws://localhost:{port}/") as client:
            await (await accepted(client)).publish("lab/t", b"21.5")
        await told.until(lambda: told.values() == ["21.5"])


def test_external_broker_has_no_web_socket_of_ours() -> None:
    with pytest.raises(ValueError, match="websocket"):
        MqttSettings(mode="external", websocket=True)
