"""A package as a release: what `upgrade` takes of it, and which release the command starts."""

import os
import re
import subprocess
from pathlib import Path
from unittest.mock import patch

import pytest

from deploy.raspberrypi.builder import tree
from deploy.raspberrypi.builder.archive import pack
from deploy.raspberrypi.builder.tree import (
    DEBIAN,
    LAUNCHER,
    Contents,
    lay_out,
    package_version,
    site_packages,
)
from gateway.appliance.upgrade import payload
from gateway.appliance.upgrade.slots import PACKAGE, SLOTS, Slots
from gateway.appliance.upgrade.source import KEY
from gateway.cli.options import Documented
from gateway.runtime.forms import FILE
from tests.deploy.test_package import EPOCH, TRIXIE, VERSION
from tests.paths import ROOT


def sh(script: str, *words: str) -> str:
    done = subprocess.run(
        ("sh", "-c", script, "sh", *words), check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def at(text: str, folder: Path) -> str:
    """A script whose paths lie below a folder."""
    return text.replace("/usr/lib", f"{folder}/usr/lib").replace("/var/lib", f"{folder}/var/lib")


def test_what_is_built_unpacks_as_a_release(tmp_path: Path, commands: list[Documented]) -> None:
    root = tmp_path / "root"
    site = root / site_packages(TRIXIE)
    (site / "gateway").mkdir(parents=True)
    (site / "gateway/forms.json").write_bytes(FILE.read_bytes())
    contents = Contents(TRIXIE, VERSION, EPOCH, ROOT, commands)
    lay_out(root, contents)
    package = pack(root, contents, tmp_path / "dist")
    interpreters = tmp_path / "bin"
    interpreters.mkdir()
    (interpreters / "python3.13").symlink_to("/bin/true")
    slots = Slots(tmp_path / "slots", root / "usr/lib/sosa-gateway")
    slots.folder.mkdir()
    version = package_version(VERSION, TRIXIE)
    with patch.object(payload, "INTERPRETERS", interpreters):
        payload.unpack(package, slots.folder / "incoming", slots.home(version))
    slots.use(version)
    assert slots.in_use == slots.version("") == version == "1.2.3-1~deb13"
    assert slots.forms(version) == slots.forms("")
    files = {
        str(path.relative_to(slots.home(version)))
        for path in slots.home(version).rglob("*")
        if path.is_file()
    }
    assert {"version", "venv/pyvenv.cfg", "venv/bin/python3"} <= files
    assert not [name for name in files if not name.startswith(("venv/", "version"))]


def test_the_command_starts_the_slot_in_use_and_upgrades_by_the_package(tmp_path: Path) -> None:
    slot = tmp_path / "var/lib/sosa-gateway-slots"
    for home in (tmp_path / "usr/lib/sosa-gateway", slot / "releases/2.0"):
        (home / "venv/bin").mkdir(parents=True)
        interpreter = home / "venv/bin/python3"
        interpreter.write_text(f'#!/bin/sh\necho "{home.name} $*"\n')
        interpreter.chmod(0o755)
    launcher = at(LAUNCHER, tmp_path)
    assert sh(launcher, "run") == "sosa-gateway -I -m gateway run\n"
    (slot / "current").symlink_to("releases/2.0")
    assert sh(launcher, "run", "--config", "x") == "2.0 -I -m gateway run --config x\n"
    assert sh(launcher, "upgrade", "apply") == "sosa-gateway -I -m gateway upgrade apply\n"
    (slot / "releases/2.0/venv/bin/python3").unlink()
    assert sh(launcher, "run") == "sosa-gateway -I -m gateway run\n"


@pytest.mark.parametrize(
    ("slot", "package", "stays"),
    [
        ("2.0-1~deb13", "1.9-1~deb13", True),
        ("2.0-1~deb13", "2.0-1~deb13", False),
        ("2.0-1~deb13", "2.1-1~deb13", False),
        ("", "1.0-1~deb13", False),
    ],
)
def test_a_package_takes_the_place_of_a_slot_that_is_no_newer(
    tmp_path: Path, slot: str, package: str, stays: bool
) -> None:
    slots = tmp_path / "var/lib/sosa-gateway-slots"
    for home, version in (
        (tmp_path / "usr/lib/sosa-gateway", package),
        (slots / "releases/x", slot),
    ):
        home.mkdir(parents=True)
        (home / "version").write_text(f"{version}\n" if version else "")
    (slots / "current").symlink_to("releases/x")
    (slots / "previous").write_text("")
    script = (DEBIAN / "postinst").read_text().partition("take_place() {")[2].partition("\n}\n")[0]
    sh(f"set -e\n{at(script, tmp_path)}")
    assert (slots / "current").is_symlink() == stays
    assert (slots / "previous").exists() == stays


def test_code_and_package_speak_of_the_same_places() -> None:
    scripts = [LAUNCHER, *(path.read_text() for path in DEBIAN.iterdir() if path.is_file())]
    assert str(SLOTS) in LAUNCHER
    assert sum(str(SLOTS) in text for text in scripts) >= 5
    assert Path("/", tree.SLOTS) == SLOTS
    assert Path("/", tree.LIB) == PACKAGE
    assert Path("/", tree.RELEASE_KEY) == KEY
    assert str(PACKAGE) in LAUNCHER
    installer = (DEBIAN.parent / "install.sh").read_text()
    assert f"$root{KEY}" in installer
    assert f"$root{SLOTS}" in installer


def test_the_gateway_cannot_write_what_it_runs() -> None:
    unit = (DEBIAN / "sosa-gateway.service").read_text()
    assert "ProtectSystem=strict" in unit
    assert "User=sosa-gateway" in unit
    words = re.findall(r"^ReadWritePaths=(.*)$", unit, re.MULTILINE)
    written = [Path(word.lstrip("-+")) for line in words for word in line.split()]
    for code in (SLOTS, PACKAGE):
        assert not [path for path in written if path in (code, *code.parents)]
    upgrade = (DEBIAN / "sosa-gateway-upgrade.service").read_text()
    assert "[Install]" not in upgrade
    assert os.fspath(SLOTS) in upgrade
