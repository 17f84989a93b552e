"""The package as it is built for real, installed in a Debian of its own, started there, removed."""

import argparse
import re
import shutil
import subprocess
from pathlib import Path

import httpx
import pytest

from deploy.raspberrypi.builder.__main__ import CHECKOUT, build_deb
from deploy.raspberrypi.builder.archive import complete
from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.targets import RELEASES
from tests.deploy.debian_root import SYSTEM_PATH, DebianRoot, debian_root, host_target
from tests.kit.gateways import Program

pytestmark = [pytest.mark.slow, pytest.mark.end_to_end, pytest.mark.timeout(3600)]

SETTINGS = "/etc/sosa-gateway/gateway.toml"
DATA = "/var/lib/sosa-gateway"
USER = "sosa-gateway:sosa-gateway"
FREE_PORTS = [f"SOSA_GATEWAY_{name}__PORT=0" for name in ("MQTT", "HTTP", "WEBSOCKET")]
MOST_MIB = 200
OLD_UNIT = "/etc/systemd/system/sosa-gateway.service"
MINE = '[gateway]\nid = "mine"\ndata_dir = "/var/lib/sosa-gateway"\n'


def built(suite: str, folder: Path) -> Path:
    options = argparse.Namespace(
        wheels=CHECKOUT / "build" / "wheels", output=folder / "dist", offline=False, release_key=b""
    )
    try:
        return build_deb(host_target(suite), 1_700_000_000, options)
    except BuildError as error:
        pytest.skip(f"no package can be built here: {error}")


@pytest.mark.parametrize("suite", list(RELEASES))
def test_it_installs_starts_and_leaves(suite: str, tmp_path: Path) -> None:
    package = built(suite, tmp_path)
    lints(package)
    with debian_root(suite, tmp_path) as root:
        shutil.copy(package, root.path / "tmp" / "new.deb")
        root.run("apt-get", "install", "-y", "--no-install-recommends", "/tmp/new.deb")
        is_as_it_should(root)
        serves(root)
        root.run("apt-get", "remove", "-y", "sosa-gateway")
        assert not (root.path / "usr/lib/sosa-gateway").exists()
        assert (root.path / DATA[1:] / "store").is_dir()
        root.run("apt-get", "purge", "-y", "sosa-gateway")
        assert not (root.path / DATA[1:]).exists()
        assert not (root.path / "etc/sosa-gateway").exists()


def test_the_script_takes_over_an_installation_by_hand(tmp_path: Path) -> None:
    package = built("bookworm", tmp_path)
    complete(package.parent, [package])
    with debian_root("bookworm", tmp_path) as root:
        shutil.copytree(package.parent, root.path / "tmp" / "dist")
        root.run("useradd", "--system", "--home-dir", DATA, "sosa-gateway")
        settings, unit = root.path / SETTINGS[1:], root.path / OLD_UNIT[1:]
        settings.parent.mkdir(parents=True)
        settings.write_text(MINE)
        unit.write_text("[Service]\nExecStart=/opt/sosa-gateway/.venv/bin/sosa-gateway run\n")
        root.run("install", "-d", "-o", "sosa-gateway", "-m", "700", DATA)
        told = root.run("sh", "/tmp/dist/install.sh")
        assert "taking over" in told
        assert settings.read_text() == MINE
        assert not unit.exists()
        assert root.run("systemctl", "is-enabled", "sosa-gateway").strip() == "enabled"
        serves(root)
        assert "installed already" in root.run("sh", "/tmp/dist/install.sh")
        root.run("sh", "/tmp/dist/install.sh", "--uninstall")
        assert settings.read_text() == MINE
        assert (root.path / DATA[1:] / "store").is_dir()


def lints(package: Path) -> None:
    if shutil.which("lintian") is None:
        return
    command = ("lintian", "--allow-root", "--tag-display-limit", "0", str(package))
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=SYSTEM_PATH)
    assert not re.findall(r"^[EW]: .*", done.stdout, re.MULTILINE), done.stdout


def is_as_it_should(root: DebianRoot) -> None:
    size = root.run("du", "-sm", "/usr/lib/sosa-gateway")
    assert int(size.split()[0]) <= MOST_MIB
    assert root.run("dpkg", "--verify", "sosa-gateway") == ""
    assert root.run("systemctl", "is-enabled", "sosa-gateway").strip() == "enabled"
    assert root.run("stat", "-c", "%a %U", DATA, SETTINGS) == "700 sosa-gateway\n640 root\n"
    assert root.run("sosa-gateway", "version", user=USER).strip()
    checked = root.run("env", *FREE_PORTS, "sosa-gateway", "check", "--config", SETTINGS, user=USER)
    assert checked == "all is well\n"


def serves(root: DebianRoot) -> None:
    run = ("env", *FREE_PORTS, "sosa-gateway", "run", "--config", SETTINGS)
    with Program(*root.command(*run, user=USER)) as program:
        (port,) = re.findall(r"http_port=(\d+)", program.wait_for("serving", timeout_s=60))
        assert httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200
        page = httpx.get(f"http://127.0.0.1:{port}/", follow_redirects=True)
        assert "<!doctype html>" in page.text.lower()
        assert program.terminate() == 0
