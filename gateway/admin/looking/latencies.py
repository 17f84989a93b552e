"""`ReadingLatencies`: from a reading's arrival until its notifications wait for their clients.

Place: told by ingest, in the scheduler's thread, of what the store has; read by GET /flow. While
nobody listens it is one look at a flag for each message.
"""

from collections import deque
from collections.abc import Callable, Sequence
from time import time

from gateway.journal import Record

_MOST = 5_000
"""Times between two looks; of more the last."""


class ReadingLatencies:
    """Times of the readings since the last look, while `is_on`."""

    def __init__(self, now: Callable[[], float] = time) -> None:
        self.is_on = False
        self._now = now
        self._times: deque[float] = deque(maxlen=_MOST)

    def accepted(self, records: Sequence[Record]) -> None:
        """Nothing: they are on their way."""

    def stored(self, records: Sequence[Record]) -> None:
        """Subscribers have been told of these, of one message."""
        if self.is_on and records:
            self._times.append(max(0.0, self._now() - records[0].ingested_at.timestamp()))

    def take(self) -> Sequence[float]:
        """The times since the last look, in s; none is left."""
        taken: list[float] = []
        while self._times and len(taken) < _MOST:
            taken.append(self._times.popleft())
        return taken
