"""`OutgoingStream`: what is told to one member, packed into numbered batches, with a bound.

    parts -> queue -> batches, at most so many bytes that are not acknowledged -> carrier

Place: below `Outgoing`, for one thread. While nothing is on its way a part is sent at once; what
comes meanwhile waits for the acknowledgement, or until there is enough of it for a batch, or until
`flush` is called. So one member costs a message now and then, however many parts there are.
"""

from collections import deque
from collections.abc import Callable

from gateway.federation.limits import OutgoingLimits
from gateway.federation.wire import Batch, Part

Send = Callable[[bytes], None]

_PARTS = 64
_QUADS = 512
"""A batch has no more than so many, but for a part that has more by itself."""


class OutgoingStream:
    """A stream of a `life`; without one nothing is told. `sent` counts batches, `bytes` theirs.

    `told` are the parts of this life, `arrived` those of them that were acknowledged.
    It `is_heard` once something of this life, or of the last one, was acknowledged.
    """

    def __init__(self, send: Send, limits: OutgoingLimits) -> None:
        self.life = ""
        self.number = 0
        self.is_heard = False
        self.sent = self.bytes = 0
        self.told = self.arrived = 0
        self._send = send
        self._limits = limits
        self._queue: deque[tuple[Part, int]] = deque()
        self._quads = 0
        self._unacknowledged: deque[tuple[int, int]] = deque()
        self._on_their_way = 0

    @property
    def is_open(self) -> bool:
        """Whether the member follows it."""
        return bool(self.life)

    @property
    def has_room(self) -> bool:
        """Whether more may be on its way."""
        limits = self._limits
        return len(self._unacknowledged) < limits.batches and self._on_their_way < limits.bytes

    @property
    def is_awaited(self) -> bool:
        """Whether something is on its way, or waits to be."""
        return bool(self._unacknowledged or self._queue)

    @property
    def waits(self) -> bool:
        """Whether there is something to flush."""
        return bool(self._queue)

    @property
    def waiting(self) -> int:
        """Quads that wait in the queue."""
        return self._quads

    def begin(self, life: str) -> None:
        """Begin anew; what waited is forgotten."""
        self.end()
        self.life, self.number, self.is_heard = life, 0, False
        self.told = self.arrived = 0
        self._unacknowledged.clear()
        self._on_their_way = 0

    def end(self) -> None:
        """Have no life."""
        self.life = ""
        self._queue.clear()
        self._quads = 0

    def tell(self, part: Part) -> None:
        """Send a part behind those before it, now or soon."""
        size = part.size
        self._queue.append((part, size))
        self.told += 1
        self._quads += size
        if not self._unacknowledged or len(self._queue) >= _PARTS or self._quads >= _QUADS:
            self.flush()

    def flush(self) -> None:
        """Send what waits, as far as there is room."""
        while self._queue and self.has_room:
            self._send_batch(self._next())

    def acknowledge(self, number: int) -> None:
        """Know that the batches up to this one have arrived."""
        self.is_heard = True
        first = self.number - len(self._unacknowledged)
        for _ in range(first, min(number + 1, self.number)):
            size, parts = self._unacknowledged.popleft()
            self._on_their_way -= size
            self.arrived += parts
        if not self._unacknowledged or len(self._queue) >= _PARTS or self._quads >= _QUADS:
            self.flush()

    def beat(self, part: Part) -> None:
        """Send a part at once, which is none of the numbered ones."""
        self._send(Batch(self.life, self.number, (part,)).encode())

    def _next(self) -> list[Part]:
        found: list[Part] = []
        quads = 0
        while self._queue and len(found) < _PARTS:
            part, size = self._queue[0]
            if found and quads + size > _QUADS:
                break
            self._queue.popleft()
            found.append(part)
            quads += size
        self._quads -= quads
        return found

    def _send_batch(self, parts: list[Part]) -> None:
        payload = Batch(self.life, self.number, parts).encode()
        self.number += 1
        self._unacknowledged.append((len(payload), len(parts)))
        self._on_their_way += len(payload)
        self.sent += 1
        self.bytes += len(payload)
        self._send(payload)
