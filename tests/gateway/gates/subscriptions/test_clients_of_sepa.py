"""sepy and sepa-js, as they come from their registries, against a gateway that runs.

`make interop` sets up their environments below build/; where one is missing its tests are skipped.
"""

import asyncio
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from pyoxigraph import Literal

from gateway.client import AsyncClient, RefusedError
from gateway.config.settings import Config, SecuritySettings, TlsSettings
from jsap import Profile
from tests.gateway.gates.admin.test_oauth import administer
from tests.gateway.gates.subscriptions import sepatest
from tests.kit.gateways import OWN_SUBSCRIPTIONS, running, settings, until_subscribed, write_profile
from tests.paths import AGENTS, ROOT

pytestmark = pytest.mark.end_to_end

INTEROP = ROOT / "build" / "interop"
ENVIRONMENT = {
    "PATH": os.environ["PATH"],
    "NODE_PATH": str(INTEROP / "sepa-js" / "node_modules"),
    "PYTHONWARNINGS": "ignore",
}


def sepy(file: Path) -> list[str]:
    python = INTEROP / "sepy" / "bin" / "python"
    if not (INTEROP / "sepy" / ".ready").exists():
        pytest.skip("sepy is not installed: make interop, which needs PyPI")
    return [str(python), str(AGENTS / "sepy_agent.py"), str(file)]


def sepa_js(file: Path, *arguments: object) -> list[str]:
    node = shutil.which("node")
    if node is None or not (INTEROP / "sepa-js" / ".ready").exists():
        pytest.skip("sepa-js is not installed: make interop, which needs apt and npm")
    return [node, str(AGENTS / "sepa_js_agent.js"), str(file), *map(str, arguments)]


def at_once(folder: Path) -> Config:
    """A gateway that does not wait for clients that went without a word."""
    return settings(folder, write_profile(folder), resume_s=0)


