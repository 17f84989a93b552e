"""What comes in years: power cuts under load, a full disk, no clock, a system that hangs."""

import time
from itertools import count
from pathlib import Path

import pytest

from tests.deploy.appliance.device import FIRST, Device
from tests.deploy.appliance.machine import has_kvm
from tests.deploy.appliance.steps import (
    ARCH,
    CUTS,
    PATIENCE_S,
    STEP_S,
    acknowledge,
    acknowledged,
    measured,
)
from tests.kit.gateways import wait_until

pytestmark = [pytest.mark.appliance, pytest.mark.end_to_end, pytest.mark.timeout(STEP_S)]

LOAD_S = 15.0 if has_kvm(ARCH) else 40.0


def acknowledged_until_the_cut(device: Device, first: int) -> list[int]:
    """Readings as fast as they are taken, with 50 on the way, until the power goes."""
    with device.publisher() as sensor:
        number, end = first, time.monotonic() + LOAD_S
        while time.monotonic() < end:
            sensor.send(number)
            number += 1
            if number - first > 50 and not sensor.is_acknowledged():
                break
        device.machine.cut_power()
        while sensor.is_acknowledged(timeout_s=0.2):
            pass
        return sensor.acknowledged


@pytest.mark.parametrize("cut", range(CUTS))
def test_nothing_acknowledged_is_lost_when_the_power_goes(
    device: Device, tmp_path: Path, cut: int
) -> None:
    told = acknowledged_until_the_cut(device, 10_000 * (cut + 1))
    acknowledge(told)
    assert told
    seconds = device.machine.switch_on()
    measured(f"cut {cut + 1}: {len(told)} acknowledged, again after {seconds:.0f} s")
    assert acknowledged() <= device.journalled(tmp_path / "journal")
    assert int(device.values()[FIRST]) >= max(told)
    assert device.failed_units() == ""


def test_a_full_disk_is_an_alarm_and_no_restart(device: Device) -> None:
    before, run = device.running_since(), device.machine.run
    # A block at a time at its end, as what fills a disk does; not the last one that there is.
    fill = "dd if=/dev/zero of=/data/filler bs=1M; dd if=/dev/zero of=/data/filler.2 bs=4k"
    run(f"{fill}; sync", check=False, timeout_s=1200)
    with device.publisher() as sensor:
        for number in count(900_000):
            sensor.send(number)
            if not sensor.is_acknowledged(30):
                break
        wait_until(lambda: bool(device.alarms()), 300)
        measured(f"full after {len(sensor.acknowledged)} more readings: {device.alarms()}")
        assert device.running_since() == before
        run("rm /data/filler /data/filler.2")
        assert sensor.is_acknowledged(300)
        acknowledge(sensor.acknowledged)
    wait_until(lambda: not device.alarms(), 300)
    assert device.running_since() == before


def test_without_a_clock_it_begins_where_it_was(device: Device) -> None:
    last = int(device.machine.run("date +%s"))
    device.machine.run("sync")
    device.machine.cut_power()
    device.machine.clock = "1970-01-01"
    device.machine.switch_on()
    assert int(device.machine.run("date +%s")) > last - 86_400
    with device.publisher() as sensor:
        sensor.send(2_000_000)
        assert sensor.is_acknowledged(PATIENCE_S)
        acknowledge(sensor.acknowledged)
    wait_until(lambda: device.values().get(FIRST) == "2000000", 60)


def test_a_system_that_hangs_is_started_again_by_the_hardware(device: Device) -> None:
    before = device.machine.run("cat /proc/sys/kernel/random/boot_id")
    device.machine.run("echo 1 >/sys/fs/cgroup/init.scope/cgroup.freeze", check=False)
    begin = time.monotonic()
    device.machine.says("Linux version", STEP_S / 2)
    measured(f"the hardware started it again after {time.monotonic() - begin:.0f} s")
    device.machine.until_ready()
    assert device.machine.run("cat /proc/sys/kernel/random/boot_id") != before
    assert FIRST in device.values()
