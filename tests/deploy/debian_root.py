"""A Debian of its own in a folder, to install into: made once, copied for each test that asks."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from deploy.raspberrypi.builder.targets import RELEASES, Target
from tests.kit.blocks import Block
from tests.paths import ROOT

ROOTS = ROOT / "build" / "roots"
ARCHITECTURE = {"x86_64": "amd64", "aarch64": "arm64"}.get(os.uname().machine, "")
SYSTEM_PATH = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8"}


def host_target(suite: str) -> Target:
    """For packages that run here; the test is skipped on another architecture."""
    if not ARCHITECTURE:
        pytest.skip(f"no package for {os.uname().machine}")
    return Target(suite, ARCHITECTURE)


class DebianRoot:
    """A root to which one changes; what it needs of the kernel is not mounted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, *command: str, user: str = "root", status: int = 0, typed: str = "") -> str:
        """What it writes; the test fails where it ends with another status.

        `typed` is what it is told when it asks.
        """
        done = subprocess.run(
            ("chroot", f"--userspec={user}", str(self.path), *command),
            check=False,
            text=True,
            input=typed,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=SYSTEM_PATH,
        )
        assert done.returncode == status, done.stdout
        return done.stdout

    def follow(self, block: Block, folder: str, typed: str = "") -> str:
        """The commands of a document in a folder, typed by root, who needs no sudo."""
        sudo = self.path / "usr/local/bin/sudo"
        sudo.write_text('#!/bin/sh\nexec "$@"\n')
        sudo.chmod(0o755)
        path = "PATH=/usr/local/bin:$PATH"
        return self.run("sh", "-ec", f"{path}\ncd {folder}\n{block.text}", typed=typed)

    def command(self, *command: str, user: str) -> tuple[str, ...]:
        """To be started by somebody else."""
        return ("chroot", f"--userspec={user}", str(self.path), *command)


@contextmanager
def debian_root(suite: str, folder: Path) -> Iterator[DebianRoot]:
    """A fresh root of a release; the test is skipped where none can be made."""
    if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
        pytest.skip("a Debian root needs root and mmdebstrap (apt install mmdebstrap)")
    tar = ROOTS / f"{suite}-{ARCHITECTURE}.tar"
    if not tar.exists():
        _make(suite, tar)
    path = folder / "debian"
    path.mkdir(mode=0o755)
    subprocess.run(("tar", "-C", str(path), "-xf", str(tar)), check=True)
    try:
        yield DebianRoot(path)
    finally:
        shutil.rmtree(path, ignore_errors=True)


def _make(suite: str, tar: Path) -> None:
    ROOTS.mkdir(parents=True, exist_ok=True)
    packages = f"--include=python{RELEASES[suite].python},systemd,ca-certificates"
    fresh = tar.with_suffix(".fresh.tar")
    command = ("mmdebstrap", "--variant=minbase", packages, suite, str(fresh))
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=SYSTEM_PATH)
    if done.returncode:
        pytest.skip(f"no mirror of Debian: {done.stderr[-500:]}")
    fresh.rename(tar)
