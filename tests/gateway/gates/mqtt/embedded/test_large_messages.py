"""A PUBLISH that is too long costs itself: it is acknowledged, told of, and never held."""

import os
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from adapters.values.fault import FaultReason
from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker
from tests.gateway.gates.mqtt.embedded.fakes import NOON, FakeStore, running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import (
    PUBACK,
    PUBCOMP,
    PUBLISH,
    PUBREC,
    PUBREL,
    RawClient,
    Will,
    packet,
    publish_packet,
    text,
)
from tests.gateway.gates.mqtt.embedded.resident import GROWTH_BYTES, resident_bytes
from tests.kit import gateways
from tests.kit.metrics import metrics

SETTINGS = BrokerSettings(port=0, max_payload_bytes=1000)
BEGINNING = 1024
SIZES = (1001, 70_000, 3_000_000)


@pytest.fixture
def store() -> FakeStore:
    return FakeStore()


@pytest.fixture
async def broker(store: FakeStore) -> AsyncIterator[EmbeddedBroker]:
    async with running(SETTINGS, store) as broker:
        yield broker


async def client(broker: EmbeddedBroker, name: str, user: str = "bob") -> RawClient:
    return await RawClient.connect(broker.port, name, user, f"{user[0]}-secret")


async def others_are_served(
    watch: RawClient, device: RawClient, store: FakeStore, payload: bytes = b"21.5"
) -> None:
    """A reading passes, and who listens gets it, as if nothing had been."""
    await device.publish("lab/t", payload, qos=1, packet_id=77)
    assert store.payloads[-1] == payload
    assert (await watch.next_message()).payload == payload
    assert await watch.ping() == []


@pytest.mark.parametrize("qos", [0, 1, 2])
@pytest.mark.parametrize("size", SIZES)
async def test_payload_too_long_is_acknowledged_and_refused(
    broker: EmbeddedBroker, store: FakeStore, qos: int, size: int
) -> None:
    async with await client(broker, "watch", "alice") as watch, await client(broker, "d") as device:
        await watch.subscribe("#")
        payload = b"x" * size
        await device.publish("lab/log", payload, qos, packet_id=5)
        await others_are_served(watch, device, store)
        ((message, told_bytes),) = store.refused
        assert (message.topic, told_bytes, message.qos) == ("lab/log", size, qos)
        assert message.payload == payload[:BEGINNING]
        assert (message.client_id, message.received_at) == ("d", NOON)
        assert broker.statistics.too_large == 1


