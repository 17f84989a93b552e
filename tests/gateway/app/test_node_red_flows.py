"""docs/node-red: its three flows in a Node-RED that runs, before a gateway and a lamp.

`make node-red` sets it up below build/; without it the test is skipped.
"""

import asyncio
import json
from pathlib import Path

import pytest

from gateway.app.gateway import Gateway
from tests.gateway.app.test_node_red import START_S, a_node_red
from tests.kit.gateways import Device, running, settings, write_profile
from tests.paths import ROOT

pytestmark = [pytest.mark.slow, pytest.mark.end_to_end, pytest.mark.timeout(300)]

FLOWS = sorted((ROOT / "docs" / "node-red").glob("*.json"))
LAMP = {"sensor": "urn:my:lamp", "property": "urn:my:on", "feature": "urn:my:hall"}
STATE = {
    "id": "urn:my:mapping:lamp",
    "topic": "zigbee2mqtt/lamp",
    "format": "zigbee2mqtt",
    "selector": "state",
}
COMMANDED = {
    "id": "urn:my:actuator:lamp",
    "name": "lamp",
    "topic": "zigbee2mqtt/lamp/set",
    "payload": '{"state":{value}}',
    "values": ["ON", "OFF"],
}


def a_profile(folder: Path) -> Path:
    """The lamp of docs/actuators.md, which tells its state and takes commands."""
    path = write_profile(folder, [{**STATE, **LAMP}])
    profile = json.loads(path.read_text(encoding="utf-8"))
    profile["extended"]["actuators"] = [{**COMMANDED, **LAMP}]
    path.write_text(json.dumps(profile), encoding="utf-8")
    return path


def the_flows(gateway: Gateway) -> list[object]:
    """All of them together, for the ports of this gateway."""
    nodes: list[object] = []
    for path in FLOWS:
        text = path.read_text(encoding="utf-8")
        text = text.replace('"1883"', f'"{gateway.mqtt_port}"')
        nodes += json.loads(text.replace(":8000", f":{gateway.http_port}"))
    return nodes


def what_is_told(folder: Path, gateway: Gateway) -> set[str]:
    """By the flows in a Node-RED, beside a lamp that does what it is told."""
    told: set[str] = set()
    with Device(gateway.mqtt_port, "lamp") as device:
        device.subscribe("zigbee2mqtt/lamp/set")
        device.subscribe("told/#")
        with a_node_red(folder, the_flows(gateway)):
            while len(told) < 2:
                topic, payload = device.receive(START_S)
                if topic.startswith("told/"):
                    told.add(payload.decode())
                else:
                    device.publish([("zigbee2mqtt/lamp", payload)])
    return told


async def test_flows_subscribe_update_and_actuate(tmp_path: Path) -> None:
    assert len(FLOWS) == 3
    async with running(settings(tmp_path, a_profile(tmp_path))) as gateway:
        told = await asyncio.to_thread(what_is_told, tmp_path, gateway)
    assert told == {"urn:hall is warm", "lamp confirmed"}
