"""A Mosquitto that bridges into the embedded broker, as docs/brokers.md says: each message once."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shutil import which

import pytest

from gateway.config.settings import MqttSettings
from tests.kit.documents import documented
from tests.kit.gateways import (
    LOOPBACK,
    VALUES,
    Program,
    free_port,
    journal_records,
    mapping,
    publish,
    running,
    settings,
    watch,
    write_profile,
)

STATE = mapping("state", "zigbee2mqtt/+", selector="$.t", sensor="urn:sensor:{1}")


@contextmanager
def bridging(folder: Path, to: int) -> Iterator[tuple[Program, int]]:
    program = which("mosquitto") or which("/usr/sbin/mosquitto")
    if program is None:
        pytest.skip("mosquitto is not installed")
    own, file = free_port(), folder / "bridge.conf"
    listener = f"user root\nlistener {own} {LOOPBACK}\nallow_anonymous true\nlog_dest stderr\n"
    file.write_text(
        listener
        + documented("docs/brokers.md", "connection sosa-gateway\n").replace(":1884", f":{to}")
        + "restart_timeout 1\n",
        encoding="utf-8",
    )
    with Program(program, "-v", "-c", str(file)) as process:
        process.wait_for(" running")
        yield process, own


async def test_each_message_of_a_bridge_comes_once_also_over_a_restart(tmp_path: Path) -> None:
    to = free_port()
    config = settings(tmp_path, write_profile(tmp_path, [STATE]), kind="disk")
    config = config.model_copy(update={"mqtt": MqttSettings(port=to)})

    def readings(first: int) -> list[tuple[str, bytes]]:
        return [(f"zigbee2mqtt/d{n % 5}", b'{"t":%d}' % n) for n in range(first, first + 200)]

    with bridging(tmp_path, to) as (bridge, own):
        async with running(config) as gateway:
            told = await watch(gateway, VALUES)
            await asyncio.to_thread(bridge.wait_for, "CONNACK")
            await publish(own, readings(0))
            await told.until(lambda: "150" in told.values())
            sending = asyncio.create_task(publish(own, readings(200)))
        await sending
        await publish(own, readings(400))
        async with running(config) as gateway:
            told = await watch(gateway, VALUES)
            await told.until(lambda: "599" in told.values())
    counted = Counter(int(each.observation.lexical) for each in journal_records(tmp_path))
    assert counted == Counter(range(600))
