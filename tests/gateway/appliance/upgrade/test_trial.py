"""A gateway of a release that is tried: ready, and nobody is let in before it has passed."""

import asyncio
import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.app.gateway import Gateway
from gateway.appliance.upgrade.slots import Slots, Trial
from gateway.appliance.upgrade.waiting import until_passed
from gateway.config.settings import Config, HttpSettings, MqttSettings
from gateway.errors import UpgradeError
from gateway.runtime.service_manager import ServiceManager
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    free_port,
    mapping,
    publish,
    running,
    settings,
    write_profile,
)

SEALED_S = 1.5
"""Upkeep looks once a second; what it does not do can only be waited for."""

TRIAL = Trial(of="", to="2.0-1~deb13", kept="1.0-1~deb13", previous=None)


class Systemd:
    """What stands for systemd: it hears what a service says."""

    def __init__(self, folder: Path) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(folder / "notify"))
        self._socket.settimeout(WAIT_S)
        self.manager = ServiceManager(str(folder / "notify"))

    def until_ready(self) -> None:
        """Nothing says that it serves, by which the updater would know that it lets people in."""
        heard = b""
        while b"READY=1" not in heard:
            heard = self._socket.recv(4096)
            assert b"serving" not in heard

    def close(self) -> None:
        self.manager.close()
        self._socket.close()


@pytest.fixture
def systemd(tmp_path: Path) -> Iterator[Systemd]:
    made = Systemd(tmp_path)
    yield made
    made.close()


@pytest.fixture
def slots(tmp_path: Path) -> Slots:
    made = Slots(tmp_path / "slots", tmp_path / "package")
    made.folder.mkdir()
    return made


def on_fixed_ports(folder: Path) -> Config:
    mappings = [mapping("v", "box/+", selector="$.v")]
    config = settings(folder, write_profile(folder, mappings), kind="disk")
    mqtt, http = MqttSettings(port=free_port()), HttpSettings(port=free_port())
    return config.model_copy(update={"mqtt": mqtt, "http": http})


async def lived_before(config: Config, journal: Path) -> set[str]:
    """A life with a reading, whose segment would be sealed at the next start; the files there."""
    async with running(config) as gateway:
        await publish(gateway.mqtt_port, [("box/1", b'{"v": 1}')])
    files = {path.name for path in journal.iterdir() if path.stat().st_size}
    assert any(name.endswith(".jsonl") for name in files)
    return files


def listens(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex((LOOPBACK, port)) == 0


async def test_nothing_is_acknowledged_before_it_has_passed(
    tmp_path: Path, systemd: Systemd, slots: Slots
) -> None:
    config, let_in = on_fixed_ports(tmp_path), threading.Event()
    journal = tmp_path / "data" / "journal"
    earlier = await lived_before(config, journal)
    with slots.locked(os.getgid()):
        slots.begin(TRIAL)
        may_serve = until_passed(systemd.manager, slots.folder)
        gateway = Gateway(config, may_serve=may_serve)

        async def serve() -> None:
            async with gateway:
                let_in.set()
                await publish(gateway.mqtt_port, [("box/1", b"1")])

        serving = asyncio.create_task(serve())
        await asyncio.to_thread(systemd.until_ready)
        assert not listens(config.mqtt.port)
        assert not listens(config.http.port)
        await asyncio.sleep(SEALED_S)
        assert {path.name for path in journal.iterdir() if path.stat().st_size} == earlier
        assert not let_in.is_set()
        slots.passed(TRIAL)
        await asyncio.wait_for(serving, WAIT_S)
    vars(gateway.scheduler.engine.store).clear()
    assert slots.previous == ""


async def test_without_an_updater_it_ends_and_the_next_start_goes_back(
    tmp_path: Path, systemd: Systemd, slots: Slots
) -> None:
    slots.begin(TRIAL)
    config = on_fixed_ports(tmp_path)
    gateway = Gateway(config, may_serve=until_passed(systemd.manager, slots.folder))
    with pytest.raises(UpgradeError, match="the updater has gone"):
        await gateway.__aenter__()
    assert not listens(config.mqtt.port)


async def test_without_a_service_manager_nobody_waits(tmp_path: Path, slots: Slots) -> None:
    slots.begin(TRIAL)
    await until_passed(ServiceManager(), slots.folder)()
