"""`Acknowledgements`: which messages of a broker may be acknowledged, in the order of arrival.

Place on the way of the data: ingest settles a delivery → **here** → PUBACK. MQTT asks for the order
(5.0, 4.6), and what is not committed holds back those behind it. The connection's thread is not
woken for each: it looks `soon` by itself, with the next messages or a little later.
"""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class Unsettled:
    """A message that the broker waits for."""

    packet_id: int
    settled: bool = False


class Acknowledgements:
    """What one connection brought; `settle` from any thread, the rest in that of the connection.

    What a connection brought can be acknowledged on no other: the broker sends it again there.
    `ready` is called when there is something to take, but for what the thread will look for `soon`;
    then too, once half of the `inflight` that the broker sends ahead wait.
    """

    def __init__(self, ready: Callable[[], None], inflight: int) -> None:
        self.soon = False
        self._ready = ready
        self._most = inflight // 2
        self._lock = threading.Lock()
        self._waiting: deque[Unsettled] = deque()

    def expect(self, packet_id: int) -> Unsettled:
        """Note that a message has arrived; who reads messages looks soon."""
        unsettled = Unsettled(packet_id)
        with self._lock:
            self._waiting.append(unsettled)
        self.soon = True
        return unsettled

    def settle(self, unsettled: Unsettled, error: Exception | None) -> None:
        """Let the message be acknowledged; after an error it never is on this connection."""
        if error is None:
            unsettled.settled = True
            if not self.soon or len(self._waiting) > self._most:
                self._ready()

    def take(self) -> list[int]:
        """The packet ids to acknowledge now, in order."""
        taken: list[int] = []
        with self._lock:
            while self._waiting and self._waiting[0].settled:
                taken.append(self._waiting.popleft().packet_id)
        return taken
