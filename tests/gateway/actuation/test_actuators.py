"""A command by each way, to the device and back, through the embedded broker and Mosquitto."""

import asyncio
import json
import queue
from pathlib import Path

import pytest

from tests.gateway.actuation.lamps import (
    ACTUATIONS,
    STATE,
    command,
    get,
    lamp_profile,
    last,
    outcomes,
    until,
    until_last,
)
from tests.kit.gateways import (
    MAPPINGS,
    PREFIXES,
    VALUES,
    Device,
    JsonObject,
    behind,
    mapping,
    mosquitto,
    rows_of,
    running,
    settings,
    update,
    watch,
)

BROKERS = ["embedded", "mosquitto"]
HEARD = ("actuators/+/set", "lamp/state")
STATUSES = f"""{PREFIXES} SELECT ?status {{ GRAPH <{ACTUATIONS}> {{
  ?a sosa:madeByActuator <urn:lamp> ; gw:status ?status }} }}"""
GW = "https://sosa-gateway.example/ns#"
BY_HAND = f"""INSERT DATA {{ GRAPH <{ACTUATIONS}> {{ <urn:a> a sosa:Actuation ;
  sosa:madeByActuator <urn:lamp> ; sosa:hasSimpleResult "ON" ; gw:status gw:Requested }} }}"""
RULE: JsonObject = {
    "id": "urn:rule:dark",
    "query": "DARK",
    "on": "added",
    "topic": "actuators/lamp/set",
    "payload": "{wanted}",
}
DARK = f"""{PREFIXES} SELECT ?wanted {{ ?o sosa:hasSimpleResult false
  BIND("ON" AS ?wanted) }}"""


