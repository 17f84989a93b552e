"""A disk of a few megabytes that a test can fill, and make room on."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

_BALLAST = "ballast"


class SmallDisk:
    """A file system of its own below `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def fill(self) -> None:
        """Leave not one byte."""
        with (self.path / _BALLAST).open("ab", buffering=0) as ballast:
            for size in (65_536, 4_096, 512, 1):
                try:
                    while ballast.write(bytes(size)) == size:
                        pass
                except OSError:
                    continue

    def make_room(self) -> None:
        """The reverse of `fill`."""
        (self.path / _BALLAST).unlink()


@contextmanager
def small_disk(folder: Path, size: str = "24m") -> Iterator[SmallDisk]:
    """One at a new folder; where this user may not mount, the test is skipped."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    if mount is None or umount is None:
        pytest.skip("a full disk needs mount and umount")
    folder.mkdir()
    options = f"size={size},mode=700"
    command = [mount, "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(f"a full disk needs the right to mount: {done.stderr.strip()}")
    try:
        yield SmallDisk(folder)
    finally:
        # A process that has been killed may hold files for a moment yet.
        subprocess.run([umount, "--lazy", str(folder)], check=True)
