"""`OpenWindows`: the windows of a SUBSCRIBE, open and filled before its query is evaluated.

    SUBSCRIBE -> a subscription that asks nothing of the same windows -> copies of what they have

Place: beside `TriedFirst`. While it holds them the SUBSCRIBE itself finds them open, so the journal
is read once.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from gateway.engine import SubscribeRequest
from gateway.engine.windowed.beside_store import WindowCopies
from gateway.engine.windowed.window_copies import copies, seen
from gateway.errors import GatewayError, NotFoundError, TooLargeError
from gateway.scheduler.scheduler import Scheduler

_NOTHING = "ASK {{ GRAPH <{window}> {{ <urn:nothing> <urn:nothing> <urn:nothing> }} }}"


class OpenWindows:
    """For the event loop. A copy has at most `most_bytes`."""

    def __init__(self, scheduler: Scheduler, most_bytes: int) -> None:
        self._scheduler = scheduler
        self._most_bytes = most_bytes

    def completed(self, query: SubscribeRequest) -> SubscribeRequest:
        """The request with the declared windows that it names. Raises as `Names.completed`."""
        return self._scheduler.engine.windowed.names.completed(query)

    @asynccontextmanager
    async def of(self, query: SubscribeRequest) -> AsyncIterator[WindowCopies | None]:
        """What a request that has windows sees in them; they are open until the end of the block.

        None for a query whose aggregates slide, where they have too much to be copied: its first
        answer is made group by group. Raises TooLargeError for another one, and as Subscriptions.
        """
        ended: list[GatewayError] = []
        iri, _ = query.windows[0]
        asked = replace(query, text=_NOTHING.format(window=iri), dataset=None, infer=False)
        spuid = await self._scheduler.subscribe(asked, sink=_ignore, ended=ended.append)
        try:
            try:
                copied = await self._copied(query, spuid)
            except NotFoundError as error:  # it has ended meanwhile
                raise (ended or [error])[0] from None
            yield copied
        finally:
            with suppress(NotFoundError):  # it has ended
                await self._scheduler.release(spuid)

    async def _copied(self, query: SubscribeRequest, spuid: str) -> WindowCopies | None:
        look = self._scheduler.look
        try:
            there = await look(lambda engine: seen(query, engine.windowed.contents_of(spuid)))
            return await asyncio.to_thread(copies, query, there, self._most_bytes)
        except TooLargeError:
            if await look(lambda engine: engine.explain(query).tier) == "sliding":
                return None
            raise


def _ignore(_: object) -> None:
    """Take what is told of nothing."""
