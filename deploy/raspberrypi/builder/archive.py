"""A Debian package of a tree: control files, sums, `dpkg-deb`; the same bytes for the same sources.

Sources: Debian Policy Manual 4.6, chapters 5 to 7; deb(5), deb-control(5);
reproducible-builds.org, "SOURCE_DATE_EPOCH".
"""

import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.raspberrypi.builder.errors import BuildError
from deploy.raspberrypi.builder.signing import seal
from deploy.raspberrypi.builder.tree import (
    CONFIGURATION,
    DEBIAN,
    NAME,
    Contents,
    installed_kib,
    package_version,
)

INSTALLER = DEBIAN.parent / "install.sh"
_SCRIPTS = ("postinst", "prerm", "postrm")


def pack(root: Path, contents: Contents, output: Path) -> Path:
    """Make the package of a tree in the folder `output`. Raises BuildError."""
    target = contents.target
    _control(root, contents)
    version = package_version(contents.version, target)
    output.mkdir(parents=True, exist_ok=True)
    package = output / f"{NAME}_{version}_{target.architecture}.deb"
    for path in (root, *root.rglob("*")):
        os.utime(path, (contents.epoch, contents.epoch), follow_symlinks=False)
    command = ("dpkg-deb", "--root-owner-group", "-Zxz", "-z1", "--threads-max=1", "--build")
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(contents.epoch)}
    done = subprocess.run(
        (*command, str(root), str(package)),
        check=False,
        capture_output=True,
        text=True,
        env=environment,
    )
    if done.returncode:
        raise BuildError(done.stderr.strip(), "apt install dpkg; version 1.21.9 or newer")
    return package


def complete(output: Path, made: Iterable[Path], key: Ed25519PrivateKey | None = None) -> None:
    """Put beside the packages what installs them, and the sums that it verifies (`seal`)."""
    shutil.copy(INSTALLER, output / INSTALLER.name)
    seal(output, made, key)


def _control(root: Path, contents: Contents) -> None:
    folder = root / "DEBIAN"
    folder.mkdir()
    version = package_version(contents.version, contents.target)
    fields = (DEBIAN / "control").read_text(encoding="utf-8")
    for name, value in {
        "VERSION": version,
        "ARCHITECTURE": contents.target.architecture,
        "PYTHON": contents.target.python,
        "GLIBC": "2.28",
        "KIB": str(installed_kib(root)),
    }.items():
        fields = fields.replace(f"@{name}@", value)
    (folder / "control").write_text(fields, encoding="utf-8")
    (folder / "conffiles").write_text(f"/{CONFIGURATION}\n", encoding="utf-8")
    (folder / "md5sums").write_text(_sums(root), encoding="utf-8")
    for name in _SCRIPTS:
        shutil.copyfile(DEBIAN / name, folder / name)
        (folder / name).chmod(0o755)
    for name in ("control", "conffiles", "md5sums"):
        (folder / name).chmod(0o644)
    folder.chmod(0o755)


def _sums(root: Path) -> str:
    """As dpkg --verify reads them: of every file but conffiles."""
    conffile = root / CONFIGURATION
    files = sorted(
        path
        for path in root.rglob("*")
        if path.is_file() and not path.is_symlink() and root / "DEBIAN" not in path.parents
    )
    return "".join(
        f"{hashlib.md5(path.read_bytes(), usedforsecurity=False).hexdigest()}"
        f"  {path.relative_to(root)}\n"
        for path in files
        if path != conffile
    )
