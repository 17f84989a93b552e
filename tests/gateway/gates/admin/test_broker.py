"""GET /broker: what somebody is told who sets up a device."""

from pathlib import Path

import httpx
import pytest

from gateway.app.brokers.settings import broker_gate
from gateway.config.settings import Config, MqttSettings
from tests.gateway.gates.admin.access.secured import open_house, secured
from tests.kit.gateways import LOOPBACK, running, settings, write_profile


async def test_an_own_broker_on_loopback_says_its_port_and_that_only_this_machine_has_it(
    tmp_path: Path,
) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}/broker"
        async with httpx.AsyncClient() as client:
            told = (await client.get(url)).json()
        assert told == {
            "mode": "embedded",
            "host": LOOPBACK,
            "address": "",
            "local": True,
            "port": gateway.mqtt_port,
            "tls": False,
            "websocket_port": None,
            "users": False,
            "security": False,
        }


async def test_who_may_not_change_mappings_is_not_told(tmp_path: Path) -> None:
    async with open_house(tmp_path, "reader", "operator") as house:
        assert (await house.http.get("/broker")).status_code == 401
        assert (await house.ask("reader", "GET", "/broker")).status_code == 403
        told = (await house.ask("operator", "GET", "/broker")).json()
    assert (told["users"], told["security"]) == (True, True)


def _with(config: Config, **mqtt: object) -> Config:
    return config.model_copy(update={"mqtt": MqttSettings.model_validate(mqtt)})


@pytest.mark.parametrize("host", ["0.0.0.0", "::"])
def test_a_broker_on_every_address_names_none_but_that_of_the_machine(
    host: str, tmp_path: Path
) -> None:
    config = _with(secured(tmp_path), host=host, websocket=True, websocket_port=8083)
    told = broker_gate(config, 1883).told
    assert (told.host, told.local, told.websocket_port) == ("", False, 8083)
    assert told.address != host


def test_another_broker_is_told_as_it_is_dialled(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    names = {"host": "broker.example", "port": 8883, "tls": True, "username": "gateway"}
    told = broker_gate(_with(config, mode="external", **names), 8883).told
    assert (told.mode, told.host, told.port) == ("external", "broker.example", 8883)
    assert (told.tls, told.users, told.security, told.local) == (True, True, False, False)
