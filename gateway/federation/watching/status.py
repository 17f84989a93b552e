"""`MemberStatus`: how one other member is, as it was at the last tick; a value for any thread.

Place: made by `Member` in its thread, told by `sosa-gateway federation status`, /federation, the
graph of the federation, metrics and alarms.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

UP, AWAY, CLOSED = "up", "away", "closed"


class Traffic(NamedTuple):
    """Bytes since the start, and a second of late."""

    sent: int = 0
    received: int = 0
    per_s: float = 0.0


class Counted(NamedTuple):
    """What came of a member, and what it made necessary, since the start; docs/metrics.md."""

    events: int = 0
    useless: int = 0
    late: int = 0
    duplicates: int = 0
    resyncs: int = 0
    gaps: int = 0


@dataclass(frozen=True, slots=True)
class MemberStatus:
    """A member that is UP, AWAY or CLOSED for a `reason`, `since` µs since the epoch.

    `lag_s`: how old what is known of it is, None where nothing is. `position` is where it stood
    then. `entries` of ours are in force there, `replica_quads` of it are known here, and
    `outbox_quads` wait here to be told to it; of the kept events of this gateway, those of
    `event_log_bytes` since the start are not acknowledged by it.
    """

    name: str
    state: str
    since: int
    reason: str = ""
    lag_s: float | None = None
    position: str | None = None
    entries: int = 0
    replica_quads: int = 0
    outbox_quads: int = 0
    event_log_bytes: int = 0
    traffic: Traffic = field(default_factory=Traffic)
    counted: Counted = field(default_factory=Counted)

    @property
    def is_up(self) -> bool:
        """Whether it is there, and listened to."""
        return self.state == UP

    def members(self) -> Mapping[str, object]:
        """As JSON has it, but for `since`."""
        traffic, counted = self.traffic, self.counted
        return {
            "name": self.name,
            "state": self.state,
            "reason": self.reason,
            "lag_s": None if self.lag_s is None else round(self.lag_s, 3),
            "position": self.position,
            "entries": self.entries,
            "replica_quads": self.replica_quads,
            "outbox_quads": self.outbox_quads,
            "event_log_bytes": self.event_log_bytes,
            "sent_bytes": traffic.sent,
            "received_bytes": traffic.received,
            "bytes_per_s": round(traffic.per_s, 1),
            **counted._asdict(),
        }


_RATE_S = 5.0
"""What a second has is taken over at least so many."""


@dataclass(slots=True)
class TrafficCount:
    """Counts bytes of one member; for one thread."""

    sent: int = 0
    received: int = 0
    per_s: float = 0.0
    _since: float = field(default=-1.0)
    _before: int = 0

    def now(self, steady_s: float) -> Traffic:
        """What it is at a time of a steady clock."""
        total = self.sent + self.received
        spent_s = steady_s - self._since
        if self._since < 0 or spent_s >= _RATE_S:
            self.per_s = (total - self._before) / spent_s if self._since >= 0 else 0.0
            self._since, self._before = steady_s, total
        return Traffic(self.sent, self.received, self.per_s)
