"""Sessions: who gets one, what it keeps, what it costs; and delivery to slow subscribers."""

from collections.abc import AsyncIterator
from dataclasses import replace

import pytest

from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker
from tests.gateway.gates.mqtt.embedded.brokers import eventually
from tests.gateway.gates.mqtt.embedded.fakes import running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import (
    PUBCOMP,
    PUBREC,
    PUBREL,
    RawClient,
    Will,
    packet,
)

SETTINGS = BrokerSettings(port=0, max_inflight=3, max_payload_bytes=262_144)


@pytest.fixture
async def broker() -> AsyncIterator[EmbeddedBroker]:
    async with running(SETTINGS) as broker:
        yield broker


async def alice(broker: EmbeddedBroker, name: str, clean: bool = True) -> RawClient:
    return await RawClient.connect(broker.port, name, "alice", "a-secret", clean=clean)


async def bob(broker: EmbeddedBroker, name: str, clean: bool = True) -> RawClient:
    return await RawClient.connect(broker.port, name, "bob", "b-secret", clean=clean)


async def test_own_user_takes_the_connection_over(broker: EmbeddedBroker) -> None:
    async with await bob(broker, "d", clean=False) as first:
        await first.subscribe("t")
        async with await bob(broker, "d", clean=False) as second:
            assert (second.code, second.session_present) == (0, True)
            assert await first.closed()
            await broker.publish("t", b"x")
            assert (await second.next_message()).payload == b"x"
            assert broker.statistics.sessions == 1


async def test_takeover_publishes_the_will_of_the_old_connection(broker: EmbeddedBroker) -> None:
    async with await alice(broker, "watch") as watch:
        await watch.subscribe("gone")
        will = Will("gone", b"old")
        first = await RawClient.connect(broker.port, "d", "bob", "b-secret", will=will)
        async with first, await bob(broker, "d"):
            assert (await watch.next_message()).payload == b"old"


async def test_another_user_cannot_take_a_connection_over(broker: EmbeddedBroker) -> None:
    async with await alice(broker, "d", clean=False) as owner:
        async with await bob(broker, "d", clean=False) as other:
            assert other.code == 2
        assert await owner.ping() == []


async def test_another_user_does_not_inherit_a_session(broker: EmbeddedBroker) -> None:
    async with await alice(broker, "d", clean=False) as owner:
        await owner.subscribe("t", 1)
        await owner.disconnect()
    await broker.publish("t", b"for alice", qos=1)
    async with await bob(broker, "d", clean=False) as other:
        assert (other.code, other.session_present) == (0, False)
        assert await other.ping() == []


async def test_clean_session_leaves_nothing(broker: EmbeddedBroker) -> None:
    async with await bob(broker, "d") as client:
        await client.subscribe("t", 1)
        await client.disconnect()
    assert broker.statistics.sessions == 0
    async with await bob(broker, "d", clean=False) as client:
        assert not client.session_present


async def test_empty_client_id_gets_a_clean_session_only(broker: EmbeddedBroker) -> None:
    async with await bob(broker, "") as client:
        assert client.code == 0
    async with await bob(broker, "", clean=False) as client:
        assert client.code == 2


async def test_offline_queue_drops_the_newest_and_counts() -> None:
    async with running(replace(SETTINGS, max_queued=2)) as broker:
        await _subscribe_and_leave(broker)
        for number in range(5):
            await broker.publish("t", b"%d" % number, qos=1)
        assert (broker.statistics.queued, broker.statistics.dropped) == (2, 3)
        async with await bob(broker, "d", clean=False) as client:
            assert [(await client.next_message()).payload for _ in range(2)] == [b"0", b"1"]
            assert await client.ping() == []


async def test_offline_queue_is_bounded_in_bytes() -> None:
    async with running(replace(SETTINGS, max_queued_bytes=10)) as broker:
        await _subscribe_and_leave(broker)
        for payload in (b"123456", b"123456", b"1234"):
            await broker.publish("t", payload, qos=1)
        assert (broker.statistics.queued, broker.statistics.dropped) == (2, 1)


async def test_qos_0_does_not_wait_for_an_absent_client(broker: EmbeddedBroker) -> None:
    await _subscribe_and_leave(broker)
    await broker.publish("t", b"x", qos=0)
    assert broker.statistics.queued == 0


async def _subscribe_and_leave(broker: EmbeddedBroker) -> None:
    async with await bob(broker, "d", clean=False) as client:
        await client.subscribe("t", 1)
        await client.disconnect()


async def test_window_moves_on_with_each_acknowledgement(broker: EmbeddedBroker) -> None:
    async with await bob(broker, "d") as client:
        await client.subscribe("t", 1)
        for number in range(5):
            await broker.publish("t", b"%d" % number, qos=1)
        sent = [await client.next_message() for _ in range(3)]
        assert await client.ping() == []
        client.acknowledge(sent[1].packet_id)
        assert (await client.next_message()).payload == b"3"
        client.acknowledge(sent[0].packet_id)
        assert (await client.next_message()).payload == b"4"


async def test_qos_2_delivery_continues_with_pubrel_after_reconnect(
    broker: EmbeddedBroker,
) -> None:
    async with await bob(broker, "d", clean=False) as client:
        await client.subscribe("t", 2)
        await broker.publish("t", b"x", qos=2)
        message = await client.next_message()
        client.acknowledge(message.packet_id, PUBREC)
        assert (await client.expect(PUBREL)).packet_id == message.packet_id
    async with await bob(broker, "d", clean=False) as client:
        assert (await client.expect(PUBREL)).packet_id == message.packet_id
        client.acknowledge(message.packet_id, PUBCOMP)
        assert await client.ping() == []
    assert broker.statistics.queued == 0


