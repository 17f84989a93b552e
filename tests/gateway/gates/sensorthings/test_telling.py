"""Observations told by MQTT: on the gateway's own broker, and on a Mosquitto."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Literal

import pytest

from gateway.app.gateway import Gateway
from gateway.config.settings import DiscoverySettings, SensorThingsSettings
from gateway.gates.sensorthings.measures import Counted
from gateway.gates.sensorthings.telling import Telling
from gateway.runtime.loop_calls import LoopCalls
from tests.gateway.gates.sensorthings.test_sensorthings import BEGIN, served, told, values
from tests.kit.gateways import (
    Device,
    mapping,
    mosquitto,
    publish,
    rows_of,
    running,
    settings,
    wait_until,
    write_profile,
)

RESULTS = "SELECT ?v { ?o <http://www.w3.org/ns/sosa/hasSimpleResult> ?v }"


async def test_observations_are_told_by_mqtt_to_who_listens(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, told("hall", 20.5))
        (stream,) = await values(client, "Datastreams")
        topic = f"sta/v1.1/Datastreams('{stream['@iot.id']}')/Observations"
        with Device(gateway.mqtt_port, "listener") as listener:
            await asyncio.to_thread(listener.subscribe, topic)
            await publish(gateway.mqtt_port, [*told("hall", 22, at=BEGIN + 600), *told("attic", 1)])
            heard, payload = await asyncio.to_thread(listener.receive)
            document = json.loads(payload)
            assert (heard, document["result"]) == (topic, 22)
            assert (await client.get(document["@iot.selfLink"])).json()["result"] == 22
            # What somebody publishes there is no reading, whatever a mapping says.
            observed = gateway.stages.reception.ingest.statistics.messages
            await asyncio.to_thread(listener.publish, [(topic, b'{"result": 1}')])
            assert gateway.stages.reception.ingest.statistics.messages == observed


async def test_where_nobody_names_the_prefix_no_reading_is_handed_to_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed: list[object] = []
    monkeypatch.setattr(Telling, "_told", lambda self, *_: handed.append(self))
    async with served(tmp_path) as (gateway, _):
        port = gateway.mqtt_port
        with Device(port, "everything") as everything, Device(port, "listener") as listener:
            await asyncio.to_thread(everything.subscribe, "#")
            await publish(port, told("hall", 20))
            assert handed == []
            await asyncio.to_thread(listener.subscribe, "sta/v1.1/#")
            await publish(port, told("hall", 21, at=BEGIN + 60))
            await asyncio.to_thread(wait_until, lambda: len(handed) == 1)
        await asyncio.to_thread(wait_until, lambda: not gateway.stages.broker.names("sta"))
        await publish(port, told("hall", 22, at=BEGIN + 120))
        assert len(handed) == 1


def test_without_a_broker_or_a_prefix_no_topic_is_ours_and_nothing_is_told() -> None:
    loop = asyncio.new_event_loop()
    try:
        telling = Telling(None, "urn:o:", LoopCalls(loop), Counted())
        assert not telling.is_ours("/v1.1/Datastreams('a')/Observations")
        telling.stored([])
        assert telling.counted.told == 0
    finally:
        loop.close()


@asynccontextmanager
async def beside_mosquitto(
    folder: Path, topic_filter: str, tell: Literal["always", "own"]
) -> AsyncIterator[tuple[Gateway, Device]]:
    """A gateway with one mapping that looks at every topic, and who listens to what it tells."""
    one = mapping("one", topic_filter, format="text", selector="^(.+)$", sensor="urn:sensor:1")
    with mosquitto(folder) as broker, Device(broker.port, "listener") as listener:
        await asyncio.to_thread(listener.subscribe, "sta/v1.1/#")
        config = settings(folder, write_profile(folder, [one]), mosquitto=broker.port)
        members = {
            "sensorthings": SensorThingsSettings(tell=tell),
            "discovery": DiscoverySettings(collect=("#",)),
        }
        async with running(config.model_copy(update=members)) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, topic_filter, "#")
            if topic_filter == "#":  # as a mapping, and as what is collected
                await asyncio.to_thread(broker.wait_subscribed, "#")
            yield gateway, listener


async def until_stored(gateway: Gateway, value: str) -> None:
    """That value, and no other."""
    await asyncio.to_thread(wait_until, lambda: rows_of(gateway, RESULTS) == [[value]])


@pytest.mark.end_to_end
async def test_on_another_broker_what_is_told_is_never_heard_as_a_reading(tmp_path: Path) -> None:
    """Neither what comes back by ourselves nor what others copy there, though all is mapped."""
    async with beside_mosquitto(tmp_path, "#", "always") as (gateway, listener):
        await publish(gateway.mqtt_port, [("one", b"first")])
        topic, payload = await asyncio.to_thread(listener.receive)
        assert json.loads(payload)["result"] == "first"
        copied = [(topic, payload), (topic, b'{"result": 9}'), ("one", b"second")]
        await publish(gateway.mqtt_port, copied)
        await until_stored(gateway, "second")
        assert gateway.stages.told.counted.told == 2
        assert gateway.stages.reception.ingest.statistics.messages == 2


@pytest.mark.end_to_end
async def test_on_another_broker_what_is_told_is_no_unknown_topic(tmp_path: Path) -> None:
    async with beside_mosquitto(tmp_path, "one", "always") as (gateway, listener):
        await publish(gateway.mqtt_port, [("one", b"first")])
        topic, payload = await asyncio.to_thread(listener.receive)
        await publish(gateway.mqtt_port, [(topic, payload), ("two", b"5")])
        unknown = gateway.stages.onboarding.unknown_topics
        await asyncio.to_thread(wait_until, lambda: [each.topic for each in unknown()] == ["two"])


@pytest.mark.end_to_end
async def test_on_another_broker_nothing_is_told_unless_it_is_to_be(tmp_path: Path) -> None:
    async with beside_mosquitto(tmp_path, "#", "own") as (gateway, listener):
        await publish(gateway.mqtt_port, [("one", b"first")])
        await until_stored(gateway, "first")
        assert gateway.stages.told.counted.told == listener.waiting == 0
