"""Who may command what: by SPARQL, HTTP and MQTT, with the same rights."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from pyoxigraph import DefaultGraph, NamedNode

from gateway.app.gateway import Gateway
from gateway.config.settings import SecuritySettings
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import Capability, Policy
from tests.gateway.actuation.lamps import ACTUATIONS, lamp_profile, metric_of, url
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.gateway.gates.mqtt.embedded.test_mqtt_identities import token_of
from tests.gateway.security.clients import identity
from tests.kit.gateways import PREFIXES, WAIT_S, running, settings
from tests.kit.metrics import parsed

GRAPH = NamedNode(ACTUATIONS)
POLICIES = {
    "commander": Policy(capabilities=frozenset({Capability.COMMAND})),
    "switch": Policy(publish=frozenset({"actuators/lamp/set"})),
    "heater": Policy(publish=frozenset({"actuators/heater/set"})),
    "reader": Policy(query=frozenset({GRAPH})),
    "writer": Policy(query=None, update=None),
    "operator": Policy(capabilities=frozenset({Capability.OPERATIONS})),
    "nobody": Policy(update=frozenset({DefaultGraph()})),
}
REQUEST = f"""{PREFIXES} INSERT DATA {{ GRAPH <{ACTUATIONS}> {{ <urn:a> a sosa:Actuation ;
  sosa:madeByActuator <urn:lamp> ; sosa:hasSimpleResult "ON" ; gw:status gw:Requested }} }}"""


@asynccontextmanager
async def guarded(folder: Path) -> AsyncIterator[Gateway]:
    store = IdentityStore(folder / "data" / "security" / "identities.sqlite")
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.APPLICATION))
    config = settings(folder, lamp_profile(folder))
    security = SecuritySettings(enabled=True)
    async with running(config.model_copy(update={"security": security})) as gateway:
        yield gateway


async def ask(gateway: Gateway, name: str, method: str, path: str, **how: Any) -> httpx.Response:
    headers = {"Authorization": f"Bearer {await token_of(gateway, name)}"}
    async with httpx.AsyncClient(verify=False) as client:
        return await client.request(method, url(gateway, path), headers=headers, **how)


async def sent(gateway: Gateway) -> float:
    page = (await ask(gateway, "operator", "GET", "/metrics")).text
    return parsed(page)[metric_of("sent")]


async def until_sent(gateway: Gateway, count: int) -> None:
    async with asyncio.timeout(WAIT_S):
        while await sent(gateway) != count:
            await asyncio.sleep(0.02)


async def test_who_may_command_by_http(tmp_path: Path) -> None:
    async with guarded(tmp_path) as gateway:
        expected = {
            "commander": 202,
            "switch": 202,
            "heater": 404,
            "reader": 403,
            "writer": 403,
            "nobody": 404,
        }
        for name, status in expected.items():
            answer = await ask(
                gateway, name, "POST", "/actuators/lamp/command", json={"value": "ON"}
            )
            assert answer.status_code == status, (name, answer.text)
        await until_sent(gateway, 2)


async def test_who_sees_actuators_and_actuations(tmp_path: Path) -> None:
    async with guarded(tmp_path) as gateway:
        made = await ask(
            gateway, "commander", "POST", "/actuators/lamp/command", json={"value": "ON"}
        )
        for name, sees in {
            "commander": True,
            "switch": True,
            "heater": False,
            "reader": True,
            "writer": True,
            "nobody": False,
        }.items():
            listed = await ask(gateway, name, "GET", "/actuators")
            assert bool(listed.json()["actuators"]) is sees, name
            found = await ask(gateway, name, "GET", made.headers["location"])
            assert found.status_code == (200 if sees else 404), name


async def test_who_may_write_the_graph(tmp_path: Path) -> None:
    async with guarded(tmp_path) as gateway:
        for name, status in {"writer": 403, "switch": 403, "nobody": 403, "commander": 200}.items():
            answer = await ask(gateway, name, "POST", "/update", data={"update": REQUEST})
            assert answer.status_code == status, (name, answer.text)
        await until_sent(gateway, 1)


async def test_who_may_command_by_mqtt(tmp_path: Path) -> None:
    async with guarded(tmp_path) as gateway:
        for name in ("heater", "nobody", "switch"):
            async with await RawClient.connect(
                gateway.mqtt_port, name, name, f"{name}-secret"
            ) as client:
                await client.publish("actuators/lamp/set", b"ON", qos=1)
        await until_sent(gateway, 1)
