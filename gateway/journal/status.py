"""What a journal's folder has, read beside a running gateway: nothing is opened or mended."""

import os
from dataclasses import dataclass
from pathlib import Path

from gateway.journal.events import Events
from gateway.journal.limits import JournalLimits
from gateway.journal.names import raw_segments
from gateway.journal.sealing import Sealed

_LATELY = 86_400_000_000


@dataclass(frozen=True, slots=True)
class Status:
    """Counts and bytes; `oldest_unshipped` is an ingest time in µs, 0 for none.

    `hours_left` is None until there are segments that say how fast the journal grows.
    """

    raw: int
    raw_bytes: int
    sealed: int
    sealed_bytes: int
    count: int
    unshipped: int
    unshipped_bytes: int
    oldest_unshipped: int
    gaps: int
    hours_left: float | None


def read_status(folder: Path, limits: JournalLimits) -> Status:
    """The status of the journal in a folder; one that is not there is empty."""
    events = Events.read(folder / "manifest.jsonl")
    items = [item for item in events.items.values() if (folder / str(item.name)).exists()]
    sealed = [item for item in items if not item.name.is_gap]
    unshipped = [item for item in items if str(item.name) not in events.shipped]
    raw = [path.stat().st_size for path in raw_segments(folder)] if folder.exists() else []
    waiting = sum(item.size for item in unshipped)
    return Status(
        len(raw),
        sum(raw),
        len(sealed),
        sum(item.size for item in sealed),
        sum(item.count for item in sealed),
        len(unshipped),
        waiting,
        min((item.first_time for item in unshipped if not item.name.is_gap), default=0),
        events.gaps,
        _hours_left(folder, limits, sealed, waiting),
    )


def _hours_left(
    folder: Path, limits: JournalLimits, sealed: list[Sealed], waiting: int
) -> float | None:
    """How long the space lasts at the rate of the last day."""
    newest = max((item.last_time for item in sealed), default=0)
    lately = [item for item in sealed if item.last_time >= newest - _LATELY]
    span = newest - min((item.first_time for item in lately), default=newest)
    if span <= 0:
        return None
    rate = sum(item.size for item in lately) / (span / 3.6e9)
    disk = os.statvfs(folder)
    shipped = sum(item.size for item in sealed) - waiting
    free = disk.f_bavail * disk.f_frsize + shipped - limits.free_bytes
    return max(0.0, min(limits.max_bytes - waiting, free)) / rate
