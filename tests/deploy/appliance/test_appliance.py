"""The image as a person gets it: flashed, started, claimed, used, hung, cut off from power, filled.

`make test-appliance` builds it and starts it in QEMU; SOSA_GATEWAY_APPLIANCE_ARCH says of which
architecture (default: this machine's, which is fastest). One card goes through all tests, in order.
"""

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.image.__main__ import _parser, build_image
from gateway.journal import read_journal
from tests.deploy.appliance.device import CODE, Device
from tests.deploy.appliance.machine import Machine, has_kvm
from tests.deploy.appliance.wire import Wire
from tests.deploy.debian_root import ARCHITECTURE
from tests.kit.gateways import wait_until

pytestmark = [pytest.mark.appliance, pytest.mark.end_to_end, pytest.mark.timeout(7200)]

ARCH = os.environ.get("SOSA_GATEWAY_APPLIANCE_ARCH", ARCHITECTURE)
CUTS = int(os.environ.get("SOSA_GATEWAY_APPLIANCE_CUTS", "10"))
LOAD_S = 15.0 if has_kvm(ARCH) else 40.0
FIRST = "urn:sensor:1"
WISHES = f"""\
[device]
name = "kitchen"
claim_code = "{CODE}"
ssh_keys = ["{{key}}"]

[limits]
query_s = 300  # what an emulated processor may take
"""


@pytest.fixture(scope="module")
def image() -> Path:
    """As `build-image` makes it now."""
    options = _parser().parse_args(["--arch", ARCH, "--raw"])
    begin = time.monotonic()
    try:
        made = build_image(options)
    except BuildError as error:
        pytest.skip(f"no image can be built here: {error}")
    told = {path.suffix: path.stat().st_size / 1e6 for path in made}
    measured(f"built for {ARCH} in {time.monotonic() - begin:.0f} s, MB: {told}")
    return next(path for path in made if path.suffix == ".img")


