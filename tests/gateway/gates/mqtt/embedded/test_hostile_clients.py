"""Packets that break the rules, and clients that should not be let in: each costs its connection
and nothing else."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from gateway.errors import BadRequestError, ConfigurationError
from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker, Login
from tests.gateway.gates.mqtt.embedded.brokers import accept_all
from tests.gateway.gates.mqtt.embedded.fakes import running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import (
    CONNECT,
    PINGREQ,
    PUBLISH,
    SUBSCRIBE,
    RawClient,
    Will,
    connect_packet,
    packet,
    publish_packet,
    text,
)

SETTINGS = BrokerSettings(port=0, max_payload_bytes=1000, connect_timeout_s=1.0)


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with running(SETTINGS) as broker:
        yield broker


async def bob(broker: EmbeddedBroker) -> RawClient:
    return await RawClient.connect(broker.port, "d", "bob", "b-secret")


async def still_serves(broker: EmbeddedBroker) -> bool:
    async with await RawClient.connect(broker.port, "good", "bob", "b-secret") as client:
        await client.subscribe("t", 1)
        await client.publish("t", b"x", qos=0)
        return (await client.next_message()).payload == b"x"


MALFORMED = {
    "reserved-type-0": packet(0, 0, b""),
    "reserved-type-15": packet(15, 0, b""),
    "connect-again": connect_packet("d", "bob", "b-secret"),
    "connack": packet(2, 0, b"\0\0"),
    "remaining-length-of-five-bytes": b"\x30\xff\xff\xff\xff\x01",
    "publish-qos-3": packet(PUBLISH, 6, text("t") + b"\0\1"),
    "publish-without-topic": publish_packet(""),
    "publish-to-wildcard": publish_packet("a/+"),
    "publish-to-nul": publish_packet("a\0b"),
    "publish-to-broken-utf-8": publish_packet(b"\xff\xfe"),
    "publish-to-surrogate": publish_packet(b"\xed\xa0\x80"),
    "publish-packet-id-0": publish_packet("t", b"", qos=1, packet_id=0),
    "publish-cut-short": packet(PUBLISH, 2, b"\0\5ab"),
    "publish-empty": packet(PUBLISH, 0, b""),
    "subscribe-too-long": packet(SUBSCRIBE, 2, b"\0\1" + (text("t" * 65_000) + b"\0") * 3),
    "publish-too-long-to-wildcard": publish_packet("a/+", bytes(70_000)),
    "publish-too-long-to-broken-utf-8": publish_packet(b"\xff", bytes(70_000)),
    "subscribe-flags-0": packet(SUBSCRIBE, 0, b"\0\1" + text("t") + b"\0"),
    "subscribe-qos-3": packet(SUBSCRIBE, 2, b"\0\1" + text("t") + b"\3"),
    "subscribe-without-filter": packet(SUBSCRIBE, 2, b"\0\1"),
    "subscribe-packet-id-0": packet(SUBSCRIBE, 2, b"\0\0" + text("t") + b"\0"),
    "subscribe-broken-utf-8": packet(SUBSCRIBE, 2, b"\0\1" + text(b"\xff") + b"\0"),
    "subscribe-cut-short": packet(SUBSCRIBE, 2, b"\0\1" + text("t") + b"\0\0\5a"),
    "unsubscribe-without-filter": packet(10, 2, b"\0\1"),
    "unsubscribe-flags-0": packet(10, 0, b"\0\1" + text("t")),
    "puback-without-id": packet(4, 0, b""),
    "pubrel-flags-0": packet(6, 0, b"\0\1"),
    "pingreq-flags-1": packet(PINGREQ, 1, b""),
}


@pytest.mark.parametrize("name", MALFORMED)
async def test_malformed_packet_closes_only_its_connection(
    broker: EmbeddedBroker, name: str
) -> None:
    async with await bob(broker) as client:
        client.send(MALFORMED[name])
        assert await client.next_packet() is None
    assert await still_serves(broker)


def _connect_with(protocol: str = "MQTT", level: int = 4, flags: int = 2) -> bytes:
    return packet(CONNECT, 0, text(protocol) + bytes([level, flags]) + b"\0\x3c" + text("d"))


BAD_CONNECTS = {
    "not-connect": packet(PINGREQ, 0, b""),
    "http": b"GET / HTTP/1.1\r\nHost: " + bytes(100),
    "tls-hello": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    "other-protocol": _connect_with("MQIsdp", 3),
    "reserved-flag": _connect_with(flags=3),
    "will-without-topic": _connect_with(flags=6),
    "will-to-wildcard": connect_packet("d", "bob", "b-secret", will=Will("a/#", b"x")),
    "will-qos-3": connect_packet("d", "bob", "b-secret", will=Will("a", b"x", qos=3)),
    "cut-short": packet(CONNECT, 0, text("MQTT")),
    "empty": packet(CONNECT, 0, b""),
}


@pytest.mark.parametrize("name", BAD_CONNECTS)
async def test_bad_connect_is_closed_without_connack(broker: EmbeddedBroker, name: str) -> None:
    async with await RawClient.open(broker.port) as client:
        client.send(BAD_CONNECTS[name])
        assert await client.next_packet() is None
    assert await still_serves(broker)
    assert broker.statistics.refused == 1


@pytest.mark.parametrize(("user", "password"), [(None, None), ("bob", "wrong"), ("eve", "")])
async def test_wrong_credentials_are_refused(
    broker: EmbeddedBroker, user: str | None, password: str | None
) -> None:
    async with await RawClient.connect(broker.port, "d", user, password) as client:
        assert client.code == 5
        assert await client.closed()
    assert (broker.statistics.sessions, broker.statistics.refused) == (0, 1)


async def test_slow_authentication_is_given_up() -> None:
    async def never(user: str | None, password: str | None, address: str) -> Login | None:
        await asyncio.Event().wait()
        return None

    settings = BrokerSettings(port=0, connect_timeout_s=0.1)
    async with EmbeddedBroker(settings, accept_all, never) as broker:
        async with await RawClient.connect(broker.port, "d", "bob", "b-secret") as client:
            assert client.code is None
        assert broker.statistics.refused == 1


async def test_authentication_that_raises_costs_one_connection(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def broken(user: str | None, password: str | None, address: str) -> Login | None:
        if user == "bob":
            return Login(user)
        raise ZeroDivisionError

    async with EmbeddedBroker(BrokerSettings(port=0), accept_all, broken) as broker:
        async with await RawClient.connect(broker.port, "e", "eve", "x") as client:
            assert client.code is None
        assert await still_serves(broker)
    assert "broker_conversation_failed" in caplog.text


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "192.168.1.5", "gateway.local", ""])
def test_broker_without_users_stays_on_this_machine(host: str) -> None:
    with pytest.raises(ValueError, match="without authentication"):
        EmbeddedBroker(BrokerSettings(host=host), accept_all, None)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
async def test_anonymous_client_is_served_on_loopback(host: str) -> None:
    async with EmbeddedBroker(BrokerSettings(host=host, port=0), accept_all, None) as broker:
        reader, writer = await asyncio.open_connection(host, broker.port)
        async with RawClient(reader, writer) as client:
            client.send(connect_packet("d"))
            answer = await client.next_packet()
            assert answer is not None
            assert answer.body == b"\0\0"


async def test_port_in_use_is_a_configuration_error(broker: EmbeddedBroker) -> None:
    second = EmbeddedBroker(BrokerSettings(port=broker.port), accept_all, None)
    with pytest.raises(ConfigurationError, match=str(broker.port)):
        await second.__aenter__()


@pytest.mark.parametrize(("topic", "qos"), [("a/#", 0), ("", 0), ("t", 3)])
async def test_own_publish_is_checked_too(broker: EmbeddedBroker, topic: str, qos: int) -> None:
    with pytest.raises(BadRequestError):
        await broker.publish(topic, b"x", qos=qos)


@pytest.mark.alone
async def test_flood_of_small_packets_leaves_others_their_turn(broker: EmbeddedBroker) -> None:
    async with await bob(broker) as client:
        client.send(packet(PINGREQ, 0, b"") * 200_000)
        async with asyncio.timeout(2):
            assert await still_serves(broker)
