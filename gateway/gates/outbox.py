"""`Outbox`: what one socket still has to be told, bounded, between two threads.

Place on the way of the data: engine → **outbox** → socket. The scheduler's thread puts
notifications, the socket's writer in the event loop takes messages. Policy when full: above
`messages` waiting, a notification is added to the waiting one of its subscription (bag algebra:
from R0 to R1 and from R1 to R2 is from R0 to R2), so a slow subscriber gets fewer and larger
steps to the same answer. Above `rows` waiting the outbox overflows: the socket has to be closed.

Invariant: what a subscriber has received adds up to an answer that was true at the `time` of the
last message; the sequence counts the messages from 0 without a gap.
"""

import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from gateway.engine import Notification
from gateway.rdf.solutions import ResultsDelta, Row


@dataclass(frozen=True, slots=True)
class OutboxLimits:
    """Above `messages` waiting, notifications merge; above `rows` waiting, the socket closes."""

    messages: int = 1000
    rows: int = 100_000


@dataclass(frozen=True, slots=True)
class Addressed:
    """A notification numbered for its subscriber; `merged` notifications of the engine."""

    notification: Notification
    merged: int = 1


def merge(notifications: Sequence[Notification]) -> Notification:
    """Several steps of one subscription as one; takes time linear in their rows.

    The sequence is that of the first, the time that of the last.
    """
    step = _Step(notifications[0])
    for notification in notifications[1:]:
        step.add(notification)
    return step.notification()


class _Step:
    """One message that waits; adding to it takes time linear in what is added."""

    __slots__ = ("_first", "_last", "_net", "merged", "rows")

    def __init__(self, first: Notification) -> None:
        self._first = first
        self._last = first
        self._net: dict[Row, int] | None = None
        self.merged = 1
        self.rows = len(first.results.added) + len(first.results.removed)

    @property
    def spuid(self) -> str:
        return self._first.spuid

    @property
    def is_needless(self) -> bool:
        """Whether the notifications cancelled out; a first answer is sent even when empty."""
        return self.rows == 0 and self._first.sequence > 0

    def add(self, later: Notification) -> None:
        if self._net is None:
            self._net = {}
            self.rows = 0
            self._count(self._net, self._first.results)
        self._count(self._net, later.results)
        self._last = later
        self.merged += 1

    def _count(self, net: dict[Row, int], results: ResultsDelta) -> None:
        for rows, sign in ((results.added, 1), (results.removed, -1)):
            for row in rows:
                before = net.get(row, 0)
                after = before + sign
                if after:
                    net[row] = after
                else:
                    del net[row]
                self.rows += abs(after) - abs(before)

    def notification(self) -> Notification:
        if self._net is None:
            return self._first
        added = tuple(row for row, count in self._net.items() for _ in range(count))
        removed = tuple(row for row, count in self._net.items() for _ in range(-count))
        results = ResultsDelta(self._first.results.variables, added, removed)
        return replace(self._first, time=self._last.time, results=results)


class Outbox:
    """First in, first out between the scheduler's thread and one socket's writer.

    `wake` is called, in the thread of `put`, when the writer has taken everything and there is
    something new: once for many notifications.
    """

    def __init__(self, wake: Callable[[], object], limits: OutboxLimits) -> None:
        self._wake = wake
        self._limits = limits
        self._lock = threading.Lock()
        self._steps: deque[_Step] = deque()
        self._latest: dict[str, _Step] = {}
        self._sequences: dict[str, int] = {}
        self._rows = 0
        self._awake = False
        self._closed = False
        self.overflowed = False

    def put(self, notification: Notification) -> None:
        """Have the notification sent; never waits and never raises. A closed outbox drops it."""
        with self._lock:
            if self._closed:
                return
            if self._rows > self._limits.rows:
                self.overflowed = True
                self._clear()
            else:
                self._append_or_merge(notification)
            wake, self._awake = not self._awake, True
            if wake:
                self._wake()

    def take(self) -> Addressed | None:
        """The next message to send; None when there is nothing: then `wake` will tell."""
        with self._lock:
            while self._steps:
                step = self._steps.popleft()
                self._rows -= step.rows
                if self._latest.get(step.spuid) is step:
                    del self._latest[step.spuid]
                if not step.is_needless:
                    return self._address(step)
            self._awake = False
            return None

    def forget(self, spuid: str) -> None:
        """Drop what waits for an ended subscription."""
        with self._lock:
            self._sequences.pop(spuid, None)
            self._latest.pop(spuid, None)
            self._rows -= sum(step.rows for step in self._steps if step.spuid == spuid)
            self._steps = deque(step for step in self._steps if step.spuid != spuid)

    def close(self) -> None:
        """Drop everything and whatever comes later."""
        with self._lock:
            self._clear()

    def _append_or_merge(self, notification: Notification) -> None:
        full = len(self._steps) >= self._limits.messages
        waiting = self._latest.get(notification.spuid) if full else None
        if waiting is not None:
            before = waiting.rows
            waiting.add(notification)
            self._rows += waiting.rows - before
        else:
            step = _Step(notification)
            self._steps.append(step)
            self._latest[notification.spuid] = step
            self._rows += step.rows

    def _address(self, step: _Step) -> Addressed:
        sequence = self._sequences.get(step.spuid, 0)
        self._sequences[step.spuid] = sequence + 1
        notification = step.notification()
        if notification.sequence != sequence:
            notification = replace(notification, sequence=sequence)
        return Addressed(notification, step.merged)

    def _clear(self) -> None:
        self._closed = True
        self._rows = 0
        self._steps.clear()
        self._latest.clear()
