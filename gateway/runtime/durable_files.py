"""Files that are old or new after a kill or a power cut, never half of either.

Place: under whoever puts one file, or a folder of them, into the place of another. Source:
POSIX.1-2017, rename(), fsync().
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def write_durably(
    path: Path, content: bytes, mode: int = 0o600, like: os.stat_result | None = None
) -> None:
    """Old or new, never half of it, after a power cut as well. Raises OSError.

    Where root writes, it belongs to whom something `like` it belongs to.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.new")
    fresh.unlink(missing_ok=True)
    descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with open(descriptor, "wb") as file:
        os.fchmod(descriptor, mode)
        if like is not None and os.geteuid() == 0:
            os.fchown(descriptor, like.st_uid, like.st_gid)
        file.write(content)
        file.flush()
        os.fsync(descriptor)
    fresh.replace(path)
    sync_folder(path.parent)


def link_durably(link: Path, target: str) -> None:
    """Have a symbolic link lead there from now on; it leads to the old or to the new at any time.

    Raises OSError.
    """
    fresh = link.with_name(f".{link.name}.new")
    fresh.unlink(missing_ok=True)
    fresh.symlink_to(target)
    fresh.replace(link)
    sync_folder(link.parent)


def rename_durably(path: Path, target: Path) -> None:
    """Another name for a file or folder, in the place of nothing. Raises OSError."""
    path.rename(target)
    sync_folder(target.parent)
    if path.parent != target.parent:
        sync_folder(path.parent)


def remove_durably(path: Path) -> None:
    """Take a file away, if it is there. Raises OSError."""
    path.unlink(missing_ok=True)
    sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have what was renamed in it on the disk."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(folder: Path) -> None:
    """Have everything below a folder on the disk; linear in the files. Raises OSError."""
    for place, _, files in os.walk(folder):
        for name in files:
            path = Path(place, name)
            if not path.is_symlink():
                _sync_file(path)
        sync_folder(Path(place))


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def remove_tree(folder: Path) -> None:
    """Take a folder away with what is in it, if it is there. Raises OSError."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


@contextmanager
def as_owner(folder: Path) -> Iterator[None]:
    """Do, where root does it, as the owner of a folder would: what is made there is the owner's.

    A link that the owner has put there leads root nowhere that the owner may not go. For a process
    of one thread.
    """
    found = folder.stat()
    if os.geteuid() != 0 or found.st_uid == 0:
        yield
        return
    groups, group = os.getgroups(), os.getegid()
    os.setgroups([])
    os.setegid(found.st_gid)
    os.seteuid(found.st_uid)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(group)
        os.setgroups(groups)
