"""The units of a Mosquitto beside the gateway: their rights, and what a change makes systemd do."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.tree import DEBIAN

UNITS = (
    "sosa-gateway-mosquitto.service",
    "sosa-gateway-mosquitto.path",
    "sosa-gateway-mosquitto-changed.service",
    "sosa-gateway-mosquitto-changed.path",
)
FOLDER, STARTED_WITH = "/var/lib/sosa-gateway-mosquitto", "/run/sosa-gateway-mosquitto"
MOST_EXPOSED = 15
"""Tenths, on systemd's scale from 0 to 10."""


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_finds_mosquitto_hardly_exposed_and_knows_every_setting() -> None:
    command = ("systemd-analyze", "security", "--no-pager", "--offline=yes")
    unit = DEBIAN / UNITS[0]
    done = subprocess.run(
        (*command, f"--threshold={MOST_EXPOSED}", str(unit)),
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    paths = [str(DEBIAN / name) for name in UNITS]
    verify = ("systemd-analyze", "verify", "--man=no", *paths)
    done = subprocess.run(verify, check=False, capture_output=True, text=True)
    told = [line for line in done.stderr.splitlines() if "sosa-gateway-mosquitto" in line]
    assert [line for line in told if "is not executable" not in line] == []


def test_the_gateway_wants_what_looks_at_its_files_and_may_write_there_alone() -> None:
    text = (DEBIAN / "sosa-gateway.service").read_text()
    for name in UNITS:
        if name.endswith(".path"):
            assert name in text
    assert f"ReadWritePaths=-{FOLDER}\n" in text


@pytest.mark.parametrize(
    ("now", "started_with", "verb"),
    [
        ("same", "same", "reload"),
        ("new", "old", "restart"),
        ("new", "", "restart"),
        ("", "old", "stop"),
    ],
)
def test_users_are_reloaded_listeners_restarted_and_another_mode_stops(
    tmp_path: Path, now: str, started_with: str, verb: str
) -> None:
    unit = (DEBIAN / "sosa-gateway-mosquitto-changed.service").read_text()
    found = re.search(r"^ExecStart=/bin/sh -c '(.*)'$", unit, re.MULTILINE)
    assert found is not None
    script = (
        found[1].replace(FOLDER, str(tmp_path / "lib")).replace(STARTED_WITH, str(tmp_path / "run"))
    )
    for folder, text in (("lib", now), ("run", started_with)):
        (tmp_path / folder).mkdir()
        if text:
            (tmp_path / folder / "mosquitto.conf").write_text(text)
    told = tmp_path / "told"
    fake = tmp_path / "systemctl"
    fake.write_text(f'#!/bin/sh\necho "$@" >> {told}\n')
    fake.chmod(0o755)
    subprocess.run(
        ("sh", "-c", script),
        check=True,
        env={"PATH": f"{tmp_path}:/usr/bin:/bin"},
        capture_output=True,
    )
    assert told.read_text() == f"--no-block {verb} sosa-gateway-mosquitto.service\n"
