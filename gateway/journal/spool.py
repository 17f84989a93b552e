"""The journal: every accepted observation, on disk before it is acknowledged.

Append-only JSON Lines in raw segments `<epoch>-<first sequence>.jsonl` of one folder, sealed when
they are long or old (`gateway.journal.sealing`). An epoch is one life of the process; (gateway,
epoch, sequence) is the identity of an observation everywhere. After kill -9 the last line may be
torn: it is cut at the next start, and was never acknowledged. A group of appends is made durable
by one fsync.
"""

import fcntl
import logging
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from gateway.errors import StorageError
from gateway.journal.labels import Labels
from gateway.journal.limits import JournalLimits
from gateway.journal.lineage import begin_lineage
from gateway.journal.manifest import Manifest
from gateway.journal.migration import migrate
from gateway.journal.names import raw_path, raw_segments, raw_start
from gateway.journal.reading import Located, last_records, records_after, segments
from gateway.journal.record import Actuation, Origin, Outcome, Position, Record
from gateway.journal.sealing import Sealed, seal
from gateway.journal.segment import Segment, cut_torn_tail, sync_folder
from gateway.journal.space import Space
from gateway.runtime.folders import folder_trouble, held_by
from gateway.runtime.holders import Holder, lock_holder

log = logging.getLogger(__name__)

_ACTUATIONS = 10_000

_BLOCK_BYTES = 4_096
"""With less free, the disk takes no line."""