async def test_acknowledgements_keep_their_order_around_one_too_long(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    async with await client(broker, "watch") as watch, await client(broker, "d") as device:
        await watch.subscribe("lab/#")
        for number, payload in enumerate((b"1", bytes(200_000), b"2", bytes(1001), b"3"), 1):
            device.send(publish_packet("lab/t", payload, qos=1, packet_id=number))
        acknowledged = [(await device.expect(PUBACK)).packet_id for _ in range(5)]
        assert acknowledged == [1, 2, 3, 4, 5]
        assert [(await watch.next_message()).payload for _ in range(3)] == [b"1", b"2", b"3"]
        assert store.payloads == [b"1", b"2", b"3"]


async def test_qos_2_repeated_before_release_is_refused_once(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    async with await client(broker, "d") as device:
        for duplicate in (False, True):
            long = publish_packet("lab/log", bytes(90_000), 2, 9, duplicate=duplicate)
            device.send(long)
            assert (await device.expect(PUBREC)).packet_id == 9
        device.acknowledge(9, PUBREL)
        await device.expect(PUBCOMP)
        assert len(store.refused) == 1


async def test_retained_message_stays_as_it_was(broker: EmbeddedBroker) -> None:
    async with await client(broker, "d") as device, await client(broker, "watch") as watch:
        await device.publish("lab/state", b"on", retain=True)
        await device.publish("lab/state", bytes(70_000), retain=True)
        await watch.subscribe("lab/state")
        assert (await watch.next_message()).payload == b"on"


async def test_topic_without_the_right_is_acknowledged_alone(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    async with await client(broker, "d") as device:
        await device.publish("secret/log", bytes(70_000), qos=1)
        await device.publish("$SYS/log", bytes(70_000), qos=1)
        assert (store.refused, broker.statistics.denied) == ([], 2)


async def test_will_too_long_is_refused(broker: EmbeddedBroker, store: FakeStore) -> None:
    async with await client(broker, "watch") as watch:
        await watch.subscribe("gone")
        will = Will("gone", bytes(2000))
        device = await RawClient.connect(broker.port, "d", "bob", "b-secret", will=will)
        await device.vanish()
        async with await client(broker, "d") as device:
            await others_are_served_on(watch, device, store)
        assert [size for _, size in store.refused] == [2000]


async def others_are_served_on(watch: RawClient, device: RawClient, store: FakeStore) -> None:
    await watch.subscribe("lab/#")
    await others_are_served(watch, device, store)


async def test_announcement_may_be_longer_and_has_its_own_limit(store: FakeStore) -> None:
    settings = replace(
        SETTINGS, max_announcement_bytes=300_000, is_announcement=lambda topic: topic == "list"
    )
    async with running(settings, store) as broker, await client(broker, "d") as device:
        announcement = os.urandom(300_000)
        await device.publish("list", announcement, qos=1)
        await device.publish("list", announcement + b"x", qos=1)
        await device.publish("lab/t", announcement, qos=1)
        assert store.payloads == [announcement]
        assert [size for _, size in store.refused] == [300_001, 300_000]


async def test_stream_that_ends_or_stalls_within_costs_its_connection(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    async with await client(broker, "watch") as watch, await client(broker, "good") as device:
        await watch.subscribe("#")
        long = publish_packet("lab/log", bytes(500_000), qos=1)
        ending = await client(broker, "ending")
        ending.send(long[:-1])
        await ending.writer.drain()
        ending.writer.write_eof()
        assert await ending.next_packet() is None
        await ending.vanish()
        stalled = await RawClient.connect(broker.port, "s", "bob", "b-secret", keep_alive=1)
        stalled.send(long[:-1])
        assert await stalled.next_packet() is None
        await stalled.vanish()
        await others_are_served(watch, device, store)
        assert store.refused == []


async def test_longest_packet_of_mqtt_is_never_held(
    broker: EmbeddedBroker, store: FakeStore
) -> None:
    rest = 268_435_455 - len(text("lab/log")) - 2
    long = packet(PUBLISH, 2, b"")[:1] + b"\xff\xff\xff\x7f" + text("lab/log") + b"\0\1"
    chunk = bytes(1_048_576)
    async with await client(broker, "watch") as watch, await client(broker, "d") as device:
        await watch.subscribe("#")
        before, most = resident_bytes(), 0
        device.send(long)
        for sent in range(0, rest, len(chunk)):
            device.send(chunk[: rest - sent])
            await device.writer.drain()
            most = max(most, resident_bytes() - before)
            if sent == 100 * len(chunk):
                async with await client(broker, "other") as other:
                    await others_are_served(watch, other, store, b"meanwhile")
        assert (await device.expect(PUBACK)).packet_id == 1
        assert most < GROWTH_BYTES
        assert [size for _, size in store.refused] == [rest]
        await others_are_served(watch, device, store)


async def test_gateway_keeps_it_in_quarantine_and_takes_the_next_reading(tmp_path: Path) -> None:
    profile = gateways.write_profile(tmp_path, [gateways.mapping("t", "lab/t", format="scalar")])
    async with (
        gateways.running(gateways.settings(tmp_path, profile)) as gateway,
        await RawClient.connect(gateway.mqtt_port, "watch") as watch,
        await RawClient.connect(gateway.mqtt_port, "d") as device,
    ):
        told = await gateways.watch(gateway, gateways.VALUES)
        await watch.subscribe("lab/#")
        for qos in (0, 1, 2):
            await device.publish("lab/log", b"y" * (100_000 + qos), qos)
        await device.publish("lab/t", b"21.5")
        assert (await watch.next_message()).payload == b"21.5"
        await told.until(lambda: told.values() == ["21.5"])
        entries = list(gateway.stages.reception.quarantine)
        assert [each.message.topic for each in entries] == ["lab/log"] * 3
        assert [each.payload_bytes for each in entries] == [100_000, 100_001, 100_002]
        assert {each.faults[0].reason for each in entries} == {FaultReason.TOO_LARGE}
        assert not any(each.is_whole for each in entries)
        counted = await metrics(gateway)
        assert counted['broker_messages_total{outcome="too_large"}'] == 3
        assert counted['quarantine_total{reason="too_large"}'] == 3
