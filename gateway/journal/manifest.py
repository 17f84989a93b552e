"""The manifest: what became of each sealed segment, one JSON line an event, durable.

Place on the way of the data: beside the segments in the journal's folder. docs/segments.md, "The
manifest", lists the events. The files are what counts: at start the manifest is brought to agree
with them, so that a kill between a file and its line changes nothing.
"""

import json
import logging
import os
import threading
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from gateway.journal.names import SegmentName, sealed_names
from gateway.journal.record import SCHEMA, Fields, Origin, Position, encode_fields
from gateway.journal.sealing import Sealed, inspect, write_gap
from gateway.journal.segment import cut_torn_lines, sync_folder

log = logging.getLogger(__name__)

_LONG = 1000
"""Lines about segments that are gone, beyond which the file is written anew."""


class Manifest:
    """The sealed segments and gaps of one journal; for any thread. Raises OSError."""

    def __init__(self, folder: Path, origin: Origin) -> None:
        self.epoch = 0
        self.gaps = 0
        self._folder = folder
        self._origin = origin
        self._path = folder / "manifest.jsonl"
        self._lock = threading.Lock()
        self._items: dict[str, Sealed] = {}
        self._shipped: set[str] = set()
        self._gone: set[str] = set()
        self._starts: set[Position] = set()
        self._lines = 0
        self._load()
        self._reconcile()
        if self._lines > 2 * len(self._items) + _LONG:
            self._write_anew()

    def sealed(self) -> list[Sealed]:
        """What is in the folder, in the journal's order."""
        with self._lock:
            return sorted(self._items.values(), key=lambda item: (item.name.start, item.count))

    def unshipped(self) -> list[Sealed]:
        """What still has to reach a landing zone, oldest first."""
        return [item for item in self.sealed() if not self.is_shipped(item)]

    def is_shipped(self, item: Sealed) -> bool:
        """Whether a landing zone has confirmed it."""
        return str(item.name) in self._shipped

    def knows(self, start: Position) -> bool:
        """Whether a segment that begins there was ever sealed, as far as the manifest goes back."""
        with self._lock:
            return start in self._starts

    def add(self, items: Iterable[Sealed]) -> None:
        """Take up sealed segments and gaps; durable when this returns."""
        new = [item for item in items if str(item.name) not in self._items]
        self._append([_line_of(item) for item in new])
        with self._lock:
            for item in new:
                self._take(item)

    def ship(self, item: Sealed, destination: str) -> None:
        """The landing zone has it."""
        self._append([_event("shipped", str(item.name), to=destination)])
        self._shipped.add(str(item.name))

    def remove(self, item: Sealed) -> None:
        """Take a segment out of the folder; first it is written down, then it is done."""
        self._append([_event("removed", str(item.name))])
        with self._lock:
            self._forget(str(item.name))
        self._unlink(str(item.name))

    def drop(self, item: Sealed) -> None:
        """Give up a segment that was not shipped: a gap stands for it."""
        path = self._folder / str(item.name)
        gap = write_gap(path, self._origin, item.name.start, item.count, "dropped")
        self.add([gap])
        self.remove(item)

    def _take(self, item: Sealed) -> None:
        self._items[str(item.name)] = item
        self._starts.add(item.name.start)
        self.gaps += item.count if item.name.is_gap else 0
        self.epoch = max(self.epoch, item.name.start.epoch)

    def _forget(self, name: str) -> None:
        self._items.pop(name, None)
        self._shipped.discard(name)
        self._gone.add(name)

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
                    file.truncate(before)
                raise
            self._lines += len(lines)

    def _load(self) -> None:
        if not self._path.exists():
            self._path.touch()
            sync_folder(self._folder)
            return
        cut_torn_lines(self._path)
        with self._path.open("rb") as lines:
            for line in lines:
                self._lines += 1
                try:
                    self._learn(json.loads(line))
                except (ValueError, KeyError, TypeError):
                    log.warning("manifest_line_damaged", extra={"line": self._lines})

    def _learn(self, event: dict[str, object]) -> None:
        kind = event["event"]
        if kind == "epoch":
            self.epoch = max(self.epoch, int(str(event["epoch"])))
            return
        name = str(event["name"])
        if kind in {"sealed", "gap"}:
            self._take(_item_of(event))
        elif kind == "shipped":
            self._shipped.add(name)
        elif kind == "removed":
            self.epoch = max(self.epoch, SegmentName.parse(name).start.epoch)
            self._forget(name)

    def _reconcile(self) -> None:
        """Have the manifest agree with the files; what is begun is finished or undone."""
        for part in self._folder.glob("*.part"):
            part.unlink()
        found = {str(name) for name in sealed_names(self._folder)}
        for name in found & self._gone:
            self._unlink(name)
        for name in sorted(found - self._gone - set(self._items)):
            self._adopt(name)
        for name in [name for name in self._items if name not in found]:
            self._miss(self._items[name])
        given_up = {(item.name.start, item.count) for item in self.sealed() if item.name.is_gap}
        for item in self.sealed():
            if not item.name.is_gap and (item.name.start, item.count) in given_up:
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
        if not self.is_shipped(item) and not item.name.is_gap:
            log.error("segment_missing", extra={"segment": str(item.name)})
            self.add([write_gap(self._path, self._origin, item.name.start, item.count, "damaged")])
        self.remove(item)

    def _write_anew(self) -> None:
        """Leave out what is said of segments that are gone."""
        lines = [encode_fields({"event": "epoch", "epoch": self.epoch})]
        for item in self.sealed():
            lines.append(_line_of(item))
            if self.is_shipped(item):
                lines.append(_event("shipped", str(item.name)))
        part = self._path.with_name("manifest.part")
        with part.open("wb") as file:
            file.write(b"".join(lines))
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, self._path)
        sync_folder(self._folder)
        self._lines, self._gone = len(lines), set()


def _event(kind: str, name: str, **members: str) -> bytes:
    fields: Fields = {"event": kind, "name": name, **members, "at": time.time_ns() // 1000}
    return encode_fields(fields)


def _line_of(item: Sealed) -> bytes:
    name = item.name
    fields: Fields = {
        "event": "gap" if name.is_gap else "sealed",
        "name": str(name),
        "gateway": name.gateway,
        "epoch": name.start.epoch,
        "first": name.start.sequence,
        "count": name.count,
        "schema": SCHEMA,
        "bytes": item.size,
        "sha256": item.sha256,
        "at": time.time_ns() // 1000,
    }
    if name.is_gap:
        return encode_fields({**fields, "reason": item.reason})
    times = {"first_time": item.first_time, "last_time": item.last_time}
    return encode_fields({**fields, **times, "raw_bytes": item.raw_size})


def _item_of(event: dict[str, object]) -> Sealed:
    def number(member: str) -> int:
        return int(str(event.get(member, 0)))

    return Sealed(
        SegmentName.parse(str(event["name"])),
        str(event["sha256"]),
        number("bytes"),
        number("raw_bytes"),
        number("first_time"),
        number("last_time"),
        str(event.get("reason", "")),
    )
