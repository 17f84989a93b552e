"""The image as a person gets it: flashed, started, claimed, used, hung.

`make test-appliance` builds it and starts it in QEMU; SOSA_GATEWAY_APPLIANCE_ARCH says of which
architecture (default: this machine's, which is fastest). One card goes through all steps, in the
order of these files; each finds the device serving, so one that fails costs itself alone.
"""

import re
import time

import pytest

from tests.deploy.appliance.device import CODE, FIRST, Device
from tests.deploy.appliance.steps import PATIENCE_S, STEP_S, acknowledge, measured
from tests.deploy.appliance.wire import Wire
from tests.kit.gateways import wait_until

pytestmark = [pytest.mark.appliance, pytest.mark.end_to_end, pytest.mark.timeout(STEP_S)]


def test_it_starts_and_shows_its_page(unclaimed: Device) -> None:
    answer = unclaimed.http.get("/", follow_redirects=True)
    assert answer.status_code == 200
    assert "<!doctype html>" in answer.text.lower()
    assert unclaimed.machine.is_ready_within(PATIENCE_S)


def test_who_has_the_code_gets_in_and_nobody_else(unclaimed: Device) -> None:
    wrong = unclaimed.http.post("/claim", json={"code": "AAAAA-AAAAA", "client": "burglar"})
    assert wrong.status_code == 401
    unclaimed.claim()
    again = unclaimed.http.post("/claim", json={"code": CODE, "client": "second"})
    assert again.status_code == 409
    unclaimed.add_mapping()


def test_a_reading_reaches_a_subscriber_outside(device: Device) -> None:
    with device.subscribed() as values, device.publisher() as sensor:
        before = values.added()
        sensor.send(1)
        assert sensor.is_acknowledged(PATIENCE_S)
        assert values.added() == [(FIRST, "1")]
        assert (FIRST, "1") not in before
        acknowledge(sensor.acknowledged)


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
    before = device.running_since()
    begin = time.monotonic()
    device.machine.run(f"kill -STOP {before}")
    wait_until(lambda: device.running_since() not in {before, "0"}, 300)
    device.machine.until_ready()
    measured(f"hung, ended and serving again after {time.monotonic() - begin:.0f} s")
    told = device.machine.run("journalctl -u sosa-gateway --no-pager")
    assert "watchdog timeout" in told.lower()
    assert "most recent call first" in told
    wait_until(lambda: FIRST in device.values(), 60)
