"""What a gateway says at its most talkative: never a secret, a token, a password."""

import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
from websockets.asyncio.client import connect

from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient
from tests.gateway.security.clients import identity
from tests.kit.gateways import LOOPBACK

WRONG = "WrongSecret"
SETTINGS = """
[gateway]
data_dir = "data"
[mqtt]
port = 0
[http]
port = 0
[websocket]
port = 0
[security]
enabled = true
[log]
level = "debug"
"""


@asynccontextmanager
async def process(folder: Path) -> AsyncIterator[tuple[int, int]]:
    """The ports of HTTP and MQTT; what it says goes into the file `log`."""
    file, log = folder / "gateway.toml", folder / "log"
    file.write_text(SETTINGS, encoding="utf-8")
    with log.open("wb") as out:
        command = [sys.executable, "-m", "gateway", "run", "--config", str(file)]
        gateway = await asyncio.to_thread(
            lambda: subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT)
        )
    try:
        async with asyncio.timeout(60):
            while not (serving := re.search(r"serving (.*)", log.read_text(encoding="utf-8"))):
                assert gateway.poll() is None, log.read_text(encoding="utf-8")
                await asyncio.sleep(0.05)
        ports = dict(pair.split("=") for pair in serving[1].split())
        yield int(ports["http_port"]), int(ports["mqtt_port"])
    finally:
        gateway.terminate()
        await asyncio.to_thread(gateway.wait, 20)


async def test_no_secret_is_logged_or_answered(tmp_path: Path) -> None:
    store = IdentityStore(tmp_path / "data" / "security" / "identities.sqlite")
    store.add(identity("lamp", EVERYTHING, Kind.DEVICE))
    async with process(tmp_path) as (http_port, mqtt_port):
        base = f"http://{LOOPBACK}:{http_port}"
        async with httpx.AsyncClient(base_url=base) as client:
            token, told = await _by_http(client)
        spoilt = token[:-4] + "AAAA"
        async with connect(f"ws://{LOOPBACK}:{http_port}/subscribe") as socket:
            for shown in (token, spoilt):
                asked = {"sparql": "SELECT * {", "authorization": f"Bearer {shown}"}
                await socket.send(json.dumps({"subscribe": asked}))
                told.append(str(await socket.recv()))
        for password in ("lamp-secret", WRONG, token, spoilt):
            async with await RawClient.connect(mqtt_port, "c", "lamp", password):
                pass
    log = (tmp_path / "log").read_text(encoding="utf-8")
    assert "login_refused" in log
    assert "broker_connection_refused" in log
    for secret in ("lamp-secret", WRONG, *token.split("."), spoilt):
        assert secret not in log
        assert secret not in "".join(told)


async def _by_http(client: httpx.AsyncClient) -> tuple[str, list[str]]:
    """A token, and every answer but the one that it was in."""
    form = {"grant_type": "client_credentials", "client_id": "lamp-id"}
    issued = await client.post("/oauth/token", data={**form, "client_secret": "lamp-secret"})
    token = str(issued.json()["access_token"])
    answers = [await client.post("/oauth/token", data={**form, "client_secret": WRONG})]
    for shown in (token, token[:-4] + "AAAA", f"{token} {token}"):
        headers = {"Authorization": f"Bearer {shown}"}
        answers.append(await client.get("/query?query=ASK%20{}", headers=headers))
        answers.append(await client.post("/update", content=b"x", headers=headers))
        answers.append(await client.get("/metrics", headers=headers))
    answers.append(await client.post("/oauth/revoke", data={"token": token[:-4] + "AAAA"}))
    return token, [answer.text for answer in answers]
