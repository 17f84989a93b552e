"""kill -9 right behind a confirmation: what was answered is there, with its record."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.gateway.admin.onboarding.devices import bridge_devices
from tests.kit.gateways import LOOPBACK, Device, Program, free_port, wait_until

pytestmark = pytest.mark.alone

COMMAND = (
    sys.executable,
    "-W",
    "error",
    "-c",
    "from gateway.cli.command import main; exit(main())",
)


class Service:
    """The gateway as a process, and its API."""

    def __init__(self, http_port: int, mqtt_port: int) -> None:
        self.mqtt_port = mqtt_port
        self._url = f"http://{LOOPBACK}:{http_port}/mappings"

    def get(self, path: str) -> Any:
        return httpx.get(f"{self._url}{path}").json()

    def post(self, path: str, body: object) -> Any:
        answer = httpx.post(f"{self._url}{path}", json=body)
        assert answer.is_success, answer.text
        return answer.json()

    def is_up(self) -> bool:
        try:
            return "mappings" in self.get("")
        except httpx.TransportError:
            return False


@contextmanager
def a_service(folder: Path) -> Iterator[Service]:
    """Killed at the end."""
    ports = free_port(), free_port()
    (folder / "gateway.toml").write_text(
        f'[gateway]\ndata_dir = "{folder}/data"\n[http]\nport = {ports[0]}\n'
        f"[mqtt]\nport = {ports[1]}\n[websocket]\nport = 0\n"
    )
    service = Service(*ports)
    with Program(*COMMAND, "run", "--config", str(folder / "gateway.toml")):
        wait_until(service.is_up)
        yield service


def test_a_confirmation_survives_the_kill_behind_it(tmp_path: Path) -> None:
    with a_service(tmp_path) as service:
        with Device(service.mqtt_port) as device:
            device.publish([("zigbee2mqtt/bridge/devices", bridge_devices("kitchen"))])
        wait_until(lambda: len(service.get("/proposals")["proposals"]) == 2)
        ids = [each["id"] for each in service.get("/proposals")["proposals"]]
        service.post("/proposals/confirm", {"ids": ids[:1]})
    with a_service(tmp_path) as service:
        statuses = {each["id"]: each["status"] for each in service.get("/proposals")["proposals"]}
        assert statuses == {ids[0]: "confirmed", ids[1]: "proposed"}
        (mapping,) = service.get("")["mappings"]
        (change,) = service.get("/history")["changes"]
        assert change["after"] == [mapping]
        service.post("/undo", {"id": change["id"]})
        assert service.get("") == {"mappings": []}
