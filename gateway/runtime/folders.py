"""Why nothing can be kept in a folder: found by looking at it, told so that a person can mend it.

Place: behind every error of a disk at the start, and `sosa-gateway check`, which asks before it.
Looking changes nothing. Source: POSIX.1-2017, statvfs(), access().
"""

import os
import pwd
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from gateway.errors import StorageError
from gateway.runtime.holders import Holder, lock_holder

LEAST_BYTES = 1_048_576
"""With less free, no store opens: it begins a log and a manifest."""

_ELSEWHERE = "or name another folder: [gateway] data_dir"


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong, where that is, and what a person can do about it."""

    what: str
    what_to_do: str


def held_by(path: Path, holder: Holder) -> Trouble:
    """The folder is used by a process that lives."""
    pid = f"kill {holder.pid}, or " if holder.pid else ""
    return Trouble(
        f"{path} is in use by {holder}",
        f"stop it ({pid}by what started it), {_ELSEWHERE}",
    )


def folder_trouble(folder: Path, least_bytes: int = LEAST_BYTES) -> Trouble | None:
    """Why nothing can be written into a folder, which need not be there yet; None: it can be."""
    for place in (folder, *folder.parents):
        try:
            mode = place.stat().st_mode
        except NotADirectoryError:
            continue
        except FileNotFoundError:
            if place.is_symlink():
                return Trouble(
                    f"{place} is a link to {os.readlink(place)}, which is not there",
                    f"make that folder, mount its disk, {_ELSEWHERE}",
                )
            continue
        except PermissionError:
            return _denied(place.parent)
        except OSError as error:
            return Trouble(f"{place} cannot be looked at: {error.strerror}", "mend the disk")
        if not stat.S_ISDIR(mode):
            return Trouble(f"{place} is a file, no folder", f"move it away, {_ELSEWHERE}")
        return _unwritable(place) or _full(place, least_bytes)
    return None


def content_trouble(folder: Path) -> Trouble | None:
    """Why what lies in a folder cannot be used by this user; linear in the files."""
    wrong = [path for path in _below(folder) if not _is_usable(path)]
    if not wrong:
        return None
    others = f", and {len(wrong) - 1} more there" if len(wrong) > 1 else ""
    return Trouble(
        f"{_me()} may not use {wrong[0]}, which belongs to {_owner(wrong[0])}{others}",
        _as_its_user(wrong[0], folder),
    )


def trouble(folder: Path, locks: Iterable[Path] = ()) -> Trouble | None:
    """Why a folder with files that are locked while in use does not open; None: not to be seen."""
    for path in locks:
        if holder := lock_holder(path):
            return held_by(folder, holder)
    return folder_trouble(folder) or content_trouble(folder)


def disk_error(
    what: str, folder: Path, error: Exception, otherwise: str, locks: Iterable[Path] = ()
) -> StorageError:
    """The error for a disk that does not do its work, by its cause where that can be seen.

    `otherwise` is what to do where it cannot.
    """
    found = trouble(folder, locks)
    if found is None:
        return StorageError(f"{what}: {getattr(error, 'strerror', None) or error}", otherwise)
    return StorageError(f"{what}: {found.what}", found.what_to_do)


def _unwritable(place: Path) -> Trouble | None:
    if os.statvfs(place).f_flag & os.ST_RDONLY:
        return Trouble(
            f"the file system of {place} is mounted read-only",
            f"mount it for writing (a damaged one is mounted so: see dmesg), {_ELSEWHERE}",
        )
    return None if os.access(place, os.W_OK | os.X_OK, effective_ids=True) else _denied(place)


def _full(place: Path, least_bytes: int) -> Trouble | None:
    disk = os.statvfs(place)
    free = disk.f_bavail * disk.f_frsize
    if free < least_bytes:
        return Trouble(
            f"the disk of {place} is full: {free} bytes are free, {least_bytes} are needed",
            f"make room on it, {_ELSEWHERE}",
        )
    if disk.f_files and not disk.f_favail:
        return Trouble(
            f"the disk of {place} takes no more files: all its inodes are used",
            f"remove files on it, {_ELSEWHERE}",
        )
    return None


def _denied(place: Path) -> Trouble:
    return Trouble(
        f"{_me()} may not write in {place}, which belongs to {_owner(place)}",
        f"{_as_its_user(place, place)}, {_ELSEWHERE}",
    )


def _as_its_user(place: Path, folder: Path) -> str:
    return f"run it as its owner (sudo -u {_owner(place)}), or chown -R {_me()} {folder}"


def _below(folder: Path) -> Iterator[Path]:
    for place, folders, files in os.walk(folder):
        yield from (Path(place, name) for name in (*folders, *files))


def _is_usable(path: Path) -> bool:
    """Whether it can be read and written, or is gone or a link."""
    if path.is_symlink() or not path.exists():
        return True
    wanted = os.R_OK | os.W_OK | (os.X_OK if path.is_dir() else 0)
    return os.access(path, wanted, effective_ids=True)


def _me() -> str:
    return _name(os.geteuid())


def _owner(place: Path) -> str:
    try:
        return _name(place.stat().st_uid)
    except OSError:
        return "somebody"


def _name(user: int) -> str:
    try:
        return pwd.getpwuid(user).pw_name
    except KeyError:
        return f"user {user}"
