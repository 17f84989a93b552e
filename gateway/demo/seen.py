"""`Seen`: all that a client has seen of the demo's gateway, and what the screen shows of it.

Place on the way of the data: the end. Written by the tasks of `witness` and the links' threads,
read by the thread that draws.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock

from gateway.client import Notification
from gateway.demo.activity import Activity, Change
from gateway.demo.effects import Effects
from gateway.demo.readings import Reading, Readings
from gateway.demo.wording import printable

RUNNING = "Ctrl-C ends it"


@dataclass(frozen=True, slots=True)
class Fault:
    """A message that the gateway did not believe: the reason, and when it came."""

    reason: str
    topic: str
    detail: str
    at: datetime

    @classmethod
    def of(cls, entry: Mapping[str, object]) -> "Fault":
        """An entry of `GET /quarantine`."""
        faults = entry["faults"]
        first = faults[0] if isinstance(faults, list) and faults else {}
        return cls(
            printable(str(first.get("reason", ""))),
            printable(str(entry["topic"])),
            printable(str(first.get("detail", ""))),
            datetime.fromisoformat(str(entry["received_at"])),
        )


@dataclass(frozen=True, slots=True)
class Moment:
    """The gateway's counters, `elapsed_s` after the start of the demo."""

    elapsed_s: float
    counters: Mapping[str, int] = field(default_factory=dict)

    def rate(self, name: str, before: "Moment") -> float:
        """How fast a counter grew since `before`, per s."""
        passed = self.elapsed_s - before.elapsed_s
        grown = self.count(name) - before.count(name)
        return grown / passed if passed > 0 else 0.0

    def count(self, name: str) -> int:
        """A counter; 0 where the gateway does not have it."""
        return int(self.counters.get(name, 0))


@dataclass(frozen=True, slots=True)
class Sight:
    """What there is to be shown at one moment; texts are fit for a terminal."""

    now: Moment
    before: Moment
    at: datetime
    effects: Sequence[tuple[str, datetime, bool]] = ()
    """Sentence, when it was asked for, whether it is confirmed; oldest first."""

    faults: Sequence[Fault] = ()
    devices: Sequence[tuple[str, Reading]] = ()
    answers: Sequence[tuple[str, Sequence[str]]] = ()
    changes: Sequence[Change] = ()
    stored_ms: float = 0.0
    told_ms: float = 0.0
    accepted: str = ""
    addresses: str = ""
    alarms: Sequence[str] = ()
    status: str = RUNNING


class Seen:
    """Thread-safe."""

    def __init__(
        self, addresses: str = "", elapsed_s: Callable[[], float] = time.monotonic
    ) -> None:
        self._lock = Lock()
        self._elapsed_s = elapsed_s
        self._addresses = addresses
        self._moments = [Moment(elapsed_s())]
        self._faults: list[Fault] = []
        self._alarms: list[str] = []
        self._status = RUNNING
        self.activity = Activity()
        self.readings = Readings()
        self.effects = Effects()
        self.accepted = ""

    def told(self, name: str, notification: Notification) -> None:
        """Take up what the standing subscription `name` says."""
        with self._lock:
            self.activity.told(name, notification, time.time_ns() // 1_000)

    def take(self, hear: Callable[[Notification], None], notification: Notification) -> None:
        """Have a part take up what its own subscription says."""
        with self._lock:
            hear(notification)

    def acknowledge(self, latency_s: float) -> None:
        """A device's message was acknowledged."""
        with self._lock:
            self.activity.acknowledge(latency_s)

    def counted(self, counters: Mapping[str, int], alarms: Sequence[str] = ()) -> None:
        """The gateway's counters and alarms are these now."""
        with self._lock:
            self._alarms = [printable(each) for each in alarms]
            self._moments = [*self._moments[-8:], Moment(self._elapsed_s(), counters)]

    def quarantined(self, entries: Sequence[Mapping[str, object]]) -> None:
        """These are in quarantine, newest first."""
        faults = [Fault.of(entry) for entry in entries]
        with self._lock:
            self._faults = faults

    def ends(self, status: str) -> None:
        """The demo is coming to its end."""
        self._status = status

    @property
    def moment(self) -> Moment:
        """The counters as they were told last."""
        return self._moments[-1]

    def sight(self) -> Sight:
        """All of it, now."""
        with self._lock:
            activity, effects = self.activity, self.effects
            return Sight(
                now=Moment(self._elapsed_s(), self._moments[-1].counters),
                before=self._moments[0],
                at=datetime.now(UTC),
                effects=[
                    (effects.sentence(each, self.readings), each.requested, each.is_confirmed)
                    for each in effects.latest
                ],
                faults=list(self._faults),
                devices=self.readings.of_each_dialect(),
                answers=activity.answers,
                changes=activity.changes,
                stored_ms=activity.ingest.p50_ms,
                told_ms=activity.notification.p50_ms,
                accepted=self.accepted,
                addresses=self._addresses,
                alarms=list(self._alarms),
                status=self._status,
            )
