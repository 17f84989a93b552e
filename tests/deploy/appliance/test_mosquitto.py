"""Mosquitto beside the gateway, by the units of the package under a systemd that runs."""

from collections.abc import Iterator

import pytest

from tests.deploy.appliance.device import Device
from tests.deploy.appliance.steps import STEP_S, measured
from tests.kit.gateways import wait_until

pytestmark = [pytest.mark.appliance, pytest.mark.end_to_end, pytest.mark.timeout(STEP_S)]

UNIT = "sosa-gateway-mosquitto"
SENSOR = "urn:sensor:cellar"


def started_with(device: Device, mode: str) -> None:
    """As somebody does who writes a file on the card."""
    device.machine.cut_power()
    device.machine.put("gateway.toml", f'[mqtt]\nmode = "{mode}"\n')
    measured(f"{mode}: ready {device.machine.switch_on():.0f} s after power on")


@pytest.fixture
def beside(device: Device) -> Iterator[Device]:
    """Mosquitto is the broker, and is not any more behind the test."""
    started_with(device, "mosquitto")
    yield device
    started_with(device, "embedded")
    assert device.machine.run(f"systemctl is-active {UNIT}", check=False).strip() == "inactive"


def of_mosquitto(device: Device) -> str:
    """Another one after each start of it; "0" while it is not there."""
    return device.machine.run(f"systemctl show -p MainPID --value {UNIT}").strip()


def test_mosquitto_runs_and_reads_who_may_come_while_it_runs(beside: Device) -> None:
    wait_until(lambda: of_mosquitto(beside) != "0", 300)
    before = of_mosquitto(beside)
    owner = beside.machine.run(f"ps -o user= -p {before}").strip()
    assert owner == "mosquitto"
    with beside.publisher(beside.add_sensor("pump", "home/cellar/#")) as sensor:
        sensor.send(7, "cellar")
        assert sensor.is_acknowledged(120)
        wait_until(lambda: beside.values().get(SENSOR) == "7", 120)
    assert of_mosquitto(beside) == before
    assert beside.failed_units() == ""
