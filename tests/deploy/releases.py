"""Releases as a stick has them: a package under other versions, signed, sound or broken."""

import re
import shutil
import subprocess
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from deploy.raspberrypi.builder.archive import complete

_LIB = "usr/lib/sosa-gateway"


def put_release(
    stick: Path, package: Path, version: str, key: Ed25519PrivateKey, *, is_broken: bool = False
) -> None:
    """The package again under another version; a broken one lacks a module that a start needs."""
    tree = stick / f"tree-{version}"
    subprocess.run(("dpkg-deb", "-R", str(package), str(tree)), check=True)
    (tree / _LIB / "version").write_text(f"{version}\n")
    control = tree / "DEBIAN/control"
    control.write_text(re.sub(r"(?m)^Version: .*$", f"Version: {version}", control.read_text()))
    if is_broken:
        for folder in (tree / _LIB).glob("venv/lib/python3*/site-packages/fastapi"):
            shutil.rmtree(folder)
    name, _, architecture = package.stem.split("_")
    target = stick / f"{name}_{version}_{architecture}.deb"
    command = ("dpkg-deb", "--root-owner-group", "-Znone", "--build", str(tree), str(target))
    subprocess.run(command, check=True, capture_output=True)
    shutil.rmtree(tree)
    complete(stick, stick.glob("*.deb"), key)
