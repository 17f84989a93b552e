"""gateway.demo.settings: free ports and the demo's configuration."""

import json
import socket
from pathlib import Path

import pytest

from gateway.config.settings import (
    SHIPPED_PROFILES,
    Config,
    HttpSettings,
    MqttSettings,
    WebSocketSettings,
)
from gateway.demo.recording import Recording
from gateway.demo.settings import (
    HOUSE_PROFILE,
    Ports,
    choose_ports,
    demo_config,
    profile_of,
    standing_queries,
)
from tests.kit.gateways import free_port

RECORDING = Recording(Path("lab.csv"), ("humidity",))


def wanted(mqtt: int, http: int, websocket: int) -> Config:
    return Config(
        mqtt=MqttSettings(port=mqtt),
        http=HttpSettings(port=http),
        websocket=WebSocketSettings(port=websocket),
    )


def test_the_wanted_ports_are_used_while_they_are_free() -> None:
    mqtt, http, websocket = free_port(), free_port(), free_port()
    assert choose_ports(wanted(mqtt, http, websocket)) == Ports(mqtt, http, websocket)


def test_another_port_is_used_and_told_when_one_is_taken() -> None:
    mqtt, websocket = free_port(), free_port()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        http = taken.getsockname()[1]
        ports = choose_ports(wanted(mqtt, http, websocket))
    assert ports.http != http
    assert ports.moved == (f"HTTP port {http} is taken, using {ports.http}",)
    assert (ports.mqtt, ports.websocket) == (mqtt, websocket)


def test_the_demo_is_a_gateway_in_its_own_folder(tmp_path: Path) -> None:
    config = demo_config(tmp_path, Ports(1, 2, 3), HOUSE_PROFILE)
    assert config.gateway.data_dir == tmp_path / "data"
    assert (config.mqtt.port, config.http.port, config.websocket.port) == (1, 2, 3)
    assert config.jsap.profiles == (SHIPPED_PROFILES / "observations.jsap", HOUSE_PROFILE)


def test_the_house_comes_with_its_profile(tmp_path: Path) -> None:
    assert profile_of(None, tmp_path) == HOUSE_PROFILE
    assert HOUSE_PROFILE.exists()


@pytest.mark.parametrize("recording", [None, RECORDING])
def test_the_profile_has_every_standing_query(recording: Recording | None, tmp_path: Path) -> None:
    profile = json.loads(profile_of(recording, tmp_path).read_text(encoding="utf-8"))
    assert {each.query_id for each in standing_queries(recording)} == set(profile["queries"])


def test_the_rules_of_the_house_name_queries_that_exist() -> None:
    profile = json.loads(HOUSE_PROFILE.read_text(encoding="utf-8"))
    rules = profile["extended"]["rules"]
    assert {rule["on"] for rule in rules} == {"added", "removed"}
    assert {rule["query"] for rule in rules} <= set(profile["queries"])
