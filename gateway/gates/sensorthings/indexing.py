"""`Indexing`: keeps the index up to date while somebody asks, and not otherwise.

Place: between the gate and the scheduler. The first request subscribes to what the index is made
of; when nobody has asked for a while the subscriptions end, so that readings pay nothing for a
service that nobody uses.
"""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from time import monotonic

from gateway.engine import SubscribeRequest
from gateway.errors import GatewayError, OverloadedError
from gateway.exchange.sensorthings.index import QUERIES, Index, query_text
from gateway.scheduler.scheduler import Scheduler

log = logging.getLogger(__name__)

IDLE_S = 600.0
_LOOK_S = 1.0


class Indexing:
    """Gives the index to who asks; for the event loop."""

    def __init__(self, scheduler: Scheduler, observations: str, idle_s: float = IDLE_S) -> None:
        """`observations` is what the IRIs of the gateway's observations begin with."""
        self._scheduler = scheduler
        self._observations = observations
        self.idle_s = idle_s
        self._index: Index | None = None
        self._spuids: list[str] = []
        self._beginning = asyncio.Lock()
        self._asked_at = 0.0
        self._is_broken = False

    @property
    def is_kept(self) -> bool:
        """Whether readings are followed now."""
        return self._index is not None

    async def index(self) -> Index:
        """The index as it is now. Raises a GatewayError where it cannot be had."""
        self._asked_at = monotonic()
        if self._index is not None and not self._is_broken:
            return self._index
        async with self._beginning:
            if self._is_broken:
                await self._end()
            if self._index is None:
                self._index = await self._begun()
            return self._index

    async def _begun(self) -> Index:
        index, self._is_broken = Index(self._observations), False
        try:
            for name in QUERIES:
                request = SubscribeRequest(query_text(name), is_prompt=True)
                sink = partial(index.learn, name)
                spuid = await self._scheduler.subscribe_at_once(
                    request, sink=sink, ended=self._ended
                )
                self._spuids.append(spuid)
        except GatewayError as error:
            await self._end()
            raise OverloadedError(f"there is no index: {error}") from error
        return index

    def _ended(self, error: GatewayError) -> None:
        """One of the subscriptions is not served any more: begin anew with the next request."""
        log.error("sensorthings_index_lost", extra={"reason": str(error)})
        self._is_broken = True

    async def _end(self) -> None:
        """Follow readings no longer."""
        self._index = None
        while self._spuids:
            try:
                await self._scheduler.release(self._spuids.pop())
            except GatewayError as error:
                log.info("sensorthings_subscription_gone", extra={"reason": str(error)})

    async def _watch(self) -> None:
        while True:
            await asyncio.sleep(_LOOK_S)
            if self._index is not None and monotonic() - self._asked_at > self.idle_s:
                async with self._beginning:
                    await self._end()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Let go of it while nobody asks; at the end in any case."""
        watching = asyncio.create_task(self._watch(), name="sensorthings index")
        try:
            yield
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            await self._end()
