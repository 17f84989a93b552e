"""`RetainedMessages`: the last retained message of each topic, bounded in number and bytes.

Place: fan-out → `keep`; SUBSCRIBE → `matching` → the subscriber's queue. Source: MQTT 3.1.1,
section 3.3.1.3 (RETAIN).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gateway.gates.mqtt.embedded.frames import Publish

GATEWAY = ""
"""The owner of what the gateway itself has retained: it goes for nobody, and nobody for it."""


@dataclass(frozen=True, slots=True)
class RetainedLimits:
    """For all devices, one owner and the gateway; bytes are those of payloads and topics."""

    topics: int
    total_bytes: int
    owner_topics: int
    owner_bytes: int
    own_topics: int = 10_000
    own_bytes: int = 16_777_216


@dataclass(slots=True)
class _Share:
    """The topics of an owner, the least recently published first, and their bytes."""

    topics: dict[str, None] = field(default_factory=dict)
    size: int = 0


_NONE = _Share()
"""Whoever has nothing retained; nobody changes it."""


class RetainedMessages:
    """One message for each topic; an empty payload removes it [MQTT-3.3.1-10].

    Beyond its own share an owner's new message is refused, the gateway's too. Beyond the whole, of
    which the gateway's are no part, the owner who has more than the newcomer, and most of all,
    loses its oldest; `refused` counts both.

    >>> retained = RetainedMessages(RetainedLimits(2, 100, owner_topics=1, owner_bytes=100))
    >>> [retained.keep(Publish(topic, b"1"), owner) for topic, owner in ("aA", "bA", "cB")]
    [True, False, True]
    """

    def __init__(self, limits: RetainedLimits) -> None:
        self.refused = 0
        self._limits = limits
        self._by_topic: dict[str, tuple[Publish, str]] = {}
        self._shares: dict[str, _Share] = {}
        self._bytes = 0

    def __len__(self) -> int:
        """Topics that have a retained message."""
        return len(self._by_topic)

    def keep(self, publish: Publish, owner: str = GATEWAY) -> bool:
        """Replace the topic's message; False: no room, and the topic now has none.

        Linear in the owners where the whole is full.
        """
        self._remove(publish.topic)
        if not publish.payload:
            return True
        size = _size(publish)
        if not self._fits_share(owner, size) or not self._has_room(owner, size):
            self.refused += 1
            return False
        self._by_topic[publish.topic] = publish, owner
        share = self._shares.setdefault(owner, _Share())
        share.topics[publish.topic] = None
        share.size += size
        self._bytes += size
        return True

    def matching(self, matches: Callable[[str], bool]) -> Iterator[Publish]:
        """The messages under the topics that satisfy `matches`; linear in the topics."""
        return (publish for topic, (publish, _) in self._by_topic.items() if matches(topic))

    def _fits_share(self, owner: str, size: int) -> bool:
        share, limits = self._shares.get(owner, _NONE), self._limits
        topics, most_bytes = limits.owner_topics, limits.owner_bytes
        if owner == GATEWAY:
            topics, most_bytes = limits.own_topics, limits.own_bytes
        return len(share.topics) < topics and share.size + size <= most_bytes

    def _has_room(self, owner: str, size: int) -> bool:
        """Whether there is room, or has been made; the gateway's share is apart."""
        if owner == GATEWAY:
            return True
        own, ours = self._shares.get(owner, _NONE), self._shares.get(GATEWAY, _NONE)
        while len(self._by_topic) - len(ours.topics) >= self._limits.topics:
            if not self._lose_one(lambda share: len(share.topics), len(own.topics) + 1):
                return False
        while self._bytes - ours.size + size > self._limits.total_bytes:
            if not self._lose_one(lambda share: share.size, own.size + size):
                return False
        return True

    def _lose_one(self, measure: Callable[[_Share], int], newcomer: int) -> bool:
        others = [share for owner, share in self._shares.items() if owner != GATEWAY]
        most = max(others, key=measure, default=None)
        if most is None or measure(most) <= newcomer:
            return False
        self._remove(next(iter(most.topics)))
        self.refused += 1
        return True

    def _remove(self, topic: str) -> None:
        known = self._by_topic.pop(topic, None)
        if known is None:
            return
        publish, owner = known
        share = self._shares[owner]
        del share.topics[topic]
        share.size -= _size(publish)
        self._bytes -= _size(publish)
        if not share.topics:
            del self._shares[owner]


def _size(publish: Publish) -> int:
    return len(publish.topic) + len(publish.payload)
