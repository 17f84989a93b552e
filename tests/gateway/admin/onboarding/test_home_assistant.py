"""Home Assistant's announcements at a real gateway: moved to a device, absent by two topics."""

import json
from pathlib import Path
from typing import Any

from tests.gateway.admin.onboarding.house import a_house, config
from tests.kit.gateways import PREFIXES, publish, watch

PART = "homeassistant/sensor/mover/t/config"
WHOLE = "homeassistant/device/mover/config"
LAST = "homeassistant/sensor/last/t/config"
ABSENT = PREFIXES + "SELECT ?sensor { ?stream gw:ofSensor ?sensor ; gw:absentSince ?t }"
SENSOR = {
    "name": "Temperature",
    "unique_id": "mover_t",
    "state_topic": "mover/state",
    "device_class": "temperature",
    "unit_of_measurement": "°C",
    "availability_mode": "all",
    "availability": [
        {"topic": "mover/bridge", "value_template": "{{ value_json.state }}"},
        {"topic": "mover/there", "payload_available": "up", "payload_not_available": "down"},
    ],
}
DEVICE = {"identifiers": ["mover"], "name": "Mover"}


def said(members: Any) -> bytes:
    return json.dumps(members).encode()


async def test_what_moves_to_a_device_of_its_own_is_not_withdrawn(tmp_path: Path) -> None:
    given = config(tmp_path, auto_accept=["homeassistant"])
    async with a_house(given) as (gateway, api):
        await publish(gateway.mqtt_port, [(PART, said({**SENSOR, "device": DEVICE}))])
        await api.until(1, status="confirmed")
        whole = {"dev": DEVICE, "o": {"name": "x"}, "cmps": {"t": {"p": "sensor", **SENSOR}}}
        last = {"name": "L", "unique_id": "l", "state_topic": "l", "device": DEVICE}
        moving = [(PART, said({"migrate_discovery": True})), (WHOLE, said(whole)), (PART, b"")]
        await publish(gateway.mqtt_port, [*moving, (LAST, said(last))])
        await api.until(1, status="proposed")  # the last one has been heard, and so all
        assert len(await api.proposals(status="confirmed")) == 1
        assert await api.proposals(status="withdrawn") == []
        await publish(gateway.mqtt_port, [(WHOLE, b"")])
        await api.until(1, status="withdrawn")


async def test_a_device_is_absent_as_soon_as_one_of_its_topics_says_so(tmp_path: Path) -> None:
    given = config(tmp_path, auto_accept=["homeassistant"])
    async with a_house(given) as (gateway, api):
        await publish(gateway.mqtt_port, [(PART, said({**SENSOR, "device": DEVICE}))])
        [proposal] = await api.until(1, status="confirmed")
        rule = json.loads(proposal["mapping"]["availabilities"])
        assert [each["topic"] for each in rule["topics"]] == ["mover/bridge", "mover/there"]
        told = await watch(gateway, ABSENT)
        online = said({"state": "online"})
        first = [("mover/state", b"21.5"), ("mover/bridge", online), ("mover/there", b"up")]
        await publish(gateway.mqtt_port, [*first, ("mover/there", b"down")])
        await told.until(lambda: len(told.values()) == 1)
        await publish(gateway.mqtt_port, [("mover/there", b"up")])
        await told.until(lambda: not +told.answer)
