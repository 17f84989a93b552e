"""What is told to Home Assistant where clients are asked who they are, on both of our brokers."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from paho.mqtt.enums import MQTTProtocolVersion

from gateway.app.gateway import Gateway
from gateway.config.settings import Config, MqttSettings
from gateway.engine import UpdateRequest
from gateway.security.policy import Policy
from tests.gateway.exchange.homeassistant.test_publisher import LAMP, LAMP_ACTUATOR, telling
from tests.gateway.gates.mqtt.mosquitto.beside import Person, beside, known, mosquitto_of
from tests.kit.gateways import PREFIXES, running, write_profile

pytestmark = pytest.mark.end_to_end

HOME = Policy(
    publish=frozenset({"homeassistant/status", "actuators/+/set"}),
    receive=frozenset({"homeassistant/#", "sosa-gateway/#"}),
)
"""As docs/homeassistant.md gives it."""
BULB = Policy(publish=frozenset({"lamp/1"}), receive=frozenset({"lamp/1/set"}))
SPY = Policy(publish=frozenset({"spy/note"}), receive=frozenset({"spy/#"}))
PROTOCOLS = {
    "embedded": MQTTProtocolVersion.MQTTv311,
    "mosquitto": MQTTProtocolVersion.MQTTv5,
}
FORGED = "homeassistant/sensor/forged/config"


@pytest.fixture
def place() -> Iterator[Path]:
    """A folder that Mosquitto can come into, which gives up root's rights when it has them."""
    with TemporaryDirectory(prefix="sosa-gateway-test-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder


def guarded(folder: Path, mode: str) -> Config:
    config = telling(beside(folder, known("home", HOME), known("bulb", BULB), known("spy", SPY)))
    write_profile(folder, [LAMP])
    if mode == "mosquitto":
        return config
    return config.model_copy(update={"mqtt": MqttSettings(port=0)})


def until_told(person: Person, topic_begin: str) -> tuple[str, str]:
    """The next message on such a topic."""
    while True:
        [(topic, payload)] = person.received().items()
        if topic.startswith(topic_begin):
            return topic, payload


def use(port: int, protocol: MQTTProtocolVersion) -> None:
    """Home Assistant is told and commands; a lamp and somebody else get what is theirs alone."""

    def person(name: str = "", secret: str = "") -> Person:
        return Person(port, name, secret, protocol=protocol)

    with (
        person("home", "home-secret") as home,
        person("bulb", "bulb-secret") as bulb,
        person("spy", "spy-secret") as spy,
        person("spy", "home-secret") as nobody,
        person() as anonymous,
    ):
        assert [each.code for each in (home, bulb, spy)] == [0, 0, 0]
        assert nobody.code != 0
        assert anonymous.code != 0
        for topic_filter in HOME.receive or ():
            assert home.subscribe(topic_filter) == 1
        spy.subscribe("#")  # is refused, or granted for what it may receive
        assert spy.subscribe("spy/#") == 1
        assert bulb.subscribe("lamp/1/set") == 1
        bulb.publish(FORGED, "{}")
        assert bulb.publish("lamp/1", "ON") == 0
        topic, payload = until_told(home, "homeassistant/")
        assert topic.startswith("homeassistant/switch/")
        switch = json.loads(payload)
        _, state = until_told(home, switch["state_topic"])
        assert json.loads(state)["value"] == "ON"
        assert home.publish(switch["command_topic"], switch["payload_off"]) == 0
        assert bulb.received() == {"lamp/1/set": "OFF"}
        spy.publish("spy/note", "all that was for me")
        assert spy.received() == {"spy/note": "all that was for me"}


@pytest.mark.parametrize("mode", list(PROTOCOLS))
async def test_with_security_it_is_told_to_who_may_receive_it(mode: str, place: Path) -> None:
    config = guarded(place, mode)
    with ExitStack() as stack:
        broker = None if mode == "embedded" else stack.enter_context(mosquitto_of(config))
        async with running(config) as gateway:
            if broker is not None:
                await asyncio.to_thread(broker.wait_for, "lamp/+")
            await actuator(gateway)
            await asyncio.to_thread(use, gateway.mqtt_port, PROTOCOLS[mode])


async def actuator(gateway: Gateway) -> None:
    await gateway.scheduler.update(UpdateRequest(PREFIXES + LAMP_ACTUATOR))
