"""The tree of files of a package: what lies where on the device, with its modes.

    usr/lib/sosa-gateway/venv      interpreter link and packages; nothing writes there
    usr/lib/sosa-gateway/version   that of the package, by which releases are compared
    usr/bin/sosa-gateway           runs the command with that interpreter, cut off from all others
    etc/sosa-gateway/gateway.toml  the settings, a conffile
    var/lib/sosa-gateway-slots     for releases of `sosa-gateway upgrade`; root's, and empty
    usr/lib/systemd, sysusers.d, tmpfiles.d, usr/share/{man,doc,bash-completion,lintian}

Sources: Debian Policy Manual 4.6, sections 9.1, 10.7, 12.1 to 12.7; PEP 405 (pyvenv.cfg).
"""

import gzip
import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.manual import command_page, completion, settings_page
from deploy.raspberrypi.builder.site import slim
from deploy.raspberrypi.builder.targets import Target
from gateway.cli.options import Documented

DEBIAN = Path(__file__).parents[1] / "debian"
"""What goes into the package as it stands."""

NAME = "sosa-gateway"
LIB = Path("usr/lib", NAME)
VENV = LIB / "venv"
SLOTS = Path("var/lib", f"{NAME}-slots")
RELEASE_KEY = Path("usr/share", NAME, "release-key.pem")
CONFIGURATION = Path("etc", NAME, "gateway.toml")

_FOLDERS = {"data_dir": f"/var/lib/{NAME}", "mosquitto_dir": f"/var/lib/{NAME}-mosquitto"}

LAUNCHER = """\
#!/bin/sh
# The release in use; what changes it is the package's own code, which no release replaces.
home=/usr/lib/sosa-gateway
slot=/var/lib/sosa-gateway-slots/current
[ "${1-}" = upgrade ] || [ ! -x "$slot/venv/bin/python3" ] || home=$slot
# -I: no module of the folder one stands in, none of the user's, no PYTHON* variable.
exec "$home/venv/bin/python3" -I -m gateway "$@"
"""


@dataclass(frozen=True, slots=True)
class Contents:
    """What is said of a package: its version, when it was made, where, what commands it has.

    `release_key` is PEM, of whoever signs releases; b"" for nobody.
    """

    target: Target
    version: str
    epoch: int
    checkout: Path
    commands: Sequence[Documented]
    release_key: bytes = b""


def package_version(version: str, target: Target) -> str:
    """That of a newer release of Debian sorts behind that of an older one."""
    return f"{version}-1~deb{target.release.number}"


def site_packages(target: Target) -> Path:
    """Below the root."""
    return VENV / "lib" / f"python{target.python}" / "site-packages"


def lay_out(root: Path, contents: Contents) -> None:
    """Put all but the packages into the root; those lie in `site_packages` already."""
    slim(root / site_packages(contents.target))
    _interpreter(root / VENV, contents.target)
    _put(root / "usr/bin" / NAME, LAUNCHER)
    _put(root / LIB / "version", f"{package_version(contents.version, contents.target)}\n")
    _put(root / CONFIGURATION, configuration(contents.checkout))
    (root / SLOTS).mkdir(parents=True)
    _systemd(root)
    _documents(root, contents)
    if contents.release_key:
        _put(root / RELEASE_KEY, contents.release_key.decode("ascii"))
    _manual(root, contents)
    for path in (root, *root.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or _runs(path, root) else 0o644)


def configuration(checkout: Path) -> str:
    """gateway.example.toml with the folders where a service has them. Raises BuildError."""
    text = (checkout / "gateway.example.toml").read_text(encoding="utf-8")
    for setting, folder in _FOLDERS.items():
        pattern, there = rf'^{setting} = "[a-z]+" {{0,24}}', f'{setting} = "{folder}" '
        text, count = re.subn(pattern, there, text, flags=re.MULTILINE)
        if count != 1:
            raise BuildError(f"gateway.example.toml has no {setting} of its own", "let it have one")
    return text


def _interpreter(venv: Path, target: Target) -> None:
    """A virtual environment is a link and a file that says whose it is (PEP 405)."""
    (venv / "bin").mkdir(parents=True, exist_ok=True)
    (venv / "bin" / "python3").symlink_to(f"../../../../bin/python{target.python}")
    settings = "home = /usr/bin\ninclude-system-site-packages = false\n"
    _put(venv / "pyvenv.cfg", f"{settings}version = {target.python}\n")


def _systemd(root: Path) -> None:
    for unit in sorted([*DEBIAN.glob("*.service"), *DEBIAN.glob("*.path")]):
        _copy(unit.name, root / "usr/lib/systemd/system")
    _copy("sysusers.conf", root / "usr/lib/sysusers.d", f"{NAME}.conf")
    _copy("tmpfiles.conf", root / "usr/lib/tmpfiles.d", f"{NAME}.conf")
    _copy("serial.conf", root / "usr/share" / NAME)


def _documents(root: Path, contents: Contents) -> None:
    documents = root / "usr/share/doc" / NAME
    _copy("copyright", documents)
    _copy("README.Debian", documents)
    stamp = f"{contents.version} for Debian {contents.target.release.number}"
    log = f"{NAME} ({contents.version}) {contents.target.suite}; urgency=medium\n\n"
    log += f"  * {stamp}; CHANGELOG.md of the sources says what changed.\n\n"
    log += f" -- sosa-gateway maintainers <maintainers@sosa-gateway.example>  {_day(contents)}\n"
    _pack(documents / "changelog.Debian.gz", log)
    _copy("lintian-overrides", root / "usr/share/lintian/overrides", NAME)


def _day(contents: Contents) -> str:
    """As RFC 5322 writes it."""
    return formatdate(contents.epoch).replace("-0000", "+0000")


def _manual(root: Path, contents: Contents) -> None:
    manual = root / "usr/share/man"
    said = contents.version, contents.epoch
    _pack(manual / "man1" / f"{NAME}.1.gz", command_page(contents.commands, *said))
    text = settings_page(configuration(contents.checkout), *said)
    _pack(manual / "man5" / f"{NAME}.toml.5.gz", text)
    words = completion(contents.commands)
    _put(root / "usr/share/bash-completion/completions" / NAME, words)


def _runs(path: Path, root: Path) -> bool:
    return path.parent == root / "usr/bin"


def _put(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _copy(name: str, folder: Path, called: str = "") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(DEBIAN / name, folder / (called or name))


def _pack(path: Path, text: str) -> None:
    """Compressed as policy has it, without name and time of the file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode(), compresslevel=9, mtime=0))


def installed_kib(root: Path) -> int:
    """KiB on a disk of blocks of 4 KiB."""
    files = (path for path in root.rglob("*") if not path.is_symlink() and path.is_file())
    return sum(-(-os.lstat(path).st_size // 4096) * 4 for path in files)
