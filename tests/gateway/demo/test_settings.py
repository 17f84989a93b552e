"""gateway.demo.settings: free ports and the demo's configuration."""

import json
import socket
from pathlib import Path

import pytest

from gateway.config.journal import JournalSettings
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
    client_profile,
    demo_config,
    profile_of,
    standing_queries,
)
from gateway.errors import ConfigurationError
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


def test_another_port_is_used_and_told_where_a_default_is_taken() -> None:
    mqtt, websocket = free_port(), free_port()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        http = taken.getsockname()[1]
        defaults = wanted(mqtt, 0, websocket).model_copy(
            update={"http": HttpSettings.model_construct(set(), port=http)}
        )
        ports = choose_ports(defaults)
    assert ports.http != http
    note = f"HTTP port {http} is in use, using {ports.http}"
    assert ports.moved == (f"{note}; [http] port, or SOSA_GATEWAY_HTTP__PORT, sets it",)
    assert (ports.mqtt, ports.websocket) == (mqtt, websocket)


def test_ports_that_are_set_are_kept_to_and_all_that_cannot_be_had_are_told() -> None:
    websocket = free_port()
    with (
        socket.create_server(("127.0.0.1", 0)) as one,
        socket.create_server(("127.0.0.1", 0)) as other,
    ):
        mqtt, http = (each.getsockname()[1] for each in (one, other))
        with pytest.raises(ConfigurationError) as raised:
            choose_ports(wanted(mqtt, http, websocket))
    assert raised.value.description.splitlines() == [
        f"MQTT port {mqtt} is in use: [mqtt] port, or SOSA_GATEWAY_MQTT__PORT, changes it",
        f"HTTP port {http} is in use: [http] port, or SOSA_GATEWAY_HTTP__PORT, changes it",
    ]


def test_any_free_port_may_be_asked_for() -> None:
    assert choose_ports(wanted(0, 0, 0)) == Ports(0, 0, 0)


def test_a_client_asks_the_queries_of_the_house_and_of_the_screen_on_the_ports() -> None:
    profile = client_profile(HOUSE_PROFILE, 81, 91)
    assert {"FAN_WANTED", "READINGS", "COMMANDS"} < set(profile.queries)
    assert profile.endpoints.query("READINGS").url == "http://127.0.0.1:81/query"
    assert profile.endpoints.subscribe("READINGS").url == "ws://127.0.0.1:91/subscribe"


def test_the_demo_is_a_gateway_in_its_own_folder(tmp_path: Path) -> None:
    journal = JournalSettings(fsync_interval_s=5)
    config = demo_config(tmp_path, Ports(1, 2, 3), HOUSE_PROFILE, journal=journal)
    assert config.journal == journal
    shipped = demo_config(tmp_path, Ports(1, 2, 3), HOUSE_PROFILE, tmp_path, journal=journal)
    assert shipped.journal.fsync_interval_s == 5
    assert shipped.journal.segment_s < 60
    assert config.gateway.data_dir == tmp_path / "data"
    assert (config.mqtt.port, config.http.port, config.websocket.port) == (1, 2, 3)
    assert config.jsap.profiles == (SHIPPED_PROFILES / "observations.jsap", HOUSE_PROFILE)


def test_the_house_comes_with_its_profile(tmp_path: Path) -> None:
    assert profile_of(None, tmp_path) == HOUSE_PROFILE
    assert HOUSE_PROFILE.exists()


@pytest.mark.parametrize("recording", [None, RECORDING])
def test_the_profile_has_every_standing_query(recording: Recording | None, tmp_path: Path) -> None:
    profile = json.loads(profile_of(recording, tmp_path).read_text(encoding="utf-8"))
    asked_by_people = {"STUFFY"} if recording is None else set()  # docs/windows.md
    standing = {each.query_id for each in standing_queries(recording)}
    assert standing | asked_by_people == set(profile["queries"])


def test_the_rules_of_the_house_name_queries_that_exist() -> None:
    profile = json.loads(HOUSE_PROFILE.read_text(encoding="utf-8"))
    rules = profile["extended"]["rules"]
    assert {rule["on"] for rule in rules} == {"added", "removed"}
    assert {rule["query"] for rule in rules} <= set(profile["queries"])
