"""Values that change under an unchanged device time, from MQTT to the graph."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gateway.app.gateway import Gateway
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient, publish_packet
from tests.kit.gateways import (
    PREFIXES,
    VALUES,
    JsonObject,
    Publication,
    journal_records,
    mapping,
    publish,
    rows_of,
    running,
    settings,
    watch,
    write_profile,
)
from tests.kit.metrics import metrics

AT = "2026-03-02T07:00:00.123Z"
LATER = "2026-03-02T07:00:01Z"
PRESENT = f"{PREFIXES} SELECT ?value {{ ?o a sosa:Observation ; sosa:hasSimpleResult ?value }}"
CONTACT = mapping("contact", "zigbee2mqtt/door", format="zigbee2mqtt", selector="contact")
POWER = mapping("power", "tele/plug/SENSOR", format="tasmota", selector="ENERGY.Power")
LEVEL = mapping("level", "tank/level", selector="$.v", time="$.at", sequence="$.n")

Reading = Callable[[int], Publication]


def message(topic: str, **members: object) -> Publication:
    return topic, json.dumps(members).encode()


def contact(closed: int, last_seen: str = AT) -> Publication:
    return message("zigbee2mqtt/door", contact=bool(closed), last_seen=last_seen, linkquality=9)


def power(watts: int) -> Publication:
    return message("tele/plug/SENSOR", Time="2026-03-02T07:00:00", ENERGY={"Power": watts})


def level(value: int) -> Publication:
    return message("tank/level", v=value, at=AT, n=7)


async def counted(gateway: Gateway, *names: str) -> list[float]:
    seen = await metrics(gateway)
    return [seen[f"{name}_total"] for name in names]


def journal(folder: Path) -> list[str]:
    return [each.observation.lexical for each in journal_records(folder)]


@pytest.mark.parametrize(
    ("known", "reading", "is_cached"),
    [(CONTACT, contact, True), (POWER, power, False), (LEVEL, level, False)],
    ids=["last_seen of zigbee2mqtt", "seconds of tasmota", "time and counter"],
)
@pytest.mark.parametrize("kind", ["disk", "memory"])
async def test_value_that_changes_under_one_time_is_observed_and_the_last_one_stays(
    tmp_path: Path, kind: str, known: JsonObject, reading: Reading, is_cached: bool
) -> None:
    config = settings(tmp_path, write_profile(tmp_path, [known]), kind=kind)
    off, on = ("false", "true") if is_cached else ("0", "1")
    async with running(config) as gateway:
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [reading(0), reading(0), reading(1)])
        await told.until(lambda: told.values() == [off, on])
        assert rows_of(gateway, PRESENT) == [[on]]
        names = ("observations", "observations_revised", "observations_duplicate", "heartbeats")
        assert await counted(gateway, *names) == [2, 1, not is_cached, is_cached]
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [reading(1), reading(0), reading(0)])
        assert rows_of(gateway, PRESENT) == [[off]]
        assert await counted(gateway, "observations", "observations_revised") == [1, 1]
    assert journal(tmp_path) == [off, on, off]
    async with running(config) as gateway:
        assert rows_of(gateway, PRESENT) == [[off]]


async def test_several_values_of_one_time_stay_in_order_of_arrival(tmp_path: Path) -> None:
    """A store that keeps the latest two, opened again: the later one is what the next repeats."""
    profile = write_profile(tmp_path, [CONTACT])
    config = settings(tmp_path, profile, kind="disk", latest=2)
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [contact(1), contact(0), contact(1)])
    for known, then in ((1, 0), (0, 1)):
        async with running(config) as gateway:
            assert rows_of(gateway, PRESENT) == [["false"], ["true"]]
            await publish(gateway.mqtt_port, [contact(known), contact(then)])
            assert await counted(gateway, "heartbeats", "observations") == [1, 1]
    assert journal(tmp_path) == ["true", "false", "true", "false", "true"]


async def test_redelivered_message_is_neither_an_observation_nor_what_was_heard_last(
    tmp_path: Path,
) -> None:
    profile = write_profile(tmp_path, [CONTACT])
    async with (
        running(settings(tmp_path, profile)) as gateway,
        await RawClient.connect(gateway.mqtt_port, "bridge") as client,
    ):
        said = [(contact(1), 1), (contact(0), 2), (contact(1), 1), (contact(1, LATER), 3)]
        for number, (told, packet_id) in enumerate(said):
            again = number == 2
            client.send(publish_packet(*told, qos=1, packet_id=packet_id, duplicate=again))
            assert await client.next_packet() is not None
        assert await counted(gateway, "observations", "observations_duplicate") == [3, 1]
        assert rows_of(gateway, PRESENT) == [["true"]]
        lost = contact(0, LATER)
        client.send(publish_packet(*lost, qos=1, packet_id=4, duplicate=True))
        assert await client.next_packet() is not None
        assert rows_of(gateway, PRESENT) == [["false"]], "its first delivery was lost"


async def test_buffer_that_is_sent_again_without_dup_doubles_where_it_has_several_values(
    tmp_path: Path,
) -> None:
    profile = write_profile(tmp_path, [LEVEL])
    async with running(settings(tmp_path, profile)) as gateway:
        for _ in range(2):
            await publish(gateway.mqtt_port, [level(1), level(2)])
        await publish(gateway.mqtt_port, [level(2)])
    assert journal(tmp_path) == ["1", "2", "1", "2"]
