"""Upkeep: where a store lives, and what it needs to stay as small and fast as it was, for years.

Oxigraph keeps what was removed. Measured with 100 streams of one observation each: in memory 5 KB
a reading for ever; on disk write buffers that grow to 650 MB and a scan of 100 triples that goes
from 1 to 30 ms in 72,000 readings unless they are flushed, and 1.5 KB a reading of strings that no
triple has any more. So a store is written anew when far more was removed than is there, and one on
disk is flushed before that, in a thread beside the writer.
"""

import logging
import os
import shutil
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Protocol

from pyoxigraph import Store

from gateway.rdf.delta import Delta
from gateway.runtime.process import give_back_memory

log = logging.getLogger(__name__)

FLUSH_REMOVALS = 25_000
"""About 1,500 readings: some 12 MB of write buffers. Measured with a store alone: flushed after
1,000 readings it writes a quarter more than after 3,000, and has 19 MB less at most."""

REST_CHANGES = 10_000
"""A store at rest is flushed where so many quads, those of 500 first readings, came or went since
it was: some 5 MB of write buffers, which are replayed after a power cut."""

REWRITE_REMOVALS = {"memory": 50_000, "disk": 1_000_000}
"""A store is written anew after so many removals at least; on disk that is about 90 MB."""

REWRITE_RATIO = {"memory": 1, "disk": 10}
"""... and after so many for each quad that is there, so that it costs each of them little."""


class Home(Protocol):
    """Where a store lives; `store` may be another one after `keep_up`.

    `is_lasting` says whether it is there after a crash, `most_pending` how many quads may wait to
    be written to it: 10,000 are some 5 MB and half a second of a Raspberry Pi.
    """

    store: Store
    is_lasting: bool
    most_pending: int

    def keep_up(self, change: Delta) -> None:
        """Take note of a change, and forget the past when it is due. Called by the writer."""

    def rest(self) -> None:
        """Flush what nobody has added to since the last call, which was a while ago."""

    def renew(self, mend: Callable[[Store], None]) -> None:
        """Go on with a store that can be written; `mend` gives it back what it was.

        Raises OSError or RuntimeError; then all is as it was.
        """

    def close(self) -> None:
        """Hand everything to the disk. Raises OSError; then it is still open."""


class Memory:
    """A store in memory."""

    is_lasting = False
    most_pending = 8_000

    def __init__(self, store: Store) -> None:
        self.store = store
        self._removals = 0
        self._due = REWRITE_REMOVALS["memory"]

    def keep_up(self, change: Delta) -> None:
        """Write the store anew when as much was removed as is there."""
        self._removals += len(change.removed)
        if self._removals >= self._due:
            fresh = Store()
            copy(self.store, fresh)
            self.store = fresh
            self._removals = 0
            self._due = _due("memory", fresh)

    def rest(self) -> None:
        """There is nothing to flush."""

    def renew(self, mend: Callable[[Store], None]) -> None:
        """There is no disk that refuses anything."""
        mend(self.store)

    def close(self) -> None:
        """There is no disk."""


