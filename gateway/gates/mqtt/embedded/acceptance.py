"""`AcceptanceWindow`: PUBLISHes of one connection that wait until the gateway has stored them.

Place: connection → `admit` → (inbox, store) → `settle` → fan-out and PUBACK or PUBREC. Source:
MQTT 3.1.1, section 4.6: acknowledgements leave in the order in which the PUBLISHes came.

Why a window: awaiting one commit after the other would bound a client to one message for each
commit; unbounded reading would take the back-pressure from a slow store. So up to `size` messages
are with the store at a time, and `admit` waits for the oldest one.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable

from gateway.gates.mqtt.embedded.frames import Publish

log = logging.getLogger(__name__)

Accepting = asyncio.Future[bool | None] | None
"""Done with False: taken, and for no subscriber."""


class AcceptanceWindow:
    """Ordered, bounded, sans-protocol.

    `settle(publish, accepted)` is called for each PUBLISH in the order of admission: `accepted`
    is False for one admitted without a future (nothing to store, only to acknowledge), and where
    the future says so.
    `fail(publish, error)` is called once when a future fails: that message and all behind it
    are forgotten, none of them is settled.
    """

    def __init__(
        self,
        size: int,
        settle: Callable[[Publish, bool], None],
        fail: Callable[[Publish, BaseException | None], None],
    ) -> None:
        self._size = size
        self._settle = settle
        self._fail = fail
        self._waiting: deque[tuple[Publish, Accepting]] = deque()
        self._abandoned: list[asyncio.Future[bool | None]] = []
        self._moved = asyncio.Event()

    async def room(self) -> None:
        """Return when a PUBLISH can be admitted: here a slow store slows its publisher down."""
        while len(self._waiting) >= self._size:
            self._moved.clear()
            await self._moved.wait()

    def admit(self, publish: Publish, accepting: Accepting) -> None:
        """Settle `publish` once `accepting` is done and all before it are settled."""
        self._waiting.append((publish, accepting))
        if accepting is None:
            self._advance()
        else:
            accepting.add_done_callback(self._advance)

    async def drain(self, timeout_s: float) -> None:
        """Wait until all are settled; those that are not after `timeout_s` are given up."""
        try:
            async with asyncio.timeout(timeout_s):
                while self._waiting:
                    self._moved.clear()
                    await self._moved.wait()
        except TimeoutError:
            log.warning("broker_drain_timed_out", extra={"unsettled": len(self._waiting)})
        finally:
            self.abandon()
        await asyncio.gather(*self._abandoned, return_exceptions=True)

    def abandon(self) -> None:
        """Forget all that is not settled: the publisher got no answer and will repeat it."""
        for _, accepting in self._waiting:
            if accepting is not None:
                accepting.remove_done_callback(self._advance)
                accepting.cancel()
                self._abandoned.append(accepting)
        self._waiting.clear()
        self._moved.set()

    def _advance(self, _: Accepting = None) -> None:
        # First, so that a `settle` that raises leaves nobody waiting for room.
        self._moved.set()
        while self._waiting:
            publish, accepting = self._waiting[0]
            if accepting is not None and not accepting.done():
                break
            if accepting is not None and (accepting.cancelled() or accepting.exception()):
                self.abandon()
                self._fail(publish, None if accepting.cancelled() else accepting.exception())
                return
            self._waiting.popleft()
            self._settle(publish, accepting is not None and accepting.result() is not False)
