"""`Witness`: the client that watches the demo's gateway, as any other client could.

Place on the way of the data: beyond the gates. It subscribes over WebSocket and asks over HTTP; of
the gateway's inside it knows nothing.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, cast

import httpx

from gateway.client import AsyncClient, AsyncConsumer, Notification
from gateway.demo.seen import Seen
from gateway.demo.settings import Standing
from gateway.errors import StorageError
from gateway.rdf.solutions import Solution
from jsap.profile import Profile

_ASKED_EVERY_S = 0.5
_FAULTS_ASKED = 10
_SETTLED_S = 5.0
_SETTLING_S = 0.02
_ANSWERED_S = 60.0
_ALARMED = 503
"""The status of /health while an alarm is a fault."""

Hear = Callable[[Notification], None]


class Witness:
    """Opened by `watching`; its `tasks` end with what goes wrong, and not before."""

    def __init__(
        self, client: AsyncClient, http: httpx.AsyncClient, seen: Seen, opened: AsyncExitStack
    ) -> None:
        self._client = client
        self._http = http
        self._seen = seen
        self._opened = opened
        self._consumers: list[AsyncConsumer] = []
        self.tasks: set[asyncio.Task[None]] = set()

    async def subscribe(self, query_id: str, *heard: Hear) -> None:
        """Have each notification of a query heard, from the first answer on."""
        consumer = await self._opened.enter_async_context(self._client.subscribe(query_id))
        self._consumers.append(consumer)
        self._run(_hear(consumer, heard))

    def keep_looking(self) -> None:
        """Look again and again."""
        self._run(self._look_again())

    async def look(self) -> None:
        """Ask for the counters, the alarms and the quarantine."""
        health = await self._asked("GET", "/health", but=_ALARMED)
        self._seen.counted(health["counters"], health["alarms"])
        found = await self._asked("GET", f"/quarantine?limit={_FAULTS_ASKED}")
        self._seen.quarantined(found["entries"])

    async def accept(self) -> Mapping[str, Any]:
        """Confirm all that devices propose, as `sosa-gateway mapping confirm --all` does."""
        told: Mapping[str, Any]
        told = await self._asked("POST", "/mappings/proposals/confirm", {"all": True})
        return told

    async def settle(self) -> None:
        """Wait until all that was told adds up to what a QUERY answers; not for ever."""
        try:
            async with asyncio.timeout(_SETTLED_S):
                for consumer in self._consumers:
                    while not await self._is_settled(consumer):
                        await asyncio.sleep(_SETTLING_S)
        except TimeoutError:
            return

    async def stop(self) -> None:
        """End the tasks."""
        for task in self.tasks:
            task.cancel()
        if self.tasks:
            await asyncio.wait(self.tasks)

    def _run(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.add(asyncio.create_task(work, name="demo-witness"))

    async def _look_again(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(_ASKED_EVERY_S)

    async def _is_settled(self, consumer: AsyncConsumer) -> bool:
        asked = cast(Sequence[Solution], await self._client.query(consumer.query_id))
        return _bag(asked) == _bag(consumer.solutions)

    async def _asked(self, method: str, path: str, body: object = None, but: int = 0) -> Any:
        """The answer; an error is one with the status `but` too."""
        try:
            answer = await self._http.request(method, path, json=body)
        except httpx.HTTPError as error:
            raise StorageError(f"{path}: {error or type(error).__name__}") from error
        if answer.is_error and answer.status_code != but:
            raise StorageError(f"{path}: {answer.status_code} {answer.text[:200]}")
        return answer.json()


@asynccontextmanager
async def watching(
    profile: Profile, http_url: str, seen: Seen, standing: Sequence[Standing]
) -> AsyncIterator[Witness]:
    """A witness that has subscribed all that the screen shows."""
    async with (
        AsyncClient(profile) as client,
        httpx.AsyncClient(base_url=http_url, timeout=_ANSWERED_S, trust_env=False) as http,
        AsyncExitStack() as opened,
    ):
        witness = Witness(client, http, seen, opened)
        try:
            for each in standing:
                seen.activity.subscribe(each.name, is_question=each.is_question)
                heard: list[Hear] = [partial(seen.told, each.name)]
                if each.is_cause:
                    heard.append(partial(seen.take, seen.effects.wanted))
                await witness.subscribe(each.query_id, *heard)
            for query_id, hear in (
                ("DIALECTS", seen.readings.mapped),
                ("READINGS", seen.readings.told),
                ("COMMANDS", seen.effects.told),
            ):
                await witness.subscribe(query_id, partial(seen.take, hear))
            yield witness
        finally:
            await witness.stop()


async def _hear(consumer: AsyncConsumer, heard: Sequence[Hear]) -> None:
    async for notification in consumer:
        for each in heard:
            each(notification)


def _bag(rows: Sequence[Solution]) -> Counter[frozenset[Any]]:
    return Counter(frozenset(row.items()) for row in rows)
