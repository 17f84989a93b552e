"""The shipper: brings sealed segments to a landing zone, for as long as it takes.

Place on the way of the data: beside the journal, in a thread of its own. What is delivered is
written into the manifest after the zone has confirmed it; killed before that, it is delivered
again, which changes nothing there. After a failure it waits, longer each time and never as long
as others that failed with it (full jitter), and goes on with another segment: their order does
not matter, so one that is refused holds up none.
"""

import logging
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from gateway.errors import GatewayError
from gateway.journal.manifest import Manifest
from gateway.journal.sealing import Sealed, sha256_of
from gateway.runtime.process import every_core
from gateway.shipping.zone import LandingZone, Parcel

log = logging.getLogger(__name__)

RETRY_S = 1.0
RETRY_MOST_S = 600.0
_POLL_S = 1.0
_END_S = 3.0


@dataclass(slots=True)
class ShippingStatistics:
    """Counters since the start; `failing` is the last failure, "" after a success."""

    delivered: int = 0
    bytes: int = 0
    failures: int = 0
    failing: str = ""


class Shipper:
    """A context in which what is sealed is shipped; `destination` names the zone in the manifest.

    The pause after the n-th failure in a row is random, up to `retry_s` × 2ⁿ and `retry_most_s`.
    """

    def __init__(
        self,
        folder: Path,
        manifest: Manifest,
        zone: LandingZone,
        destination: str,
        *,
        retry_s: float = RETRY_S,
        retry_most_s: float = RETRY_MOST_S,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.statistics = ShippingStatistics()
        self._folder = folder
        self._manifest = manifest
        self._zone = zone
        self.destination = destination
        self._retry_s = retry_s
        self._retry_most_s = retry_most_s
        self._chance = chance
        self._in_a_row = 0
        self._tries: dict[str, tuple[int, float]] = {}
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="shipping", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """What is on its way is given up after a moment; the next start delivers it again."""
        self._stopping.set()
        self._thread.join(_END_S)
        self._zone.close()
        self._thread.join(_END_S)

    def ship(self) -> float:
        """Deliver what is due until something fails; tells how long to wait before the next."""
        try:
            while not self._stopping.is_set() and (item := self._due()) is not None:
                self._deliver(item)
        except (GatewayError, OSError) as error:
            return self._failed(error)
        self._zone.close()
        return _POLL_S

    def _run(self) -> None:
        every_core()
        pause_s = 0.0
        while not self._stopping.wait(pause_s):
            pause_s = _POLL_S
            if self._manifest.waiting:
                try:
                    pause_s = self.ship()
                except Exception:  # a defect costs this turn, never the shipping
                    log.exception("shipping_crashed")

    def _due(self) -> Sealed | None:
        """The oldest that may be tried now; those that failed wait for their own time."""
        if not self._manifest.waiting:
            return None
        now = time.monotonic()
        for item in self._manifest.unshipped():
            if self._tries.get(str(item.name), (0, 0.0))[1] <= now:
                return item
        return None

    def _deliver(self, item: Sealed) -> None:
        name = str(item.name)
        parcel = Parcel.of(self._folder, item)
        if not _is_whole(parcel):
            log.error("segment_damaged", extra={"segment": name})
            self._manifest.lose(item)
            return
        failures = self._tries.get(name, (0, 0.0))[0] + 1
        self._tries[name] = (failures, time.monotonic() + self._pause(failures))
        self._zone.deliver(parcel)
        self._manifest.ship(item, self.destination)
        del self._tries[name]
        self._in_a_row = 0
        self.statistics.failing = ""
        self.statistics.delivered += 1
        self.statistics.bytes += item.size

    def _failed(self, error: Exception) -> float:
        if not self.statistics.failing:
            log.error("shipping_failed", extra={"reason": str(error)})
        self.statistics.failing = str(error)
        self.statistics.failures += 1
        self._in_a_row += 1
        return self._pause(self._in_a_row)

    def _pause(self, failures: int) -> float:
        longest = min(self._retry_most_s, self._retry_s * 2.0 ** min(failures, 60))
        return self._chance() * longest


def _is_whole(parcel: Parcel) -> bool:
    try:
        return sha256_of(parcel.path) == parcel.sha256
    except FileNotFoundError:
        return False
