"""`ReplayedSink`: a subscriber that is told what was before, and meanwhile keeps what comes.

    replay, in its thread ---------------> the subscriber's sink
    engine, in the scheduler's thread -> kept -> the same, once the replay is there

Place: between the scheduler and the sink of a subscription with `after`. Every event is told once,
in the order of positions: what the engine tells is behind all that is replayed. Where too much
comes meanwhile it is let go, and the replay goes on to where it came.
"""

from threading import Lock

from gateway.engine import Notification
from gateway.journal.event_position import EventPosition
from gateway.scheduler.scheduler import Sink

MOST_KEPT = 10_000
"""Rows of notifications that wait for the end of a replay."""


class ReplayedSink:
    """A sink; the first notification goes through, all others wait for `caught_up`.

    The sequence counts what it was told by both; `first` is the first one, `spuid` its own.
    """

    def __init__(self, sink: Sink, gap: tuple[EventPosition, EventPosition] | None) -> None:
        self.first: Notification | None = None
        self._sink = sink
        self._gap = gap
        self._lock = Lock()
        self._kept: list[Notification] = []
        self._rows = self._sequence = 0
        self._reached: EventPosition | None = None
        self._is_live = False

    @property
    def spuid(self) -> str:
        """The subscription's own, once it was told something."""
        return "" if self.first is None else self.first.spuid

    def __call__(self, notification: Notification) -> None:
        """Tell it, or keep it; in the scheduler's thread."""
        with self._lock:
            if self.first is None:
                self.first = notification
                self._sink(_with_gap(notification, self._gap))
            elif self._is_live:
                self._tell(notification)
            else:
                self._keep(notification)

    def replay(self, notification: Notification) -> None:
        """Tell what was before; in the replay's thread."""
        with self._lock:
            self._tell(notification)

    def caught_up(self) -> EventPosition | None:
        """Tell what was kept, and all else from now on; or to where the replay has to go on."""
        with self._lock:
            reached, self._reached = self._reached, None
            if reached is None:
                self._is_live = True
                for notification in self._kept:
                    self._tell(notification)
            self._kept.clear()
            self._rows = 0
            return reached

    def _keep(self, notification: Notification) -> None:
        self._rows += len(notification.results.added)
        if self._rows > MOST_KEPT:
            self._kept.clear()
            self._reached = EventPosition.parse((notification.events or ())[-1].position)
        else:
            self._kept.append(notification)

    def _tell(self, notification: Notification) -> None:
        self._sequence += 1
        self._sink(notification._replace(sequence=self._sequence))


def _with_gap(first: Notification, gap: tuple[EventPosition, EventPosition] | None) -> Notification:
    """The first notification, and what it says of events that nobody can tell any more."""
    if gap is None or first.federation is None:
        return first
    missing = {gateway: (str(gap[0]), str(gap[1])) for gateway in first.federation.positions}
    return first._replace(federation=first.federation._replace(gap=missing))
