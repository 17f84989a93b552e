"""A gateway that tells Home Assistant what it has, on each sort of broker."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from gateway.app.gateway import Gateway
from gateway.config.settings import Config, HomeAssistantSettings
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    Device,
    JsonObject,
    free_port,
    mapping,
    mosquitto,
    publish,
    rows_of,
    running,
    settings,
    update,
    write_profile,
)

pytestmark = pytest.mark.end_to_end

TERM = "https://sosa-gateway.example/property/"
GRAPH = "https://sosa-gateway.example/graph/mappings"
LABEL = "<http://www.w3.org/2000/01/rdf-schema#label>"
CELSIUS = "http://qudt.org/vocab/unit/DEG_C"

CLIMATE = mapping(
    "temperature",
    "climate/+/temperature",
    format="scalar",
    property=f"{TERM}temperature",
    unit=CELSIUS,
)
DOOR = mapping("door", "door/+", format="scalar", property=f"{TERM}opening", expiresAfter=3600)
BUTTON = mapping("button", "button/+", format="text", selector="^(.+)$", property=f"{TERM}action")
LAMP = mapping("lamp", "lamp/+", format="scalar", property=f"{TERM}power_state")
LAMP_ACTUATOR = f"""INSERT DATA {{ GRAPH <{GRAPH}> {{ <urn:lamp:set> a sosa:Actuator ;
    gw:name "lamp" ; gw:commandTopic "lamp/1/set" ; gw:allowedValue "ON" , "OFF" ;
    gw:confirmedBy <urn:sensor:1> ; gw:featureOfInterest <urn:room:1> ;
    <http://www.w3.org/ns/ssn/forProperty> <{TERM}power_state> }} }}"""
FOREIGN = mapping(
    "foreign",
    "far/+",
    format="homeassistant",
    sensor="urn:far:{1}",
    property=f"{TERM}temperature",
    unit=CELSIUS,
)


class Retained:
    """What the broker has of ours, as a client that came early or late sees it."""

    def __init__(self, port: int) -> None:
        self.topics: dict[str, bytes] = {}
        self.heard: list[tuple[str, bytes]] = []
        self._loop = asyncio.get_running_loop()
        self._came = asyncio.Event()
        self._client = Client(CallbackAPIVersion.VERSION2)
        self._client.on_message = self._received
        self._client.on_connect = lambda client, *_: client.subscribe(
            [("homeassistant/#", 1), ("sosa-gateway/#", 1)]
        )
        self._client.connect(LOOPBACK, port)
        self._client.loop_start()

    def close(self) -> None:
        self._client.disconnect()
        self._client.loop_stop()

    def _received(self, _client: Client, _data: object, message: MQTTMessage) -> None:
        self._loop.call_soon_threadsafe(self._take, message.topic, bytes(message.payload))

    def _take(self, topic: str, payload: bytes) -> None:
        self.heard.append((topic, payload))
        self.topics.pop(topic, None)
        if payload:
            self.topics[topic] = payload
        self._came.set()

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(WAIT_S * 2):
            while not condition():
                await self._came.wait()
                self._came.clear()

    @property
    def entities(self) -> dict[str, dict[str, Any]]:
        """What is announced, by device and name."""
        found = {}
        for topic, payload in self.topics.items():
            if topic.endswith("/config"):
                said = json.loads(payload)
                component = topic.split("/")[1]
                found[f"{component} {said['device']['name']} {said['name']}"] = said
        return found

    def state(self, name: str) -> Any:
        """What an entity's state topic has; None for nothing yet."""
        told = self.topics.get(self.entities[name]["state_topic"])
        return None if told is None else json.loads(told)["value"]

    def state_if(self, name: str) -> Any:
        """The same; None where the entity is not there."""
        return self.state(name) if name in self.entities else None

    def state_of_all(self) -> Any:
        """That of the only entity."""
        return self.state(next(iter(self.entities))) if len(self.entities) == 1 else None

    def is_there(self, name: str) -> bool:
        """Whether all its availability topics say so."""
        topics = [each["topic"] for each in self.entities[name]["availability"]]
        told = [self.topics.get(topic, b"") for topic in topics]
        return all(b"online" in each for each in told)


@contextmanager
def retained(port: int) -> Iterator[Retained]:
    client = Retained(port)
    try:
        yield client
    finally:
        client.close()


def telling(config: Config, **members: object) -> Config:
    told = HomeAssistantSettings.model_validate({"publish": True, "interval_s": 0, **members})
    return config.model_copy(update={"homeassistant": told})


@asynccontextmanager
async def told_by(
    mode: str, folder: Path, *mappings: JsonObject, **members: object
) -> AsyncIterator[tuple[Gateway, Retained]]:
    """A gateway that publishes and hears what is mapped, and a client that was there before it."""
    profile = write_profile(folder, mappings)
    if mode == "embedded":
        async with running(telling(settings(folder, profile), **members)) as gateway:
            with retained(gateway.mqtt_port) as client:
                yield gateway, client
        return
    with mosquitto(folder) as broker, retained(broker.port) as client:
        config = telling(settings(folder, profile, mosquitto=broker.port), **members)
        async with running(config) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, *map(_topic_filter, mappings))
            yield gateway, client


def _topic_filter(of: JsonObject) -> str:
    return str(of["topic"])


SAYS = "sosa:hasSimpleResult ?value"
MODES = pytest.mark.parametrize("mode", ["embedded", "mosquitto"])


@MODES
async def test_streams_appear_follow_their_readings_and_labels_and_go(
    mode: str, tmp_path: Path
) -> None:
    async with told_by(mode, tmp_path, CLIMATE, DOOR) as (gateway, told):
        await told.until(lambda: "sosa-gateway/test/status" in told.topics)
        await update(
            gateway,
            "INSERT DATA { <urn:room:1> rdfs:label 'Kitchen' }".replace(
                "rdfs:label", "<http://www.w3.org/2000/01/rdf-schema#label>"
            ),
        )
        port = told_port(gateway)
        await publish(port, [("climate/1/temperature", b"21.50"), ("door/2", b"open")])
        await told.until(lambda: len(told.entities) == 2)
        climate = told.entities["sensor 1 Temperature"]
        assert climate["device_class"] == "temperature"
        assert climate["unit_of_measurement"] == "°C"
        assert climate["device"]["suggested_area"] == "Kitchen"
        assert climate["origin"]["name"] == "sosa-gateway"
        await told.until(lambda: told.state("sensor 1 Temperature") == "21.5")
        await told.until(lambda: told.state("binary_sensor 2 Opening") == "ON")
        assert told.is_there("sensor 1 Temperature")

        await publish(port, [("climate/1/temperature", b"22")])
        await told.until(lambda: told.state("sensor 1 Temperature") == "22")

        await update(gateway, f"INSERT DATA {{ <urn:sensor:1> {LABEL} 'Oven' }}")
        await told.until(lambda: "sensor Oven Temperature" in told.entities)

        forget = "DELETE WHERE { ?o sosa:madeBySensor <urn:sensor:1> ; ?p ?v }"
        observed = "DELETE WHERE { <urn:sensor:1> sosa:observes ?p }"
        await update(gateway, f"{forget} ; {observed}")
        await told.until(lambda: list(told.entities) == ["binary_sensor 2 Opening"])
        await told.until(lambda: len(told.topics) == 3)


def told_port(gateway: Gateway) -> int:
    """That of the broker, whichever it is."""
    return gateway.mqtt_port


@MODES
async def test_a_switch_commands_and_its_stream_is_its_state_alone(
    mode: str, tmp_path: Path
) -> None:
    async with told_by(mode, tmp_path, LAMP) as (gateway, told):
        await update(gateway, LAMP_ACTUATOR)
        await publish(told_port(gateway), [("lamp/1", b"ON")])
        await told.until(lambda: list(told.entities) == ["switch 1 None"])
        switch = told.entities["switch 1 None"]
        assert switch["command_topic"] == "actuators/lamp/set"
        await told.until(lambda: told.state("switch 1 None") == "ON")
        with Device(told_port(gateway), "lamp") as lamp:
            await asyncio.to_thread(lamp.subscribe, "lamp/1/set")
            payload = switch["payload_off"].encode()
            await publish(told_port(gateway), [(switch["command_topic"], payload)])
            assert await asyncio.to_thread(lamp.receive) == ("lamp/1/set", b"OFF")
        await update(gateway, f"DELETE WHERE {{ GRAPH <{GRAPH}> {{ <urn:lamp:set> ?p ?o }} }}")
        await told.until(lambda: list(told.entities) == ["binary_sensor 1 On or off"])


async def test_what_announces_itself_already_is_left_out(tmp_path: Path) -> None:
    async with told_by("embedded", tmp_path, CLIMATE, FOREIGN) as (gateway, told):
        port = told_port(gateway)
        await publish(port, [("far/9", b"3"), ("climate/1/temperature", b"21.5")])
        await told.until(lambda: len(told.entities) == 1)
        assert list(told.entities) == ["sensor 1 Temperature"]
        assert gateway.stages.homeassistant is not None
        await publish(port, [("far/9", b"4"), ("climate/1/temperature", b"22")])
        await told.until(lambda: told.state("sensor 1 Temperature") == "22")
        assert gateway.stages.homeassistant.announced == 1
    async with told_by("embedded", tmp_path, CLIMATE, FOREIGN, not_from=[]) as (gateway, told):
        await publish(told_port(gateway), [("far/9", b"3"), ("climate/1/temperature", b"21.5")])
        await told.until(lambda: len(told.entities) == 2)


@MODES
async def test_each_event_is_told_and_none_is_kept(mode: str, tmp_path: Path) -> None:
    async with told_by(mode, tmp_path, BUTTON) as (gateway, told):
        port = told_port(gateway)
        await publish(port, [("button/1", b"single")])
        await told.until(lambda: len(told.entities) == 1)
        [said] = told.entities.values()
        assert said["event_types"] == ["single"]
        topic = said["state_topic"]
        await until_interested(gateway)
        await publish(port, [("button/1", b"single"), ("button/1", b"single")])
        await told.until(lambda: events_of(told, topic) == ["single", "single"])
        await publish(port, [("button/1", b"double")])
        await told.until(lambda: events_of(told, topic)[2:] == ["double"])
        [said] = told.entities.values()
        assert said["event_types"] == ["single", "double"]
        with retained(port) as later:
            await later.until(lambda: len(later.entities) == 1)
            assert topic not in later.topics


def events_of(told: Retained, topic: str) -> list[str]:
    return [json.loads(payload)["event_type"] for at, payload in told.heard if at == topic]


async def until_interested(gateway: Gateway) -> None:
    """Wait until readings of what is announced are taken."""
    publisher = gateway.stages.homeassistant
    assert publisher is not None
    async with asyncio.timeout(WAIT_S):
        while not publisher.readings.interested:
            await asyncio.sleep(0.01)


async def test_a_device_that_goes_is_not_available_until_it_is_heard(tmp_path: Path) -> None:
    here = mapping(
        "here", "here/+", format="scalar", property=f"{TERM}humidity", availability="up/+"
    )
    async with told_by("embedded", tmp_path, here) as (gateway, told):
        port, name = told_port(gateway), "sensor 1 Humidity"
        await publish(port, [("up/1", b"online"), ("here/1", b"50")])
        await told.until(lambda: name in told.entities and told.is_there(name))
        await publish(port, [("up/1", b"offline")])
        await told.until(lambda: not told.is_there(name))
        assert told.state(name) == "50"
        await publish(port, [("here/1", b"51")])
        await told.until(lambda: told.is_there(name))
        assert told.state(name) == "51"


async def test_nothing_of_ours_is_heard_as_a_reading_or_proposed_though_the_mark_is_gone(
    tmp_path: Path,
) -> None:
    everything = mapping("all", "#", format="text", selector="^(.+)$", sensor="urn:sensor:all")
    async with told_by("mosquitto", tmp_path, CLIMATE, everything) as (gateway, told):
        port = told_port(gateway)
        await publish(port, [("climate/1/temperature", b"21.5")])
        await told.until(lambda: told.state_if("sensor 1 Temperature") is not None)
        said = told.entities["sensor 1 Temperature"]
        state, config = said["state_topic"], f"homeassistant/sensor/{said['unique_id']}/config"
        payload = told.topics[config]
        copies = [(config, payload), (state, b'{"value":"99"}'), ("climate/1/temperature", b"22")]
        await publish(port, copies)
        await told.until(lambda: told.state("sensor 1 Temperature") == "22")
        values = rows_of(gateway, "SELECT ?v { ?o <http://www.w3.org/ns/sosa/hasSimpleResult> ?v }")
        assert not [value for [value] in values if "99" in value or "unique_id" in value]
        proposals = (
            "SELECT ?p { GRAPH <https://sosa-gateway.example/graph/proposals> { ?p ?x ?y } }"
        )
        assert rows_of(gateway, proposals) == []


@MODES
async def test_home_assistant_that_comes_up_is_told_all_again(mode: str, tmp_path: Path) -> None:
    async with told_by(mode, tmp_path, CLIMATE) as (gateway, told):
        port = told_port(gateway)
        await publish(port, [("climate/1/temperature", b"21.5")])
        await told.until(lambda: told.state_of_all() == "21.5")
        told.heard.clear()
        await publish(port, [("homeassistant/status", b"online")])
        await told.until(lambda: len({topic for topic, _ in told.heard}) == 3)
        assert told.state_of_all() == "21.5"


async def test_what_is_gone_after_a_restart_is_taken_back_at_another_broker(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker, retained(broker.port) as told:
        profile = write_profile(tmp_path, [CLIMATE, DOOR])
        config = telling(settings(tmp_path, profile, kind="disk", mosquitto=broker.port))
        async with running(config):
            await asyncio.to_thread(broker.wait_subscribed, "climate/+/temperature", "door/+")
            await publish(broker.port, [("climate/1/temperature", b"21.5"), ("door/2", b"open")])
            await told.until(lambda: len(told.entities) == 2)
        await told.until(lambda: not told.is_there("sensor 1 Temperature"))
        async with running(telling(config, entities=1)) as gateway:
            await told.until(lambda: list(map(told.is_there, told.entities)) == [True])
            async with httpx.AsyncClient() as client:
                url = f"http://{LOOPBACK}:{gateway.http_port}/alarms"
                answer = (await client.get(url)).json()
            assert "[homeassistant] entities" in {each["where"] for each in answer["alarms"]}
        async with running(telling(config, publish=False)):
            await told.until(lambda: not told.entities)
            await told.until(lambda: set(told.topics) == {"sosa-gateway/test/status"})
        assert not (tmp_path / "data" / "homeassistant.json").exists()


async def test_a_broker_that_begins_anew_is_told_all_again(tmp_path: Path) -> None:
    port = free_port()
    profile = write_profile(tmp_path, [CLIMATE])
    async with AsyncExitStack() as stack:
        with mosquitto(tmp_path, port) as broker, retained(port) as told:
            config = telling(settings(tmp_path, profile, mosquitto=port))
            await stack.enter_async_context(running(config))
            await asyncio.to_thread(broker.wait_subscribed, "climate/+/temperature")
            await publish(port, [("climate/1/temperature", b"21.5")])
            await told.until(lambda: told.state_of_all() == "21.5")
        with mosquitto(tmp_path, port), retained(port) as told:
            await told.until(lambda: told.state_of_all() == "21.5")
            assert told.is_there("sensor 1 Temperature")


async def test_a_virtual_sensor_is_a_row_of_its_query_for_each_device(tmp_path: Path) -> None:
    async with told_by("embedded", tmp_path, CLIMATE) as (gateway, told):
        port = told_port(gateway)
        readings = [("climate/1/temperature", b"20"), ("climate/2/temperature", b"30")]
        await publish(port, readings)
        await update(
            gateway,
            virtual(
                "SELECT ('house' AS ?device) (AVG(?v) AS ?value) { ?o sosa:hasSimpleResult ?v }"
            ),
        )
        await told.until(lambda: told.state_if("sensor house Mean") == "25")
        assert told.entities["sensor house Mean"]["device_class"] == "temperature"
        await publish(port, [("climate/2/temperature", b"40")])
        await told.until(lambda: told.state("sensor house Mean") == "30")
        stored = rows_of(gateway, "SELECT ?v { ?o <http://www.w3.org/ns/sosa/hasSimpleResult> ?v }")
        assert [value for [value] in stored] == ["20", "40"]
        await update(
            gateway,
            virtual(
                f"SELECT ?device ?value {{ ?o sosa:madeBySensor ?device ; {SAYS} }}", "urn:my:each"
            ),
        )
        await told.until(lambda: len(told.entities) == 5)
        await update(gateway, f"DELETE WHERE {{ GRAPH <{GRAPH}> {{ <urn:my:mean> ?p ?o }} }}")
        await told.until(lambda: "sensor house Mean" not in told.entities)


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("SELECT ?device { ?device ?p ?o", "urn:my:mean"),
        ("SELECT ?value { ?device sosa:observes ?value }", "each row needs ?device and ?value"),
        (
            "SELECT ?device ?value { ?device sosa:observes ?p VALUES ?value { 1 2 } }",
            "urn:sensor:1 has two rows",
        ),
    ],
)
async def test_a_virtual_sensor_that_cannot_be_is_an_alarm(
    query: str, reason: str, tmp_path: Path
) -> None:
    async with told_by("embedded", tmp_path, CLIMATE) as (gateway, told):
        await publish(told_port(gateway), [("climate/1/temperature", b"20")])
        await update(gateway, virtual(query))
        publisher = gateway.stages.homeassistant
        assert publisher is not None
        async with asyncio.timeout(WAIT_S):
            while not publisher.virtual.errors:
                await asyncio.sleep(0.02)
        [(iri, said)] = publisher.virtual.errors.items()
        assert reason in f"{iri} {said}"
        await told.until(lambda: list(told.entities) == ["sensor 1 Temperature"])


async def test_of_a_graph_that_is_not_named_nothing_is_told(tmp_path: Path) -> None:
    said = f"<urn:a> <urn:p> 1 . <urn:sensor:1> {LABEL} 'Secret'"
    hidden = f"INSERT DATA {{ GRAPH <urn:hidden> {{ {said} }} }}"
    query = "SELECT ?device ?value { GRAPH ?g { ?device <urn:p> ?value } }"
    for graphs, names in (
        (["default"], ["sensor 1 Temperature"]),
        (["default", "urn:hidden"], ["sensor 1 Temperature", "sensor a Mean"]),
        (["urn:hidden"], ["sensor a Mean"]),
    ):
        async with told_by("embedded", tmp_path, CLIMATE, graphs=graphs) as (gateway, told):
            await update(gateway, hidden)
            await update(gateway, virtual(query))
            await publish(told_port(gateway), [("climate/1/temperature", b"20")])
            await told.until(partial(_has, told, names))
            assert b"Secret" not in b"".join(told.topics.values())


def _has(told: Retained, names: list[str]) -> bool:
    return sorted(told.entities) == names


def virtual(query: str, iri: str = "urn:my:mean") -> str:
    text = json.dumps("PREFIX sosa: <http://www.w3.org/ns/sosa/> " + query)
    return (
        f"INSERT DATA {{ GRAPH <{GRAPH}> {{ <{iri}> a gw:VirtualSensor ; gw:sparql {text} ; "
        f"{LABEL} 'Mean' ; gw:observedProperty <{TERM}temperature> ; gw:unit unit:DEG_C }} }}"
    )
