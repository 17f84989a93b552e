"""What a running gateway counts, as Prometheus sees it."""

import asyncio

import httpx

from gateway.app.gateway import Gateway
from tests.kit.gateways import LOOPBACK, WAIT_S


async def metrics(gateway: Gateway) -> dict[str, float]:
    """All of /metrics, by name without the prefix, with the label: `actuators{outcome="sent"}`."""
    async with httpx.AsyncClient(verify=False) as client:  # looking for CAs takes 40 ms
        answer = await client.get(f"http://{LOOPBACK}:{gateway.http_port}/metrics")
    return parsed(answer.text)


def parsed(page: str) -> dict[str, float]:
    """The same of the text of a page."""
    lines = [line.rpartition(" ") for line in page.splitlines() if not line.startswith("#")]
    return {name.removeprefix("sosa_gateway_"): float(value) for name, _, value in lines}


async def until_metric(
    gateway: Gateway, name: str, value: float, timeout_s: float = WAIT_S
) -> None:
    """Wait until it has this value."""
    async with asyncio.timeout(timeout_s):
        while (await metrics(gateway)).get(name) != value:
            await asyncio.sleep(0.02)
