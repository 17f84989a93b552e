"""install.sh in a root of its own, with commands that note how they were called."""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from deploy.raspberrypi.builder.archive import INSTALLER, complete
from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.signing import private_key, public_pem, sign
from deploy.raspberrypi.builder.tree import configuration
from tests.paths import ROOT

OLD_UNIT = "[Service]\nExecStart=/opt/sosa-gateway/.venv/bin/sosa-gateway run --config X\n"
NOTES = '#!/bin/sh\necho "$(basename "$0") $*" >> "$NOTES"\n'
COMMANDS = {
    "dpkg": 'test "$1" = --print-architecture && echo "$ARCHITECTURE" || exec /usr/bin/dpkg "$@"',
    "dpkg-deb": 'basename "$2" | cut -d _ -f 2',
    "dpkg-query": 'printf "%s" "$INSTALLED"',
    "apt-get": NOTES + 'case "$1" in install) cp -n "$FRESH" "$SETTINGS" ;; esac',
    "systemctl": NOTES,
    "runuser": NOTES + '[ -n "$CLAIM" ] && echo "$CLAIM"',
    "python3.13": "",
}


class Machine:
    """A root with what a script finds on it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.dist, self._notes = folder / "root", folder / "dist", folder / "notes"
        self.settings = self.root / "etc/sosa-gateway/gateway.toml"
        self.old_unit = self.root / "etc/systemd/system/sosa-gateway.service"
        for path in (self.old_unit, self.settings, self.root / "usr/x", self.dist / "x"):
            path.parent.mkdir(parents=True)
        (self.root / "run/systemd/system").mkdir(parents=True)
        (self.root / "etc/os-release").write_text("ID=debian\nVERSION_CODENAME=trixie\n")
        fresh = folder / "fresh.toml"
        fresh.write_text(configuration(ROOT))
        self._commands = folder / "bin"
        self._commands.mkdir()
        for name, text in COMMANDS.items():
            self.command(name, text)
        self.environ = {
            "PATH": f"{self._commands}:{os.environ['PATH']}",
            "SOSA_GATEWAY_INSTALL_ROOT": str(self.root),
            "NOTES": str(self._notes),
            "ARCHITECTURE": "arm64",
            "INSTALLED": "",
            "FRESH": str(fresh),
            "SETTINGS": str(self.settings),
            "CLAIM": "K7PQM-4XWTD\ngood for 1 h",
        }

    def command(self, name: str, text: str) -> None:
        body = text if text.startswith("#!") else f"#!/bin/sh\n{text}\n"
        (self._commands / name).write_text(body)
        (self._commands / name).chmod(0o755)

    def lay(self, *versions: str) -> None:
        """Packages with their sums beside the script."""
        for version in versions:
            (self.dist / f"sosa-gateway_{version}_arm64.deb").write_text(version)
        complete(self.dist, self.dist.glob("*.deb"))

    def install(self, *options: str) -> subprocess.CompletedProcess[str]:
        self._notes.write_text("")
        return subprocess.run(
            ("sh", str(self.dist / INSTALLER.name), *options),
            check=False,
            capture_output=True,
            text=True,
            env=self.environ,
        )

    def done(self, *options: str) -> str:
        told = self.install(*options)
        assert told.returncode == 0, told.stderr
        return told.stdout

    def refused(self, *options: str) -> str:
        """What it says, having changed nothing."""
        told = self.install(*options)
        assert told.returncode == 1
        assert told.stderr.count("\n") == 2
        assert self.changes() == []
        return told.stderr.partition("\n")[0]

    def changes(self) -> Sequence[str]:
        lines = self._notes.read_text().splitlines()
        return [line for line in lines if line.startswith(("apt-get", "systemctl"))]


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    made = Machine(tmp_path)
    made.lay("1.0-1~deb13")
    return made


needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="it installs as root alone")


@needs_root
def test_it_installs_opens_to_the_network_and_tells_how_to_get_in(machine: Machine) -> None:
    told = machine.done()
    assert told.endswith("for an hour: K7PQM-4XWTD\n")
    assert ":8443/" in told
    install, enable, restart = machine.changes()
    assert install.startswith("apt-get install -y --no-install-recommends")
    assert "--force-confold" in install
    assert install.endswith("sosa-gateway_1.0-1~deb13_arm64.deb")
    assert (enable, restart) == (
        "systemctl enable sosa-gateway.service",
        "systemctl restart sosa-gateway.service",
    )
    text = machine.settings.read_text()
    assert text.count('host = "0.0.0.0"') == 2
    assert 'mode = "own"' in text.partition("\n[tls]\n")[2].splitlines()[0]
    assert "enabled = true" in text.partition("\n[security]\n")[2].splitlines()[0]


@needs_root
def test_locally_nothing_is_opened(machine: Machine) -> None:
    told = machine.done("--local")
    assert "http://127.0.0.1:8000/" in told
    assert 'host = "0.0.0.0"' not in machine.settings.read_text()


@needs_root
def test_again_it_changes_nothing(machine: Machine) -> None:
    machine.done()
    before = machine.settings.read_bytes()
    machine.environ.update(INSTALLED="ii  1.0-1~deb13", CLAIM="")
    told = machine.done()
    assert "installed already" in told
    assert "sign in" in told
    assert not [line for line in machine.changes() if line.startswith("apt-get")]
    assert machine.settings.read_bytes() == before


@needs_root
def test_an_installation_by_hand_is_taken_over(machine: Machine) -> None:
    machine.old_unit.write_text(OLD_UNIT)
    machine.settings.write_text('[gateway]\nid = "mine"\n[http]\nhost = "127.0.0.1"\nport = 8123\n')
    before = machine.settings.read_bytes()
    told = machine.done()
    assert "taking over" in told
    assert not machine.old_unit.exists()
    assert machine.settings.read_bytes() == before
    assert machine.changes()[:3] == [
        "systemctl stop sosa-gateway.service",
        "systemctl disable sosa-gateway.service",
        "systemctl daemon-reload",
    ]


@needs_root
def test_in_a_root_that_is_being_built_nothing_is_started(machine: Machine) -> None:
    (machine.root / "run/systemd/system").rmdir()
    machine.old_unit.write_text(OLD_UNIT)
    assert "not started" in machine.done()
    systemctl = [line for line in machine.changes() if line.startswith("systemctl")]
    assert systemctl == [
        "systemctl disable sosa-gateway.service",
        "systemctl enable sosa-gateway.service",
    ]


@needs_root
def test_a_unit_of_somebody_else_is_left_alone(machine: Machine) -> None:
    machine.old_unit.write_text("[Service]\nExecStart=/usr/local/bin/mine\n")
    machine.done()
    assert machine.old_unit.exists()


@needs_root
def test_the_newest_of_several_is_taken(machine: Machine) -> None:
    machine.lay("0.9-1~deb13", "1.10-1~deb13", "1.9-1~deb13", "2.0-1~deb12")
    machine.done()
    assert machine.changes()[0].endswith("sosa-gateway_1.10-1~deb13_arm64.deb")


@needs_root
def test_an_older_version_only_when_it_is_asked_for(machine: Machine) -> None:
    machine.environ["INSTALLED"] = "ii  1.1-1~deb13"
    assert "1.1-1~deb13 is installed, which is newer" in machine.refused()
    machine.done("--allow-downgrade")
    assert "--allow-downgrades" in machine.changes()[0]


@needs_root
def test_offline_nothing_is_fetched(machine: Machine) -> None:
    machine.done("--offline")
    assert "--no-download" in machine.changes()[0]


def damage(machine: Machine) -> None:
    (machine.dist / "sosa-gateway_1.0-1~deb13_arm64.deb").write_text("changed")


def unlist(machine: Machine) -> None:
    other = hashlib.sha256(b"").hexdigest()
    (machine.dist / "SHA256SUMS").write_text(f"{other}  sosa-gateway_1.0-1~deb13_arm64.deb.old\n")


def forget_sums(machine: Machine) -> None:
    (machine.dist / "SHA256SUMS").unlink()


def be_32_bit(machine: Machine) -> None:
    machine.environ["ARCHITECTURE"] = "armhf"


def be_old(machine: Machine) -> None:
    (machine.root / "etc/os-release").write_text("VERSION_CODENAME=bullseye\n")


def have_no_package(machine: Machine) -> None:
    machine.environ["ARCHITECTURE"] = "amd64"


@needs_root
@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (damage, "is not what SHA256SUMS says"),
        (unlist, "does not list"),
        (forget_sums, "no SHA256SUMS"),
        (be_32_bit, "this system is armhf: sosa-gateway needs a 64-bit one"),
        (be_old, "this is Debian bullseye"),
        (have_no_package, "no package for Debian 13 on amd64"),
    ],
)
def test_what_is_wrong_is_told_before_anything_changes(
    machine: Machine, wrong: Callable[[Machine], None], words: str
) -> None:
    wrong(machine)
    assert words in machine.refused()


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    """A pair of whoever releases: private, public."""
    private, public = tmp_path / "release.key", tmp_path / "release.pem"
    key = Ed25519PrivateKey.generate()
    form = (Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    private.write_bytes(key.private_bytes(*form))
    public.write_bytes(public_pem(private_key(private)))
    return private, public


needs_openssl = pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl")


@needs_root
@needs_openssl
def test_signed_packages_are_taken_from_the_hand_that_is_trusted(
    machine: Machine, keys: tuple[Path, Path]
) -> None:
    private, public = keys
    assert "not signed" in machine.refused("--key", str(public))
    sign(machine.dist, private_key(private))
    assert "verified: signed" in machine.done("--key", str(public))
    sums = machine.dist / "SHA256SUMS"
    sums.write_text(sums.read_text() + f"{'0' * 64}  another.deb\n")
    assert "not signed by the key" in machine.refused("--key", str(public))


@needs_root
@needs_openssl
def test_an_installed_gateway_takes_nothing_from_another_hand(
    machine: Machine, keys: tuple[Path, Path]
) -> None:
    known = machine.root / "usr/share/sosa-gateway/release-key.pem"
    known.parent.mkdir(parents=True)
    known.write_bytes(public_pem(Ed25519PrivateKey.generate()))
    assert "not signed" in machine.refused()
    sign(machine.dist, private_key(keys[0]))
    assert "not signed by the key" in machine.refused()
    known.write_bytes(keys[1].read_bytes())
    machine.done()


@needs_root
def test_what_changes_after_it_was_verified_is_not_installed(machine: Machine) -> None:
    """A stick may give other bytes when it is read again, and others may write where it lies."""
    (package,) = machine.dist.glob("*.deb")
    content = package.read_text()
    seen = machine.root.parent / "seen"
    for name, body in (
        ("sha256sum", f'/usr/bin/sha256sum "$@"; echo other >"{package}"'),
        ("apt-get", f'for last; do :; done; cat "$last" >"{seen}"; cp -n "$FRESH" "$SETTINGS"'),
    ):
        machine.command(name, body)
    machine.done()
    assert package.read_text() == "other\n"
    assert seen.read_text() == content


@needs_root
def test_nothing_of_it_is_left_in_tmp(machine: Machine, tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    machine.environ["TMPDIR"] = str(tmp_path / "tmp")
    machine.done()
    (machine.dist / "SHA256SUMS").unlink()
    machine.refused()
    assert list((tmp_path / "tmp").iterdir()) == []


@needs_root
def test_a_slot_is_left_only_when_the_older_package_is_there(machine: Machine) -> None:
    current = slot(machine, "1.1-1~deb13")
    machine.command("apt-get", "exit 100")
    assert machine.install("--allow-downgrade").returncode == 100
    assert current.is_symlink()


@pytest.mark.parametrize(
    "content", ["", "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----"]
)
def test_what_is_no_key_signs_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "key").write_text(content)
    with pytest.raises(BuildError, match="openssl genpkey"):
        private_key(tmp_path / "key")


def test_dry_run_says_and_does_nothing(machine: Machine) -> None:
    told = machine.done("--dry-run")
    assert "would run: env DEBIAN_FRONTEND=noninteractive apt-get install" in told
    assert "would run: systemctl restart" in told
    assert machine.changes() == []
    assert not machine.settings.exists()


@needs_root
def test_it_leaves_and_keeps_the_data_unless_told_otherwise(machine: Machine) -> None:
    assert "stay" in machine.done("--uninstall")
    assert machine.changes() == ["apt-get remove -y sosa-gateway"]
    machine.done("--uninstall", "--purge")
    assert machine.changes() == ["apt-get purge -y sosa-gateway"]


def test_purge_alone_is_refused(machine: Machine) -> None:
    assert "--purge goes with --uninstall" in machine.refused("--purge", "--dry-run")


def test_an_unknown_option_is_wrong_usage(machine: Machine) -> None:
    assert machine.install("--ofline").returncode == 2


def slot(machine: Machine, version: str) -> Path:
    """A release in use beside the package."""
    slots = machine.root / "var/lib/sosa-gateway-slots"
    (slots / "releases/x").mkdir(parents=True)
    (slots / "releases/x/version").write_text(f"{version}\n")
    (slots / "current").symlink_to("releases/x")
    (slots / "previous").write_text("")
    return slots / "current"


@needs_root
def test_a_package_older_than_the_slot_in_use_takes_its_place_on_demand_alone(
    machine: Machine,
) -> None:
    current = slot(machine, "1.1-1~deb13")
    assert "release 1.1-1~deb13 is in use, which is newer" in machine.refused()
    assert current.is_symlink()
    machine.done("--allow-downgrade")
    assert not current.is_symlink()


@needs_root
def test_a_package_newer_than_the_slot_in_use_is_installed(machine: Machine) -> None:
    slot(machine, "0.9-1~deb13")
    machine.done()
    assert machine.changes()[0].startswith("apt-get install")


SERIAL = '[[modbus.buses]]\nname = "cellar"\ndevice = "/dev/ttyUSB0"\n'


@needs_root
def test_serial_ports_are_opened_where_a_bus_is_a_line(machine: Machine) -> None:
    link = machine.root / "etc/systemd/system/sosa-gateway.service.d/serial.conf"
    machine.settings.write_text(SERIAL)
    assert "may open serial ports" in machine.done()
    assert os.readlink(link) == "/usr/share/sosa-gateway/serial.conf"
    assert machine.changes()[-3:] == [
        "systemctl daemon-reload",
        "systemctl enable sosa-gateway.service",
        "systemctl restart sosa-gateway.service",
    ]
    machine.done()
    assert "systemctl daemon-reload" not in machine.changes()
    machine.settings.write_text(SERIAL.replace('"/dev/ttyUSB0"', "'/dev/ttyUSB0'"))
    machine.done()
    assert link.is_symlink()
    machine.settings.write_text(SERIAL.replace("device", "# device"))
    assert "may open none any more" in machine.done()
    assert not link.is_symlink()


@needs_root
def test_a_gateway_that_leaves_takes_its_drop_in_along(machine: Machine) -> None:
    link = machine.root / "etc/systemd/system/sosa-gateway.service.d/serial.conf"
    machine.settings.write_text(SERIAL)
    machine.done("--dry-run")
    assert not link.is_symlink()
    machine.done()
    machine.done("--uninstall")
    assert not link.is_symlink()
