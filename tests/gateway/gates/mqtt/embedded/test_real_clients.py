"""The broker with a client library that devices use, over TLS, and on the event loop in use."""

import asyncio
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import pytest
import uvloop
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from gateway.gates.mqtt.embedded.broker import BrokerSettings
from tests.gateway.gates.mqtt.embedded.fakes import FakeStore, running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient, connect_packet

COUNT = 200
TIMEOUT_S = 30.0


Transport = Literal["tcp", "websockets"]


@contextmanager
def paho(port: int, name: str, transport: Transport) -> Iterator[Client]:
    client = Client(CallbackAPIVersion.VERSION2, name, clean_session=True, transport=transport)
    client.username_pw_set("bob", "b-secret")
    client.connect("127.0.0.1", port)
    client.loop_start()
    try:
        yield client
    finally:
        client.disconnect()
        client.loop_stop()


def _paho_round_trip(port: int, qos: int, transport: Transport = "tcp") -> list[bytes]:
    """What a paho subscriber gets of COUNT messages of a paho publisher."""
    payloads: list[bytes] = []
    subscribed, complete = threading.Event(), threading.Event()

    def collect(_client: Client, _userdata: object, message: MQTTMessage) -> None:
        payloads.append(bytes(message.payload))
        if len(payloads) == COUNT:
            complete.set()

    with paho(port, "display", transport) as display, paho(port, "device", transport) as device:
        display.on_message = collect
        display.on_subscribe = lambda *_: subscribed.set()
        display.subscribe("s/#", qos)
        assert subscribed.wait(TIMEOUT_S)
        sent = [device.publish("s/1", b"%d" % number, qos) for number in range(COUNT)]
        for message in sent:
            message.wait_for_publish(TIMEOUT_S)
        assert complete.wait(TIMEOUT_S)
    return payloads


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_paho_clients_exchange_everything_in_order(qos: int) -> None:
    store = FakeStore()
    expected = [b"%d" % number for number in range(COUNT)]
    async with running(store=store) as broker:
        assert await asyncio.to_thread(_paho_round_trip, broker.port, qos) == expected
    assert store.payloads == expected


def test_paho_clients_exchange_everything_over_websocket_on_uvloop() -> None:
    store = FakeStore()
    expected = [b"%d" % number for number in range(COUNT)]

    async def round_trip() -> list[bytes]:
        async with running(BrokerSettings(port=0, web_socket_port=0), store) as broker:
            port = broker.web_socket_port or 0
            return await asyncio.to_thread(_paho_round_trip, port, 1, "websockets")

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert runner.run(round_trip()) == expected
    assert store.payloads == expected


def test_broker_works_on_uvloop() -> None:
    async def round_trip() -> None:
        async with running() as broker:
            client = await RawClient.connect(broker.port, "d", "bob", "b-secret")
            async with client:
                await client.subscribe("t", 1)
                client.send(connect_packet("again"))
                assert await client.closed()
            client = await RawClient.connect(broker.port, "d", "bob", "b-secret")
            async with client:
                await client.subscribe("t", 1)
                await client.publish("u", b"x", qos=2)
                await broker.publish("t", b"y", qos=1)
                assert (await client.next_message()).payload == b"y"

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(round_trip())


def test_broker_speaks_tls_on_uvloop(
    server_tls: ssl.SSLContext, client_tls: ssl.SSLContext
) -> None:
    payload = bytes(60_000)

    async def round_trip() -> None:
        settings = BrokerSettings(port=0, tls=server_tls)
        async with running(settings) as broker, await RawClient.open(broker.port) as silent:
            streams = await asyncio.open_connection("127.0.0.1", broker.port, ssl=client_tls)
            async with RawClient(*streams) as client:
                client.send(connect_packet("d", "bob", "b-secret"))
                assert await client.next_packet() is not None
                await client.subscribe("t", 1)
                for _ in range(50):
                    await client.publish("u", payload)
                await broker.publish("t", payload, qos=1)
                assert (await client.next_message()).payload == payload
            silent.send(b"no TLS at all")
            assert await silent.closed()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(round_trip())


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """A self-signed certificate for 127.0.0.1, its key in the same file."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes the certificate, is not installed")
    pem, key = tmp_path / "broker.pem", tmp_path / "key.pem"
    request = (
        "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=b"
    )
    names = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(pem)]
    subprocess.run([openssl, *request.split(), *names], check=True, capture_output=True)
    pem.write_text(pem.read_text() + key.read_text())
    return pem


async def test_broker_speaks_tls_only_where_it_has_a_certificate(certificate: Path) -> None:
    server = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    server.load_cert_chain(certificate)
    trusting = ssl.create_default_context(cafile=str(certificate))
    async with running(BrokerSettings(port=0, tls=server)) as broker:
        streams = await asyncio.open_connection("127.0.0.1", broker.port, ssl=trusting)
        async with RawClient(*streams) as client:
            client.send(connect_packet("d", "bob", "b-secret"))
            answer = await client.next_packet()
            assert answer is not None
            assert answer.body == b"\0\0"
            await client.publish("t", b"x")
        async with await RawClient.open(broker.port) as plain:
            plain.send(connect_packet("d", "bob", "b-secret"))
            assert await plain.closed()
