"""Small files of the archive's own: written whole or not at all, locks, links.

Place on the way of the data: under plans, quarantine and reports.
"""

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EDQUOT, EFBIG, ENOSPC
from pathlib import Path
from typing import Any

from spark_batch.errors import ArchiveError, BusyError, DiskFullError

_FULL = ("No space left on device", "Disk quota exceeded", "File too large")


def write_whole(path: Path, text: str) -> None:
    """Durable, and visible only when complete; replaces what was there."""
    path.parent.mkdir(parents=True, exist_ok=True)
    begun = path.with_name(f".{path.name}.part")
    try:
        with begun.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        begun.replace(path)
    except OSError as error:
        begun.unlink(missing_ok=True)
        raise broken(path, error) from error
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def write_json(path: Path, value: object) -> None:
    """`write_whole` of a JSON value."""
    write_whole(path, json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n")


def read_json(path: Path) -> Any:
    """The value in a file of our own; raises ArchiveError when somebody damaged it."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ArchiveError(f"{path} cannot be read: {error}", "restore it from a backup") from error


def link_or_copy(source: Path, target: Path) -> None:
    """A second name for a file, or a copy where the file system has no links."""
    target.parent.mkdir(parents=True, exist_ok=True)
    with suppress(FileExistsError):
        try:
            os.link(source, target)
        except FileExistsError:
            raise
        except OSError:
            shutil.copyfile(source, target)


@contextmanager
def lock(path: Path, job: str) -> Iterator[None]:
    """Hold the lock of a job, or raise BusyError at once; the kernel lets go when we die."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a")
    except OSError as error:
        raise broken(path, error) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            raise BusyError(
                f"another run of {job} is at work on {path.parent}", "wait until it has ended"
            ) from error
        yield


def broken(path: Path, error: OSError) -> ArchiveError:
    """What a failing disk means for a job."""
    if error.errno in (ENOSPC, EDQUOT, EFBIG):
        return full(path)
    return ArchiveError(
        f"{path} cannot be written: {error.strerror or error}", "mend the disk or its rights"
    )


def full(path: Path) -> DiskFullError:
    """There is no room at `path`."""
    return DiskFullError(
        f"no room at {path}: nothing was committed",
        "free disk space and run the job again; it goes on where it stood",
    )


def is_full(message: str) -> bool:
    """Whether a message of the JVM or of a library tells of a full disk."""
    return any(text in message for text in _FULL)
