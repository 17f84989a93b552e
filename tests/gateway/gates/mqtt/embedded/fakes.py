"""A gateway inbox that stores when the test says so, and a broker in front of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker
from tests.gateway.gates.mqtt.embedded.brokers import authenticate, authorize

NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


class DiskFullError(Exception):
    """What a store may raise."""


class FakeStore:
    """`accept` records each message at once; it returns when that message is committed.

    Without `hold()`, everything is committed at once. `full` makes each later `accept` raise.
    """

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.refused: list[tuple[Message, int]] = []
        self.full = False
        self._arrived = asyncio.Condition()
        self._commits: list[asyncio.Event] = []
        self._held = False

    def hold(self) -> None:
        self._held = True

    def commit(self, index: int) -> None:
        self._commits[index].set()

    @property
    def payloads(self) -> list[bytes]:
        return [message.payload for message in self.messages]

    async def accept(self, message: Message) -> None:
        committed = asyncio.Event()
        if not self._held:
            committed.set()
        self.messages.append(message)
        self._commits.append(committed)
        async with self._arrived:
            self._arrived.notify_all()
        if self.full:
            raise DiskFullError(message.topic)
        await committed.wait()

    async def refuse(self, message: Message, payload_bytes: int) -> None:
        self.refused.append((message, payload_bytes))

    async def has(self, count: int) -> None:
        """Wait until `count` messages have arrived."""
        async with asyncio.timeout(30), self._arrived:
            await self._arrived.wait_for(lambda: len(self.messages) >= count)


@asynccontextmanager
async def running(
    settings: BrokerSettings | None = None, store: FakeStore | None = None
) -> AsyncIterator[EmbeddedBroker]:
    """Our broker with the users and rights of `brokers`; the clock stands still at NOON."""
    store = store or FakeStore()
    chosen = settings or BrokerSettings(port=0)
    async with EmbeddedBroker(
        chosen, store.accept, authenticate, authorize, lambda: NOON, refuse=store.refuse
    ) as broker:
        yield broker
