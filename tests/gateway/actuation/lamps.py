"""Profiles with actuators, and devices that obey them: for tests over real sockets."""

import asyncio
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import httpx

from gateway.app.gateway import Gateway
from tests.kit.gateways import LOOPBACK, WAIT_S, JsonObject, mapping, write_profile
from tests.kit.metrics import metrics

ACTUATIONS = "https://sosa-gateway.example/graph/actuations"
STATE = mapping("state", "lamp/state", format="scalar")
LAMP: JsonObject = {
    "id": "urn:lamp",
    "name": "lamp",
    "topic": "lamp/set",
    "property": "urn:property:state",
    "feature": "urn:room:1",
    "sensor": "urn:sensor:1",
    "values": ["ON", "OFF"],
    "timeLimit": 10,
}


def lamp_profile(
    folder: Path,
    *,
    rules: tuple[JsonObject, ...] = (),
    queries: Mapping[str, str] | None = None,
    mappings: tuple[JsonObject, ...] = (STATE,),
    **changed: object,
) -> Path:
    """One lamp; `changed` are members of it."""
    path = write_profile(folder, mappings, rules, queries)
    profile = json.loads(path.read_text())
    profile["extended"]["actuators"] = [{**LAMP, **changed}]
    path.write_text(json.dumps(profile))
    return path


def url(gateway: Gateway, path: str) -> str:
    return f"http://{LOOPBACK}:{gateway.http_port}{path}"


async def get(gateway: Gateway, path: str) -> Any:
    async with httpx.AsyncClient(verify=False) as client:  # looking for CAs takes 40 ms
        answer = await client.get(url(gateway, path))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def command(
    gateway: Gateway, value: object, name: str = "lamp", **members: object
) -> httpx.Response:
    async with httpx.AsyncClient(timeout=WAIT_S, verify=False) as client:
        return await client.post(
            url(gateway, f"/actuators/{name}/command"), json={"value": value, **members}
        )


async def last(gateway: Gateway, name: str = "lamp") -> Any:
    """What became of the actuation that was requested last; None where there is none."""
    return (await get(gateway, f"/actuators/{name}")).get("last")


async def until_last(gateway: Gateway, status: str, name: str = "lamp") -> Any:
    """The last actuation once it has a status."""
    async with asyncio.timeout(WAIT_S):
        while True:
            entry = await last(gateway, name)
            if entry is not None and entry["status"] == status:
                return entry
            await asyncio.sleep(0.02)


async def until_ended(gateway: Gateway, iri: str) -> Any:
    """An actuation once it has an end."""
    async with asyncio.timeout(WAIT_S):
        while "endedAt" not in (entry := await get(gateway, f"/actuations/{iri}")):
            await asyncio.sleep(0.02)
    return entry


def metric_of(outcome: str) -> str:
    """How many actuations ended so, or were sent."""
    return f'actuations_total{{outcome="{outcome}"}}'


async def outcomes(gateway: Gateway, *names: str) -> list[float]:
    """How many actuations became what is named."""
    seen = await metrics(gateway)
    return [seen[metric_of(name)] for name in names]


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(WAIT_S):
        while not condition():
            await asyncio.sleep(0.01)
