"""`Outbox`: what one subscription still has to be told, bounded, between two threads.

Place on the way of the data: engine → **outbox** → a transport's writer. The scheduler's thread
(or one that receives from a worker) puts notifications, the writer in the event loop takes
messages. Its consumer is its subscriber, or one for all whose client is away, and can change: the
numbering goes on, and what was sent last can be sent again.

Policy when full: above `messages` waiting, a notification is added to the waiting one (merging.py),
so a slow subscriber gets fewer and larger steps to the same answer. Above `rows` waiting for one
consumer, it overflows.

Invariant: what a subscriber has received adds up to an answer that was true at the `time` of the
last message; the sequence counts the messages from 0 without a gap.
"""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Protocol

from gateway.config.limits import DEFAULT_LIMITS
from gateway.engine import Notification
from gateway.gates.subscriptions.kept import Addressed, Kept, KeptBytes, KeptLimits
from gateway.gates.subscriptions.merging import Step, step_of
from gateway.windows.window import OUTPUTS

_addressed: Callable[[type[Addressed], tuple[object, ...]], Addressed] = tuple.__new__
"""A third of the time of calling the class."""


@dataclass(frozen=True, slots=True)
class OutboxLimits:
    """Above `messages` waiting, notifications merge; above `rows` for one consumer, it overflows.

    What was sent last is `kept`, and can be sent again.
    """

    messages: int = DEFAULT_LIMITS.outbox
    rows: int = DEFAULT_LIMITS.outbox_rows
    kept: KeptLimits = field(default_factory=KeptLimits)


class Consumer(Protocol):
    """Takes messages out of outboxes, which share its limit of rows; their one lock guards `rows`.

    Both methods are called with that lock held, in any thread: they must neither wait nor raise.
    """

    rows: int

    def ready(self, outbox: "Outbox") -> None:
        """Know of one message more to take; told once for each, in the order of all outboxes."""

    def overflow(self, outbox: "Outbox") -> None:
        """Know that the outbox was closed: more rows wait than may."""


class Outbox:
    """First in, first out; `lock` is that of every consumer that it may have, and of `all_kept`.

    `output` is what its subscriber wants to be told: it says how notifications merge.
    """

    __slots__ = (
        "_closed",
        "_kept",
        "_limits",
        "_lock",
        "_output",
        "_rows",
        "_sequence",
        "_steps",
        "consumer",
    )

    def __init__(
        self,
        lock: Lock,
        consumer: Consumer,
        limits: OutboxLimits,
        all_kept: KeptBytes,
        *,
        output: str = OUTPUTS[0],
    ) -> None:
        self.consumer = consumer
        self._output = output
        self._lock = lock
        self._limits = limits
        self._steps: deque[Notification | Step] = deque()
        self._kept = Kept(limits.kept, all_kept)
        self._sequence = 0
        self._rows = 0
        self._closed = False

    def put(self, notification: Notification) -> None:
        """Have the notification sent; never waits and never raises. A closed outbox drops it."""
        with self._lock:
            if self._closed:
                return
            consumer, limits, steps = self.consumer, self._limits, self._steps
            if consumer.rows > limits.rows:
                self._close()
                consumer.overflow(self)
            elif len(steps) < limits.messages or not steps:
                steps.append(notification)
                _, added, removed = notification.results
                self._count(len(added) + len(removed))
                consumer.ready(self)
            else:
                self._merge(notification)

    def takes(self) -> bool | None:
        """Whether there is room for what can wait; None once it is closed. In any thread."""
        if self._closed:
            return None
        limits = self._limits
        return len(self._steps) * 2 < limits.messages and self.consumer.rows * 2 < limits.rows

    def take(self) -> Addressed | None:
        """The next message to send; None for one that is needless by now, or was taken before."""
        with self._lock:
            if self._kept.again:
                return self._kept.take()
            if not self._steps:
                return None
            step = self._steps.popleft()
            if isinstance(step, Notification):
                _, added, removed = step.results
                self._count(-len(added) - len(removed))
                return self._address(step, 1)
            self._count(-step.rows)
            return None if step.is_needless else self._address(step.notification(), step.merged)

    def rewind(self, sequence: int) -> bool:
        """Send again what came after this message; False when that is not known any more."""
        with self._lock:
            if self._closed or sequence < 0:
                return False
            return self._kept.rewind(self._sequence - 1 - sequence)

    def move(self, consumer: Consumer) -> None:
        """Have another consumer from now on, for all that waits too."""
        with self._lock:
            self.consumer.rows -= self._rows
            self.consumer = consumer
            consumer.rows += self._rows
            for _ in range(self._kept.again + len(self._steps)):
                consumer.ready(self)

    def close(self) -> None:
        """Drop everything and whatever comes later."""
        with self._lock:
            self._close()

    def _merge(self, notification: Notification) -> None:
        last = self._steps[-1]
        if isinstance(last, Notification):
            last = self._steps[-1] = step_of(self._output, last)
        before = last.rows
        last.add(notification)
        self._count(last.rows - before)

    def _count(self, rows: int) -> None:
        self._rows += rows
        self.consumer.rows += rows

    def _address(self, notification: Notification, merged: int) -> Addressed:
        if notification.sequence != self._sequence:
            notification = notification._replace(sequence=self._sequence)
        self._sequence += 1
        message = _addressed(Addressed, (notification, merged))
        if notification.sequence:  # without the first answer, a client knows nothing to ask for
            self._kept.add(message)
        return message

    def _close(self) -> None:
        self._closed = True
        self._count(-self._rows)
        self._steps.clear()
        self._kept.clear()
