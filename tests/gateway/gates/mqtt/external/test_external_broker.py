"""What only an external broker does: it remembers us, what was published, and retained messages."""

import asyncio
from pathlib import Path

import pytest

from gateway.config.settings import Config
from tests.kit.gateways import (
    MAPPINGS,
    VALUES,
    WAIT_S,
    Device,
    JsonObject,
    Mosquitto,
    journal_records,
    mapping,
    mosquitto,
    publish,
    running,
    settings,
    update,
    watch,
    write_profile,
)
from tests.kit.metrics import metrics

TEMPERATURE = mapping("temperature", "room/+", selector="$.t")
STATE = mapping("state", "fan/+", selector="$.state")
LOUD = {
    "id": "urn:rule:on",
    "sparql": "SELECT ?v { ?o sosa:hasSimpleResult ?v FILTER(?v > 26) }",
    "topic": "fan/a",
    "payload": '{"state":"ON"}',
    "on": "added",
}


def config(
    folder: Path, broker: Mosquitto, *mappings: JsonObject, rule: JsonObject | None = None
) -> Config:
    rules = [] if rule is None else [rule]
    profile = write_profile(folder, mappings, rules)
    return settings(folder, profile, kind="disk", mosquitto=broker.port)


async def subscribed(broker: Mosquitto, topic_filter: str = "room/+") -> None:
    await asyncio.to_thread(broker.wait_subscribed, topic_filter)


async def retain(broker: Mosquitto, topic: str, payload: bytes) -> None:
    def work() -> None:
        with Device(broker.port, "retainer") as device:
            device.send(topic, payload, retain=True)
            assert device.wait_acknowledged(1)

    await asyncio.to_thread(work)


async def life_with_a_reading(folder: Path, broker: Mosquitto) -> None:
    async with running(config(folder, broker, TEMPERATURE)) as gateway:
        told = await watch(gateway, VALUES)
        await subscribed(broker)
        await publish(broker.port, [("room/b", b'{"t":2}')])
        await told.until(lambda: len(told.notifications) > 1 and told.values()[-1] == "2")


async def test_a_retained_value_is_observed_once_however_often_we_connect(tmp_path: Path) -> None:
    """Without time and counter it would, observed again, be a value that nobody measured."""
    with mosquitto(tmp_path) as broker:
        await retain(broker, "room/a", b'{"t":1}')
        for _ in range(3):
            await life_with_a_reading(tmp_path, broker)
    values = [each.observation.lexical for each in journal_records(tmp_path)]
    assert values == ["1", "2", "2", "2"]


@pytest.mark.parametrize("qos", [0, 1, 2])
async def test_our_retained_command_is_not_observed_after_a_reconnection(
    tmp_path: Path, qos: int
) -> None:
    """The broker sends it when its topic is subscribed; the mark in it says that it is ours."""
    rule: JsonObject = {**LOUD, "retain": True, "qos": qos}
    with mosquitto(tmp_path) as broker:
        async with running(config(tmp_path, broker, TEMPERATURE, rule=rule)) as gateway:
            await subscribed(broker)
            with Device(broker.port, "fan") as fan:
                await asyncio.to_thread(fan.subscribe, "fan/#")
                await publish(broker.port, [("room/a", b'{"t":30}')])
                assert await asyncio.to_thread(fan.receive) == ("fan/a", b'{"state":"ON"}')
        async with running(config(tmp_path, broker, TEMPERATURE, STATE, rule=rule)) as gateway:
            told = await watch(gateway, VALUES)
            await subscribed(broker, "fan/+")
            await publish(broker.port, [("fan/b", b'{"state":"other"}')])
            await told.until(lambda: "other" in told.values())
            assert (await metrics(gateway))["echoes_total"] == 1
    values = [each.observation.lexical for each in journal_records(tmp_path)]
    assert values == ["30", "other"]


