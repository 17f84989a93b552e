"""What a device may conclude from PUBACK and PUBREC: the gateway has stored the message."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker
from tests.gateway.gates.mqtt.embedded.brokers import eventually
from tests.gateway.gates.mqtt.embedded.fakes import NOON, FakeStore, running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import (
    DISCONNECT,
    PUBACK,
    PUBCOMP,
    PUBREC,
    PUBREL,
    RawClient,
    Will,
    packet,
    publish_packet,
)

SETTINGS = BrokerSettings(port=0, max_inflight=3, drain_timeout_s=0.3)


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
async def broker(store: FakeStore) -> AsyncIterator[EmbeddedBroker]:
    async with running(SETTINGS, store) as broker:
        yield broker


async def device(
    broker: EmbeddedBroker, name: str = "device", clean: bool = True, will: Will | None = None
) -> RawClient:
    return await RawClient.connect(broker.port, name, "bob", "b-secret", clean=clean, will=will)


async def test_accept_receives_the_whole_message(broker: EmbeddedBroker, store: FakeStore) -> None:
    async with await device(broker) as client:
        client.send(publish_packet("s/1", b"21.5", qos=1, packet_id=7, retain=True, duplicate=True))
        await client.expect(PUBACK)
    assert store.messages == [Message("s/1", b"21.5", NOON, "device", 7, duplicate=True, qos=1)]


async def test_puback_waits_for_the_store(broker: EmbeddedBroker, store: FakeStore) -> None:
    store.hold()
    async with await device(broker) as client:
        client.send(publish_packet("s/1", b"x", qos=1, packet_id=7))
        assert await client.ping() == []
        assert store.payloads == [b"x"]
        store.commit(0)
        assert (await client.expect(PUBACK)).packet_id == 7


async def test_subscriber_sees_only_what_is_stored(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    store.hold()
    async with await device(broker) as client, await device(broker, "display") as display:
        await display.subscribe("s/#")
        client.send(publish_packet("s/1", b"x", qos=1))
        await store.has(1)
        assert await display.ping() == []
        store.commit(0)
        assert (await display.next_message()).payload == b"x"


async def test_publishes_share_the_wait_up_to_the_window(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    store.hold()
    async with await device(broker) as client:
        for number in range(1, 6):
            client.send(publish_packet("s/1", b"%d" % number, qos=1, packet_id=number))
        await store.has(3)
        assert store.payloads == [b"1", b"2", b"3"]
        store.commit(0)
        await store.has(4)
        assert store.payloads == [b"1", b"2", b"3", b"4"]
        assert (await client.expect(PUBACK)).packet_id == 1


async def test_acknowledgements_keep_order_when_commits_do_not(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    store.hold()
    async with await device(broker) as client:
        for number in (1, 2, 3):
            client.send(publish_packet("s/1", b"x", qos=1, packet_id=number))
        await store.has(3)
        store.commit(2)
        store.commit(1)
        assert await client.ping() == []
        store.commit(0)
        assert [(await client.expect(PUBACK)).packet_id for _ in range(3)] == [1, 2, 3]


async def test_failing_store_closes_without_acknowledgement(
    broker: EmbeddedBroker, store: FakeStore, caplog: pytest.LogCaptureFixture
) -> None:
    store.full = True
    async with await device(broker) as client:
        client.send(publish_packet("s/1", b"x", qos=1))
        assert await client.next_packet() is None
    assert "broker_accept_failed" in caplog.text
    assert "DiskFullError" in caplog.text
    assert broker.statistics.failed == 1


async def test_messages_behind_a_failed_one_are_not_acknowledged(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    store.hold()
    async with await device(broker) as client:
        client.send(publish_packet("s/1", b"1", qos=1, packet_id=1))
        await store.has(1)
        store.full = True
        client.send(publish_packet("s/1", b"2", qos=1, packet_id=2))
        await store.has(2)
        store.commit(0)
        assert (await client.expect(PUBACK)).packet_id == 1
        assert await client.next_packet() is None


async def test_repetition_after_failure_is_accepted_as_duplicate(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    store.full = True
    async with await device(broker) as client:
        client.send(publish_packet("s/1", b"x", qos=1))
        assert await client.closed()
    store.full = False
    async with await device(broker) as client:
        client.send(publish_packet("s/1", b"x", qos=1, duplicate=True))
        await client.expect(PUBACK)
    assert [message.duplicate for message in store.messages] == [False, True]


async def test_qos_2_is_received_after_the_store_and_once(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    store.hold()
    async with await device(broker) as client:
        client.send(publish_packet("s/1", b"x", qos=2, packet_id=9))
        assert await client.ping() == []
        store.commit(0)
        assert (await client.expect(PUBREC)).packet_id == 9
        client.send(publish_packet("s/1", b"x", qos=2, packet_id=9, duplicate=True))
        assert (await client.expect(PUBREC)).packet_id == 9
        client.acknowledge(9, PUBREL)
        assert (await client.expect(PUBCOMP)).packet_id == 9
    assert store.payloads == [b"x"]


async def test_qos_2_repeated_on_a_new_connection_is_not_stored_again(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    async with await device(broker, clean=False) as client:
        client.send(publish_packet("s/1", b"x", qos=2, packet_id=9))
        await client.expect(PUBREC)
    async with await device(broker, clean=False) as client:
        client.send(publish_packet("s/1", b"x", qos=2, packet_id=9, duplicate=True))
        await client.expect(PUBREC)
        client.acknowledge(9, PUBREL)
        await client.expect(PUBCOMP)
        await client.publish("s/1", b"y", qos=2, packet_id=9)
    assert store.payloads == [b"x", b"y"]


async def test_qos_2_stored_after_the_client_left_is_not_stored_again(store: FakeStore) -> None:
    store.hold()
    async with running(store=store) as broker:
        async with await device(broker, clean=False) as client:
            client.send(publish_packet("s/1", b"x", qos=2, packet_id=9))
            await store.has(1)
        store.commit(0)
        async with await device(broker, clean=False) as client:
            client.send(publish_packet("s/1", b"x", qos=2, packet_id=9, duplicate=True))
            assert (await client.expect(PUBREC)).packet_id == 9
    assert store.payloads == [b"x"]


async def test_qos_0_is_stored_though_the_client_leaves_at_once(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    count = 4 * SETTINGS.max_inflight
    async with await device(broker) as client:
        for number in range(count):
            client.send(publish_packet("s/1", b"%d" % number))
        client.send(packet(DISCONNECT, 0, b""))
        assert await client.closed()
    assert store.payloads == [b"%d" % number for number in range(count)]


async def test_denied_publish_is_acknowledged_and_goes_nowhere(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    async with await device(broker) as client:
        await client.publish("secret/x", b"x")
        await client.publish("secret/x", b"x", qos=2)
    assert store.messages == []
    assert broker.statistics.denied == 2


async def test_own_publish_reaches_subscribers_but_not_the_store(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    async with await device(broker) as client:
        await client.subscribe("actuators/#", 1)
        await broker.publish("actuators/valve", b"open", qos=1)
        message = await client.next_message()
        assert (message.topic, message.payload, message.qos) == ("actuators/valve", b"open", 1)
    assert store.messages == []


async def test_will_is_stored_and_delivered(broker: EmbeddedBroker, store: FakeStore) -> None:
    async with await device(broker, "display") as display:
        await display.subscribe("gone/#", 1)
        doomed = await device(broker, will=Will("gone/1", b"bye", qos=1, retain=True))
        await doomed.vanish()
        message = await display.next_message()
        assert (message.payload, message.qos, message.retain) == (b"bye", 1, False)
    assert store.messages == [Message("gone/1", b"bye", NOON, "device", 0, duplicate=False, qos=1)]
    assert broker.statistics.retained == 1


async def test_will_without_the_right_to_publish_it_is_dropped(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    await (await device(broker, will=Will("secret/x", b"bye"))).vanish()
    assert await eventually(lambda: broker.statistics.denied == 1)
    assert store.messages == []


async def test_will_is_forgotten_after_disconnect(broker: EmbeddedBroker, store: FakeStore) -> None:
    await (await device(broker, will=Will("gone/1", b"bye"))).disconnect()
    assert await eventually(lambda: broker.statistics.connections == 0)
    assert store.messages == []


async def test_shutdown_answers_what_is_stored_and_publishes_no_will(store: FakeStore) -> None:
    store.hold()
    async with running(BrokerSettings(port=0), store) as broker:
        client = await device(broker, will=Will("gone/1", b"bye"))
        client.send(publish_packet("s/1", b"x", qos=1, packet_id=7))
        await store.has(1)
        asyncio.get_running_loop().call_later(0.05, store.commit, 0)
    async with client:
        assert (await client.expect(PUBACK)).packet_id == 7
        assert await client.next_packet() is None
    assert store.payloads == [b"x"]


@pytest.mark.alone
async def test_shutdown_does_not_wait_for_ever_for_the_store(store: FakeStore) -> None:
    store.hold()
    async with asyncio.timeout(2), running(SETTINGS, store) as broker:
        client = await device(broker)
        client.send(publish_packet("s/1", b"x", qos=1))
        await store.has(1)
    async with client:
        assert await client.next_packet() is None
