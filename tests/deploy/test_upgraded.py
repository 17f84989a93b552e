"""An installed gateway, upgraded for real: its package, its updater, its unit but for systemd."""

import argparse
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.raspberrypi.builder.__main__ import CHECKOUT, build_deb
from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.signing import public_pem
from deploy.raspberrypi.builder.targets import RELEASES
from tests.deploy import service_stand_in
from tests.deploy.debian_root import DebianRoot, debian_root, host_target
from tests.deploy.releases import put_release
from tests.kit.blocks import Block, blocks
from tests.kit.gateways import Device, free_port

pytestmark = [pytest.mark.slow, pytest.mark.end_to_end, pytest.mark.timeout(3600)]

SUITE = "bookworm"
SETTINGS = "etc/sosa-gateway/gateway.toml"
SLOTS = "var/lib/sosa-gateway-slots"
PASSPHRASE = "correct horse battery staple"


def built(output: Path, key: Ed25519PrivateKey) -> Path:
    options = argparse.Namespace(
        wheels=CHECKOUT / "build" / "wheels",
        output=output,
        offline=False,
        release_key=public_pem(key),
    )
    try:
        return build_deb(host_target(SUITE), 1_700_000_000, options)
    except BuildError as error:
        pytest.skip(f"no package can be built here: {error}")


class Installed:
    """A root with the package, and a stick with releases made of it."""

    def __init__(self, root: DebianRoot, package: Path, key: Ed25519PrivateKey) -> None:
        self.root, self._package, self._key = root, package, key
        self.dist = root.path / "tmp" / "dist"
        self.dist.mkdir()
        shutil.copy(package, root.path / "tmp" / "first.deb")
        root.run("apt-get", "install", "-y", "--no-install-recommends", "/tmp/first.deb")
        # Not before the installation, which takes minutes: somebody else had one by then.
        self.mqtt, self.http = free_port(), free_port()
        stand_in = root.path / "usr/bin/systemctl"
        source = Path(service_stand_in.__file__).read_text()
        stand_in.unlink()
        stand_in.write_text(f"#!/usr/bin/python{RELEASES[SUITE].python}\n{source}")
        stand_in.chmod(0o755)
        text = (root.path / SETTINGS).read_text()
        for section, port in (("mqtt", self.mqtt), ("http", self.http), ("websocket", 0)):
            text = re.sub(
                rf"(\n\[{section}\][^\[]*?\nport = )\d+", rf"\g<1>{port}", text, flags=re.DOTALL
            )
        (root.path / SETTINGS).write_text(text)

    def release(self, version: str, *, is_broken: bool = False) -> None:
        """One more on the stick, beside those that are there."""
        put_release(self.dist, self._package, version, self._key, is_broken=is_broken)

    def upgrade(self, *words: str, status: int = 0) -> str:
        return self.root.run("/usr/bin/sosa-gateway", "upgrade", *words, status=status)

    def systemctl(self, verb: str) -> str:
        return self.root.run("/usr/bin/systemctl", verb, "sosa-gateway.service")

    def publish(self, number: int) -> None:
        with Device(self.mqtt) as device:
            device.publish([("zigbee2mqtt/x", json.dumps({"v": number}).encode())])

    @property
    def url(self) -> str:
        """Where its HTTP is."""
        return f"http://127.0.0.1:{self.http}"

    def tell(self, subject: str) -> None:
        update = f"INSERT DATA {{ {subject} <urn:is> <urn:there> }}"
        httpx.post(f"{self.url}/update", data={"update": update}).raise_for_status()

    def knows(self) -> set[str]:
        """What it was told of."""
        query = {"query": "SELECT ?s { ?s <urn:is> <urn:there> }"}
        answer = httpx.post(f"{self.url}/query", data=query).raise_for_status().json()
        return {row["s"]["value"] for row in answer["results"]["bindings"]}

    def version(self) -> str:
        """Which release serves: the folder that its process runs from."""
        assert httpx.get(f"{self.url}/health").status_code == 200
        pid = (self.root.path / "run/stand-in/pid").read_text()
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        return words[0].decode()


@contextmanager
def installed(folder: Path) -> Iterator[Installed]:
    key = Ed25519PrivateKey.generate()
    package = built(folder / "built", key)
    with debian_root(SUITE, folder) as root:
        made = Installed(root, package, key)
        made.systemctl("start")
        try:
            yield made
        finally:
            made.systemctl("stop")


def test_releases_come_and_go(tmp_path: Path) -> None:
    with installed(tmp_path) as device:
        device.publish(1)
        assert device.version().startswith("/usr/lib/sosa-gateway/")
        device.release("1.0-1~deb12")
        assert "1.0-1~deb12" in device.upgrade("check", "--from", "/tmp/dist")
        assert "in use: 1.0-1~deb12" in device.upgrade("apply", "--from", "/tmp/dist")
        assert "/sosa-gateway-slots/current/" in device.version()
        device.publish(2)
        device.release("2.0-1~deb12", is_broken=True)
        told = device.upgrade("apply", "--from", "/tmp/dist", status=1)
        assert "2.0-1~deb12 did not pass, 1.0-1~deb12 is in use" in told
        assert "fastapi" in told
        assert "/sosa-gateway-slots/current/" in device.version()
        device.publish(3)
        assert "in use: 0.1.0-1~deb12" in device.upgrade("rollback")
        assert device.version().startswith("/usr/lib/sosa-gateway/")
        device.publish(4)
        slots = device.root.path / SLOTS
        owners = {path.stat().st_uid for path in (slots, *slots.rglob("*"))}
        assert owners == {0}
        data = device.root.path / "var/lib/sosa-gateway"
        assert 0 not in {path.lstat().st_uid for path in data.rglob("*")}


def test_a_backup_comes_back_as_the_page_says(tmp_path: Path) -> None:
    backup, restore = blocks("docs/upgrades.md")
    with installed(tmp_path) as device:
        device.tell("<urn:before>")
        typed = f"{PASSPHRASE}\n{PASSPHRASE}\n"
        asks = Block("sh", f"export SOSA_GATEWAY_URL={device.url}\n{backup.text}", "")
        device.root.follow(asks, "/tmp", typed)
        device.tell("<urn:after>")
        assert device.knows() == {"urn:before", "urn:after"}
        device.root.follow(restore, "/tmp", typed)
        assert device.knows() == {"urn:before"}