async def test_what_was_published_while_we_were_away_is_observed_then(tmp_path: Path) -> None:
    """A message waited at the broker, and the rules are in force when it comes."""
    rule: JsonObject = {**LOUD, "qos": 1}
    with mosquitto(tmp_path) as broker, Device(broker.port, "fan") as fan:
        await asyncio.to_thread(fan.subscribe, "fan/#")
        async with running(config(tmp_path, broker, TEMPERATURE, rule=rule)):
            await subscribed(broker)
        await publish(broker.port, [("room/a", f'{{"t":{t}}}'.encode()) for t in range(20, 30)])
        async with running(config(tmp_path, broker, TEMPERATURE, rule=rule)) as gateway:
            for _ in (27, 28, 29):
                assert await asyncio.to_thread(fan.receive) == ("fan/a", b'{"state":"ON"}')
            assert gateway.statistics()["observations"] == 10
    assert [int(each.observation.lexical) for each in journal_records(tmp_path)] == [*range(20, 30)]


async def test_a_mapping_added_by_update_is_subscribed_at_the_broker(tmp_path: Path) -> None:
    added = f"""GRAPH <{MAPPINGS}> {{ <urn:mapping:more> a gw:Mapping ;
        gw:topicFilter "garage/+" ; gw:format "json" ; gw:selector "$.t" ; gw:sensor <urn:s> ;
        gw:observedProperty <urn:p> ; gw:featureOfInterest <urn:f> }}"""
    with mosquitto(tmp_path) as broker:
        async with running(config(tmp_path, broker, TEMPERATURE)) as gateway:
            told = await watch(gateway, VALUES)
            await subscribed(broker)
            await publish(broker.port, [("garage/a", b'{"t":1}')])
            await update(gateway, f"INSERT DATA {{ {added} }}")
            await subscribed(broker, "garage/+")
            await publish(broker.port, [("garage/a", b'{"t":2}')])
            await told.until(lambda: told.values() == ["2"])
            await update(gateway, f"DELETE DATA {{ {added} }}")
            await publish(broker.port, [("garage/a", b'{"t":3}'), ("room/a", b'{"t":4}')])
            await told.until(lambda: "4" in told.values())
            assert told.values() == ["2", "4"]


async def test_the_gateway_starts_before_its_broker(tmp_path: Path) -> None:
    """The connection is tried until the broker is there."""
    with mosquitto(tmp_path) as broker:
        pass
    async with running(config(tmp_path, broker, TEMPERATURE)) as gateway:
        told = await watch(gateway, VALUES)
        with mosquitto(tmp_path, port=broker.port) as broker:
            await subscribed(broker)
            await publish(broker.port, [("room/a", b'{"t":1}')])
            await told.until(lambda: told.values() == ["1"])
        # and it comes back to a broker that has forgotten everything
        with mosquitto(tmp_path, port=broker.port) as broker:
            await subscribed(broker)
            await publish(broker.port, [("room/a", b'{"t":2}')])
            await told.until(lambda: told.values() == ["1", "2"])


async def test_the_metrics_say_whether_the_broker_is_there(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker:
        async with running(config(tmp_path, broker, TEMPERATURE)) as gateway:
            await subscribed(broker)
            there = await metrics(gateway)
            broker.stop()
            async with asyncio.timeout(WAIT_S):
                while (gone := await metrics(gateway))["broker_connected"]:
                    await asyncio.sleep(0.02)
    assert (there["broker_connected"], there["broker_connections_total"]) == (1, 1)
    assert (gone["commands_dropped_total"], gone["queries_refused_total"]) == (0, 0)


@pytest.mark.parametrize(
    "filters",
    [("room/+", "room/#"), ("room/+", "+/hall"), ("#", "room/+"), ("room/hall", "room/+")],
)
async def test_a_message_under_several_filters_is_observed_once(
    tmp_path: Path, filters: tuple[str, str]
) -> None:
    """mosquitto sends a copy for each subscription; the values have neither time nor counter."""
    mappings = [
        mapping(name, each, selector="$.t") for name, each in zip("ab", filters, strict=True)
    ]
    with mosquitto(tmp_path) as broker:
        async with running(config(tmp_path, broker, *mappings)) as gateway:
            told = await watch(gateway, VALUES)
            await subscribed(broker, max(filters))
            await publish(broker.port, [("room/hall", b'{"t":%d}' % each) for each in (1, 1, 2)])
            await publish(broker.port, [("room/hall", b'{"t":3}')])
            await told.until(lambda: "3" in told.values())
    values = [each.observation.lexical for each in journal_records(tmp_path)]
    assert values == [value for value in ("1", "1", "2", "3") for _ in mappings]
