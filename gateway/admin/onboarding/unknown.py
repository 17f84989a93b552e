"""Unknown topics: what comes that no mapping reads, bounded in number and bytes.

Place on the way of the data: beside ingest, whose thread tells of each such message; what a family
makes of it is guessed in another thread. A topic costs a few payloads, cut off; the topic that was
silent longest makes room for a new one. Nothing of it survives the process.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from adapters.values.message import Message
from adapters.values.proposal import Proposal

KEPT = 3
"""So many payloads of a topic."""

KEPT_BYTES = 512
"""So much of a payload; the rest is cut off."""

MOST_GUESSES = 50
"""Proposed mappings of a topic."""

_OVERHEAD_BYTES = 400
"""What a topic costs besides its texts, roughly."""

_GUESS_BYTES = 600
"""What a proposed mapping costs, roughly."""


@dataclass(frozen=True, slots=True)
class Sample:
    """A payload as it began, and how long it was."""

    received_at: datetime
    payload: bytes
    length_bytes: int
    retained: bool


@dataclass(slots=True)
class UnknownTopic:
    """What is known of a topic; `family` is empty where none understands its messages."""

    topic: str
    first_at: datetime
    last_at: datetime
    count: int = 0
    family: str = ""
    guesses: tuple[Proposal, ...] = ()
    samples: deque[Sample] = field(default_factory=lambda: deque(maxlen=KEPT))

    @property
    def cost_bytes(self) -> int:
        """Roughly."""
        payloads = sum(len(sample.payload) for sample in self.samples)
        return _OVERHEAD_BYTES + 4 * len(self.topic) + payloads + _GUESS_BYTES * len(self.guesses)

    def copy(self) -> "UnknownTopic":
        """As it is now."""
        return UnknownTopic(
            *(self.topic, self.first_at, self.last_at, self.count, self.family, self.guesses),
            deque(self.samples, KEPT),
        )


class UnknownTopics:
    """The topics; in any thread.

    >>> from datetime import UTC
    >>> topics = UnknownTopics(most=2, most_bytes=10_000)
    >>> [topics.hear(Message(name, b"1", datetime.now(UTC))) for name in "aab"]
    [True, True, True]
    >>> [(each.topic, each.count) for each in topics.list()]
    [('b', 1), ('a', 2)]
    """

    def __init__(self, most: int, most_bytes: int) -> None:
        self.forgotten = 0
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._topics: OrderedDict[str, UnknownTopic] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._topics)

    def hear(self, message: Message) -> bool:
        """Note a message; whether it is worth asking the families what it is.

        That is so at the first, second, fourth ... message of a topic.
        """
        payload = message.payload
        sample = Sample(message.received_at, payload[:KEPT_BYTES], len(payload), message.retained)
        with self._lock:
            seen = self._topics.get(message.topic)
            if seen is None:
                seen = UnknownTopic(message.topic, message.received_at, message.received_at)
                self._topics[message.topic] = seen
            else:
                self._bytes -= seen.cost_bytes
                self._topics.move_to_end(message.topic)
            seen.count += 1
            seen.last_at = message.received_at
            seen.samples.append(sample)
            self._bytes += seen.cost_bytes
            self._make_room()
            return seen.count & (seen.count - 1) == 0

    def guess(self, topic: str, family: str, guesses: Sequence[Proposal]) -> None:
        """What a family makes of a message of the topic; one that makes nothing is passed over.

        What earlier messages said of other members, and of other devices of the topic, stays.
        """
        with self._lock:
            seen = self._topics.get(topic)
            if seen is None or not guesses:
                return
            self._bytes -= seen.cost_bytes
            now = {each.mapping.iri for each in guesses}
            kept = [each for each in seen.guesses if each.mapping.iri not in now]
            same = kept if seen.family == family else []
            seen.family, seen.guesses = family, (*guesses, *same)[:MOST_GUESSES]
            self._bytes += seen.cost_bytes
            self._make_room()

    def list(self) -> list[UnknownTopic]:
        """As they are now, the last heard first."""
        with self._lock:
            return [each.copy() for each in reversed(self._topics.values())]

    def forget(self, topics: Sequence[str]) -> int:
        """Leave topics out, until they are heard again; how many were there."""
        with self._lock:
            gone = [self._topics.pop(topic) for topic in topics if topic in self._topics]
            self._bytes -= sum(each.cost_bytes for each in gone)
            return len(gone)

    def _make_room(self) -> None:
        while self._topics and (len(self._topics) > self._most or self._bytes > self._most_bytes):
            _, gone = self._topics.popitem(last=False)
            self._bytes -= gone.cost_bytes
            self.forgotten += 1