@pytest.mark.parametrize("mode", BROKERS)
async def test_command_is_sent_and_confirmed_by_a_reading(tmp_path: Path, mode: str) -> None:
    async with behind(mode, tmp_path, lamp_profile(tmp_path), *HEARD) as (gateway, port):
        told = await watch(gateway, STATUSES)
        with Device(port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            answer = await command(gateway, True)
            assert answer.status_code == 202
            assert await asyncio.to_thread(device.receive) == ("lamp/set", b"ON")
            device.send("lamp/state", b"OFF")
            device.send("lamp/state", b"ON")
            await told.until(lambda: told.values()[-1:] == [f"{GW}Confirmed"])
            assert told.values() == [GW + each for each in ("Requested", "Sent", "Confirmed")]
        entry = await get(gateway, answer.headers["location"])
        assert (entry["status"], entry["value"]) == ("confirmed", True)
        values = f"{PREFIXES} SELECT ?v {{ <{entry['observation']}> sosa:hasSimpleResult ?v }}"
        assert rows_of(gateway, values) == [["true"]]


@pytest.mark.parametrize("mode", BROKERS)
@pytest.mark.parametrize("way", ["update", "topic", "rule"])
async def test_command_by_update_topic_and_rule(tmp_path: Path, mode: str, way: str) -> None:
    profile = lamp_profile(tmp_path, rules=(RULE,), queries={"DARK": DARK})
    async with behind(mode, tmp_path, profile, *HEARD) as (gateway, port):
        with Device(port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            if way == "update":
                await update(gateway, BY_HAND)
            elif way == "topic":
                device.send("actuators/lamp/set", b"ON")
            else:
                device.send("lamp/state", b"OFF")
            assert await asyncio.to_thread(device.receive) == ("lamp/set", b"ON")
            device.send("lamp/state", b"ON")
            entry = await until_last(gateway, "confirmed")
            assert entry["value"] == "ON"
            assert await outcomes(gateway, "sent") == [1]
            assert device.waiting == 0


async def test_retained_command_is_not_executed(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, Device(broker.port, "lamp") as device:
        await asyncio.to_thread(device.subscribe, "lamp/set")
        device.send("actuators/lamp/set", b"ON", retain=True)
        assert device.wait_acknowledged(1) == 1
        config = settings(tmp_path, lamp_profile(tmp_path), mosquitto=broker.port)
        async with running(config) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, "actuators/+/set")
            device.send("actuators/lamp/set", b"OFF")
            assert await asyncio.to_thread(device.receive) == ("lamp/set", b"OFF")
            assert await outcomes(gateway, "sent") == [1]


async def test_command_sent_while_the_gateway_was_down_is_not_executed(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, Device(broker.port, "lamp") as device:
        await asyncio.to_thread(device.subscribe, "lamp/set")
        config = settings(tmp_path, lamp_profile(tmp_path), mosquitto=broker.port)
        async with running(config):
            await asyncio.to_thread(broker.wait_subscribed, "actuators/+/set")
        device.send("actuators/lamp/set", b"ON")
        assert device.wait_acknowledged(1) == 1
        async with running(config) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, "actuators/+/set")
            device.send("actuators/lamp/set", b"OFF")
            assert await asyncio.to_thread(device.receive) == ("lamp/set", b"OFF")
            assert await outcomes(gateway, "sent") == [1]


@pytest.mark.parametrize("mode", BROKERS)
@pytest.mark.parametrize("way", ["http", "topic"])
async def test_of_a_hundred_commands_the_last_is_the_final_state(
    tmp_path: Path, mode: str, way: str
) -> None:
    profile = lamp_profile(tmp_path, values=[], minimum=0, maximum=99)
    async with behind(mode, tmp_path, profile, *HEARD) as (gateway, port):
        with Device(port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            for number in range(100):
                if way == "http":
                    assert (await command(gateway, number)).status_code == 202
                else:
                    device.send("actuators/lamp/set", str(number))
            received = [await asyncio.to_thread(device.receive)]
            while received[-1] != ("lamp/set", b"99"):
                received.append(await asyncio.to_thread(device.receive))
            device.send("lamp/state", b"99")
            assert (await until_last(gateway, "confirmed"))["value"] == 99
            numbers = [int(payload) for _, payload in received]
            assert numbers == sorted(set(numbers))
            with pytest.raises(queue.Empty):
                device.receive(0.1)
        assert await outcomes(gateway, "confirmed", "superseded", "failed") == [1, 99, 0]
        assert await outcomes(gateway, "sent") == [len(received)]


async def test_command_that_nothing_confirms_fails_and_the_next_one_goes_on(tmp_path: Path) -> None:
    profile = lamp_profile(tmp_path, timeLimit=0.2)
    async with running(settings(tmp_path, profile)) as gateway:
        answer = await command(gateway, "ON", wait=10)
        assert answer.status_code == 200
        assert answer.json()["status"] == "failed"
        assert answer.json()["reason"] == "no reading confirmed it in 0.2 s"
        assert (await command(gateway, "OFF", wait=10)).json()["status"] == "failed"


@pytest.mark.parametrize(
    ("value", "reason"),
    [("BLUE", '"BLUE" is not one of OFF, ON'), (7, '"7" is not one of OFF, ON')],
)
async def test_value_that_the_device_does_not_take_fails_unsent(
    tmp_path: Path, value: object, reason: str
) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        told = (await command(gateway, value, wait=10)).json()
        assert (told["status"], told["reason"], "sentAt" in told) == ("failed", reason, False)


async def test_actuation_of_nobody_fails(tmp_path: Path) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        told = await watch(gateway, STATUSES.replace("urn:lamp", "urn:other"))
        await update(gateway, BY_HAND.replace("urn:lamp", "urn:other"))
        await told.until(lambda: told.values()[-1:] == [f"{GW}Failed"])
        await update(
            gateway, f"INSERT DATA {{ GRAPH <{ACTUATIONS}> {{ <urn:b> gw:status gw:Requested }} }}"
        )
        told = await watch(
            gateway, f"SELECT ?s {{ GRAPH <{ACTUATIONS}> {{ <urn:b> <{GW}status> ?s }} }}"
        )
        await told.until(lambda: told.values()[-1:] == [f"{GW}Failed"])


async def test_actuator_and_command_may_come_in_one_update(tmp_path: Path) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        with Device(gateway.mqtt_port, "fan") as device:
            await asyncio.to_thread(device.subscribe, "fan/set")
            fan = f"""; INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:fan> a sosa:Actuator ;
              gw:commandTopic "fan/set" ; <http://www.w3.org/ns/ssn/forProperty> <urn:p> ;
              gw:featureOfInterest <urn:f> }} }}"""
            await update(gateway, BY_HAND.replace("urn:lamp", "urn:fan") + fan)
            assert await asyncio.to_thread(device.receive) == ("fan/set", b"ON")


async def test_message_to_a_name_that_no_actuator_has_is_one_like_others(tmp_path: Path) -> None:
    mapped = (STATE, mapping("other", "actuators/+/set", format="scalar"))
    rule = {**RULE, "topic": "actuators/nobody/set"}
    profile = lamp_profile(tmp_path, mappings=mapped, rules=(rule,), queries={"DARK": DARK})
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        with Device(gateway.mqtt_port, "other") as device:
            await asyncio.to_thread(device.subscribe, "actuators/nobody/set")
            device.send("actuators/somebody/set", b"7")
            await told.until(lambda: told.values() == ["7"])
            device.send("lamp/state", b"OFF")
            assert await asyncio.to_thread(device.receive) == ("actuators/nobody/set", b"ON")


async def test_same_actuation_is_not_executed_again(tmp_path: Path) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        with Device(gateway.mqtt_port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            await update(gateway, BY_HAND)
            assert await asyncio.to_thread(device.receive) == ("lamp/set", b"ON")
            device.send("lamp/state", b"ON")
            await until_last(gateway, "confirmed")
            told = await watch(gateway, STATUSES)
            await update(gateway, BY_HAND)  # whoever does not know whether it arrived
            await told.until(lambda: len(told.notifications) == 3)
            await until(lambda: rows_of(gateway, STATUSES) == [[f"{GW}Confirmed"]])
            assert await outcomes(gateway, "sent") == [1]


async def test_what_was_sent_goes_on_after_a_restart_and_is_not_sent_again(tmp_path: Path) -> None:
    config = settings(tmp_path, lamp_profile(tmp_path), kind="disk")
    async with running(config) as gateway:
        with Device(gateway.mqtt_port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            await command(gateway, "ON")
            assert await asyncio.to_thread(device.receive) == ("lamp/set", b"ON")
    async with running(config) as gateway:
        assert (await last(gateway))["status"] == "sent"
        with Device(gateway.mqtt_port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            device.send("lamp/state", b"ON")
            await until_last(gateway, "confirmed")
            assert device.waiting == 0


async def test_old_actuations_leave(tmp_path: Path) -> None:
    config = settings(tmp_path, lamp_profile(tmp_path), kind="disk")
    config = config.model_copy(
        update={"actuation": config.actuation.model_copy(update={"keep": 3})}
    )
    async with running(config) as gateway:
        for _ in range(5):
            await command(gateway, "BLUE", wait=10)
        await until(lambda: len(rows_of(gateway, STATUSES)) == 3)
    async with running(config) as gateway:
        await command(gateway, "BLUE", wait=10)
        await until(lambda: len(rows_of(gateway, STATUSES)) == 3)


async def test_command_has_its_place_where_readings_fill_the_queue(tmp_path: Path) -> None:
    config = settings(tmp_path, lamp_profile(tmp_path), urq=1)
    async with running(config) as gateway:
        with Device(gateway.mqtt_port, "lamp") as lamp, Device(gateway.mqtt_port, "busy") as busy:
            await asyncio.to_thread(lamp.subscribe, "lamp/set")
            for number in range(2000):
                busy.send("lamp/state", str(number))
            lamp.send("actuators/lamp/set", b"ON")
            assert await asyncio.to_thread(lamp.receive) == ("lamp/set", b"ON")
            assert await outcomes(gateway, "sent") == [1]


async def test_answer_under_the_time_of_the_reading_before_confirms(tmp_path: Path) -> None:
    """Zigbee2MQTT answers with the `last_seen` of the message before the command."""
    seen = "2026-03-02T07:00:00Z"
    known = mapping("state", "zigbee2mqtt/lamp", format="zigbee2mqtt", selector="state")
    profile = lamp_profile(tmp_path, mappings=(known,), topic="zigbee2mqtt/lamp/set")
    async with running(settings(tmp_path, profile)) as gateway:
        with Device(gateway.mqtt_port, "bridge") as device:
            await asyncio.to_thread(device.subscribe, "zigbee2mqtt/lamp/set")
            device.send("zigbee2mqtt/lamp", json.dumps({"state": "OFF", "last_seen": seen}))
            assert await asyncio.to_thread(device.wait_acknowledged, 1) == 1
            await command(gateway, True)
            assert await asyncio.to_thread(device.receive) == ("zigbee2mqtt/lamp/set", b"ON")
            device.send("zigbee2mqtt/lamp", json.dumps({"state": "ON", "last_seen": seen}))
            entry = await until_last(gateway, "confirmed")
        values = f"{PREFIXES} SELECT ?v {{ <{entry['observation']}> sosa:hasSimpleResult ?v }}"
        assert rows_of(gateway, values) == [["true"]]
