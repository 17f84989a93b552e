"""`MessageCopies`: which messages are copies of one publication, one for each filter that matched.

Place on the way of the data: in the gate to an external broker. A broker may send a message once
for each subscription of ours that matches it (MQTT 5.0, 3.3.4; Mosquitto does), and says by the
subscription's identifier for which (3.8.2.1.2). Copies of a publication come one behind the other,
each for another subscription; the same subscription again means another publication.
"""

from collections.abc import Iterable
from zlib import crc32

_LARGEST = 268_435_455


def identifier_of(topic_filter: str) -> int:
    """The subscription identifier of a filter, the same in every life of the gateway."""
    return crc32(topic_filter.encode()) % _LARGEST + 1


class MessageCopies:
    """The messages of one connection, in the order of arrival.

    >>> copies = MessageCopies()
    >>> [copies.is_copy("room/a", b"20", [each]) for each in (1, 2, 1, 2)]
    [False, True, False, True]
    """

    __slots__ = ("_last", "_subscriptions")

    def __init__(self) -> None:
        self._last: tuple[str, bytes] | None = None
        self._subscriptions: set[int] = set()

    def is_copy(self, topic: str, payload: bytes, identifiers: Iterable[int]) -> bool:
        """Whether the message before was the same publication; without identifiers never."""
        told = set(identifiers)
        this = (topic, payload)
        if told and this == self._last and self._subscriptions.isdisjoint(told):
            self._subscriptions |= told
            return True
        self._last, self._subscriptions = this if told else None, told
        return False
