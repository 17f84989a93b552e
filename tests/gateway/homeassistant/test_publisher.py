"""A gateway that tells Home Assistant what it has, on each sort of broker."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from gateway.app.gateway import Gateway
from gateway.config.settings import Config, HomeAssistantSettings
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
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
FOREIGN = mapping(
    "foreign", "far/+", format="homeassistant", property=f"{TERM}temperature", unit=CELSIUS
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
    """A gateway that publishes, and a client that was there before it."""
    profile = write_profile(folder, mappings)
    if mode == "embedded":
        async with running(telling(settings(folder, profile), **members)) as gateway:
            with retained(gateway.mqtt_port) as client:
                yield gateway, client
        return
    with mosquitto(folder) as broker, retained(broker.port) as client:
        config = telling(settings(folder, profile, mosquitto=broker.port), **members)
        async with running(config) as gateway:
            yield gateway, client


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

        label = "<http://www.w3.org/2000/01/rdf-schema#label>"
        await update(gateway, f"INSERT DATA {{ <urn:sensor:1> {label} 'Oven' }}")
        await told.until(lambda: "sensor Oven Temperature" in told.entities)

        forget = "DELETE WHERE { ?o sosa:madeBySensor <urn:sensor:1> ; ?p ?v }"
        observed = "DELETE WHERE { <urn:sensor:1> sosa:observes ?p }"
        await update(gateway, f"{forget} ; {observed}")
        await told.until(lambda: list(told.entities) == ["binary_sensor 2 Opening"])
        await told.until(lambda: len(told.topics) == 3)


def told_port(gateway: Gateway) -> int:
    """That of the broker, whichever it is."""
    return gateway.mqtt_port