class Folder:
    """A store in a folder: one subfolder for each generation, `current` names the one that counts.

    A generation is complete and on disk before `current` is replaced, so a crash at any moment
    leaves the old one or the new one; what else lies there is removed at the next start.
    Raises OSError where it cannot be opened.
    """

    is_lasting = True
    most_pending = 20_000

    def __init__(self, path: Path) -> None:
        path.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._last_tried = read_current(path)
        self._folder = path / str(self._last_tried)
        self.store = Store(str(self._folder))
        self._remove_others()
        self._thread = ThreadPoolExecutor(1, "flush")
        self._flushing: Future[None] | None = None
        self._since_flush = 0
        self._since_rewrite = 0
        self._changes = self._changes_seen = 0
        self._due = REWRITE_REMOVALS["disk"]

    def keep_up(self, change: Delta) -> None:
        """Flush from time to time beside the writer; seldom, write the store anew."""
        removals = len(change.removed)
        self._since_flush += removals
        self._since_rewrite += removals
        self._changes += removals + len(change.added)
        if self._since_flush >= FLUSH_REMOVALS:
            self._flush()
        if self._since_rewrite >= self._due:
            self._due = _due("disk", self.store)
        if self._since_rewrite >= self._due:
            self._since_rewrite = 0
            self._rewrite()

    def rest(self) -> None:
        """Flush beside the writer what is worth it."""
        if self._changes_seen == self._changes >= REST_CHANGES:
            self._flush()
        self._changes_seen = self._changes

    def _flush(self) -> None:
        if self._flushing is None or self._flushing.done():
            self._since_flush = self._changes = 0
            self._flushing = self._thread.submit(_flush, self.store)

    def close(self) -> None:
        """Wait for the flush that is going on, flush what came since, let go of the files."""
        if self._flushing is not None:
            self._flushing.result()
        self.store.flush()
        self._thread.shutdown()
        self._flushing = None
        del self.store

    def renew(self, mend: Callable[[Store], None]) -> None:
        """Go on with the files of a store that refuses to be written; it is read from until then.

        Raises OSError or RuntimeError, also what `mend` raises; then all is as it was.
        """

        def reopened(folder: Path) -> Store:
            link(self._folder, folder)
            fresh = Store(str(folder))
            mend(fresh)
            return fresh

        self._replace(reopened)

    def _rewrite(self) -> None:
        def rewritten(folder: Path) -> Store:
            fresh = Store(str(folder))
            copy(self.store, fresh)
            fresh.flush()
            return fresh

        try:
            self._replace(rewritten)
        except (OSError, RuntimeError) as error:  # the old generation is as good as before
            log.error("store_not_rewritten", extra={"reason": str(error)})

    def _replace(self, make: Callable[[Path], Store]) -> None:
        """Go on with the next generation; no folder is tried twice, a failed one may be open."""
        self._last_tried += 1
        folder = self._path / str(self._last_tried)
        try:
            fresh = make(folder)
            _write_current(self._path, self._last_tried)
        except (OSError, RuntimeError):
            shutil.rmtree(folder, ignore_errors=True)
            raise
        self.store = fresh
        self._folder = folder
        # Queries that still read the old generation have its files open: they may go.
        self._remove_others()

    def _remove_others(self) -> None:
        for folder in self._path.iterdir():
            if folder.is_dir() and folder != self._folder:
                shutil.rmtree(folder, ignore_errors=True)


def copy(source: Store, target: Store) -> None:
    """Everything that is in a store, blank nodes' identity and empty graphs included."""
    target.bulk_extend(source)
    for graph in source.named_graphs():
        target.add_graph(graph)


def link(source: Path, target: Path) -> None:
    """A new folder with the files of a RocksDB that is not written to, by hard links.

    The manifest comes last: were something flushed or compacted meanwhile, it would name a file
    that is not there, and the folder would not open. Raises OSError.
    """
    target.mkdir()
    for suffix in (".log", ".sst", ".blob"):
        for file in source.glob(f"*{suffix}"):
            _link_file(file, target / file.name)
    current = (source / "CURRENT").read_text(encoding="ascii")
    manifest = current.strip()
    shutil.copyfile(source / manifest, target / manifest)
    (target / "CURRENT").write_text(current, encoding="ascii")


def _link_file(source: Path, target: Path) -> None:
    try:
        target.hardlink_to(source)
    except PermissionError:  # a file system without hard links, as of many memory cards
        shutil.copyfile(source, target)


def _due(kind: str, store: Store) -> int:
    return max(REWRITE_REMOVALS[kind], REWRITE_RATIO[kind] * len(store))


def _flush(store: Store) -> None:
    try:
        store.flush()
        give_back_memory()  # its write buffers: glibc keeps them else, and the next ones lie apart
    except (OSError, RuntimeError) as error:  # what is not flushed now is flushed later
        log.error("store_not_flushed", extra={"reason": str(error)})


def read_current(path: Path) -> int:
    """The generation that counts, 1 where there is no store yet. Raises OSError."""
    try:
        generation = int((path / "current").read_text(encoding="ascii"))
    except FileNotFoundError:
        return 1
    except ValueError as error:
        raise OSError(f"{path / 'current'} does not name a generation") from error
    if not (path / str(generation)).is_dir():
        raise OSError(f"{path / 'current'} names a generation that is not there")
    return generation


def _write_current(path: Path, generation: int) -> None:
    """Replace the file in one step, and make the step durable."""
    new = path / "current.new"
    with new.open("w", encoding="ascii") as file:
        file.write(str(generation))
        file.flush()
        os.fsync(file.fileno())
    new.replace(path / "current")
    try:
        sync_folder(path)
    except OSError as error:  # it is replaced nevertheless: the new generation counts
        log.error("store_not_synced", extra={"reason": str(error)})


def sync_folder(path: Path) -> None:
    """Make durable what was renamed in a folder. Raises OSError."""
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
