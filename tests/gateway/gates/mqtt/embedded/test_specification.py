"""What MQTT 3.1.1 says a server MUST do with bytes that are not right, or barely: over a socket.

Each breach costs its connection; who listens beside it gets the next reading.
"""

import asyncio
import logging
from collections.abc import AsyncIterator

import pytest

from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker
from tests.gateway.gates.mqtt.embedded.fakes import FakeStore, running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import (
    CONNACK,
    CONNECT,
    DISCONNECT,
    PINGREQ,
    PUBACK,
    PUBCOMP,
    PUBLISH,
    PUBREC,
    PUBREL,
    SUBSCRIBE,
    UNSUBSCRIBE,
    RawClient,
    Will,
    connect_packet,
    packet,
    publish_packet,
    text,
)

CLEAN, WILL, WILL_QOS_1, WILL_QOS_2, WILL_RETAIN, PASSWORD, USER = 2, 4, 8, 16, 32, 64, 128
LOGIN = text("bob") + text("b-secret")
NUL, SURROGATE, CUT = b"a\0b", b"\xed\xa0\x80", b"\xe2\x82"
OVERLONG, BEYOND = b"\xc0\xaf", b"\xf4\x90\x80\x80"
NO_TEXTS = {
    "nul": NUL,
    "surrogate": SURROGATE,
    "cut": CUT,
    "overlong": OVERLONG,
    "beyond-10ffff": BEYOND,
}


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
async def broker(store: FakeStore) -> AsyncIterator[EmbeddedBroker]:
    async with running(BrokerSettings(port=0), store) as broker:
        yield broker


@pytest.fixture
async def watch(broker: EmbeddedBroker) -> AsyncIterator[RawClient]:
    """Somebody who listens all the time."""
    async with await RawClient.connect(broker.port, "watch", "alice", "a-secret") as watch:
        await watch.subscribe("#")
        yield watch


async def reading_passes(broker: EmbeddedBroker, watch: RawClient, store: FakeStore) -> None:
    async with await RawClient.connect(broker.port, "good", "alice", "a-secret") as device:
        await device.publish("lab/t", b"21.5")
    assert store.payloads[-1] == b"21.5"
    assert (await watch.next_message()).payload == b"21.5"
    assert await watch.ping() == []


def connecting(
    flags: int,
    payload: bytes,
    *,
    protocol: bytes = b"MQTT",
    level: int = 4,
    header: int = 0,
) -> bytes:
    head = text(protocol) + bytes([level, flags]) + b"\0\x3c"
    return packet(CONNECT, header, head + payload)


KNOWN = CLEAN | USER | PASSWORD
WITH_WILL = KNOWN | WILL
WILL_FIELDS = text("d") + text("gone") + text("x") + LOGIN
WITHOUT_ANSWER = {
    "flags-of-the-fixed-header": connecting(KNOWN, text("d") + LOGIN, header=1),
    "protocol-name": connecting(KNOWN, text("d") + LOGIN, protocol=b"MQTT "),
    "protocol-name-in-lower-case": connecting(KNOWN, text("d") + LOGIN, protocol=b"mqtt"),
    "reserved-flag": connecting(KNOWN | 1, text("d") + LOGIN),
    "will-qos-without-will": connecting(KNOWN | WILL_QOS_1, text("d") + LOGIN),
    "will-qos-2-without-will": connecting(KNOWN | WILL_QOS_2, text("d") + LOGIN),
    "will-retain-without-will": connecting(KNOWN | WILL_RETAIN, text("d") + LOGIN),
    "will-qos-3": connecting(WITH_WILL | WILL_QOS_1 | WILL_QOS_2, WILL_FIELDS),
    "will-without-fields": connecting(WITH_WILL, text("d") + LOGIN),
    "will-without-topic": connecting(WITH_WILL, text("d") + text("") + text("x") + LOGIN),
    "will-to-wildcard": connecting(WITH_WILL, text("d") + text("a/+") + text("x") + LOGIN),
    "password-without-user": connecting(CLEAN | PASSWORD, text("d") + text("b-secret")),
    "user-name-missing": connecting(CLEAN | USER, text("d")),
    "password-missing": connecting(KNOWN, text("d") + text("bob")),
    "password-cut": connecting(KNOWN, text("d") + text("bob") + b"\0\x08b-s"),
    "client-id-missing": connecting(CLEAN, b""),
    "client-id-cut": connecting(CLEAN, b"\0\5ab"),
    "trailing-byte": connecting(KNOWN, text("d") + LOGIN + b"\0"),
    "fields-of-no-flag": connecting(CLEAN, text("d") + LOGIN),
    **{
        f"{kind}-in-{field}": connecting(WITH_WILL, b"".join(fields))
        for kind, broken in NO_TEXTS.items()
        for field, fields in {
            "client-id": (text(broken), text("gone"), text("x"), LOGIN),
            "will-topic": (text("d"), text(broken), text("x"), LOGIN),
            "user-name": (text("d"), text("gone"), text("x"), text(broken), text("b-secret")),
        }.items()
    },
}


