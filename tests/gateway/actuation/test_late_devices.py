"""A command that has failed does not come later: to a device, or to a broker, that was away."""

import asyncio
import threading
from pathlib import Path
from time import monotonic

import pytest
from paho.mqtt.client import Client
from paho.mqtt.enums import CallbackAPIVersion

from gateway.gates.mqtt.embedded.delivery import DeliveryQueue
from gateway.gates.mqtt.embedded.frames import Publish
from tests.gateway.actuation.lamps import command, lamp_profile
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    Device,
    behind,
    free_port,
    mosquitto,
    running,
    settings,
)


class Sleeper:
    """A device with a session that the broker keeps while it sleeps."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.heard: list[bytes] = []
        self._event = threading.Event()

    def _client(self) -> Client:
        client = Client(CallbackAPIVersion.VERSION2, "sleeper", clean_session=False)
        client.on_connect = lambda c, *_: c.subscribe("lamp/set", 1)
        client.on_subscribe = lambda *_: self._event.set()
        client.on_message = lambda _c, _d, message: self._hear(bytes(message.payload))
        return client

    def _hear(self, payload: bytes) -> None:
        self.heard.append(payload)
        self._event.set()

    def wake(self, until: bytes | None = None) -> None:
        """Be there until it has subscribed, or heard something."""
        client = self._client()
        client.connect(LOOPBACK, self._port)
        client.loop_start()
        end = monotonic() + WAIT_S
        while until not in (None, *self.heard) or not self._event.is_set():
            assert monotonic() < end
            self._event.wait(0.05)
        self._event.clear()
        client.disconnect()
        client.loop_stop()


@pytest.mark.parametrize("mode", ["embedded", "mosquitto"])
async def test_device_that_wakes_up_too_late_hears_the_last_command_only(
    tmp_path: Path, mode: str
) -> None:
    profile = lamp_profile(tmp_path, timeLimit=1)
    async with behind(mode, tmp_path, profile, "actuators/+/set") as (gateway, port):
        sleeper = Sleeper(port)
        await asyncio.to_thread(sleeper.wake)
        assert (await command(gateway, "ON", wait=10)).json()["status"] == "failed"
        if mode == "mosquitto":
            await asyncio.sleep(1.1)  # it counts whole seconds
        await command(gateway, "OFF")
        await asyncio.to_thread(sleeper.wake, b"OFF")
        assert sleeper.heard == [b"OFF"]


async def test_command_that_finds_no_broker_does_not_go_out_later(tmp_path: Path) -> None:
    port = free_port()
    config = settings(tmp_path, lamp_profile(tmp_path, timeLimit=0.2), mosquitto=port)
    async with running(config) as gateway:
        assert (await command(gateway, "ON", wait=10)).json()["status"] == "failed"
        with mosquitto(tmp_path, port) as broker, Device(broker.port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            await asyncio.to_thread(broker.wait_subscribed, "lamp/state")
            await command(gateway, "OFF")
            assert await asyncio.to_thread(device.receive) == ("lamp/set", b"OFF")


def test_queue_passes_over_what_has_expired() -> None:
    queue = DeliveryQueue(max_inflight=2, max_queued=10, max_queued_bytes=100)
    for payload, expires_s in ((b"a", 5.0), (b"b", 50.0), (b"c", 5.0), (b"d", 50.0)):
        queue.offer(Publish("t", payload, 1, expires_s=expires_s))
    assert queue.take(4.0) == b"2\x06\x00\x01t\x00\x01a"
    queue.suspend()
    queue.resume()
    assert queue.take(6.0) == b"2\x06\x00\x01t\x00\x02b"
    assert queue.take(6.0) == b"2\x06\x00\x01t\x00\x03d"
    assert (queue.take(6.0), len(queue)) == (None, 2)
