"""docs/security.md and THREATS.md: the five commands run, what is named is there."""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.config.settings import Config, SecuritySettings
from gateway.security.claim import offer
from gateway.security.identity_store import IdentityStore
from tests.kit.gateways import free_port, running, settings, write_profile
from tests.paths import ROOT

GUIDE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_the_five_commands_lead_from_loopback_to_the_network(tmp_path: Path) -> None:
    chapter = GUIDE.partition("## Five commands\n")[2].partition("\n## ")[0]
    commands = "".join(re.findall(r"```sh\n(.*?)```", chapter, re.DOTALL)).splitlines()
    assert len(commands) == 5
    ports = {"8443": free_port(), "9443": free_port(), "8883": free_port()}
    commands[3] = "sosa-gateway run > log 2>&1 & echo $! > pid"
    waiting = "for n in $(seq 200); do grep -q serving log && break; sleep 0.1; done"
    token, publish = later_blocks("oauth/token", "mosquitto_pub")
    if shutil.which("mosquitto_pub") is None:
        publish = ""
    script = "\n".join(
        [
            *("set -e", *commands[:4], waiting, commands[4], f"{commands[4]} --format csv"),
            *('cp "$(sosa-gateway ca)" ca.crt', credentials("dashboard"), token),
            *(credentials("lamp"), publish.replace("8883", str(ports["8883"]))),
        ]
    ).replace("gateway.lan", "localhost")
    environment = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "HOME": str(tmp_path),
        "SOSA_GATEWAY_TLS__HTTP_PORT": str(ports["8443"]),
        "SOSA_GATEWAY_TLS__WEBSOCKET_PORT": str(ports["9443"]),
        "SOSA_GATEWAY_TLS__MQTT_PORT": str(ports["8883"]),
    }
    bash = shutil.which("bash")
    assert bash is not None
    try:
        done = subprocess.run(
            [bash, "-c", script.replace("8443", str(ports["8443"]))],
            check=False,
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=180,
        )
        log = (tmp_path / "log").read_text(encoding="utf-8")
        assert done.returncode == 0, done.stderr + log
        assert '"results":{"bindings":[' in done.stdout
        assert '"access_token"' in done.stdout
        for file in ("dashboard.json", "lamp.json"):
            secret = (tmp_path / file).read_text(encoding="utf-8").split('"')[7]
            assert len(secret) > 20
            assert secret not in log
    finally:
        pid = tmp_path / "pid"
        if pid.exists():
            os.kill(int(pid.read_text(encoding="utf-8")), 15)


def later_blocks(*words: str) -> list[str]:
    """The block of the page that has each of these."""
    every = re.findall(r"```sh\n(.*?)```", GUIDE, re.DOTALL)
    return [next(block for block in every if each in block) for each in words]


def credentials(name: str) -> str:
    """Commands that set ID and SECRET as the file of a client has them."""
    program = "import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])"
    read = f"python3 -c '{program}'"
    return "\n".join(
        f"{variable}=$({read} {name}.json {member})"
        for variable, member in (("ID", "client_id"), ("SECRET", "client_secret"))
    )


async def test_a_code_lets_the_first_client_in(tmp_path: Path) -> None:
    if shutil.which("curl") is None:
        pytest.skip("curl is not installed")
    (block,) = later_blocks("localhost:8000/claim")
    guarded = SecuritySettings(enabled=True)
    config = settings(tmp_path, write_profile(tmp_path)).model_copy(update={"security": guarded})
    async with running(config) as gateway:
        code = offer(IdentityStore(tmp_path / "data" / "security" / "identities.sqlite"))
        here = block.replace("localhost:8000", f"127.0.0.1:{gateway.http_port}")
        command = ("sh", "-ec", here.replace("K7PQM-4XWTD", code))
        done = await asyncio.to_thread(
            subprocess.run, command, check=False, capture_output=True, text=True, timeout=60
        )
    assert json.loads(done.stdout).keys() >= {"client_id", "client_secret"}


def test_the_guide_names_every_setting_of_security_and_tls() -> None:
    fields = {*Config().tls.__class__.model_fields, *Config().security.__class__.model_fields}
    assert not [name for name in fields if name not in GUIDE]


def test_every_test_that_the_threats_name_is_there() -> None:
    threats = (ROOT / "THREATS.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", threats))
    assert len(named) > 10
    assert not [name for name in named if not (ROOT / name).is_file()]


def test_the_readme_leads_to_both() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "docs/security.md" in readme
    assert "THREATS.md" in readme