@pytest.mark.parametrize("name", WITHOUT_ANSWER)
async def test_connect_that_breaks_a_rule_has_no_answer(
    broker: EmbeddedBroker, watch: RawClient, store: FakeStore, name: str
) -> None:
    async with await RawClient.open(broker.port) as client:
        client.send(WITHOUT_ANSWER[name])
        assert await client.next_packet() is None
    await reading_passes(broker, watch, store)
    async with asyncio.timeout(30):  # the device that has read its answer may still be going
        while broker.statistics.sessions != 1:
            await asyncio.sleep(0)


WITH_ANSWER = {
    "other-level": (connecting(KNOWN, text("d") + LOGIN, level=3), 1),
    "bridge-level": (connecting(KNOWN, text("d") + LOGIN, level=0x84), 1),
    "empty-client-id-to-keep": (connecting(USER | PASSWORD, text("") + LOGIN), 2),
    "password-that-is-no-text": (
        connecting(KNOWN, text("d") + text("bob") + text(b"\xff\xfe")),
        5,
    ),
    "user-without-password": (connecting(CLEAN | USER, text("d") + text("bob")), 5),
    "nobody": (connecting(CLEAN, text("d")), 5),
}


@pytest.mark.parametrize("name", WITH_ANSWER)
async def test_connect_that_is_refused_has_its_return_code_and_no_session(
    broker: EmbeddedBroker, watch: RawClient, store: FakeStore, name: str
) -> None:
    sent, code = WITH_ANSWER[name]
    async with await RawClient.open(broker.port) as client:
        client.send(sent + publish_packet("lab/t", b"early"))
        answer = await client.expect(CONNACK)
        assert (answer.flags, answer.body) == (0, bytes([0, code]))
        assert await client.next_packet() is None
    assert store.messages == []
    await reading_passes(broker, watch, store)


ACCEPTED = {
    "empty-client-id": connecting(KNOWN, text("") + LOGIN),
    "one-character": connecting(KNOWN, text("d") + LOGIN),
    "long-client-id": connecting(KNOWN, text("d" * 60_000) + LOGIN),
    "bom-and-beyond-the-bmp": connecting(KNOWN, text("\ufeff\U0001f4a1") + LOGIN),
    "will-of-qos-2-retained": connecting(WITH_WILL | WILL_QOS_2 | WILL_RETAIN, WILL_FIELDS),
    "will-with-empty-message": connecting(WITH_WILL, text("d") + text("gone") + text("") + LOGIN),
    "will-of-any-bytes": connecting(WITH_WILL, text("d") + text("gone") + text(b"\xff\0") + LOGIN),
    "session-to-keep": connecting(USER | PASSWORD, text("d") + LOGIN),
}


@pytest.mark.parametrize("name", ACCEPTED)
async def test_connect_that_is_right_is_accepted(broker: EmbeddedBroker, name: str) -> None:
    async with await RawClient.open(broker.port) as client:
        client.send(ACCEPTED[name] + packet(PINGREQ, 0, b""))
        assert (await client.expect(CONNACK)).body == b"\0\0"
        assert (await client.next_packet()) is not None


async def test_empty_client_ids_are_clients_of_their_own(broker: EmbeddedBroker) -> None:
    async with (
        await RawClient.connect(broker.port, "", "bob", "b-secret") as first,
        await RawClient.connect(broker.port, "", "bob", "b-secret") as second,
    ):
        assert (first.code, second.code) == (0, 0)
        assert await first.ping() == await second.ping() == []
        assert broker.statistics.sessions == 2


async def test_client_ids_with_and_without_bom_are_two(broker: EmbeddedBroker) -> None:
    async with (
        await RawClient.connect(broker.port, "d", "bob", "b-secret") as first,
        await RawClient.connect(broker.port, "\ufeffd", "bob", "b-secret"),
    ):
        assert await first.ping() == []


BREACHES = {
    "dup-at-qos-0": publish_packet("lab/t", b"x", qos=0, duplicate=True),
    "dup-and-retain-at-qos-0": publish_packet("lab/t", b"x", qos=0, duplicate=True, retain=True),
    "publish-qos-3": packet(PUBLISH, 6, text("lab/t") + b"\0\1"),
    "puback-with-flags": packet(PUBACK, 1, b"\0\1"),
    "puback-trailing": packet(PUBACK, 0, b"\0\1\0"),
    "pubrec-trailing": packet(PUBREC, 0, b"\0\1\0"),
    "pubrel-trailing": packet(PUBREL, 2, b"\0\1\0"),
    "pubrel-flags-3": packet(PUBREL, 3, b"\0\1"),
    "pubcomp-trailing": packet(PUBCOMP, 0, b"\0\1\0"),
    "pubcomp-short": packet(PUBCOMP, 0, b"\1"),
    "pingreq-with-body": packet(PINGREQ, 0, b"x"),
    "disconnect-with-flags": packet(DISCONNECT, 1, b""),
    "disconnect-with-body": packet(DISCONNECT, 0, b"\0"),
    "subscribe-flags-3": packet(SUBSCRIBE, 3, b"\0\1" + text("t") + b"\0"),
    "subscribe-reserved-bits-of-qos": packet(SUBSCRIBE, 2, b"\0\1" + text("t") + b"\4"),
    "subscribe-no-local-of-mqtt-5": packet(SUBSCRIBE, 2, b"\0\1" + text("t") + b"\5"),
    "subscribe-without-qos": packet(SUBSCRIBE, 2, b"\0\1" + text("t")),
    "subscribe-second-without-qos": packet(SUBSCRIBE, 2, b"\0\1" + text("t") + b"\0" + text("u")),
    "unsubscribe-trailing": packet(UNSUBSCRIBE, 2, b"\0\1" + text("t") + b"\0"),
    "unsubscribe-packet-id-0": packet(UNSUBSCRIBE, 2, b"\0\0" + text("t")),
    "server-s-suback": packet(9, 0, b"\0\1\0"),
    "server-s-pingresp": packet(13, 0, b""),
    **{
        f"{kind}-in-{name}": sent
        for kind, broken in NO_TEXTS.items()
        for name, sent in {
            "publish": publish_packet(broken, b"x"),
            "subscribe": packet(SUBSCRIBE, 2, b"\0\1" + text(broken) + b"\0"),
            "unsubscribe": packet(UNSUBSCRIBE, 2, b"\0\1" + text(broken)),
        }.items()
    },
}


