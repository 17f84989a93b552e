"""`TriedFirst`: a SUBSCRIBE whose form bounds nothing is answered apart once, before it is here.

Place: between the subscribers and the scheduler, which evaluates first answers in the thread of all
UPDATEs. What takes too much memory or time there costs its sender an error here.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from gateway.engine import Notification, SubscribeRequest
from gateway.errors import GatewayError
from gateway.gates.sparql.queries_apart import QueriesApart
from gateway.gates.subscriptions.subscription import Subscriptions


class TriedFirst:
    """Subscriptions of others, with one thread in which one after another is tried."""

    def __init__(self, subscriptions: Subscriptions, apart: QueriesApart) -> None:
        self._subscriptions = subscriptions
        self._apart = apart
        self._thread = ThreadPoolExecutor(1, "first answers")

    async def subscribe(
        self,
        query: SubscribeRequest,
        /,
        *,
        sink: Callable[[Notification], None],
        ended: Callable[[GatewayError], None],
    ) -> str:
        """As Subscriptions; raises too what the first answer apart ends with."""
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(self._thread, self._apart.require, query)
        return await self._subscriptions.subscribe(query, sink=sink, ended=ended)

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription."""
        await self._subscriptions.unsubscribe(spuid)

    def close(self) -> None:
        """Try nothing more."""
        self._thread.shutdown(wait=False, cancel_futures=True)
