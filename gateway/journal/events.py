"""The lines of the manifest and what they add up to (docs/segments.md, "The manifest")."""

import json
import logging
import time
from pathlib import Path
from typing import Self

from gateway.journal.names import SegmentName
from gateway.journal.record import SCHEMA, Fields, Position, encode_fields
from gateway.journal.sealing import Sealed

log = logging.getLogger(__name__)


class Events:
    """What became of each segment: those in the folder, of these the shipped, and those gone.

    `starts` has the first position of every segment ever sealed, `epoch` is the highest one.
    """

    def __init__(self) -> None:
        self.items: dict[str, Sealed] = {}
        self.shipped: set[str] = set()
        self.gone: set[str] = set()
        self.starts: set[Position] = set()
        self.epoch = self.lines = 0

    @classmethod
    def read(cls, path: Path) -> Self:
        """What a manifest says; a damaged line, or no file, says nothing."""
        events = cls()
        if path.exists():
            with path.open("rb") as lines:
                for line in lines:
                    events.lines += 1
                    try:
                        events.learn(json.loads(line))
                    except (ValueError, KeyError, TypeError, AttributeError):
                        log.warning("manifest_line_damaged", extra={"line": events.lines})
        return events

    def learn(self, event: Fields) -> None:
        """Take up a line of a manifest."""
        kind = event["event"]
        if kind == "epoch":
            self.epoch = max(self.epoch, int(str(event["epoch"])))
            return
        name = str(event["name"])
        if kind in {"sealed", "gap"}:
            self.take(_item_of(event))
        elif kind == "shipped":
            self.ship(name)
        elif kind == "removed":
            self.forget(name)

    def take(self, item: Sealed) -> None:
        """Note that a segment or gap is in the folder."""
        self.items[str(item.name)] = item
        self.starts.add(item.name.start)
        self.epoch = max(self.epoch, item.name.start.epoch)

    def ship(self, name: str) -> None:
        """Note that a landing zone has the segment."""
        if name in self.items:
            self.shipped.add(name)

    def forget(self, name: str) -> None:
        """Note that a segment or gap is no longer in the folder."""
        start = SegmentName.parse(name).start
        self.items.pop(name, None)
        self.shipped.discard(name)
        self.gone.add(name)
        self.starts.add(start)
        self.epoch = max(self.epoch, start.epoch)

    @property
    def gaps(self) -> int:
        """How many sequences will never come, as far as the gaps are still in the folder."""
        return sum(item.count for item in self.items.values() if item.name.is_gap)

    def summary(self) -> list[bytes]:
        """The fewest lines that say the same of what is in the folder, and that more was."""
        lines = [epoch_line(self.epoch)]
        # By position: a gateway may have had another name, and epochs of fewer digits.
        last = max(self.gone, key=lambda name: SegmentName.parse(name).last, default=None)
        lines += [event("removed", last)] if last else []
        for name, item in self.items.items():
            lines.append(line_of(item))
            if name in self.shipped:
                lines.append(event("shipped", name))
        return lines


def epoch_line(epoch: int) -> bytes:
    """A line about the highest epoch that there was."""
    return encode_fields({"event": "epoch", "epoch": epoch})


def event(kind: str, name: str, **members: str) -> bytes:
    """A line about a segment that the manifest knows."""
    fields: Fields = {"event": kind, "name": name, **members, "at": time.time_ns() // 1000}
    return encode_fields(fields)


def line_of(item: Sealed) -> bytes:
    """The line of a new segment or gap."""
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


def _item_of(event: Fields) -> Sealed:
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
