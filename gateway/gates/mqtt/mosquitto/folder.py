"""The folder that a Mosquitto beside the gateway reads: whole files, for its group, nobody else's.

Place: outside the folder of data, which is the gateway's user's alone. A file is replaced only
where it would change, since a unit of systemd looks at the folder and has Mosquitto read it again.
"""

import grp
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from gateway.errors import StorageError
from gateway.gates.mqtt.mosquitto.configuration import (
    CERTIFICATE,
    CONFIGURATION,
    HEAD,
    KEY,
    PASSWORDS,
    RULES,
)
from gateway.runtime.durable_files import remove_durably, write_durably
from gateway.runtime.folders import disk_error

GROUP = "mosquitto"
_FOLDER_MODE, _FILE_MODE = 0o750, 0o640
_OTHERS = 0o007


def write(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Have these files there, in this order; whether one has changed. Raises StorageError."""
    try:
        _make(folder)
        changed = [name for name, content in files.items() if _replace(folder / name, content)]
    except OSError as error:
        raise _fault(folder, error) from error
    return bool(changed)


def remove(folder: Path) -> bool:
    """Take away what we have written, if the configuration is ours; whether it was.

    The configuration first, without which nobody reads the others. Raises StorageError.
    """
    path = folder / CONFIGURATION
    try:
        if not path.is_file() or not path.read_text(encoding="utf-8", errors="replace").startswith(
            HEAD
        ):
            return False
        for name in (CONFIGURATION, KEY, CERTIFICATE, PASSWORDS, RULES):
            remove_durably(folder / name)
    except PermissionError:
        return False  # of somebody else's gateway
    except OSError as error:
        raise _fault(folder, error) from error
    return True


def _fault(folder: Path, error: OSError) -> StorageError:
    return disk_error(
        f"cannot write what Mosquitto is to read into {folder}",
        folder,
        error,
        "install Mosquitto, give the folder to the gateway's user, or name another: "
        "[mqtt] mosquitto_dir",
    )


def _make(folder: Path) -> None:
    """The folder, where the package has not made it; what is open to others is closed."""
    if not folder.exists():
        folder.mkdir(mode=_FOLDER_MODE, parents=True)
        folder.chmod(_FOLDER_MODE)
        _give(folder)
    mode = folder.stat().st_mode
    if mode & _OTHERS:
        folder.chmod(mode & 0o7770)


def _give(path: Path) -> None:
    """To Mosquitto's group, where there is one and we may; with setgid its files have it too."""
    with suppress(KeyError, PermissionError):
        os.chown(path, -1, grp.getgrnam(GROUP).gr_gid)


def _replace(path: Path, content: bytes) -> bool:
    """Whether it had to be; where root writes, it belongs to whom the folder does."""
    with suppress(FileNotFoundError):
        if path.read_bytes() == content and not path.stat().st_mode & _OTHERS:
            return False
    write_durably(path, content, _FILE_MODE, like=path.parent.stat())
    return True