@pytest.fixture(scope="module")
def card(image: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """Flashed, with wishes on it, not started."""
    folder = tmp_path_factory.mktemp("machine")
    machine = Machine(image, ARCH, folder)
    machine.put("gateway.toml", WISHES.format(key=machine.make_key()))
    yield machine
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def device(card: Machine) -> Iterator[Device]:
    """The machine runs, at least at the beginning."""
    with card:
        seconds = card.until_ready()
        measured(f"ready {seconds:.0f} s after power on, kvm: {has_kvm(ARCH)}")
        yield Device(card)


def measured(words: str) -> None:
    """Seen with `pytest -s`, and beside a failure."""
    sys.stdout.write(f"\n{words}\n")


def running_since(device: Device) -> str:
    """Another one after each start of the gateway."""
    return device.machine.run("systemctl show -p MainPID --value sosa-gateway").strip()


def test_it_starts_and_shows_its_page(device: Device) -> None:
    answer = device.http.get("/", follow_redirects=True)
    assert answer.status_code == 200
    assert "<!doctype html>" in answer.text.lower()
    assert device.http.get("/ready").status_code == 200


def test_who_has_the_code_gets_in_and_nobody_else(device: Device) -> None:
    wrong = device.http.post("/claim", json={"code": "AAAAA-AAAAA", "client": "burglar"})
    assert wrong.status_code == 401
    device.claim()
    again = device.http.post("/claim", json={"code": CODE, "client": "second"})
    assert again.status_code == 409


def test_a_reading_reaches_a_subscriber_outside(device: Device) -> None:
    device.add_mapping()
    with device.subscribed() as values, device.publisher() as sensor:
        before = values.added()
        sensor.send(1)
        assert sensor.is_acknowledged()
        assert values.added() == [(FIRST, "1")]
        assert (FIRST, "1") not in before


def test_the_root_is_read_only_and_the_data_take_the_card(device: Device) -> None:
    run = device.machine.run
    mounts = {line.split()[1]: line.split() for line in run("cat /proc/mounts").splitlines()}
    assert mounts["/"][3].startswith("ro,")
    assert mounts["/data"][3].startswith("rw,")
    assert mounts["/var/lib/sosa-gateway"][0] == mounts["/data"][0]
    assert mounts["/var/log"][2] == "tmpfs"
    size = int(run("df --output=size -m /data | tail -n 1"))
    assert size > 2000
    assert run("touch /x", check=False) == ""
    assert "sosa-gateway-first-boot.service" not in run("systemctl --failed --plain --no-legend")
    assert run("systemctl --failed --plain --no-legend") == ""


def test_it_is_called_as_somebody_wished_and_keeps_its_id(device: Device) -> None:
    run = device.machine.run
    assert run("cat /proc/sys/kernel/hostname").strip() == "kitchen"
    assert run("cat /etc/machine-id") == run("cat /data/etc/machine-id")
    assert run("readlink /etc/localtime").strip() == "/data/etc/localtime"


def test_it_is_found_by_its_name(device: Device) -> None:
    ports = device.machine.ports
    wire = Wire(ports["wire end"], ports["wire"])
    try:
        assert wire.who_has("kitchen.local", timeout_s=120)
        assert not wire.who_has("cellar.local", timeout_s=5)
    finally:
        wire.close()


def test_only_the_gateways_ports_and_ssh_are_open(device: Device) -> None:
    rules = device.machine.run("nft list set inet filter ports")
    assert set(re.findall(r"\d+", rules.partition("elements")[2])) == {"22", "8443", "8883", "9443"}
    assert "policy drop" in device.machine.run("nft list chain inet filter input")


def test_logs_are_in_memory_and_swap_is_compressed(device: Device) -> None:
    run = device.machine.run
    assert "zram" in run("cat /proc/swaps")
    assert run("ls /var/log/journal", check=False) == ""
    assert run("ls /run/log/journal").strip()


def test_a_hung_gateway_is_started_again(device: Device) -> None:
    before = running_since(device)
    begin = time.monotonic()
    device.machine.run(f"kill -STOP {before}")
    wait_until(lambda: running_since(device) not in {before, "0"}, 300)
    device.machine.until_ready()
    measured(f"hung, ended and serving again after {time.monotonic() - begin:.0f} s")
    assert device.machine.run("systemctl show -p NRestarts --value sosa-gateway").strip() == "1"
    assert "watchdog" in device.machine.run("journalctl -u sosa-gateway --no-pager").lower()
    wait_until(lambda: device.values().get(FIRST) == "1", 60)


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


def journalled(device: Device, folder: Path) -> set[int]:
    """Every reading in the journal of the device."""
    shutil.rmtree(folder, ignore_errors=True)
    device.machine.copy("/data/sosa-gateway/journal", folder)
    return {int(record.observation.lexical) for record in read_journal(folder)}


def test_nothing_acknowledged_is_lost_when_the_power_goes(device: Device, tmp_path: Path) -> None:
    kept: set[int] = {1}
    for cut in range(CUTS):
        acknowledged = acknowledged_until_the_cut(device, 10_000 * (cut + 1))
        assert acknowledged
        device.machine.__enter__()
        seconds = device.machine.until_ready()
        kept |= set(acknowledged)
        missing = kept - journalled(device, tmp_path / "journal")
        measured(f"cut {cut + 1}: {len(acknowledged)} acknowledged, again after {seconds:.0f} s")
        assert not missing
        assert int(device.values()[FIRST]) >= max(acknowledged)
    assert device.machine.run("systemctl --failed --plain --no-legend") == ""


def test_a_full_disk_is_an_alarm_and_no_restart(device: Device) -> None:
    before = running_since(device)
    run = device.machine.run
    run(
        "dd if=/dev/zero of=/data/filler bs=1M 2>/dev/null; sync; df -m /data",
        check=False,
        timeout_s=600,
    )
    with device.publisher() as sensor:
        sent = 900_000
        while sensor.is_acknowledged(0) or sent == 900_000 or sensor.is_acknowledged(10):
            sensor.send(sent)
            sent += 1
            assert sent < 1_000_000
        assert device.alarms()
        assert running_since(device) == before
        run("rm /data/filler")
        assert sensor.is_acknowledged(120)
    wait_until(lambda: not device.alarms(), 120)
    assert running_since(device) == before


def test_without_a_clock_it_begins_where_it_was(device: Device) -> None:
    last = int(device.machine.run("date +%s"))
    device.machine.run("sync")
    device.machine.cut_power()
    device.machine.clock = "1970-01-01"
    device.machine.__enter__()
    device.machine.until_ready()
    assert int(device.machine.run("date +%s")) > last - 86_400
    with device.publisher() as sensor:
        sensor.send(2_000_000)
        assert sensor.is_acknowledged()
    wait_until(lambda: device.values().get(FIRST) == "2000000", 60)


def test_a_system_that_hangs_is_started_again_by_the_hardware(device: Device) -> None:
    device.machine.run("echo 1 >/sys/fs/cgroup/init.scope/cgroup.freeze", check=False)
    begin = time.monotonic()
    device.machine.says("Linux version", 300)
    measured(f"the hardware started it again after {time.monotonic() - begin:.0f} s")
    device.machine.until_ready()
    assert device.values()[FIRST] == "2000000"
