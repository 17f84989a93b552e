"""`Backups`: what a gateway keeps, as one file, while it runs.

    store: a checkpoint | clients: a copy by SQLite | certificates, saved queries, settings: as they
    are -> gateway.admin.keeping.archive

The journal is not in it: what is sealed goes to the archive (docs/shipping.md). The position up to
which the store has it is, and so a journal that is still there is applied from there on.
"""

import json
import os
import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain
from pathlib import Path

from gateway import __version__
from gateway.admin.keeping.archive import Member, packed
from gateway.errors import ConflictError
from gateway.journal import Journal
from gateway.journal.lineage import lineage
from gateway.runtime.durable_files import remove_tree
from gateway.runtime.folders import disk_error
from gateway.runtime.forms import Forms
from gateway.store.disk.migration import form_of
from gateway.store.quad_store import QuadStore

FORMAT = 1
HEAD = "backup.json"
DATA, SETTINGS = "data/", "settings/"
KEPT = ("store", "security", "tls", "federation", "saved.jsap")
"""What of the folder of data a gateway is; all else is its journal, or can be done without."""

_IDENTITIES = Path("security", "identities.sqlite")
_CHECKPOINT = "backup"
_GENERATION = "1"


@dataclass(frozen=True, slots=True)
class SettingsFiles:
    """The file of settings, None where there is none, and the files that it names."""

    file: Path | None = None
    named: tuple[Path, ...] = ()

    def members(self) -> Iterator[Member]:
        """What lies in the folder of the settings, or below it."""
        if self.file is not None:
            yield Member(f"{SETTINGS}{self.file.name}", self.file.read_bytes())
            for path in self._here():
                name = os.path.relpath(path, self.file.parent)
                yield Member(f"{SETTINGS}{name}", path.read_bytes())

    def left_out(self) -> list[str]:
        """Files elsewhere, which nobody would find again there."""
        return [str(each) for each in self.named if each not in self._here()]

    def _here(self) -> list[Path]:
        if self.file is None:
            return []
        # By their names there, not where links lead: so the settings name them.
        folder = os.path.abspath(self.file.parent)
        return [
            path
            for path in dict.fromkeys(self.named)
            if os.path.abspath(path).startswith(f"{folder}{os.sep}") and path.is_file()
        ]


class Backups:
    """Makes one after the other; in any thread. `store` is None where it is in memory."""

    def __init__(
        self,
        data: Path,
        store: QuadStore | None,
        journal: Journal,
        settings: SettingsFiles,
    ) -> None:
        self._data = data
        self._store = store
        self._journal = journal
        self._settings = settings
        self._one = threading.Lock()
        remove_tree(data / _CHECKPOINT)

    def make(self, passphrase: str = "") -> Iterator[bytes]:
        """The bytes of a backup of now; encrypted, where there is a passphrase.

        Raises ConflictError while another is made, StorageError.
        """
        if not self._one.acquire(blocking=False):
            raise ConflictError("a backup is being made already", "wait until it is done")
        parts = self._made(passphrase)
        return chain([next(parts)], parts)  # from here on it is let go of, however it ends

    def _made(self, passphrase: str) -> Iterator[bytes]:
        checkpoint = self._data / _CHECKPOINT
        try:
            checkpoint.mkdir(mode=0o700)
            yield from packed(list(self._members(checkpoint)), passphrase)
        except (OSError, sqlite3.Error) as error:
            raise disk_error(
                "the backup cannot be made", self._data, error, "mend the disk"
            ) from error
        finally:
            remove_tree(checkpoint)
            self._one.release()

    def _members(self, checkpoint: Path) -> Iterator[Member]:
        """All of it is there before the first byte is asked for."""
        yield Member(HEAD, json.dumps(self._head(), indent=1).encode())
        yield from self._settings.members()
        if self._store is not None:
            (checkpoint / "store").mkdir()
            self._store.copy_to(checkpoint / "store" / _GENERATION)
            yield Member(f"{DATA}store/current", _GENERATION.encode())
            yield Member(f"{DATA}store/form", form_of(self._data / "store").encode())
        if (self._data / _IDENTITIES).exists():
            (checkpoint / "security").mkdir()
            _copy_database(self._data / _IDENTITIES, checkpoint / _IDENTITIES)
        for path in sorted(each for each in checkpoint.rglob("*") if each.is_file()):
            yield Member(f"{DATA}{path.relative_to(checkpoint)}", path)
        for path in self._small():
            yield Member(f"{DATA}{path.relative_to(self._data)}", path.read_bytes())

    def _small(self) -> Iterator[Path]:
        """Files that are replaced as a whole where they change."""
        folders = (self._data / name for name in ("security", "tls", "federation"))
        below = (path for folder in folders for path in sorted(folder.rglob("*")))
        for path in (self._data / "saved.jsap", *below):
            # The database of identities is copied; what is half written belongs to its writer.
            if path.is_file() and not path.name.startswith((_IDENTITIES.name, ".")):
                yield path

    def _head(self) -> dict[str, object]:
        applied, origin = self._journal.space.applied, self._journal.origin
        return {
            "format": FORMAT,
            "version": __version__,
            "made_at": datetime.now(UTC).isoformat(timespec="seconds"),
            "gateway": origin.gateway,
            "base_iri": origin.base_iri,
            "epoch": self._journal.epoch,
            "applied": str(applied or ""),
            "journal": lineage(self._journal.folder),
            "store": Forms.read().store.writes,
            "settings": "" if self._settings.file is None else self._settings.file.name,
            "left_out": self._settings.left_out(),
        }


def _copy_database(source: Path, target: Path) -> None:
    """A copy that is whole, whoever writes meanwhile."""
    with (
        closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as there,
        closing(sqlite3.connect(target)) as copy,
    ):
        there.backup(copy)
    target.chmod(0o600)
