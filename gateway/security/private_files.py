"""What the gateway keeps belongs to its user alone: keys, readings, messages.

Place: before anything below `data_dir` is opened, once. RocksDB and SQLite make files with the mode
that the process's umask leaves; so the umask is the one place that holds for all, and for the
processes that we start. Source: POSIX.1-2017, umask().
"""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

from gateway.runtime.folders import disk_error

log = logging.getLogger(__name__)

_OTHERS = 0o077


def keep_private(folder: Path) -> None:
    """Make the folder, and let nobody else into it or into what the process makes from now on.

    What lies below and is open to others is mended; linear in the files. Raises StorageError where
    the folder itself cannot be closed; below it, what belongs to another user is logged.
    """
    os.umask(_OTHERS)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        _close(folder)
    except OSError as error:
        raise disk_error(
            f"cannot keep {folder} to this user",
            folder,
            error,
            "give the folder to the user that runs the gateway (chown -R)",
        ) from error
    for path in _below(folder):
        try:
            _close(path)
        except FileNotFoundError:
            pass  # a gateway that runs has taken it away
        except OSError as error:
            log.warning("file_not_private", extra={"path": str(path), "reason": error.strerror})


def _below(folder: Path) -> Iterator[Path]:
    """Files and folders, those by symbolic links apart, folders before what is in them."""
    for place, folders, files in os.walk(folder):
        for name in (*folders, *files):
            path = Path(place, name)
            if not path.is_symlink():
                yield path


def _close(path: Path) -> None:
    mode = path.stat().st_mode
    if mode & _OTHERS:
        path.chmod(mode & 0o700)
