"""What is announced, taken by Home Assistant's own schemas and entities.

`make interop` sets it up; a newer one is there for `make test-slow` where a newer Python is.
"""

import asyncio
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from gateway.exchange.homeassistant.board import Board, Out
from gateway.exchange.homeassistant.classes import BINARY_SENSORS, SENSORS
from gateway.exchange.homeassistant.entity import Described
from gateway.exchange.homeassistant.topics import ONLINE
from tests.gateway.exchange.homeassistant.homes import Home, home, interpreter
from tests.gateway.exchange.homeassistant.houses import HALL, TOPICS, house
from tests.gateway.exchange.homeassistant.test_publisher import (
    CLIMATE,
    GRAPH,
    LAMP,
    LAMP_ACTUATOR,
    telling,
)
from tests.kit.gateways import (
    Device,
    free_port,
    mosquitto,
    publish,
    running,
    settings,
    update,
    wait_until,
    write_profile,
)

pytestmark = [pytest.mark.end_to_end, pytest.mark.xdist_group("homeassistant")]

NEWER = "newer-homeassistant"


def messages(described: Described) -> Iterator[Out]:
    """All that is retained of a house."""
    board = Board(TOPICS, 0.0)
    yield Out(TOPICS.status, ONLINE)
    yield from board.adopt(described)
    yield from board.due()


def _publish(port: int, described: Described) -> None:
    with Device(port, "gateway") as device:
        sent = list(messages(described))
        for each in sent:
            device.send(each.topic, each.payload, 1, retain=each.retain)
        assert device.wait_acknowledged(len(sent)) == len(sent)


def _of(states: Mapping[str, Mapping[str, Any]], id_: str) -> Mapping[str, Any]:
    [found] = [each for each in states.values() if each["id"] == id_]
    return found


def _differences(described: Described, states: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Where Home Assistant has something else than was said.

    A number of a class is shown in a unit of its own system, converted.
    """
    wrong = []
    by_id = {each["id"]: each for each in states.values()}
    for id_, entity in described.entities.items():
        there = by_id.get(id_)
        if there is None:
            wrong.append(f"{entity.members['name']}: it is not there")
            continue
        for name in ("device_class", "state_class", "unit_of_measurement", "icon"):
            told, said = there["attributes"].get(name), entity.members.get(name)
            is_shown = name == "unit_of_measurement" and "device_class" in entity.members
            if (not told) != (not said) if is_shown else told != said:
                wrong.append(f"{entity.members['name']}: {name} {told}, not {said}")
        if there["category"] != entity.members.get("entity_category", ""):
            wrong.append(f"{entity.members['name']}: category {there['category']}")
        if (there["device"], there["area"]) == ("", ""):
            wrong.append(f"{entity.members['name']}: no device")
    return wrong


def _checked(found: Home, described: Described) -> None:
    count = len(described.entities)
    assert found.wait(count) == count
    states = found.states()
    assert found.log() == []
    assert _differences(described, states) == []
    battery = next(each for each in states.values() if each["device"] == "Everything")
    assert (battery["model"], battery["area"]) == ("X1", "Hall")
    assert all(each["state"] != "unknown" for each in states.values() if each["area"] == HALL)


def test_every_class_unit_and_actuator_is_accepted_and_taken_back(tmp_path: Path) -> None:
    interpreter("homeassistant")
    described = house()
    classes = {entity.members.get("device_class") for entity in described.entities.values()}
    assert classes >= {*SENSORS.values(), *BINARY_SENSORS.values(), "timestamp"}
    assert len(described.entities) > 200
    with mosquitto(tmp_path) as broker, home(broker.port) as found:
        _publish(broker.port, described)
        _checked(found, described)
        _taken_back(broker.port, found, described)


def _taken_back(port: int, found: Home, described: Described) -> None:
    """One of each component is taken back: it is gone, and the others stay."""
    gone = {each.component: each for each in described.entities.values()}.values()
    with Device(port, "gateway") as device:
        for each in gone:
            device.send(TOPICS.config(each.component, each.id), b"", 1, retain=True)
        assert device.wait_acknowledged(len(gone)) == len(gone)
    stay = described.entities.keys() - {each.id for each in gone}
    assert found.wait(len(stay)) == len(stay)
    ids = {each["id"] for each in found.states().values()}
    assert ids == {described.entities[each].id for each in stay}
    assert found.log() == []


@pytest.mark.slow
def test_a_newer_one_accepts_the_same(tmp_path: Path) -> None:
    interpreter(NEWER)
    described = house()
    with mosquitto(tmp_path) as broker, home(broker.port, NEWER) as found:
        assert found.version > "2024.12"
        _publish(broker.port, described)
        _checked(found, described)


async def test_a_gateway_and_home_assistant_over_restarts_of_either(tmp_path: Path) -> None:
    interpreter("homeassistant")
    port = free_port()
    profile = write_profile(tmp_path, [CLIMATE, LAMP])
    config = telling(settings(tmp_path, profile, kind="disk"))
    config = config.model_copy(update={"mqtt": config.mqtt.model_copy(update={"port": port})})
    async with running(config) as gateway:
        await update(gateway, LAMP_ACTUATOR)
        await publish(port, [("climate/2/temperature", b"21.5"), ("lamp/1", b"ON")])
        await asyncio.to_thread(_use, port)
    async with running(config) as gateway:
        await update(gateway, f"DELETE WHERE {{ GRAPH <{GRAPH}> {{ <urn:lamp:set> ?p ?o }} }}")
        states = await asyncio.to_thread(_seen, port)
        assert sorted((each["device"], each["state"]) for each in states) == [
            ("1", "on"),
            ("2", "21.5"),
        ]


def _use(port: int) -> None:
    """Switch the lamp off as a person does, and see what it says."""
    with home(port) as found, Device(port, "lamp") as lamp:
        lamp.subscribe("lamp/1/set")
        assert found.wait(2) == 2
        [name] = [each for each in found.states() if each.startswith("switch.")]
        found.call("switch.turn_off", name)
        assert lamp.receive() == ("lamp/1/set", b"OFF")
        lamp.publish([("lamp/1", b"OFF")])
        wait_until(lambda: found.states()[name]["state"] == "off")
        lamp.publish([("lamp/1", b"ON")])
        wait_until(lambda: found.states()[name]["state"] == "on")
        assert found.log() == []


def _seen(port: int) -> list[Mapping[str, Any]]:
    with home(port) as found:
        assert found.wait(2) == 2
        assert found.log() == []
        return list(found.states().values())
