"""A running gateway as its watchdog sees it: threads that are stuck, disks that take nothing."""

import asyncio
import json
import threading
from pathlib import Path

from gateway.app.gateway import Gateway
from gateway.appliance.watchdog import Watch
from tests.gateway.app.test_full_disk import config_on, until_health
from tests.kit.gateways import WAIT_S, Device, running, settings, write_profile
from tests.kit.small_disk import small_disk

HUNG_S = 2.0
"""So short that a thread which counts as busy while it waits for room would be found soon."""

FULL_S = 3 * HUNG_S
"""Long enough that it would have been."""


def watch_of(gateway: Gateway) -> Watch:
    return Watch(gateway.pulses(), HUNG_S, waits_for_disk=lambda: False)


async def until_hung(watch: Watch, expected: list[str]) -> None:
    async with asyncio.timeout(WAIT_S):
        while watch.hung() != expected:
            await asyncio.sleep(0.02)


async def test_the_four_threads_of_the_data_are_watched(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path), kind="disk")) as gateway:
        names = {pulse.thread for pulse in gateway.pulses()}
        assert names == {"ingest", "scheduler", "journal-settle", "journal-upkeep"}
        await until_hung(watch_of(gateway), [])


async def test_a_scheduler_that_is_stuck_is_found_and_one_that_goes_on_is_not(
    tmp_path: Path,
) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path), kind="disk")) as gateway:
        watch, free = watch_of(gateway), threading.Event()
        stuck = asyncio.create_task(gateway.scheduler.look(lambda _: free.wait(WAIT_S)))
        await until_hung(watch, ["scheduler"])
        free.set()
        assert await stuck
        await until_hung(watch, [])


async def test_nobody_hangs_while_the_disk_is_full(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", "48m") as disk:
        async with running(config_on(disk, tmp_path, 0)) as gateway:
            watch, hung = watch_of(gateway), list[str]()
            with Device(gateway.mqtt_port, window=1000) as device:
                disk.fill()
                for number in range(50):
                    device.send(f"box/{number}", json.dumps({"v": number}))
                await until_health(gateway, "alarm")
                end = asyncio.get_running_loop().time() + FULL_S
                while asyncio.get_running_loop().time() < end:
                    hung += watch.hung()
                    await asyncio.sleep(0.02)
                disk.make_room()
                assert await asyncio.to_thread(device.wait_acknowledged, 50) == 50
            assert hung == []
