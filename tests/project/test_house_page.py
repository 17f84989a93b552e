"""docs/house.md as it stands there, on other ports: stick, meter and heat pump in one query."""

import asyncio
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.app.gateway import Gateway
from gateway.config.modbus import ModbusSettings
from tests.gateway.admin.onboarding.house import a_house, config
from tests.gateway.gates.modbus.devices import Device, tcp
from tests.gateway.gates.modbus.heatpump import bus
from tests.kit.gateways import LOOPBACK, WAIT_S, Program, until_subscribed
from tests.paths import ROOT

pytestmark = pytest.mark.end_to_end

PAGE = (ROOT / "docs" / "house.md").read_text(encoding="utf-8")
SHOWN = re.findall(r"the subscriber sees\n\n```\n(.*?)```", PAGE, re.DOTALL)[0].splitlines()
FLOW = {100: 352}
"""What the heat pump has in its register 40101."""


def here(block: str, gateway: Gateway) -> str:
    """Commands of the page, for the ports of a gateway."""
    http = f"--url http://{LOOPBACK}:{gateway.http_port}"
    socket = f"--url ws://{LOOPBACK}:{gateway.websocket_port}/subscribe"
    command = f"{sys.executable} -m gateway"
    block = re.sub(r"sosa-gateway mapping (\w+)", rf"{command} mapping \1 {http}", block)
    block = block.replace("sosa-gateway subscribe", f"exec {command} subscribe {socket}")
    return block.replace("-q 1", f"-h {LOOPBACK} -p {gateway.mqtt_port} -q 1")


async def run(block: str, gateway: Gateway) -> str:
    """What a block of commands prints; it must succeed."""
    command = ("sh", "-ec", here(block, gateway))
    done = await asyncio.to_thread(
        subprocess.run, command, check=False, timeout=WAIT_S, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


async def test_the_three_devices_are_in_one_query(tmp_path: Path) -> None:
    if shutil.which("mosquitto_pub") is None:
        pytest.skip("mosquitto-clients is not installed")
    _, stick, take_stick, meter, pump, ask, again = re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)
    meter, take_meter = meter.split("sosa-gateway", 1)
    async with tcp([Device(registers=FLOW)]) as port:
        modbus = ModbusSettings(buses=(bus(port),))
        given = config(tmp_path).model_copy(update={"modbus": modbus})
        async with a_house(given) as (gateway, api):
            await run(stick, gateway)
            await api.until(6, status="proposed")
            said = await run(take_stick, gateway)
            assert "Nexus-TH/12/2" in said  # the neighbour's is listed, and stays a proposal
            await run(meter, gateway)
            await api.until(5, status="proposed")
            await run(f"sosa-gateway{take_meter}", gateway)
            await run(pump, gateway)
            before = gateway.scheduler.engine.statistics.subscriptions
            with Program("sh", "-c", here(ask, gateway)) as program:
                await until_subscribed(gateway, before + 1)
                await run(again, gateway)
                missing = {f"{line}\n" for line in SHOWN}
                while missing:  # the heat pump is asked every few seconds, whatever the others do
                    missing.discard(await asyncio.to_thread(program.wait_for, "+ ?where"))
