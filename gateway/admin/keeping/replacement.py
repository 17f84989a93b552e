"""`Replacement`: other data in the place of what a gateway has, all of it or nothing.

    data_dir/replacement/new/… -> plan.json -> at the next start in the place of the old

Place: prepared by `sosa-gateway restore` and by the updater where it goes back, while the gateway
runs or not; finished at a gateway's start, before anything of its data is opened. Killed at any
moment, the next start has the old data or the new, never some of both. What was replaced stays in
`data_dir/replaced` until the next time.
"""

import hashlib
import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Self

from gateway.journal.manifest import note_epoch
from gateway.journal.spool import claim
from gateway.runtime.durable_files import (
    remove_durably,
    remove_tree,
    rename_durably,
    sync_folder,
    sync_tree,
    write_durably,
)
from gateway.runtime.folders import disk_error

REPLACEMENT, REPLACED = "replacement", "replaced"
BEFORE_UPGRADE = "kept"
"""Data from before an upgrade: of the life that ends where other data takes its place."""

_PLAN, _NEW, _OLD = "plan.json", "new", "old"


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to happen: `names` get new content, `dropped` go without any.

    The next epoch is higher than `epoch`. With `settings`, a file that is none of the data, all
    this holds once that file has the content with the sum `sha256`.
    """

    why: str
    names: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    epoch: int = 0
    settings: str = ""
    sha256: str = ""

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """That of a folder of replacement; None where it is not complete."""
        try:
            told = json.loads((folder / _PLAN).read_bytes())
        except FileNotFoundError:
            return None
        told["names"], told["dropped"] = tuple(told["names"]), tuple(told["dropped"])
        return cls(**told)

    def encode(self) -> bytes:
        """As it is written."""
        return json.dumps(asdict(self), indent=1).encode()

    def awaiting(self, settings: "NewSettings") -> Self:
        """The same, undecided until these settings are in their file."""
        sha256 = hashlib.sha256(settings.content).hexdigest()
        return replace(self, settings=str(settings.file), sha256=sha256)

    @property
    def holds(self) -> bool:
        """Whether it is decided: the settings that belong to it are in force."""
        if not self.settings:
            return True
        try:
            return hashlib.sha256(Path(self.settings).read_bytes()).hexdigest() == self.sha256
        except OSError:
            return False


@dataclass(frozen=True, slots=True)
class NewSettings:
    """The file that the settings are in, and what is to be in it."""

    file: Path
    content: bytes


def prepare(data: Path) -> Path:
    """An empty folder for the new content, which nothing reads before `commit`. Raises OSError."""
    folder = data / REPLACEMENT
    if folder.exists():
        remove_durably(folder / _PLAN)
        remove_tree(folder)
    new = folder / _NEW
    new.mkdir(parents=True, mode=0o700)
    return new


def commit(data: Path, plan: Plan) -> None:
    """Decide that the new content takes its place at the next start. Raises OSError."""
    folder = data / REPLACEMENT
    sync_tree(folder)
    sync_folder(data)
    write_durably(folder / _PLAN, plan.encode())


def is_waiting(data: Path) -> bool:
    """Whether a replacement is decided and not finished."""
    plan = Plan.read(data / REPLACEMENT)
    return plan is not None and plan.holds


def finish(data: Path) -> Plan | None:
    """Finish what was decided, forget what was not; None where there was nothing.

    Raises StorageError, also where another process has the data in use.
    """
    folder = data / REPLACEMENT
    if not folder.exists():
        return None
    try:
        with _claimed(data / "journal"):
            plan = Plan.read(folder)
            if plan is None or not plan.holds:
                remove_durably(folder / _PLAN)
                remove_tree(folder)
                return None
            _finish(data, folder, plan)
            return plan
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise disk_error(
            f"the data in {data} cannot be replaced",
            data,
            error if isinstance(error, OSError) else OSError(str(error)),
            f"mend the disk and start again, or remove {folder}",
        ) from error


def _finish(data: Path, folder: Path, plan: Plan) -> None:
    (folder / _OLD).mkdir(exist_ok=True)
    for name in plan.names:
        if os.path.lexists(folder / _NEW / name):
            _put_aside(data / name, folder / _OLD)
            rename_durably(folder / _NEW / name, data / name)
    for name in plan.dropped:
        _put_aside(data / name, folder / _OLD)
    if plan.epoch:
        note_epoch(data / "journal", plan.epoch)
    remove_tree(data / REPLACED)
    rename_durably(folder, data / REPLACED)
    remove_durably(data / REPLACED / _PLAN)


def _put_aside(path: Path, old: Path) -> None:
    """Somebody may have made it anew since it was put aside before a kill."""
    if os.path.lexists(path):
        names = (f"{path.name}{suffix}" for suffix in ("", *(f".{n}" for n in range(1, 100))))
        rename_durably(path, next(old / name for name in names if not os.path.lexists(old / name)))


@contextmanager
def _claimed(journal: Path) -> Iterator[None]:
    """Nobody has the data in use meanwhile. Raises StorageError."""
    if not journal.is_dir():
        yield
        return
    descriptor = claim(journal)
    try:
        yield
    finally:
        os.close(descriptor)


def put(new: Path, names: Sequence[str]) -> tuple[str, ...]:
    """Which of the names have new content."""
    return tuple(name for name in names if os.path.lexists(new / name))
