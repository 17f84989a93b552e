"""gateway.demo.players and .link: what publishes, over real MQTT to the embedded broker."""

import asyncio
import json
from collections.abc import Callable
from contextlib import asynccontextmanager
from pathlib import Path
from threading import Event
from typing import Any

import pytest

from adapters.values.message import Message
from gateway.demo import link as link_module
from gateway.demo.devices import FAN_COMMAND_TOPIC, FAN_TOPIC, Publication
from gateway.demo.link import Link
from gateway.demo.players import play_house, play_recording
from gateway.demo.recording import read_recording
from gateway.errors import StorageError
from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.gates.mqtt.embedded.settings import BrokerSettings

TIMEOUT_S = 30


class Inbox:
    """Keeps what the broker accepts; lets a test await a message that it is waiting for."""

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self._came = asyncio.Condition()

    async def accept(self, message: Message) -> None:
        async with self._came:
            self.messages.append(message)
            self._came.notify_all()

    async def wait_for(self, found: Callable[[Message], bool]) -> None:
        async with asyncio.timeout(TIMEOUT_S), self._came:
            await self._came.wait_for(lambda: any(map(found, self.messages)))


@asynccontextmanager
async def broker(inbox: Inbox) -> Any:
    async with EmbeddedBroker(BrokerSettings(port=0), inbox.accept, None) as running:
        yield running


def fan_runs(message: Message) -> bool:
    return message.topic == FAN_TOPIC and json.loads(message.payload)["state"] == "ON"


def csv_file(folder: Path, text: str) -> Path:
    path = folder / "lab.csv"
    path.write_text(text, encoding="utf-8")
    return path


async def test_the_house_publishes_and_its_fan_obeys() -> None:
    inbox, stop, latencies = Inbox(), Event(), list[float]()
    async with broker(inbox) as running:
        play = asyncio.to_thread(
            play_house, running.port, stop, latencies.append, speed=60.0, seed=0
        )
        player = asyncio.create_task(play)
        await inbox.wait_for(lambda message: message.topic == FAN_TOPIC)
        await running.publish(FAN_COMMAND_TOPIC, b'{"state":"ON"}', qos=1)
        await inbox.wait_for(fan_runs)
        stop.set()
        await player
    assert len(latencies) == len(inbox.messages)
    assert len({message.client_id for message in inbox.messages}) == 10


async def test_a_recording_is_published_in_order_and_acknowledged(tmp_path: Path) -> None:
    inbox, latencies = Inbox(), list[float]()
    rows = "".join(f"{number % 3},{number}\n" for number in range(200))
    recording = read_recording(csv_file(tmp_path, f"box_id,a\n{rows}"))
    async with broker(inbox) as running:
        await asyncio.to_thread(
            play_recording, recording, running.port, Event(), latencies.append, speed=0.0
        )
        payloads = [message.payload for message in inbox.messages]
    assert payloads == [f'{{"a":{number}}}'.encode() for number in range(200)]
    assert len(latencies) == 200


async def test_a_recording_keeps_the_pace_of_its_times(tmp_path: Path) -> None:
    inbox = Inbox()
    recording = read_recording(csv_file(tmp_path, "time,a\n100,1\n102,2\n103,3\n"))
    async with broker(inbox) as running:
        await asyncio.to_thread(
            play_recording, recording, running.port, Event(), lambda _: None, speed=10.0
        )
        first, second, third = (message.received_at for message in inbox.messages)
    assert (second - first).total_seconds() == pytest.approx(0.2, abs=0.08)
    assert (third - first).total_seconds() == pytest.approx(0.3, abs=0.08)


async def test_a_recording_stops_between_rows_when_told(tmp_path: Path) -> None:
    inbox, stop = Inbox(), Event()
    recording = read_recording(csv_file(tmp_path, "time,a\n0,1\n3600,2\n"))
    async with broker(inbox) as running:
        player = asyncio.create_task(
            asyncio.to_thread(
                play_recording, recording, running.port, stop, lambda _: None, speed=1.0
            )
        )
        await inbox.wait_for(lambda message: True)
        stop.set()
        await asyncio.wait_for(player, TIMEOUT_S)
    assert len(inbox.messages) == 1


async def test_a_full_window_waits_and_then_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "ACKNOWLEDGE_TIMEOUT_S", 0.2)
    stuck = asyncio.Event()

    async def never(_: Message) -> None:
        await stuck.wait()

    def publish_two(port: int) -> None:
        with Link(port, "stuck", lambda _: None, window=1) as link:
            link.publish(Publication("d", "t", b"1"))
            link.publish(Publication("d", "t", b"2"))

    settings = BrokerSettings(port=0, drain_timeout_s=0.1)
    async with EmbeddedBroker(settings, never, None) as running:
        with pytest.raises(StorageError, match="no PUBACK"):
            await asyncio.to_thread(publish_two, running.port)
        stuck.set()
