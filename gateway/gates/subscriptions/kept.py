"""`Kept`: what a subscription was sent last, for a client that was lost and comes back.

Place on the way of the data: beside the outbox that sends it, under that one's lock. Every message
has a bound twice, in its own subscription and, by `KeptBytes`, in all: the text of a message is
one value for all subscribers of an SPU, and counts once however many keep it.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from gateway.config.limits import DEFAULT_LIMITS
from gateway.engine import Notification
from gateway.engine.notification import EventRows
from gateway.rdf.solutions import ResultsDelta

_MESSAGE_BYTES = 240
_ROW_BYTES = 72
_TERM_BYTES = 120
_EVENT_BYTES = 320
"""Above what CPython and pyoxigraph take for a message, a row, a term beside its text, an event."""


@dataclass(frozen=True, slots=True)
class KeptLimits:
    """Messages and bytes of one subscription, and bytes in all."""

    messages: int = DEFAULT_LIMITS.resume_messages
    bytes: int = DEFAULT_LIMITS.resume_bytes
    total_bytes: int = DEFAULT_LIMITS.resume_total_bytes


class Addressed(NamedTuple):
    """A notification numbered for its subscriber; `merged` notifications of the engine.

    A tuple, because one is made for each message.
    """

    notification: Notification
    merged: int = 1


class KeptBytes:
    """The memory that all kept messages have together; `given_way` counts buffers that had to go.

    Beyond the limit, the buffer that began first is emptied whole, except where its messages are
    being sent again: who asks for them then is answered as where too much has happened.
    """

    __slots__ = ("_buffers", "_results", "given_way", "total")

    def __init__(self) -> None:
        self.total = 0
        self.given_way = 0
        self._results: dict[int, list[int]] = {}
        self._buffers: dict[Kept, None] = {}

    def hold(self, notification: Notification) -> int:
        """Count one who keeps its results, which must not change; the bytes of one message.

        Linear in the rows the first time, constant for each that shares them.
        """
        results = notification.results
        held = self._results.get(id(results))
        if held is None:
            size, events = results_bytes(results), notification.events
            if events is not None:
                size += events_bytes(events)
            self._results[id(results)] = held = [size + _MESSAGE_BYTES, 0]
            self.total += size
        held[1] += 1
        self.total += _MESSAGE_BYTES
        return held[0]

    def release(self, results: ResultsDelta) -> int:
        """Count one less; the bytes of one message."""
        held = self._results[id(results)]
        held[1] -= 1
        self.total -= _MESSAGE_BYTES
        if not held[1]:
            del self._results[id(results)]
            self.total -= held[0] - _MESSAGE_BYTES
        return held[0]

    def begin(self, buffer: "Kept") -> None:
        """A buffer has something, the last one to have."""
        self._buffers[buffer] = None

    def end(self, buffer: "Kept") -> None:
        """A buffer has nothing any more."""
        self._buffers.pop(buffer, None)

    def make_room(self, most: int) -> None:
        """Empty buffers until no more is kept; the one that was added to last can always go."""
        while self.total > most:
            self.given_way += 1
            next(buffer for buffer in self._buffers if not buffer.again).clear()


class Kept:
    """The last messages of one subscription; `again` of them are to be sent once more."""

    __slots__ = ("_all", "_bytes", "_limits", "_messages", "again")

    def __init__(self, limits: KeptLimits, all_kept: KeptBytes) -> None:
        self.again = 0
        self._limits = limits
        self._all = all_kept
        self._messages: deque[Addressed] = deque()
        self._bytes = 0

    def rewind(self, missed: int) -> bool:
        """Have the last ones sent again; False where so many are not known any more."""
        if not 0 <= missed <= len(self._messages):
            return False
        self.again = missed
        return True

    def take(self) -> Addressed:
        """The next one to send again; there must be one."""
        message = self._messages[-self.again]
        self.again -= 1
        return message

    def add(self, message: Addressed) -> None:
        """Keep one that is being sent, while none is to be sent again; others go for it."""
        limits, messages = self._limits, self._messages
        if not messages:
            if not limits.messages:
                return
            self._all.begin(self)
        messages.append(message)
        self._bytes += self._all.hold(message.notification)
        while len(messages) > limits.messages or self._bytes > limits.bytes:
            self._forget_first()
        if self._all.total > limits.total_bytes:
            self._all.make_room(limits.total_bytes)

    def clear(self) -> None:
        """Keep none; none is to be sent again."""
        for message in self._messages:
            self._all.release(message.notification.results)
        self._messages.clear()
        self._bytes = self.again = 0
        self._all.end(self)

    def _forget_first(self) -> None:
        results = self._messages.popleft().notification.results
        self._bytes -= self._all.release(results)
        if not self._messages:
            self._all.end(self)


def results_bytes(results: ResultsDelta) -> int:
    """The memory of results, estimated from above; terms that rows share count in each.

    >>> results_bytes(ResultsDelta(("x",)))
    240
    """
    rows = (*results.added, *results.removed)
    terms = [str(term) for row in rows for term in row if term is not None]
    bytes_of_terms = len(terms) * _TERM_BYTES + sum(map(len, terms))
    return _MESSAGE_BYTES + len(rows) * _ROW_BYTES + bytes_of_terms


def events_bytes(events: Sequence[EventRows]) -> int:
    """The memory of what a notification says of its events, estimated from above."""
    return sum(_EVENT_BYTES + len(each.graph) for each in events)
