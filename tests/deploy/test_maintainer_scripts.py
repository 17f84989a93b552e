"""What the package's scripts do when it leaves, in a folder that stands for /."""

import subprocess
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.tree import DEBIAN

KEPT = ("var/lib/sosa-gateway/journal/x", "etc/sosa-gateway/gateway.toml")
OTHERS = ("var/lib/mosquitto/mosquitto.db", "etc/systemd/system/mine.service")
MOSQUITTO = "var/lib/sosa-gateway-mosquitto/passwords"
SERIAL = "etc/systemd/system/sosa-gateway.service.d/serial.conf"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "root"
    for name in (*KEPT, *OTHERS, MOSQUITTO, "var/lib/sosa-gateway-slots/releases/x", SERIAL):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "run/systemd/system").mkdir(parents=True)
    for name in ("deb-systemd-invoke", "deb-systemd-helper", "systemctl"):
        (tmp_path / name).write_text(f'#!/bin/sh\necho "{name} $*" >>"{tmp_path}/notes"\n')
        (tmp_path / name).chmod(0o755)
    return folder


def run(root: Path, script: str, word: str) -> list[str]:
    """What it told systemd."""
    text = (DEBIAN / script).read_text()
    for name in ("/var/lib/", "/etc/", "/run/", "/usr/lib/"):
        text = text.replace(f" {name}", f" {root}{name}")
    environ = {"PATH": f"{root.parent}:/usr/bin:/bin"}
    subprocess.run(("sh", "-c", text, script, word), check=True, env=environ)
    notes = root.parent / "notes"
    return notes.read_text().splitlines() if notes.exists() else []


def left(root: Path) -> set[str]:
    return {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()}


def test_removed_it_leaves_what_is_kept(root: Path) -> None:
    run(root, "postrm", "remove")
    assert left(root) == {*KEPT, *OTHERS, MOSQUITTO, SERIAL}


def test_purged_it_leaves_no_password_and_no_key(root: Path) -> None:
    run(root, "postrm", "purge")
    assert left(root) == set(OTHERS)
    assert not (root / MOSQUITTO).parent.exists()


def test_mosquitto_stops_with_the_package_and_runs_on_while_it_is_upgraded(root: Path) -> None:
    assert "mosquitto" not in str(run(root, "prerm", "upgrade"))
    units = ("sosa-gateway-mosquitto.path", "sosa-gateway-mosquitto-changed.path")
    stopped = " ".join(["deb-systemd-invoke stop", *units, "sosa-gateway-mosquitto.service"])
    assert stopped in run(root, "prerm", "remove")
