"""docs/security.md and THREATS.md: the five commands run, what is named is there."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from gateway.config.settings import Config
from tests.kit.gateways import free_port
from tests.paths import ROOT

GUIDE = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")


def test_the_five_commands_lead_from_loopback_to_the_network(tmp_path: Path) -> None:
    chapter = GUIDE.partition("## Five commands\n")[2].partition("\n## ")[0]
    commands = "".join(re.findall(r"```sh\n(.*?)```", chapter, re.DOTALL)).splitlines()
    assert len(commands) == 5
    ports = {"8443": free_port(), "9443": free_port(), "8883": free_port()}
    commands[3] = "sosa-gateway run > log 2>&1 & echo $! > pid"
    waiting = "for n in $(seq 200); do grep -q serving log && break; sleep 0.1; done"
    script = "\n".join(
        ["set -e", *commands[:4], waiting, commands[4], f"{commands[4]} --format csv"]
    )
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
        for file in ("dashboard.json", "lamp.json"):
            secret = (tmp_path / file).read_text(encoding="utf-8").split('"')[7]
            assert len(secret) > 20
            assert secret not in log
    finally:
        pid = tmp_path / "pid"
        if pid.exists():
            os.kill(int(pid.read_text(encoding="utf-8")), 15)


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
