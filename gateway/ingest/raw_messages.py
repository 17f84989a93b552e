"""`RawMessages`: the last messages as they came, for people who look for what became of them.

Place on the way of the data: filled by ingest with each message of a broker, mapped or not; read by
`rehearse` and `why` (docs/mappings.md). In memory only: nothing of it survives the process.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from adapters.values.mapping import Mapping
from adapters.values.message import Message
from gateway.journal import Position, Record

_BESIDE_BYTES = 200
"""What a message takes in memory beside topic and payload, roughly."""


@dataclass(frozen=True, slots=True)
class RawLimits:
    """So many messages, and bytes of topics and payloads with some for the rest; 0 keeps none."""

    messages: int = 2_000
    total_bytes: int = 4_194_304


@dataclass(slots=True)
class RawMessage:
    """A message, its place among all since the start, and what it gave.

    That is `observations` of them, from the journal position `first` on; None where it gave none.
    `mappings` are those of then.
    """

    number: int
    message: Message
    mappings: Sequence[Mapping]
    first: Position | None
    observations: int

    def gave(self, position: Position) -> bool:
        """Whether the observation is of this message."""
        first = self.first
        return (
            first is not None
            and first.epoch == position.epoch
            and 0 <= position.sequence - first.sequence < self.observations
        )


class RawMessages:
    """A bounded ring; filled by one thread, read by any.

    >>> from datetime import UTC, datetime
    >>> ring = RawMessages(RawLimits(messages=2))
    >>> for payload in (b"1", b"2", b"3"):
    ...     ring.add(Message("lab/t", payload, datetime.now(UTC)), (), ())
    >>> [(raw.number, raw.message.payload) for raw in ring.all()]
    [(2, b'2'), (3, b'3')]
    """

    def __init__(self, limits: RawLimits | None = None) -> None:
        self.seen = 0
        self.size_bytes = 0
        limits = limits or RawLimits()
        self._most, self._most_bytes = limits.messages, limits.total_bytes
        self._kept: deque[RawMessage] = deque()

    def __len__(self) -> int:
        return len(self._kept)

    def add(self, message: Message, mappings: Sequence[Mapping], records: Sequence[Record]) -> None:
        """Keep a message, and forget old ones beyond the limits."""
        kept = self._kept
        self.seen += 1
        first = records[0].position if records else None
        kept.append(RawMessage(self.seen, message, mappings, first, len(records)))
        self.size_bytes += len(message.payload) + len(message.topic) + _BESIDE_BYTES
        while len(kept) > self._most or self.size_bytes > self._most_bytes:
            gone = kept.popleft().message
            self.size_bytes -= len(gone.payload) + len(gone.topic) + _BESIDE_BYTES

    def all(self) -> list[RawMessage]:
        """The messages of now, the oldest first."""
        return list(self._kept)  # no Python code runs in between, so no other thread does

    def of(self, position: Position) -> RawMessage | None:
        """The message that an observation is of, if it is still here. Linear in the ring."""
        return next((raw for raw in self.all() if raw.gave(position)), None)
