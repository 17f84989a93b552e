"""The manifest: what became of each sealed segment, one JSON line an event, durable.

Place on the way of the data: beside the segments in the journal's folder. The files are what
counts: at start the manifest is brought to agree with them, so that a kill between a file and its
line changes nothing.
"""

import logging
import os
import threading
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gateway.journal.events import Events, epoch_line, event, line_of
from gateway.journal.names import sealed_names
from gateway.journal.record import Origin, Position
from gateway.journal.sealing import Sealed, inspect, write_gap
from gateway.journal.segment import cut_torn_lines, sync_folder

log = logging.getLogger(__name__)

_LONG = 1000
"""Lines about segments that are gone, beyond which the file is written anew."""


class Manifest:
    """The sealed segments and gaps of one journal; for any thread. Raises OSError."""

    def __init__(self, folder: Path, origin: Origin) -> None:
        self._folder = folder
        self._origin = origin
        self._path = folder / "manifest.jsonl"
        self._lock = threading.Lock()
        if self._path.exists():
            cut_torn_lines(self._path)
        else:
            self._path.touch()
            sync_folder(folder)
        self._events = Events.read(self._path)
        self._reconcile()
        if self._events.lines > 2 * len(self._events.items) + _LONG:
            self._write_anew()

    @property
    def epoch(self) -> int:
        """The highest epoch of any segment, also of those that are gone; 0 for none."""
        return self._events.epoch

    @property
    def waiting(self) -> int:
        """How many segments and gaps are not shipped."""
        return len(self._events.items) - len(self._events.shipped)

    @property
    def has_removed(self) -> bool:
        """Whether there were segments that are gone."""
        return bool(self._events.gone)

    def sealed(self) -> list[Sealed]:
        """What is in the folder, in the journal's order."""
        with self._lock:
            items = list(self._events.items.values())
        return sorted(items, key=lambda item: (item.name.start, item.count))

    def last_times(self) -> dict[str, int]:
        """When the newest line of each segment in the folder came, in µs, by the segment's name."""
        with self._lock:
            items = dict(self._events.items)
        return {
            name: max(item.first_time, item.last_time)
            for name, item in items.items()
            if not item.name.is_gap
        }

    def unshipped(self) -> list[Sealed]:
        """What still has to reach a landing zone, oldest first."""
        return [item for item in self.sealed() if not self.is_shipped(item)]

    def is_shipped(self, item: Sealed) -> bool:
        """Whether a landing zone has confirmed it."""
        return str(item.name) in self._events.shipped

    def knows(self, start: Position) -> bool:
        """Whether a segment that begins there was ever sealed, as far as the manifest goes back."""
        return start in self._events.starts

    def add(self, items: Iterable[Sealed]) -> None:
        """Take up sealed segments and gaps; durable when this returns."""
        new = [item for item in items if str(item.name) not in self._events.items]
        self._append([line_of(item) for item in new])
        with self._lock:
            for item in new:
                self._events.take(item)

    def ship(self, item: Sealed, destination: str) -> None:
        """Write down that the landing zone has a segment."""
        self._append([event("shipped", str(item.name), to=destination)])
        with self._lock:
            self._events.ship(str(item.name))

    def remove(self, item: Sealed) -> None:
        """Take a segment out of the folder; first it is written down, then it is done."""
        self._append([event("removed", str(item.name))])
        with self._lock:
            self._events.forget(str(item.name))
        self._unlink(str(item.name))

    def drop(self, item: Sealed) -> None:
        """Give up a segment that was not shipped: a gap stands for it, and for those before it."""
        path = self._folder / str(item.name)
        before = self._gap_before(item)
        start, count = item.name.start, item.count
        if before is not None:
            start, count = before.name.start, before.count + count
        self.add([write_gap(path, self._origin, start, count, "dropped")])
        self.remove(item)
        if before is not None:
            self.remove(before)

    def _gap_before(self, item: Sealed) -> Sealed | None:
        """A gap of dropped segments, not shipped, that ends where the segment begins."""
        for gap in self.unshipped():
            last = gap.name.last
            follows = Position(last.epoch, last.sequence + 1) == item.name.start
            if follows and gap.reason == "dropped":
                return gap
        return None

    def lose(self, item: Sealed) -> None:
        """Give up a segment whose bytes are not those that were sealed; they are put aside."""
        path = self._folder / str(item.name)
        self.add([write_gap(self._path, self._origin, item.name.start, item.count, "damaged")])
        if path.exists():
            path.rename(path.with_name(f"{path.name}.damaged"))
        self.remove(item)

    def _unlink(self, name: str) -> None:
        (self._folder / name).unlink(missing_ok=True)
        sync_folder(self._folder)

    def _append(self, lines: list[bytes]) -> None:
        if not lines:
            return
        with self._lock, self._path.open("ab") as file:
            before = file.tell()
            try:
                file.write(b"".join(lines))
                file.flush()
                os.fsync(file.fileno())
            except OSError:
                with suppress(OSError):
                    os.truncate(self._path, before)
                raise
            self._events.lines += len(lines)

    def _reconcile(self) -> None:
        """Have the manifest agree with the files; what is begun is finished or undone."""
        for part in self._folder.glob("*.part"):
            part.unlink()
        events = self._events
        found = {str(name) for name in sealed_names(self._folder)}
        for name in found & events.gone:
            self._unlink(name)
        for name in sorted(found - events.gone - set(events.items)):
            self._adopt(name)
        for name in [name for name in events.items if name not in found]:
            self._miss(events.items[name])
        self._finish_drops()

    def _finish_drops(self) -> None:
        gaps = [item.name for item in self.sealed() if item.name.is_gap]
        for item in self.sealed():
            name = item.name
            if any(g != name and g.start <= name.start and name.last <= g.last for g in gaps):
                self.remove(item)

    def _adopt(self, name: str) -> None:
        """A sealed segment whose line was not written any more."""
        path = self._folder / name
        try:
            self.add([inspect(path)])
        except (ValueError, KeyError, EOFError) as error:
            log.error("segment_damaged", extra={"segment": name, "reason": str(error)})
            path.rename(path.with_name(f"{name}.damaged"))

    def _miss(self, item: Sealed) -> None:
        """A file that somebody else took away: shipped it is no loss, else a gap."""
        if self.is_shipped(item) or item.name.is_gap:
            self.remove(item)
        else:
            log.error("segment_missing", extra={"segment": str(item.name)})
            self.lose(item)

    def _write_anew(self) -> None:
        """Leave out what is said of segments that are gone."""
        part = self._path.with_name("manifest.part")
        with part.open("wb") as file:
            file.write(b"".join(self._events.summary()))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._path)
        sync_folder(self._folder)
        self._events = Events.read(self._path)


def note_epoch(folder: Path, epoch: int) -> None:
    """Have the next life of the journal in a folder, which nobody has open, begin a later epoch.

    The folder is made if need be. Durable when this returns; raises OSError.
    """
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / "manifest.jsonl"
    if path.exists():
        cut_torn_lines(path)
    if Events.read(path).epoch < epoch:
        with path.open("ab") as file:
            file.write(epoch_line(epoch))
            file.flush()
            os.fsync(file.fileno())
        sync_folder(folder)
