"""The journal's space: how much is taken, what may go, how long the rest lasts.

Place on the way of the data: beside the journal, which asks before it appends. Shipped segments go
first, oldest first; unshipped ones only where the settings allow it, and a gap stands for them.
"""

import logging
import math
import os
import threading
import time
from pathlib import Path

from gateway.journal.limits import JournalLimits
from gateway.journal.manifest import Manifest
from gateway.journal.names import raw_segments
from gateway.journal.record import Position
from gateway.journal.sealing import Sealed

log = logging.getLogger(__name__)

_USUAL_RATIO = 0.12
_SMOOTHING_S = 600.0


class Space:
    """What a journal's folder holds against its limits; for any thread. Raises OSError.

    `keep_s` is that of the limits, unless somebody needs what is sealed for longer.
    """

    def __init__(self, folder: Path, manifest: Manifest, limits: JournalLimits) -> None:
        self.dropped = 0
        self.applied: Position | None = None
        self.keep_s = limits.keep_s
        self._folder = folder
        self._manifest = manifest
        self._limits = limits
        self._lock = threading.Lock()
        self._rate = 0.0
        self._written = 0
        self._last = (time.monotonic(), 0)
        self._taken = 0
        self._free = 0
        self.measure()

    @property
    def taken(self) -> int:
        """Bytes of the journal: segments raw and sealed, and gaps."""
        return self._taken

    @property
    def free(self) -> int:
        """Bytes of the disk that are free."""
        return self._free

    def measure(self) -> None:
        """Look at the folder and the disk again."""
        with self._lock:
            sealed = sum(item.size for item in self._manifest.sealed())
            raw = sum(path.stat().st_size for path in raw_segments(self._folder))
            self._taken = sealed + raw
            disk = os.statvfs(self._folder)
            self._free = disk.f_bavail * disk.f_frsize

    def wrote(self, count: int) -> None:
        """Count bytes that were appended."""
        with self._lock:
            self._written += count
            self._taken += count
            self._free -= count

    def lacks(self, wanted: int) -> int:
        """How many bytes must go before `wanted` more can be appended, 0 for none."""
        limits = self._limits
        over = self._taken + wanted - limits.max_bytes
        return max(0, over, limits.free_bytes + wanted - self._free)

    def make_room(self, wanted: int) -> bool:
        """Remove what may go until `wanted` bytes have room; tells whether they have."""
        self.measure()
        for item in self._removable():
            lacking = self.lacks(wanted)
            if lacking == 0:
                break
            self._remove(item)
            self.measure()
        return self.lacks(wanted) == 0

    def hours_left(self) -> float:
        """Until only unshipped segments are left and nothing can go, at the rate of late."""
        ratio = self.ratio
        growth = self._rate * ratio
        if growth <= 0:
            return math.inf
        sealed = self._manifest.sealed()
        unshipped = sum(item.size for item in self._manifest.unshipped())
        shipped = sum(item.size for item in sealed) - unshipped
        raw = max(0, self._taken - unshipped - shipped)
        needed = unshipped + raw * ratio
        room = min(self._limits.max_bytes - needed, self._free + shipped - self._limits.free_bytes)
        return max(0.0, room) / growth / 3600

    @property
    def ratio(self) -> float:
        """Sealed bytes for a raw one."""
        sealed = self._manifest.sealed()
        raw = sum(item.raw_size for item in sealed)
        return sum(item.size for item in sealed if item.raw_size) / raw if raw else _USUAL_RATIO

    def tick(self) -> None:
        """Take up how fast the journal grows; call it about once a second."""
        now = time.monotonic()
        then, written = self._last
        if now - then < 0.5:
            return
        rate = (self._written - written) / (now - then)
        weight = 1 - math.exp(-(now - then) / _SMOOTHING_S)
        self._rate += weight * (rate - self._rate) if self._rate else rate
        self._last = (now, self._written)

    def _removable(self) -> list[Sealed]:
        """Shipped ones, then, where it is allowed, unshipped ones; each oldest first."""
        old = [item for item in self._manifest.sealed() if self._is_over(item)]
        shipped = [item for item in old if self._manifest.is_shipped(item)]
        if not self._limits.drop_unshipped:
            return shipped
        unshipped = [item for item in old if not self._manifest.is_shipped(item)]
        return shipped + [item for item in unshipped if not item.name.is_gap]

    def _is_over(self, item: Sealed) -> bool:
        """Whether the store has all of it, also on its disk."""
        if item.name.is_gap:
            return True
        try:
            age = time.time() - (self._folder / str(item.name)).stat().st_mtime
        except FileNotFoundError:
            return True
        is_applied = self.applied is None or item.name.last <= self.applied
        return is_applied and age >= self.keep_s

    def _remove(self, item: Sealed) -> None:
        if self._manifest.is_shipped(item):
            self._manifest.remove(item)
            return
        self._manifest.drop(item)
        self.dropped += item.count
        log.error("journal_dropped", extra={"segment": str(item.name), "count": item.count})
