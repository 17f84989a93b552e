"""The folder of data before a gateway runs: whether it can be used, and who uses it.

Place: before all other subjects of `sosa-gateway check`, as at the start of a gateway.
"""

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

from gateway.admin.profile_checks import Finding
from gateway.app.security import identities_path
from gateway.app.storage import journal_path, store_path
from gateway.config.settings import Config
from gateway.errors import GatewayError
from gateway.runtime.folders import content_trouble, folder_trouble, held_by
from gateway.runtime.holders import Holder, lock_holder, port_holder
from gateway.security.identity_store import read_identities
from gateway.store.disk.stored import locks

Where = Callable[[str, str], str]
"""Where a setting was written, with its path."""


def holder_of(config: Config) -> Holder | None:
    """The process that has the folder of data in use."""
    path = store_path(config)
    files = [journal_path(config) / "lock", *(locks(path) if path else ())]
    return next(filter(None, map(lock_holder, files)), None)


def is_own(config: Config, holder: Holder) -> bool:
    """Whether who has the folder in use is the gateway of these settings: it has their port."""
    return config.http_port == 0 or port_holder(config.http_port) == holder


def folder_findings(config: Config, where: Where) -> Iterator[Finding]:
    """What would keep a gateway from its folder of data."""
    folder, place = config.gateway.data_dir, where("gateway", "data_dir")
    holder = holder_of(config)
    if holder is not None and is_own(config, holder):
        reason = f"{folder} is in use by {holder}, which is the gateway of these settings"
        yield Finding(place, reason, is_error=False, what_to_do="stop it before you `run` another")
    elif holder is not None:
        found = held_by(folder, holder)
        yield Finding(place, found.what, what_to_do=found.what_to_do)
    trouble = folder_trouble(folder) or content_trouble(folder)
    if trouble is not None:
        yield Finding(place, trouble.what, what_to_do=trouble.what_to_do)
        return
    yield from _absent(folder, place)
    yield from _of_somebody_else(folder, place)
    yield from _too_little(config, where("journal", "free_bytes"))


def identity_findings(config: Config, where: Where) -> Iterator[Finding]:
    """What is wrong with the identities that are there."""
    path = identities_path(config)
    if not config.security.enabled or not path.exists() or not path.stat().st_size:
        return
    try:
        read_identities(path.absolute())
    except GatewayError as error:
        yield Finding.of(where("security", "enabled"), error)


def _absent(folder: Path, place: str) -> Iterator[Finding]:
    if not folder.parent.exists():
        reason = f"neither {folder} nor {folder.parent} is there: both would be made"
        hint = "correct it where that is not meant, or mount the disk"
        yield Finding(place, reason, is_error=False, what_to_do=hint)


def _of_somebody_else(folder: Path, place: str) -> Iterator[Finding]:
    """What is kept is closed to others, which the owner of the folder alone can do."""
    if not folder.exists():
        return
    found, user = folder.stat(), os.geteuid()
    is_open = bool(found.st_mode & (stat.S_IRWXG | stat.S_IRWXO))
    if is_open and user not in {0, found.st_uid}:
        reason = f"{folder} is of another user and open to others, and we cannot close it"
        hint = f"run it as the owner of the folder, or chown -R {user} {folder}"
        yield Finding(place, reason, what_to_do=hint)


def _too_little(config: Config, place: str) -> Iterator[Finding]:
    """The journal leaves some of the disk alone, and takes nothing where no more is left."""
    folder = config.gateway.data_dir
    there = next(each for each in (folder, *folder.parents) if each.exists())
    disk = os.statvfs(there)
    free, kept = disk.f_bavail * disk.f_frsize, config.journal.free_bytes
    if free < kept:
        reason = f"{free} bytes are free on the disk of {there}, so the journal takes no reading"
        yield Finding(place, reason, what_to_do="make room on the disk, or leave less of it alone")
