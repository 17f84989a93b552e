"""`Snapshots`: copies of the store that other processes read, made when somebody asks.

Place: between the store and the processes of queries. A copy has every UPDATE that was answered
before it was asked for; it is made only where the store has changed since the last one, and goes
when nobody reads it and a newer one is there, or when nobody has asked for a minute.
"""

import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Protocol

from gateway.errors import StorageError

IDLE_S = 60.0


class Copied(Protocol):
    """The store, or the entailed view."""

    @property
    def changes(self) -> int:
        """How many were made, deferred ones too."""

    def copy_to(self, folder: Path) -> int:
        """A copy in a new folder; which of `changes` it has. Raises StorageError."""


@dataclass(slots=True, eq=False)
class _Snapshot:
    """A copy, which of the store's changes it has, its files, and who reads it."""

    folder: Path
    changes: int
    files: frozenset[int]
    made: float
    readers: int = 0


class Snapshots:
    """The copies below a folder of their own, which is emptied first; for any thread.

    `bytes_written` are those of files that the copy before did not have.
    """

    def __init__(self, store: Copied, folder: Path, idle_s: float = IDLE_S) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        self._store = store
        self._folder = folder
        self._idle_s = idle_s
        self._lock = threading.Lock()
        self._latest: _Snapshot | None = None
        self._asked = 0.0
        self._timer: threading.Timer | None = None
        self.made = 0
        self.bytes_written = 0

    @contextmanager
    def reading(self, age_s: float = 0.0) -> Iterator[Path]:
        """A copy that is there until the end of the block. Raises StorageError.

        It has all changes, or was made no longer ago than `age_s`.
        """
        with self._lock:
            snapshot = self._current(age_s)
            snapshot.readers += 1
            self._asked = monotonic()
        try:
            yield snapshot.folder
        finally:
            with self._lock:
                snapshot.readers -= 1
                if snapshot is not self._latest:
                    _remove(snapshot)
                self._remove_later()

    def close(self) -> None:
        """Remove all of them; nobody reads them any more."""
        with self._lock:
            if self._timer is not None:
                self._timer.cancel()
            self._latest = None
            shutil.rmtree(self._folder, ignore_errors=True)

    def _current(self, age_s: float) -> _Snapshot:
        before = self._latest
        if before is not None and (
            before.changes == self._store.changes or monotonic() - before.made < age_s
        ):
            return before
        self.made += 1
        folder = self._folder / str(self.made)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            changes = self._store.copy_to(folder)
        except OSError as error:
            raise StorageError(
                f"the store cannot be copied: {error.strerror}", "check the disk's free space"
            ) from error
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        sizes = {each.stat().st_ino: each.stat().st_size for each in folder.iterdir()}
        known = before.files if before is not None else frozenset()
        self.bytes_written += sum(size for file, size in sizes.items() if file not in known)
        self._latest = _Snapshot(folder, changes, frozenset(sizes), monotonic())
        if before is not None:
            _remove(before)
        return self._latest

    def _remove_later(self) -> None:
        """Have the last one removed once nobody asks any more; the lock is held."""
        if self._timer is None and self._latest is not None:
            self._timer = threading.Timer(self._idle_s, self._remove_idle)
            self._timer.name, self._timer.daemon = "snapshots", True
            self._timer.start()

    def _remove_idle(self) -> None:
        with self._lock:
            self._timer = None
            latest = self._latest
            if latest is None:
                return
            if latest.readers or monotonic() - self._asked < self._idle_s:
                self._remove_later()
                return
            self._latest = None
            _remove(latest)


def _remove(snapshot: _Snapshot) -> None:
    if not snapshot.readers:
        shutil.rmtree(snapshot.folder, ignore_errors=True)
