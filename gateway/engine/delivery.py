"""`Delivery`: notifications to the one listener that an engine may have.

Behind `Subscriptions`. Without a listener the notifications of an UPDATE are in its Outcome; those
of workers come later and need a listener. The scheduler is the listener of the gateway's engine.
"""

import logging
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from threading import Lock
from time import monotonic
from typing import NamedTuple

from gateway.engine.notification import Notification, SharedListener, SharedNotification
from gateway.engine.spu import Change, Spu
from gateway.engine.subscriptions import Subscription, Subscriptions
from gateway.errors import GatewayError, SubscriptionFailedError

log = logging.getLogger(__name__)

_NO_LISTENER = "an engine with workers needs a listener: on_notification"

Listener = Callable[[Notification], None]

Ended = Callable[[str, GatewayError], None]
"""Told the spuid of a subscription that can no longer be served, and why."""


_FAILED = 20


class FailedSpu(NamedTuple):
    """A query that could not be served any more, why, and when: seconds of a steady clock."""

    text: str
    error: GatewayError
    at: float


class Delivery:
    """Addresses what workers answer while others subscribe and unsubscribe.

    `late` counts the notifications that came from workers; `failed` are the last SPUs that ended.
    """

    def __init__(self, subscriptions: Subscriptions, listener: Listener | None) -> None:
        self.listener = listener
        self.on_end: Ended | None = None
        self.late = 0
        self.failed: deque[FailedSpu] = deque(maxlen=_FAILED)
        self._subscriptions = subscriptions
        self._lock = Lock()

    def add(
        self, spu: Spu, alias: str | None, listener: SharedListener | None = None
    ) -> Subscription:
        """A further subscriber of an SPU; nothing that happened before is for it."""
        with self._lock:
            return self._subscriptions.add(spu, alias, listener)

    def remove(self, spuid: str) -> Spu | None:
        """End a subscription, which is told nothing from now on; the SPU, if it was its last one.

        Raises NotFoundError.
        """
        with self._lock:
            return self._subscriptions.remove(spuid)

    def leave(self, spuid: str) -> Spu | None:
        """Take a subscription from its SPU; the SPU, if it was its last one."""
        with self._lock:
            return self._subscriptions.leave(spuid)

    def join(self, spuid: str, spu: Spu) -> Subscription:
        """Let a subscription that has left its SPU be one of another's."""
        with self._lock:
            return self._subscriptions.join(spuid, spu)

    def deliver(self, notifications: Iterable[Notification]) -> None:
        """Tell the listener, if there is one; in this thread."""
        listener = self.listener
        if listener is None:
            return
        for notification in notifications:
            try:
                listener(notification)
            except Exception:  # a defect of the listener, which the other subscribers survive
                log.exception("notification_not_taken")

    def deliver_shared(
        self, shared: Iterable[tuple[SharedNotification, Iterable[SharedListener]]]
    ) -> None:
        """Tell the listeners that subscriptions have of their own; in this thread."""
        for notification, listeners in shared:
            for listener in listeners:
                try:
                    listener(notification)
                except Exception:  # a defect of the listener, which the other subscribers survive
                    log.exception("notification_not_taken")

    def arrived(self, changes: Sequence[Change], time: int) -> None:
        """Tell the listener what a worker answered, in the thread that receives from it.

        The lock is held until it is told, so that nobody is told who has unsubscribed.
        """
        with self._lock:
            late = self._subscriptions.address(changes, time).notifications
            self.late += len(late)
            if late and self.listener is None:
                log.error("notification_not_taken", extra={"reason": _NO_LISTENER})
            self.deliver(late)

    def given_up(self, spu: Spu) -> None:
        """An SPU has ended its worker too often; in the thread that receives from the worker."""
        self._end(
            spu,
            SubscriptionFailedError(
                "this query has ended its worker process again and again",
                "ask for less, or subscribe to it with [engine] workers = 0",
            ),
        )

    def lost(self, spu: Spu) -> None:
        """Nobody knows any more what the subscribers of an SPU were told."""
        why = "an UPDATE failed in this query, and so did asking what it answered before"
        self._end(spu, SubscriptionFailedError(why, "subscribe again"))

    def _end(self, spu: Spu, error: SubscriptionFailedError) -> None:
        """Tell `on_end`, which must end the subscriptions soon."""
        self.failed.append(FailedSpu(spu.subject.text, error, monotonic()))
        with self._lock:
            for spuid in self._subscriptions.spuids(spu):
                if self.on_end is not None:
                    self.on_end(spuid, error)

    def ended(self, spuid: str, text: str, error: GatewayError) -> None:
        """Tell `on_end` of a subscription that has left its SPU; without one it ends here."""
        self.failed.append(FailedSpu(text, error, monotonic()))
        if self.on_end is not None:
            self.on_end(spuid, error)
        else:
            self.remove(spuid)