@pytest.mark.parametrize("name", BREACHES)
async def test_packet_that_breaks_a_rule_ends_the_connection_and_its_will_is_published(
    broker: EmbeddedBroker, watch: RawClient, store: FakeStore, name: str
) -> None:
    will = Will("gone", b"broken")
    async with await RawClient.connect(broker.port, "d", "bob", "b-secret", will=will) as client:
        client.send(BREACHES[name] + publish_packet("lab/t", b"after"))
        assert await client.next_packet() is None
    assert (await watch.next_message()).payload == b"broken"
    assert store.payloads == [b"broken"]
    await reading_passes(broker, watch, store)


async def test_disconnect_takes_the_will_with_it(
    broker: EmbeddedBroker, watch: RawClient, store: FakeStore
) -> None:
    will = Will("gone", b"broken")
    client = await RawClient.connect(broker.port, "d", "bob", "b-secret", will=will)
    await client.disconnect()
    await reading_passes(broker, watch, store)
    assert store.payloads == [b"21.5"]


async def test_unknown_filter_is_unsubscribed_and_unknown_ids_are_answered(
    broker: EmbeddedBroker,
) -> None:
    async with await RawClient.connect(broker.port, "d", "bob", "b-secret") as client:
        await client.unsubscribe("never/subscribed")
        client.acknowledge(77, PUBREL)
        assert (await client.expect(PUBCOMP)).packet_id == 77
        client.acknowledge(78, PUBREC)
        assert (await client.expect(PUBREL)).packet_id == 78
        for kind in (PUBACK, PUBCOMP):
            client.acknowledge(79, kind)
        assert await client.ping() == []


async def test_filters_of_a_session_are_bounded_in_bytes(broker: EmbeddedBroker) -> None:
    async with await RawClient.connect(broker.port, "d", "bob", "b-secret") as client:
        assert await client.subscribe("a" * 60_000) == 0
        assert await client.subscribe("b" * 6_000) == 0x80
        assert await client.subscribe("c") == 0


def connect_5(client_id: str, properties: bytes = b"") -> bytes:
    fields = bytes([len(properties)]) + properties + text(client_id) + LOGIN
    return connecting(KNOWN, fields, level=5)


async def test_client_of_mqtt_5_is_told_in_its_own_words_and_logged_once(
    broker: EmbeddedBroker,
    watch: RawClient,
    store: FakeStore,
    caplog: pytest.LogCaptureFixture,
) -> None:
    with caplog.at_level(logging.WARNING):
        for _ in range(3):
            async with await RawClient.open(broker.port) as client:
                client.send(connect_5("sensor", b"\x11\0\0\0\x3c"))
                answer = await client.expect(CONNACK)
                assert (answer.flags, answer.body) == (0, b"\0\x84\0")
                assert await client.next_packet() is None
    (told,) = [each for each in caplog.records if each.msg == "broker_client_speaks_mqtt_5"]
    assert vars(told)["client_id"] == "sensor"
    assert "3.1.1" in vars(told)["hint"]
    await reading_passes(broker, watch, store)


@pytest.mark.parametrize("rest", [b"", b"\xff\xff\xff\xff\xff", b"\x7f", b"\0\0\5ab"])
async def test_broken_connect_of_mqtt_5_has_the_same_answer(
    broker: EmbeddedBroker, rest: bytes
) -> None:
    async with await RawClient.open(broker.port) as client:
        client.send(connecting(KNOWN, rest, level=5))
        assert (await client.expect(CONNACK)).body == b"\0\x84\0"
        assert await client.next_packet() is None


async def test_connect_longer_than_any_is_not_read(broker: EmbeddedBroker) -> None:
    async with await RawClient.open(broker.port) as client:
        client.send(connect_packet("d")[:1] + b"\x80\x80\x80\x01" + bytes(1000))
        assert await client.next_packet() is None