async def said_by(command: list[str]) -> dict[str, Any]:
    """The JSON object that an agent says; its standard error is shown where it fails."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=ENVIRONMENT,
    )
    try:
        async with asyncio.timeout(60):
            output, errors = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 0, errors.decode()
    said: dict[str, Any] = json.loads(output.decode().splitlines()[-1])
    return said


def literal(value: str) -> dict[str, str]:
    return {"type": "literal", "value": value}


async def test_sepy(tmp_path: Path) -> None:
    file = tmp_path / "sepatest.json"
    command = sepy(file)
    async with running(at_once(tmp_path)) as gateway:
        members = sepatest.profile(gateway.http_port, gateway.websocket_port)
        file.write_text(json.dumps(members), encoding="utf-8")
        said = await said_by(command)
        await until_subscribed(gateway, OWN_SUBSCRIPTIONS)
    check_sepy(said)
    assert said["subscribe_wrong"] == "SubscriptionTimeoutException"


def check_sepy(said: dict[str, Any]) -> None:
    """What holds over plain connections and over TLS."""
    row = {"value": literal(sepatest.VAIMEE)}
    assert said["empty"] == []
    assert said["spuid"].startswith("sepa://subscription/")
    assert (said["first"], said["second"], said["third"]) == ([[], []], [[row], []], [[], [row]])
    assert said["random"] == [{"value": literal("0.625")}]
    assert said["huge"] == sepatest.HUGE
    assert [each["count"]["value"] for each in said["count"]] == ["2"]
    assert said["update_wrong"] == said["query_wrong"] == "ValueError"


async def test_sepy_registers_gets_a_token_and_uses_tls(tmp_path: Path) -> None:
    file = tmp_path / "sepatest.json"
    command = [*sepy(file), "sepy-agent"]
    administer(
        tmp_path, "client", "add", "sepy-agent", "--query", "all", "--update", "all", "--subscribe",
        "all",
    )  # fmt: skip
    plain = at_once(tmp_path)
    config = plain.model_copy(
        update={
            "security": SecuritySettings(enabled=True),
            "tls": TlsSettings(mode="own", http_port=0, websocket_port=0, mqtt_port=0),
            "websocket": plain.websocket.model_copy(update={"bare_token": True}),
        }
    )
    async with running(config) as gateway:
        members = sepatest.profile(gateway.http_port, gateway.websocket_port)
        place = f"https://{members['host']}:{gateway.http_port}/oauth"
        members["oauth"] = {"register": f"{place}/register", "tokenRequest": f"{place}/token"}
        members["sparql11protocol"]["protocol"] = "https"
        channels = members["sparql11seprotocol"]["availableProtocols"]
        channels["wss"] = {**channels.pop("ws"), "scheme": "wss"}
        members["sparql11seprotocol"]["protocol"] = "wss"
        file.write_text(json.dumps(members), encoding="utf-8")
        said = await said_by(command)
        await until_subscribed(gateway, OWN_SUBSCRIPTIONS)
    check_sepy(said)


def check_rules(said: dict[str, Any]) -> None:
    """What holds over plain connections and over TLS."""
    assert said["deleted"]["status"] == 200
    assert said["empty"] == []
    spuid, row = said["subscribed"]["spuid"], {"value": literal(sepatest.VAIMEE)}
    assert (said["subscribed"]["sequence"], said["subscribed"]["alias"]) == (0, "vaimee")
    for number, (name, added, removed) in enumerate(
        [("subscribed", [], []), ("second", [row], []), ("third", [], [row])]
    ):
        message = said[name]
        assert (message["spuid"], message["sequence"]) == (spuid, number)
        assert message["addedResults"]["results"]["bindings"] == added
        assert message["removedResults"]["results"]["bindings"] == removed
        assert message["addedResults"]["head"]["vars"] == ["value"]
    assert said["huge"] == sepatest.HUGE
    assert said["count"] == "1"
    assert said["unsubscribed"] == ["unsubscribed", {"unsubscribed": {"spuid": spuid}}]


async def test_sepa_js(tmp_path: Path) -> None:
    file = tmp_path / "sepatest.json"
    command = sepa_js(file)
    async with running(at_once(tmp_path)) as gateway:
        members = sepatest.profile(gateway.http_port, gateway.websocket_port)
        file.write_text(json.dumps(members), encoding="utf-8")
        said = await said_by(command)
        await until_subscribed(gateway, OWN_SUBSCRIPTIONS)
    check_rules(said)
    assert said["random"] == ["r1"]
    for wrong in ("update_wrong", "query_wrong"):
        assert said[wrong]["status"] == said[wrong]["body"]["status_code"] == 400
        assert set(said[wrong]["body"]) == {"error", "error_description", "status_code"}
    assert said["subscribe_wrong"]["status_code"] == 400
    assert said["subscribe_wrong"]["alias"] == "wrong"
    assert len(set(said["spuids"])) == 2
    assert said["random1"] == ["r2"]


async def test_sepa_js_registers_logs_in_and_uses_tls(tmp_path: Path) -> None:
    file = tmp_path / "sepatest.json"
    sepa_js(file)
    config = at_once(tmp_path).model_copy(
        update={
            "security": SecuritySettings(enabled=True, sepatest=True),
            "tls": TlsSettings(mode="own", http_port=0, websocket_port=0, mqtt_port=0),
        }
    )
    async with running(config) as gateway:
        members = sepatest.profile(gateway.http_port, gateway.websocket_port)
        file.write_text(json.dumps(members), encoding="utf-8")
        ca = tmp_path / "data" / "tls" / "ca.crt"
        said = await said_by(sepa_js(file, ca, gateway.http_port, gateway.websocket_port))
        await until_subscribed(gateway, OWN_SUBSCRIPTIONS)
    check_rules(said)
    assert said["stranger"]["status"] == 401
    assert said["stranger"]["body"]["error"] == "not_authorized_identity"
    assert said["renewed"] == "1"
    assert said["anonymous"]["status"] == 401
    assert said["anonymous"]["body"]["error"] == "invalid_request"


async def test_our_own_client_by_the_same_rules(tmp_path: Path) -> None:
    async with running(at_once(tmp_path)) as gateway:
        profile = Profile.parse(sepatest.profile(gateway.http_port, gateway.websocket_port))
        async with AsyncClient(profile) as client:
            await client.update("DELETE_ALL")
            assert await client.query("ALL") == []
            async with client.subscribe("VAIMEE") as told:
                await client.update("VAIMEE")
                assert (await told.receive()).added == ()
                [solution] = (await told.receive()).added
                assert str(solution["value"]) == f'"{sepatest.VAIMEE}"'
            await client.update("RANDOM", {"random": "it's"})
            await client.update("HUGE")
            assert await client.query("HUGE") == [{"value": Literal(sepatest.HUGE)}]
            assert await client.query("RANDOM") == [{"value": Literal("it's")}]
            for work in (client.update("WRONG"), client.query("WRONG")):
                with pytest.raises(RefusedError, match="400 sparql_syntax"):
                    await work


async def test_the_lines_of_the_readme_for_sepa_js(tmp_path: Path) -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    [code] = re.findall(r"```js\n(.*?)```", text, re.DOTALL)
    file = tmp_path / "lines.js"
    node = sepa_js(file)[0]
    async with running(at_once(tmp_path)) as gateway:
        members = sepatest.profile(gateway.http_port, gateway.websocket_port)
        api = f"new (require('@arces-wot/sepa-js').SEPA)({json.dumps(members)})"
        file.write_text(code.replace("require('@arces-wot/sepa-js').client", api), encoding="utf-8")
        process = await asyncio.create_subprocess_exec(
            node, str(file), stdout=asyncio.subprocess.PIPE, env=ENVIRONMENT
        )
        try:
            assert process.stdout is not None
            async with asyncio.timeout(30):
                lines = [await process.stdout.readline() for _ in range(2)]
        finally:
            process.kill()
            await process.communicate()
        await until_subscribed(gateway, OWN_SUBSCRIPTIONS)
    assert lines[0] == b"added: []\n"
    assert lines[1] == b'added: [{"room":{"type":"uri","value":"urn:cellar"}}]\n'
