"""`TriedFirst`: a SUBSCRIBE whose form bounds nothing is answered apart once, before it is here.

Place: between the subscribers and the scheduler, which evaluates first answers in the thread of all
UPDATEs. What takes too much memory or time there costs its sender an error here. A client has one
such trial at a time, so that the trials of one do not keep those of all others waiting.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from weakref import WeakValueDictionary

from gateway.engine import Notification, SubscribeRequest
from gateway.engine.spu import EVENT
from gateway.engine.windowed.beside_store import WindowCopies
from gateway.errors import GatewayError
from gateway.gates.sparql.queries_apart import QueriesApart
from gateway.gates.subscriptions.open_windows import OpenWindows
from gateway.scheduler.subscriptions import Subscriptions

_TRIALS = 4
"""At once, each in a process of its own."""


class TriedFirst:
    """Subscriptions of others; for the event loop.

    What `windows` have is tried with the store; without it they are as if empty.
    """

    def __init__(
        self,
        subscriptions: Subscriptions,
        apart: QueriesApart,
        windows: OpenWindows | None = None,
    ) -> None:
        self._subscriptions = subscriptions
        self._apart = apart
        self._windows = windows
        self._forms = ThreadPoolExecutor(1, "forms")
        self._trials = ThreadPoolExecutor(_TRIALS, "first answers")
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

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
        if query.mode == EVENT:  # its first answer is empty, and the store is not asked
            return await self._subscriptions.subscribe(query, sink=sink, ended=ended)
        if await loop.run_in_executor(self._forms, self._apart.wants_trial, query):
            turn = self._turns.setdefault(query.owner, asyncio.Lock())
            completed = query if self._windows is None else self._windows.completed(query)
            async with turn, self._opened(completed) as copied:
                await self._tried(completed, copied)
                if completed.windows:  # while they are open
                    return await self._subscriptions.subscribe(query, sink=sink, ended=ended)
        return await self._subscriptions.subscribe(query, sink=sink, ended=ended)

    @asynccontextmanager
    async def _opened(self, query: SubscribeRequest) -> AsyncIterator[WindowCopies | None]:
        """What its windows have."""
        if self._windows is None or not query.windows:
            yield None
            return
        async with self._windows.of(query) as copied:
            yield copied

    async def _tried(self, query: SubscribeRequest, copied: WindowCopies | None) -> None:
        """Try a query's first answer; end its process when nobody waits for it any more."""
        loop, is_over = asyncio.get_running_loop(), threading.Event()
        try:
            await loop.run_in_executor(
                self._trials, self._apart.try_first, query, lambda: not is_over.is_set(), copied
            )
        finally:
            is_over.set()

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription."""
        await self._subscriptions.unsubscribe(spuid)

    def close(self) -> None:
        """Try nothing more."""
        for threads in (self._forms, self._trials):
            threads.shutdown(wait=False, cancel_futures=True)
