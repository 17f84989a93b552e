"""`Delivery`: notifications to the one listener that an engine may have.

Place: behind `Subscriptions`. Without a listener the notifications of an UPDATE are in its
Outcome; those of workers come later and need a listener.
"""

import logging
from collections.abc import Callable, Sequence
from threading import Lock

from gateway.engine.notification import Notification
from gateway.engine.spu import Change, Spu
from gateway.engine.subscriptions import Subscription, Subscriptions
from gateway.errors import GatewayError, SubscriptionFailedError

log = logging.getLogger(__name__)

Listener = Callable[[Notification], None]

Ended = Callable[[str, GatewayError], None]
"""Told the spuid of a subscription that can no longer be served, and why."""


class Delivery:
    """Addresses what workers answer while others subscribe and unsubscribe.

    `late` counts the notifications that came from workers.
    """

    def __init__(self, subscriptions: Subscriptions, listener: Listener | None) -> None:
        self.listener = listener
        self.on_end: Ended | None = None
        self.late = 0
        self._subscriptions = subscriptions
        self._lock = Lock()

    def add(self, spu: Spu, alias: str | None) -> Subscription:
        """A further subscriber of an SPU; nothing that happened before is for it."""
        with self._lock:
            return self._subscriptions.add(spu, alias)

    def remove(self, spuid: str) -> Spu | None:
        """End a subscription: from now on it is told nothing. See Subscriptions."""
        with self._lock:
            return self._subscriptions.remove(spuid)

    def deliver(self, notifications: tuple[Notification, ...]) -> tuple[Notification, ...]:
        """Tell the listener, in the thread of the UPDATE; what is left without one."""
        if self.listener is None:
            return notifications
        for notification in notifications:
            self._tell(notification)
        return ()

    def arrived(self, changes: Sequence[Change], time: int) -> None:
        """Tell the listener what a worker answered, in the thread that receives from it.

        The lock is held until it is told, so that nobody is told who has unsubscribed.
        """
        with self._lock:
            for notification in self._subscriptions.address(changes, time):
                self.late += 1
                self._tell(notification)

    def given_up(self, spu: Spu) -> None:
        """Tell `on_end`, in the thread that receives from the worker; it must end them soon."""
        error = SubscriptionFailedError(
            "this query has ended its worker process again and again",
            "ask for less, or subscribe to it with [engine] workers = 0",
        )
        with self._lock:
            for spuid in self._subscriptions.spuids(spu):
                if self.on_end is not None:
                    self.on_end(spuid, error)

    def _tell(self, notification: Notification) -> None:
        try:
            if self.listener is None:
                raise ValueError("an engine with workers needs a listener: on_notification")
            self.listener(notification)
        except Exception:  # a defect of the listener, which the other subscribers survive
            log.exception("notification_not_taken")
