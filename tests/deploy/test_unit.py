"""The systemd unit: how little it may do, by systemd's own judgement, and what it promises."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.tree import DEBIAN

UNIT = DEBIAN / "sosa-gateway.service"
MOST_EXPOSED = 15
"""Tenths, on systemd's scale from 0 to 10."""

MOST_EXPOSED_WITH_SERIAL = 17
"""With the drop-in for a Modbus bus that is a line."""


def settings() -> dict[str, str]:
    lines = (line for line in UNIT.read_text().splitlines() if re.match(r"[A-Z]\w+=", line))
    return dict(line.split("=", 1) for line in lines)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_finds_it_hardly_exposed() -> None:
    judged(UNIT, MOST_EXPOSED)


def judged(unit: Path, most: int) -> None:
    """Fails where systemd finds it more exposed."""
    command = ("systemd-analyze", "security", "--no-pager", "--offline=yes")
    done = subprocess.run(
        (*command, f"--threshold={most}", str(unit)), check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Overall exposure level" in done.stdout


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_with_serial_ports_it_is_a_little_more_exposed(tmp_path: Path) -> None:
    unit = tmp_path / "sosa-gateway.service"
    drop_in = (DEBIAN / "serial.conf").read_text()
    unit.write_text(UNIT.read_text().replace("[Install]", f"{drop_in}\n[Install]"))
    judged(unit, MOST_EXPOSED_WITH_SERIAL)


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd-analyze")
def test_systemd_knows_every_setting() -> None:
    command = ("systemd-analyze", "verify", "--man=no", str(UNIT))
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    told = [line for line in done.stderr.splitlines() if "sosa-gateway.service" in line]
    assert [line for line in told if "is not executable" not in line] == []


def test_it_is_watched_tried_for_ever_and_private() -> None:
    said = settings()
    assert said["Type"] == "notify"
    assert int(said["WatchdogSec"]) >= 30
    assert said["Restart"] == "always"
    assert said["StartLimitIntervalSec"] == "0"
    assert said["StateDirectoryMode"] == "0700"
    assert said["User"] == "sosa-gateway"
