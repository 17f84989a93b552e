"""The inbox: where messages of every broker wait for ingest; bounded, it pushes back.

Threads (paho) block in `put`, the event loop (embedded broker) awaits `put_soon`; nothing is ever
dropped. Ingest takes whatever is there, so that one fsync serves many messages.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

from adapters.message import Message


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message and what to call, from any thread, when it is settled.

    `settle(None)` acknowledges it; with an error it must not be acknowledged.
    """

    message: Message
    settle: Callable[[Exception | None], None]


class Inbox:
    """A bounded queue of deliveries between threads and the event loop."""

    def __init__(self, limit: int = 2000) -> None:
        self._limit = limit
        self._deliveries: deque[Delivery] = deque()
        self._changed = threading.Condition()
        self._waiters: deque[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = deque()
        self._closed = False

    def __len__(self) -> int:
        return len(self._deliveries)

    def put(self, delivery: Delivery) -> bool:
        """Wait for room in this thread; False when the inbox was closed meanwhile."""
        with self._changed:
            while len(self._deliveries) >= self._limit and not self._closed:
                self._changed.wait()
            return self._append(delivery)

    async def put_soon(self, delivery: Delivery) -> bool:
        """Wait for room without blocking the event loop; False when the inbox was closed."""
        while True:
            with self._changed:
                if len(self._deliveries) < self._limit or self._closed:
                    return self._append(delivery)
                loop = asyncio.get_running_loop()
                room = loop.create_future()
                self._waiters.append((loop, room))
            await room

    def take(self, most: int) -> list[Delivery]:
        """Wait for deliveries and take up to `most`; an empty list means closed and drained."""
        with self._changed:
            while not self._deliveries and not self._closed:
                self._changed.wait()
            taken = [self._deliveries.popleft() for _ in range(min(most, len(self._deliveries)))]
            self._changed.notify_all()
            waiters, self._waiters = self._waiters, deque()
        for loop, room in waiters:
            loop.call_soon_threadsafe(_wake, room)
        return taken

    def close(self) -> None:
        """Take nothing more; what is in it can still be taken out."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            waiters, self._waiters = self._waiters, deque()
        for loop, room in waiters:
            loop.call_soon_threadsafe(_wake, room)

    def _append(self, delivery: Delivery) -> bool:
        if self._closed:
            return False
        self._deliveries.append(delivery)
        self._changed.notify_all()
        return True


def _wake(room: asyncio.Future[None]) -> None:
    if not room.done():
        room.set_result(None)
