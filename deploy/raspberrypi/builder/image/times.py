"""The times in a file system of an image: the same for the same sources, whenever it is built.

mke2fs copies those of the files that it is given, among them when an inode was last changed, which
no program can set in a folder; so these are set in what it made.
Sources: debugfs(8), set_inode_field; dumpe2fs(8); reproducible-builds.org, "SOURCE_DATE_EPOCH".
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from deploy.raspberrypi.builder.image.commands import call

_ROOT, _FIRST = 2, 11
"""Inodes: of the root's folder, and the first that is not the file system's own."""

_FIELDS = ("atime", "ctime", "crtime")


def no_later(folder: Path, epoch: int) -> None:
    """Have nothing in a folder be changed after `epoch`.

    What is older stays: the bytecode of Debian's own modules notes when these were made.
    """
    for path in (folder, *folder.rglob("*")):
        if path.lstat().st_mtime > epoch:
            os.utime(path, (epoch, epoch), follow_symlinks=False)


def set_times(file_system: str, epoch: int) -> None:
    """Have all in an ext4 be made, and last read, at `epoch`. Raises BuildError.

    `file_system` is an image, with `?offset=` of the partition in it, in bytes.
    """
    told = call("dumpe2fs", file_system)
    lines = [
        f"set_inode_field <{each}> {name} @{epoch}" for each in _used(told) for name in _FIELDS
    ]
    # With a time of its own: it notes in the file system when it wrote there.
    call("debugfs", "-w", "-f", "-", file_system, given="\n".join([*lines, ""]), epoch=epoch)


def _used(told: str) -> Iterator[int]:
    """Numbers of inodes that something is in, by what dumpe2fs says of each group."""
    free = {
        number
        for line in re.findall(r"^  Free inodes: (.*)$", told, re.MULTILINE)
        for first, last in re.findall(r"(\d+)(?:-(\d+))?", line)
        for number in range(int(first), int(last or first) + 1)
    }
    count = re.search(r"^Inode count: +(\d+)$", told, re.MULTILINE)
    yield _ROOT
    yield from (n for n in range(_FIRST, int(count[1]) + 1 if count else 0) if n not in free)
