"""What operators look at: the log's end, the settings in force, who is connected."""

import asyncio
import logging
from pathlib import Path

import httpx
from websockets.asyncio.client import connect

from gateway.config.settings import Config, LogSettings
from gateway.security.policy import EVERYTHING, Policy
from tests.gateway.gates.looking.guarded import guarded
from tests.kit.gateways import LOOPBACK, WAIT_S, Device, mosquitto, running, settings, write_profile

PATHS = ("/log", "/configuration", "/connected")


async def test_only_operators_may_look(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    policies = {"boss": EVERYTHING, "plain": Policy(query=None, subscribe=None)}
    async with guarded(config, tmp_path, policies) as (_, ask):
        for path in PATHS:
            for who, status in (("", 401), ("plain", 403), ("boss", 200)):
                assert (await ask(who, "GET", path)).status_code == status, (who, path)


async def test_the_end_of_the_log_is_told_and_gone_with_the_gateway(tmp_path: Path) -> None:
    log = logging.getLogger("gateway.test")
    before = list(logging.getLogger().handlers)
    config = settings(tmp_path, write_profile(tmp_path))
    async with running(config) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
            log.warning("one", extra={"port": 1, "said": "a b"})
            log.warning("two", extra={"to": "https://me:hidden@example.org/x"})
            told = (await client.get("/log?lines=2")).json()["lines"]
            assert [each["text"] for each in told] == [
                'one port=1 said="a b"',
                "two to=https://***@example.org/x",
            ]
            assert told[0]["level"] == "warning"
            assert told[0]["logger"] == "gateway.test"
            assert told[0]["t"] <= told[1]["t"]
            for wrong in ("0", "501", "x"):
                assert (await client.get(f"/log?lines={wrong}")).status_code == 400
    assert logging.getLogger().handlers == before


async def test_every_setting_is_told_with_whether_it_is_the_default(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path), latest=3).model_copy(
        update={"log": LogSettings(level="warning")}
    )
    async with running(config) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
            told = (await client.get("/configuration")).json()["sections"]
    found = {
        (section["name"], each["name"]): (each["value"], each["default"])
        for section in told
        for each in section["settings"]
    }
    assert found["store", "latest"] == (3, False)
    assert found["store", "kind"] == ("memory", False)
    assert found["log", "level"] == ("warning", False)
    assert found["log", "format"] == ("text", True)
    assert found["gateway", "data_dir"] == (str(tmp_path / "data"), True)
    every = {
        (name, key)
        for name in Config.model_fields
        for key in type(getattr(Config(), name)).model_fields
    }
    assert found.keys() == every


async def test_secrets_of_the_configuration_are_not_told(tmp_path: Path) -> None:
    users = {"lamp": "$argon2id$v=19$m=64,t=1,p=1$hidden-1$hidden-2"}
    config = settings(tmp_path, write_profile(tmp_path))
    mqtt = config.mqtt.model_copy(update={"users": users})
    async with running(config.model_copy(update={"mqtt": mqtt})) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
            told = await client.get("/configuration")
    assert "lamp" in told.text
    assert "hidden" not in told.text


async def test_who_is_connected_is_told(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        socket = f"ws://{LOOPBACK}:{gateway.http_port}/subscribe"
        async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
            with Device(gateway.mqtt_port, "lamp") as device:
                await asyncio.to_thread(device.publish, [("x", b"1")])
                await asyncio.to_thread(device.subscribe, "lamp/set")
                async with (
                    client.stream("GET", "/flow"),
                    client.stream("GET", "/subscribe", params={"query": "SELECT * { ?s ?p 1 }"}),
                    connect(socket),
                ):
                    told = (await client.get("/connected")).json()
            assert told["websocket"] == [{"address": LOOPBACK, "connections": 3}]
            assert told["transports"] == {"flow": 1, "events": 1, "websocket": 1}
            assert told["streams"] == 2
            assert told["clients"] == [{"client": LOOPBACK, "subscriptions": 1}]
            (lamp,) = (each for each in told["mqtt"] if each["client_id"] == "lamp")
            assert (lamp["connected"], lamp["subscriptions"]) == (True, 1)
            assert (lamp["user"], lamp["address"]) == ("", LOOPBACK)
            assert (await client.get("/connected")).status_code == 200


async def test_the_link_to_another_broker_is_told(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker:
        config = settings(tmp_path, write_profile(tmp_path), mosquitto=broker.port)
        async with running(config) as gateway:
            url = f"http://{LOOPBACK}:{gateway.http_port}"
            async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
                async with asyncio.timeout(WAIT_S):
                    while not (link := (await client.get("/connected")).json()["mqtt"][0])[
                        "connected"
                    ]:
                        await asyncio.sleep(0.02)
                assert link["client_id"] == "sosa-gateway-test"
                assert link["address"] == f"{LOOPBACK}:{broker.port}"
                broker.stop()
                async with asyncio.timeout(WAIT_S):
                    while (await client.get("/connected")).json()["mqtt"][0]["connected"]:
                        await asyncio.sleep(0.02)
