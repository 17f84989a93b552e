"""A Mosquitto that Zigbee2MQTT uses already: the gateway as its client, as docs/brokers.md says."""

import asyncio
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import pytest
from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion

from gateway.config.discovery import DiscoverySettings
from gateway.config.settings import Config, MqttSettings
from gateway.security.mosquitto_hash import mosquitto_hash
from tests.gateway.admin.onboarding.devices import bridge_devices
from tests.gateway.admin.onboarding.house import a_house
from tests.kit.documents import documented
from tests.kit.gateways import (
    LOOPBACK,
    VALUES,
    WAIT_S,
    Program,
    free_port,
    settings,
    watch,
    write_profile,
)

PAGE = "docs/brokers.md"
BRIDGE = ("zigbee2mqtt", "its-own-password")


@contextmanager
def existing(folder: Path) -> Iterator[tuple[Program, int]]:
    """As an installation has it: users with passwords, and what the gateway may."""
    program = which("mosquitto") or which("/usr/sbin/mosquitto")
    if program is None:
        pytest.skip("mosquitto is not installed")
    port, file = free_port(), folder / "there.conf"
    users = {BRIDGE[0]: BRIDGE[1], "sosa-gateway": "chosen-by-somebody"}
    lines = (f"{name}:{mosquitto_hash(secret, 101)}\n" for name, secret in users.items())
    (folder / "there.passwd").write_text("".join(lines), encoding="utf-8")
    mine = documented(PAGE, "user sosa-gateway\n")
    theirs = f"\nuser {BRIDGE[0]}\ntopic readwrite zigbee2mqtt/#\n"
    (folder / "there.acl").write_text(mine + theirs, encoding="utf-8")
    file.write_text(
        f"user root\nlistener {port} {LOOPBACK}\npassword_file {folder}/there.passwd\n"
        f"acl_file {folder}/there.acl\npersistence false\nlog_dest stderr\n",
        encoding="utf-8",
    )
    with Program(program, "-v", "-c", str(file)) as process:
        process.wait_for(" running")
        yield process, port


def config_of(folder: Path, port: int) -> Config:
    """That of the page, but for the port."""
    written = tomllib.loads(documented(PAGE, '[mqtt]\nmode = "external"\n'))
    password = folder / "broker-password"
    password.write_text("chosen-by-somebody\n", encoding="utf-8")
    mqtt = {**written["mqtt"], "port": port, "password_file": str(password)}
    update = {
        "mqtt": MqttSettings.model_validate(mqtt),
        "discovery": DiscoverySettings.model_validate(written["discovery"]),
    }
    return settings(folder, write_profile(folder)).model_copy(update=update)


@contextmanager
def zigbee2mqtt(port: int) -> Iterator[Client]:
    """A bridge that says what it has, and then what it hears."""
    client = Client(CallbackAPIVersion.VERSION2, "zigbee2mqtt")
    client.username_pw_set(*BRIDGE)
    client.connect(LOOPBACK, port)
    client.loop_start()
    devices = bridge_devices("kitchen", "plug")
    client.publish("zigbee2mqtt/bridge/devices", devices, 1, True).wait_for_publish(WAIT_S)
    try:
        yield client
    finally:
        client.disconnect()
        client.loop_stop()


async def test_a_device_is_proposed_observed_and_switched(tmp_path: Path) -> None:
    loop = asyncio.get_running_loop()
    heard: asyncio.Future[tuple[str, bytes]] = loop.create_future()
    with existing(tmp_path) as (broker, port), zigbee2mqtt(port) as bridge:

        def hear(_client: Client, _userdata: object, message: MQTTMessage) -> None:
            told = message.topic, bytes(message.payload)
            loop.call_soon_threadsafe(heard.set_result, told)

        bridge.on_message = hear
        bridge.subscribe("zigbee2mqtt/plug/set", 1)
        async with a_house(config_of(tmp_path, port)) as (gateway, api):
            told = await watch(gateway, VALUES)
            found = await api.until(3)
            ids = [each["id"] for each in found]
            await api.ask("POST", "/mappings/proposals/confirm", {"ids": ids, "mapping": {}})
            await asyncio.to_thread(broker.wait_for, "zigbee2mqtt/kitchen")
            bridge.publish("zigbee2mqtt/kitchen", b'{"temperature":19.5}', 1)
            await told.until(lambda: told.values() == ["19.5"])
            (plug,) = (await api.ask("GET", "/actuators"))["actuators"]
            answer = await api.post(f"/actuators/{plug['name']}/command", json={"value": "ON"})
            assert answer.status_code in {200, 201, 202}, answer.text
            topic, payload = await asyncio.wait_for(heard, WAIT_S)
            assert topic == "zigbee2mqtt/plug/set"
            assert b"ON" in payload
