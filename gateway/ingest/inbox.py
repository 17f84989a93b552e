"""The inbox: where messages of every broker wait for ingest; bounded, it pushes back.

The gates live in the event loop: they `offer` what came together, and await `put_soon` where there
is no room; nothing is ever dropped. Ingest takes whatever is there, so that one fsync serves many
messages.
"""

import asyncio
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from adapters.values.fault import Fault
from adapters.values.message import Message
from adapters.values.observation import Observation
from gateway.journal import Record


@dataclass(slots=True)
class Replay:
    """That a message has been in quarantine; `accepted` names what it gave before.

    Ingest says here what it gives now, and what is still wrong with it.
    """

    accepted: frozenset[str]
    observations: tuple[Observation, ...] = ()
    faults: tuple[Fault, ...] = ()


@dataclass(slots=True)
class Outcome:
    """Ingest says here what a message gave, for who waits to be told: records, and faults."""

    records: tuple[Record, ...] = ()
    faults: tuple[Fault, ...] = ()


@dataclass(frozen=True, slots=True)
class Delivery:
    """A message and what to call, from any thread, when it is settled.

    `settle(None)` acknowledges it; with an error it must not be acknowledged. With `replay` it does
    not come from a broker. With `too_large_bytes` its payload was so long, and the message has the
    beginning: it is for the quarantine alone. The `outcome` is filled before it is settled.
    """

    message: Message
    settle: Callable[[Exception | None], None]
    replay: Replay | None = None
    too_large_bytes: int = 0
    outcome: Outcome | None = None


class Inbox:
    """A bounded queue of deliveries from one event loop to one thread, in order of arrival."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._deliveries: deque[Delivery] = deque()
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Delivery, asyncio.Future[bool]]] = deque()
        self._closed = False
        self._roused = False

    def __len__(self) -> int:
        return len(self._deliveries)

    @property
    def is_drained(self) -> bool:
        """Whether it is closed and nothing is in it any more."""
        return self._closed and not self._deliveries

    def offer(self, deliveries: Sequence[Delivery]) -> int:
        """Take as many of them as there is room for, without waiting; how many those are."""
        with self._changed:
            if self._closed or self._waiting:
                return 0
            taken = min(len(deliveries), max(0, self._limit - len(self._deliveries)))
            self._deliveries.extend(deliveries[:taken])
            self._changed.notify_all()
        return taken

    async def put_soon(self, delivery: Delivery) -> bool:
        """Wait for room without blocking the event loop; False when the inbox was closed.

        Nobody overtakes those who wait: `take` puts their deliveries in.
        """
        with self._changed:
            if self._closed or not (self._waiting or len(self._deliveries) >= self._limit):
                return self._append(delivery)
            is_in: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
            self._waiting.append((delivery, is_in))
        return await is_in

    def take(self, most: int, timeout_s: float | None = None) -> list[Delivery]:
        """Wait for deliveries and take up to `most`.

        An empty list means that it is drained, that nothing came in `timeout_s`, or a `rouse`.
        """
        with self._changed:
            self._changed.wait_for(
                lambda: self._deliveries or self._closed or self._roused, timeout_s
            )
            self._roused = False
            taken = [self._deliveries.popleft() for _ in range(min(most, len(self._deliveries)))]
            admitted = self._admit()
            self._changed.notify_all()
        _tell(admitted, is_in=True)
        return taken

    def rouse(self) -> None:
        """Have `take` return, be there a delivery or not."""
        with self._changed:
            self._roused = True
            self._changed.notify_all()

    def close(self) -> None:
        """Take nothing more; what is in it can still be taken out."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            refused = [is_in for _, is_in in self._waiting]
            self._waiting.clear()
        _tell(refused, is_in=False)

    def _append(self, delivery: Delivery) -> bool:
        if self._closed:
            return False
        self._deliveries.append(delivery)
        self._changed.notify_all()
        return True

    def _admit(self) -> list[asyncio.Future[bool]]:
        """Put in what waited, as far as there is room; whoever gave up waiting is passed over."""
        admitted = []
        while self._waiting and len(self._deliveries) < self._limit:
            delivery, is_in = self._waiting.popleft()
            if not is_in.cancelled():
                self._deliveries.append(delivery)
                admitted.append(is_in)
        return admitted


def _tell(waiting: Sequence[asyncio.Future[bool]], *, is_in: bool) -> None:
    """Wake them up, in their event loop, all at once."""
    if waiting:
        waiting[0].get_loop().call_soon_threadsafe(_set_results, waiting, is_in)


def _set_results(waiting: Sequence[asyncio.Future[bool]], is_in: bool) -> None:
    for each in waiting:
        if not each.done():
            each.set_result(is_in)
