"""`Subscriptions`: whoever keeps subscriptions for others, the scheduler or somebody before it.

Place on the way of the data: what subscribers, rules and sensors of a query ask.
"""

from collections.abc import Callable
from typing import Protocol

from gateway.engine import Notification, SubscribeRequest
from gateway.errors import GatewayError


class Subscriptions(Protocol):
    """Keeps subscriptions; raises a GatewayError."""

    async def subscribe(
        self,
        query: SubscribeRequest,
        /,
        *,
        sink: Callable[[Notification], None],
        ended: Callable[[GatewayError], None],
    ) -> str:
        """The spuid; the sink gets sequence 0 first, and is called in any one thread.

        `ended` is told, in any thread, why it can no longer be served.
        """
        ...

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription."""
        ...