async def test_subscriber_that_does_not_read_costs_a_bounded_queue() -> None:
    settings = replace(SETTINGS, max_queued=50)
    payload = bytes(100_000)
    async with running(settings) as broker, await bob(broker, "slow") as slow:
        await slow.subscribe("t")
        async with await alice(broker, "fast") as fast:
            for _ in range(300):
                await fast.publish("t", payload, qos=1)
        statistics = broker.statistics
        assert statistics.queued <= settings.max_queued
        assert statistics.dropped > 0
        assert statistics.delivered + statistics.queued + statistics.dropped == 300


async def test_overlapping_filters_deliver_once_with_the_highest_qos(
    broker: EmbeddedBroker,
) -> None:
    async with await bob(broker, "d") as client:
        await client.subscribe("a/+", 0)
        await client.subscribe("a/#", 1)
        await broker.publish("a/b", b"x", qos=2)
        assert (await client.next_message()).qos == 1
        assert await client.ping() == []


async def test_unsubscribed_client_gets_no_more(broker: EmbeddedBroker) -> None:
    async with await bob(broker, "d") as client:
        await client.subscribe("t")
        await broker.publish("t", b"1")
        assert (await client.next_message()).payload == b"1"
        await client.unsubscribe("t")
        await broker.publish("t", b"2")
        assert await client.ping() == []


async def test_filter_wider_than_the_rights_hides_what_is_denied(broker: EmbeddedBroker) -> None:
    async with await bob(broker, "spy") as spy, await alice(broker, "owner") as owner:
        await spy.subscribe("#")
        await owner.publish("secret/x", b"1")
        await owner.publish("public/x", b"2")
        assert (await spy.next_message()).payload == b"2"
        assert await spy.subscribe("secret/x") == 0x80


async def test_retained_message_is_replayed_with_the_flag_and_cleared(
    broker: EmbeddedBroker,
) -> None:
    await broker.publish("state/1", b"on", qos=1, retain=True)
    async with await bob(broker, "d") as client:
        await client.subscribe("state/+", 1)
        message = await client.next_message()
        assert (message.payload, message.qos, message.retain) == (b"on", 1, True)
        await broker.publish("state/1", b"", retain=True)
        assert (await client.next_message()).retain is False
        await client.subscribe("state/+", 1)
        assert await client.ping() == []


async def test_retained_messages_are_bounded() -> None:
    async with (
        running(replace(SETTINGS, max_retained=2)) as broker,
        await bob(broker, "1") as device,
    ):
        for topic in ("a", "b", "c"):
            await device.publish(topic, b"x", retain=True)
        await device.ping()
        assert (broker.statistics.retained, broker.statistics.not_retained) == (2, 1)


async def test_session_beyond_the_limit_takes_the_place_of_the_one_away_longest() -> None:
    async with running(replace(SETTINGS, max_sessions=1)) as broker:
        await (await bob(broker, "1", clean=False)).disconnect()
        async with (
            await bob(broker, "2", clean=False) as second,
            await alice(broker, "3", clean=False) as third,
        ):
            assert (second.code, third.code, broker.statistics.forgotten) == (0, 0, 0)
            await second.disconnect()
            assert broker.statistics.forgotten == 1
            assert await third.ping() == []
        async with await bob(broker, "1", clean=False) as gone:
            assert not gone.session_present


async def test_connection_beyond_the_limit_is_refused() -> None:
    async with running(replace(SETTINGS, max_connections=1)) as broker:
        async with await bob(broker, "1") as first:
            async with await bob(broker, "2") as second:
                assert second.code == 3
                assert await second.closed()
            assert await first.ping() == []
            await first.disconnect()
        assert await eventually(lambda: broker.statistics.connections == 0)
        async with await bob(broker, "3") as third:
            assert third.code == 0
        assert broker.statistics.refused == 1


async def test_subscription_beyond_the_limit_is_refused() -> None:
    settings = replace(SETTINGS, max_subscriptions=1)
    async with running(settings) as broker, await bob(broker, "d") as client:
        assert await client.subscribe("a", 1) == 1
        assert await client.subscribe("b", 1) == 0x80
        assert await client.subscribe("a", 2) == 2
        await client.unsubscribe("a")
        assert await client.subscribe("b", 1) == 1


@pytest.mark.parametrize("topic_filter", ["", "a#", "a/#/b", "a+", "$share/g/t"])
async def test_filter_that_cannot_be_served_is_refused(
    broker: EmbeddedBroker, topic_filter: str
) -> None:
    async with await bob(broker, "d") as client:
        assert await client.subscribe(topic_filter) == 0x80


async def test_statistics_count_what_happened(broker: EmbeddedBroker) -> None:
    async with await bob(broker, "d") as client:
        await client.subscribe("t", 1)
        await client.publish("t", b"x", qos=0)
        assert (await client.next_message()).payload == b"x"
        client.send(packet(12, 0, b""))
        statistics = broker.statistics
    assert (statistics.connections, statistics.sessions) == (1, 1)
    assert (statistics.received, statistics.delivered) == (1, 1)
    assert (statistics.dropped, statistics.denied, statistics.failed) == (0, 0, 0)
