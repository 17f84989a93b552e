"""Silence, retained messages and impossible results, from MQTT to the subscriber."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path

from gateway.app.gateway import Gateway
from gateway.runtime.clocks import Clocks
from tests.kit.gateways import (
    MAPPINGS,
    PREFIXES,
    VALUES,
    Device,
    mapping,
    mosquitto,
    publish,
    rows_of,
    running,
    settings,
    update,
    watch,
    write_profile,
)

ABSENT = f"""{PREFIXES} SELECT ?feature ?reason {{
  ?stream gw:absentSince ?since ; gw:absenceReason ?reason ; gw:ofFeature ?feature }}"""
RANGE = """INSERT { ?sensor ssn-system:hasSystemCapability <urn:thermometer> .
  <urn:thermometer> ssn-system:hasSystemProperty <urn:range> . <urn:range> schema:maxValue 85 }
WHERE { ?sensor a sosa:Sensor }"""
SERIES = f"""{PREFIXES}
SELECT (CONCAT(STRAFTER(STR(?u), "unit/"), " ", STRAFTER(STR(?v), "unit/")) AS ?change) {{
  ?series gw:seriesEnded ?at ; qudt:hasUnit ?u ; gw:nextSeries ?next . ?next qudt:hasUnit ?v }}"""
NUMBERS = f"""{PREFIXES} SELECT ?sensor ?value (STRAFTER(STR(?u), "unit/") AS ?unit) {{
  ?o sosa:madeBySensor ?sensor ; sosa:hasSimpleResult ?value ; sosa:hasResult ?r .
  ?r qudt:hasUnit ?u }}"""
SSN = "PREFIX ssn-system: <http://www.w3.org/ns/ssn/systems/> PREFIX schema: <https://schema.org/> "


async def test_silence_is_told_and_taken_back_and_survives_a_restart(tmp_path: Path) -> None:
    promised = mapping("t", "room/+", format="scalar", expiresAfter=0.3)
    config = settings(tmp_path, write_profile(tmp_path, [promised]), kind="disk")
    async with running(config) as gateway:
        told = await watch(gateway, ABSENT)
        await publish(gateway.mqtt_port, [("room/a", b"20")])
        await told.until(lambda: told.values() == ["https://sosa-gateway.example/ns#Silence"])
    async with running(config) as gateway:
        told = await watch(gateway, ABSENT)
        assert len(told.answer) == 1
        await publish(gateway.mqtt_port, [("room/a", b"21")])
        await told.until(lambda: not told.answer)


def tasmota(degrees: float, unit: str) -> tuple[str, bytes]:
    text = f'{{"A":{{"Temperature":{degrees}}},"TempUnit":"{unit}"}}'
    return "tele/a/SENSOR", text.encode()


async def test_change_of_unit_ends_one_series_and_begins_another(tmp_path: Path) -> None:
    told = mapping("t", "tele/+/SENSOR", format="tasmota", selector="A.Temperature")
    declared = {"id": "urn:mapping:c", "sensor": "urn:c:{1}", "unit": "unit:DEG_C"}
    profile = write_profile(tmp_path, [told, told | declared])
    config = settings(tmp_path, profile, kind="disk", latest=2)
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [tasmota(19.5, "C"), tasmota(20.5, "C")])
        assert len(rows_of(gateway, NUMBERS)) == 4
    async with running(config) as gateway:
        ended = await watch(gateway, SERIES)
        await publish(gateway.mqtt_port, [tasmota(68.9, "F")])
        await ended.until(lambda: ended.values() == ["DEG_C DEG_F"])
        assert rows_of(gateway, NUMBERS) == [
            ["urn:c:a", "20.5", "DEG_C"],
            ["urn:c:a", "20.5", "DEG_C"],
            ["urn:sensor:a", "68.9", "DEG_F"],
        ]
        await publish(gateway.mqtt_port, [tasmota(21.5, "C")])
        await ended.until(lambda: ended.values() == ["DEG_C DEG_F", "DEG_F DEG_C"])
        assert len(ended.answer) == 1


async def test_last_will_is_absence(tmp_path: Path) -> None:
    known = mapping("t", "room/+", format="scalar", availability="room/+/status")
    async with running(settings(tmp_path, write_profile(tmp_path, [known]))) as gateway:
        told = await watch(gateway, ABSENT)
        await publish(gateway.mqtt_port, [("room/a", b"20"), ("room/a/status", b"offline")])
        await told.until(lambda: told.values() == ["https://sosa-gateway.example/ns#Offline"])
        await publish(gateway.mqtt_port, [("room/a/status", b"online")])
        await told.until(lambda: not told.answer)


async def test_last_will_is_about_what_an_earlier_life_heard(tmp_path: Path) -> None:
    known = mapping("t", "+/sensor/+/state", format="esphome", sensor="urn:{1}:{2}")
    config = settings(tmp_path, write_profile(tmp_path, [known]), kind="disk")
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [("hut/sensor/air/state", b"20")])
    async with running(config) as gateway:
        told = await watch(gateway, ABSENT)
        await publish(gateway.mqtt_port, [("hut/status", b"offline")])
        await told.until(lambda: told.values() == ["https://sosa-gateway.example/ns#Offline"])


async def test_result_beyond_the_range_of_its_sensor_is_quarantined(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [mapping("t", "room/+", format="scalar")])
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [("room/a", b"20")])
        await update(gateway, SSN + RANGE)
        await publish(gateway.mqtt_port, [("room/a", b"999"), ("room/a", b"30")])
        await told.until(lambda: told.values() == ["20", "30"])
        assert gateway.statistics()["quarantined"] == 1


async def test_what_a_device_has_retained_at_our_own_broker_is_news(tmp_path: Path) -> None:
    """ESPHome and Homie set RETAIN in every state; each of them is an observation."""
    profile = write_profile(tmp_path, [mapping("t", "room/+", format="scalar", retained="drop")])
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        with Device(gateway.mqtt_port) as device:
            for value in ("19", "20", "21"):
                device.send("room/a", value, retain=True)
            assert await asyncio.to_thread(device.wait_acknowledged, 3) == 3
        await told.until(lambda: told.values() == ["19", "20", "21"])


async def test_time_is_that_of_the_clocks_that_the_gateway_is_given(tmp_path: Path) -> None:
    """Messages are stamped, and silence is measured, by them alone."""
    seconds = [0.0]
    start = datetime(2030, 1, 1, tzinfo=UTC)
    clocks = Clocks(lambda: start + timedelta(seconds=seconds[0]), lambda: seconds[0])
    known = mapping("t", "room/+", format="scalar", expiresAfter=600)
    config = settings(tmp_path, write_profile(tmp_path, [known]))
    async with Gateway(config, clocks) as gateway:
        told = await watch(gateway, ABSENT)
        await publish(gateway.mqtt_port, [("room/a", b"20")])
        [[stamp]] = rows_of(gateway, PREFIXES + "SELECT ?at { ?o gw:ingestedAt ?at }")
        assert stamp == "2030-01-01T00:00:00Z"
        seconds[0] = 601.0
        await publish(gateway.mqtt_port, [("room/b", b"20")])
        await told.until(lambda: len(told.answer) == 1)


async def test_retained_message_seeds_only_what_is_unknown(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, Device(broker.port) as device:
        device.send("room/a", b"19", retain=True)
        assert device.wait_acknowledged(1) == 1
        profile = write_profile(tmp_path, [mapping("t", "room/+", format="scalar")])
        async with running(settings(tmp_path, profile, mosquitto=broker.port)) as gateway:
            told = await watch(gateway, VALUES)
            await told.until(lambda: told.values() == ["19"])
            device.send("room/a", b"20")
            await told.until(lambda: told.values() == ["19", "20"])
            # A further filter makes the broker send the retained message once more.
            more = f"""INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:mapping:u> a gw:Mapping ;
              gw:topicFilter "room/a" ; gw:format "scalar" ; gw:sensor "urn:sensor:u" ;
              gw:observedProperty <urn:property:u> ; gw:featureOfInterest "urn:room:u" }} }}"""
            await update(gateway, more)
            await told.until(lambda: told.values() == ["19", "20", "19"])
            sensors = (
                f"{PREFIXES} SELECT ?s ?v {{ ?o sosa:madeBySensor ?s ; sosa:hasSimpleResult ?v }}"
            )
            assert rows_of(gateway, sensors) == [["urn:sensor:a", "20"], ["urn:sensor:u", "19"]]
