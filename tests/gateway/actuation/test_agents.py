"""Commands by JSAP agents, with the profile that ships: one, several at once, later."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path

from gateway.app.gateway import Gateway
from gateway.client import AsyncClient
from gateway.config.settings import SHIPPED_PROFILES
from jsap.profile import Profile
from tests.gateway.actuation.lamps import lamp_profile, metric_of
from tests.kit.gateways import LOOPBACK, Device, running, settings
from tests.kit.metrics import until_metric

GW = "https://sosa-gateway.example/ns#"


def shipped(gateway: Gateway) -> Profile:
    """The profile that ships, at the ports of a gateway."""
    members = json.loads((SHIPPED_PROFILES / "observations.jsap").read_text(encoding="utf-8"))
    members["host"] = LOOPBACK
    members["sparql11protocol"]["port"] = gateway.http_port
    members["sparql11seprotocol"]["availableProtocols"]["ws"]["port"] = gateway.websocket_port
    return Profile.parse(members)


def request(name: str, value: str | bool) -> dict[str, str | bool]:
    return {"actuation": f"urn:{name}", "actuator": "urn:lamp", "value": value}


async def test_agent_commands_and_is_told_what_became_of_it(tmp_path: Path) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        with Device(gateway.mqtt_port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            async with (
                AsyncClient(shipped(gateway)) as agent,
                agent.subscribe("ACTUATIONS") as told,
            ):
                await agent.update("REQUEST_ACTUATION", request("a", True))
                assert await asyncio.to_thread(device.receive) == ("lamp/set", b"ON")
                device.send("lamp/state", b"ON")
                status = ""
                while status != f"{GW}Confirmed":
                    for row in (await told.receive()).added:
                        assert str(row["actuation"]) == "<urn:a>"
                        status = str(row["status"])[1:-1]
                assert row.get("observation") is not None


async def test_agent_commands_several_at_once_and_later(tmp_path: Path) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        with Device(gateway.mqtt_port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            async with AsyncClient(shipped(gateway)) as agent:
                rows = [request("a", "OFF"), request("b", "BLUE"), request("c", "ON")]
                await agent.update_all("REQUEST_ACTUATION", rows)
                assert await asyncio.to_thread(device.receive) == ("lamp/set", b"ON")
                for outcome in ("sent", "superseded", "failed"):
                    await until_metric(gateway, metric_of(outcome), 1)
                soon = timedelta(milliseconds=20)
                await agent.update("REQUEST_ACTUATION", request("d", "OFF"), due=soon)
                assert await asyncio.to_thread(device.receive) == ("lamp/set", b"OFF")