class Journal:
    """The journal of one gateway, opened for appending in a new epoch.

    `next_position`, `append` and `sync` are for one thread, everything else for any. Methods raise
    StorageError when the disk does not do its work. While `attention` is set there is something
    to seal or to remove; `alarm` says why nothing is taken any more, "" is all right.
    """

    def __init__(
        self, folder: Path, origin: Origin | None = None, limits: JournalLimits | None = None
    ) -> None:
        self.folder = folder
        self.origin = origin or Origin()
        self.limits = limits or JournalLimits()
        self.records = self.syncs = self.writes = self.written_bytes = 0
        self.actuations = self.actuations_dropped = self.sealings = 0
        self.alarm = ""
        self.labels = Labels()
        self.attention = threading.Event()
        self._lock = threading.Lock()
        self._pending: list[bytes] = []
        self._commands: deque[Actuation | Outcome] = deque()
        self._sequence = self._appended = self._written = 0
        self._unsynced = False
        self._synced_at = self._begun_at = time.monotonic()
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._mine = claim(folder)
            begin_lineage(folder)
            for path in raw_segments(folder):
                cut_torn_tail(path)
            migrate(folder, self.origin)
            self.manifest = Manifest(folder, self.origin)
            self.space = Space(folder, self.manifest, self.limits)
            self.epoch = self._next_epoch()
            self._segment = self._begin()
        except OSError as error:
            raise broken(folder, error) from error

    def begin_after(self, epoch: int) -> None:
        """Have a later epoch than one that is known, in which positions begin anew.

        It matters where the journal was lost and the clock is behind. For the thread that appends,
        while nothing that has a position waits to be written. Raises StorageError.
        """
        with self._lock:
            if epoch >= self.epoch:
                self.epoch = epoch + 1
                self._sequence = self._appended = self._written = 0
                self._guarded(self._rotate)

    def next_position(self) -> Position:
        """The identity of the next observation."""
        with self._lock:
            self._sequence += 1
            return Position(self.epoch, self._sequence)

    def append(self, records: Iterable[Record]) -> None:
        """Take records up; they are in the file and durable after the next `sync`."""
        for record in records:
            self._pending.append(record.encode())
            self._appended = record.position.sequence

    def note(self, told: Actuation | Outcome) -> None:
        """Take up a command that was sent, or how one ended; written within a second or so."""
        if len(self._commands) >= _ACTUATIONS:
            self.actuations_dropped += 1
        else:
            self._commands.append(told)

    def sync(self) -> None:
        """Write what was appended and make it durable: all of it or, when this raises, nothing.

        What could not be written is forgotten; the caller, who has not acknowledged it, appends
        it again. With `fsync_interval_s` it is durable when that time is over.
        """
        lines, self._pending = self._pending, []
        with self._lock:
            if lines:
                self._write(lines, self._appended)
                self.records += len(lines)
            self._write_actuations()

    def settle(self) -> None:
        """What is due without an observation: actuations, a postponed fsync, an old segment."""
        with self._lock:
            self._write_actuations()
            now = time.monotonic()
            if self._unsynced and now - self._synced_at >= self.limits.fsync_interval_s:
                self._guarded(self._fsync)
            if self._segment.records and now - self._begun_at >= self.limits.segment_s:
                self._guarded(self._rotate)
        self.space.tick()

    def rotate(self) -> None:
        """End the raw segment now, if there is anything in it."""
        with self._lock:
            if self._segment.records:
                self._guarded(self._rotate)

    def seal(self) -> int:
        """Seal every raw segment that is not appended to any more; tells how many there were."""
        try:
            with self._lock:
                waiting = self._waiting()
            for path, until in waiting:
                self._seal(path, until)
        except OSError as error:
            raise broken(self.folder, error) from error
        return len(waiting)

    def make_room(self) -> None:
        """Remove what may go, as far as the limits ask for it."""
        try:
            self.space.make_room(0)
        except OSError as error:
            raise broken(self.folder, error) from error

    def close(self) -> None:
        """Sync and close; an epoch without observations leaves no file."""
        try:
            self.sync()
        finally:
            with self._lock:
                if self._unsynced:
                    self._guarded(self._fsync)
                self._segment.close()
            os.close(self._mine)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def tail(self, count: int) -> list[Record]:
        """The last `count` records of earlier epochs, oldest first."""
        return last_records(self._earlier(), count)

    def after(self, position: Position | None) -> Iterator[Record]:
        """The records of earlier epochs behind a position (None: all), oldest first."""
        return records_after(self._earlier(), position)

    def _earlier(self) -> list[Located]:
        return [each for each in segments(self.folder) if each[0].epoch < self.epoch]

    def _next_epoch(self) -> int:
        """More than any before; where the journal is new or was lost, by the clock."""
        known = [raw_start(path).epoch for path in raw_segments(self.folder)]
        return max(int(time.time()), 1 + max([self.manifest.epoch, *known]))

    def _begin(self) -> Segment:
        """A new raw segment; its name has the first sequence that will be in it."""
        self._begun_at = time.monotonic()
        return Segment(self._next_path(), b"")

    def _header(self) -> bytes:
        """The first line of the raw segment that begins now: things are called as they are now."""
        origin = replace(self.origin, labels=self.labels.next_ones())
        return origin.header(self.epoch, self._written + 1)

    def _next_path(self) -> Path:
        return raw_path(self.folder, Position(self.epoch, self._written + 1))

    def _write(self, lines: list[bytes], last: int) -> None:
        self._guarded(lambda: self._write_to_disk(lines))
        self._written = last
        self._sequence = max(self._sequence, last)

    def _write_to_disk(self, lines: list[bytes]) -> None:
        self._require_room(sum(map(len, lines)))
        segment, limits = self._segment, self.limits
        is_full = (
            segment.records >= limits.segment_observations or segment.size >= limits.segment_bytes
        )
        if segment.is_broken or is_full:
            self._rotate()
            segment = self._segment
        if not segment.records:
            self._begun_at = time.monotonic()
            segment.header = self._header()
        at_once = limits.fsync and limits.fsync_interval_s <= 0
        count = segment.write(lines, fsync=at_once)
        self.space.wrote(count)
        self.written_bytes += count
        self.writes += 1
        self.syncs += at_once
        self._unsynced = limits.fsync and not at_once
        if self._unsynced and time.monotonic() - self._synced_at >= limits.fsync_interval_s:
            self._fsync()

    def _write_actuations(self) -> None:
        """Give actuations their numbers, unless numbers are given out that are not written yet."""
        if not self._commands or self._sequence != self._written:
            return
        commands = [self._commands.popleft() for _ in range(len(self._commands))]
        lines = [each.encode(self._written + n) for n, each in enumerate(commands, 1)]
        try:
            self._write(lines, self._written + len(lines))
        except StorageError:
            self._commands.extendleft(reversed(commands))
            raise
        self.actuations += sum(isinstance(each, Actuation) for each in commands)

    def _require_room(self, wanted: int) -> None:
        if self.space.lacks(wanted) == 0 or self.space.make_room(wanted):
            self.alarm = ""
            return
        if self._segment.records:
            self._rotate()
        self.attention.set()
        if self._waiting():
            raise StorageError("the journal is full until segments are sealed", "wait a moment")
        if not self.alarm:
            log.error("journal_full", extra={"bytes": self.space.taken})
        self.alarm = "the journal is full, and nothing in it may go: it is not shipped"
        raise StorageError(
            f"{self.alarm} ({self.folder}, {self.space.taken} bytes)",
            "set up [shipping], give [journal] max_bytes more, free disk space, or allow "
            "drop_unshipped; nothing is acknowledged until then",
        )

    def _rotate(self) -> None:
        """Leave this raw segment to sealing and begin the next."""
        if self._unsynced and not self._segment.is_broken:
            self._fsync()
        self._segment.close()
        self._segment = self._begin()
        self.attention.set()

    def _fsync(self) -> None:
        self._segment.fsync()
        self._unsynced = False
        self._synced_at = time.monotonic()
        self.syncs += 1

    def _waiting(self) -> list[tuple[Path, int | None]]:
        """Raw segments to seal, each with the sequence at which the next of its epoch begins."""
        active, paths = self._segment.path, raw_segments(self.folder)
        waiting: list[tuple[Path, int | None]] = []
        for index, path in enumerate(paths):
            after = raw_start(paths[index + 1]) if index + 1 < len(paths) else None
            is_same_epoch = after is not None and after.epoch == raw_start(path).epoch
            if path != active:
                waiting.append((path, after.sequence if after and is_same_epoch else None))
        return waiting

    def _seal(self, path: Path, until: int | None) -> None:
        if not self.manifest.knows(raw_start(path)):
            sealed = seal(path, self.origin, until)
            self.manifest.add(sealed)
            self.sealings += 1
            self._report(path, sealed)
        path.unlink(missing_ok=True)
        sync_folder(self.folder)
        self.space.measure()

    def _report(self, path: Path, sealed: list[Sealed]) -> None:
        damaged = sum(item.count for item in sealed if item.name.is_gap)
        if damaged:
            copy = path.with_name(f"{path.name}.damaged")
            path.rename(copy)
            extra = {"segment": copy.name, "lost": damaged}
            log.error("journal_lines_damaged", extra=extra)

    def _guarded(self, do: Callable[[], None]) -> None:
        try:
            do()
        except OSError as error:
            raise broken(self.folder, error) from error


def claim(folder: Path) -> int:
    """A lock on the folder, as its descriptor; it ends with the process. Raises StorageError."""
    descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(descriptor)
        found = held_by(folder, lock_holder(folder / "lock") or Holder(0))
        raise StorageError(f"the journal in {found.what}", found.what_to_do) from error
    return descriptor


def broken(folder: Path, error: OSError) -> StorageError:
    """The error for a disk that does not do its work, by its cause where that can be seen."""
    found = folder_trouble(folder, _BLOCK_BYTES)
    return StorageError(
        f"the journal in {folder} cannot be written: "
        f"{found.what if found else error.strerror or error}",
        f"{found.what_to_do if found else 'free disk space or mend the disk'}; "
        "nothing is acknowledged until then",
    )
