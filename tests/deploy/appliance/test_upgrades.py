"""Releases on the device: a sound one stays, a broken one goes, and so does one cut off by power.

A release is this one under another version. What was acknowledged before, between and after is in
the journal at the end.
"""

import argparse
import json
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.__main__ import CHECKOUT, build_deb
from deploy.raspberrypi.builder.image.flavours import SUITE
from deploy.raspberrypi.builder.signing import private_key, public_pem
from deploy.raspberrypi.builder.targets import Target
from tests.deploy.appliance.conftest import KEY
from tests.deploy.appliance.device import Device
from tests.deploy.appliance.steps import ARCH, FOLDER, STEP_S, acknowledge, acknowledged, measured
from tests.deploy.releases import put_release
from tests.kit.gateways import wait_until

pytestmark = [pytest.mark.appliance, pytest.mark.end_to_end, pytest.mark.timeout(STEP_S)]

STICK = "/data/stick"
SLOTS = "/data/releases"
SOUND, BROKEN = "1.0-1~deb13", "2.0-1~deb13"
APPLY = f"sosa-gateway upgrade apply --from {STICK}"


@pytest.fixture(scope="session")
def package() -> Path:
    """That of this checkout, as the image has it."""
    built = FOLDER / "package"
    options = argparse.Namespace(
        wheels=CHECKOUT / "build" / "wheels",
        output=built,
        offline=False,
        release_key=public_pem(private_key(KEY)),
    )
    found = sorted(built.glob("*.deb"))
    return found[0] if found else build_deb(Target(SUITE, ARCH), 1_700_000_000, options)


def plug_in(device: Device, package: Path, folder: Path, version: str, *, is_broken: bool) -> None:
    """A stick with one release on it."""
    put_release(folder, package, version, private_key(KEY), is_broken=is_broken)
    device.machine.run(f"rm -rf {STICK} && mkdir {STICK}")
    device.machine.give(folder, STICK)


def apply(device: Device, *, cut: bool = False) -> None:
    """Have the updater take what is on the stick; with the power cut once the trial has begun."""
    device.machine.run(f"systemd-run --collect --unit=update {APPLY}")
    if cut:
        device.machine.run(f"until [ -e {SLOTS}/trial ]; do sleep 0.05; done", STEP_S / 4)
        device.machine.cut_power()
        measured(f"cut within a trial, again after {device.machine.switch_on():.0f} s")
        return
    busy = "systemctl is-active update"
    wait_until(lambda: "active" not in device.machine.run(busy, check=False).split(), STEP_S / 2)
    device.machine.until_ready()


def in_use(device: Device) -> str:
    """The slot of the release that serves; "" for the package's own."""
    link = device.machine.run(f"readlink {SLOTS}/current", check=False)
    return link.strip().removeprefix("releases/")


def given_up(device: Device) -> str:
    """The release that was gone back from last."""
    told = device.machine.run(f"cat {SLOTS}/failed", check=False) or '{"version": ""}'
    return str(json.loads(told)["version"])


def takes_a_reading(device: Device, number: int) -> None:
    """It serves, and keeps what it acknowledges."""
    with device.publisher() as sensor:
        sensor.send(number)
        assert sensor.is_acknowledged(120)
        acknowledge(sensor.acknowledged)


def nothing_is_missing(device: Device, folder: Path) -> bool:
    """Whether the journal has all that any step was told of."""
    return acknowledged() <= device.journalled(folder / "journal")


def test_a_sound_release_cut_off_by_power_is_gone_back_from(
    device: Device, package: Path, tmp_path: Path
) -> None:
    plug_in(device, package, tmp_path, SOUND, is_broken=False)
    takes_a_reading(device, 3_000_000)
    apply(device, cut=True)
    assert in_use(device) == ""
    assert given_up(device) == SOUND
    takes_a_reading(device, 3_000_001)
    assert nothing_is_missing(device, tmp_path)


def test_a_sound_release_stays(device: Device, package: Path, tmp_path: Path) -> None:
    plug_in(device, package, tmp_path, SOUND, is_broken=False)
    apply(device)
    assert in_use(device) == SOUND
    takes_a_reading(device, 3_100_000)
    device.machine.cut_power()
    device.machine.switch_on()
    assert in_use(device) == SOUND
    assert nothing_is_missing(device, tmp_path)


@pytest.mark.parametrize("cut", [True, False], ids=["cut", "whole"])
def test_a_broken_release_is_gone_back_from(
    device: Device, package: Path, tmp_path: Path, cut: bool
) -> None:
    before = in_use(device)
    plug_in(device, package, tmp_path, BROKEN, is_broken=True)
    apply(device, cut=cut)
    assert in_use(device) == before
    assert given_up(device) == BROKEN
    takes_a_reading(device, 3_200_000 + cut)
    assert nothing_is_missing(device, tmp_path)


def test_back_to_what_the_image_has(device: Device, tmp_path: Path) -> None:
    assert in_use(device) == SOUND
    device.machine.run("sosa-gateway upgrade rollback", STEP_S / 2)
    device.machine.until_ready()
    assert in_use(device) == ""
    takes_a_reading(device, 3_300_000)
    assert nothing_is_missing(device, tmp_path)
