"""`RetainedMessages`: the last retained message of each topic, bounded in number and bytes.

Place: fan-out → `keep`; SUBSCRIBE → `matching` → the subscriber's queue. Source: MQTT 3.1.1,
section 3.3.1.3 (RETAIN).
"""

from collections.abc import Callable, Iterator

from gateway.gates.mqtt.embedded.frames import Publish


class RetainedMessages:
    """One message for each topic; an empty payload removes it [MQTT-3.3.1-10].

    >>> retained = RetainedMessages(max_topics=1, max_bytes=8)
    >>> retained.keep(Publish("a", b"1")), retained.keep(Publish("b", b"1"))
    (True, False)
    """

    def __init__(self, max_topics: int, max_bytes: int) -> None:
        self._max_topics = max_topics
        self._max_bytes = max_bytes
        self._by_topic: dict[str, Publish] = {}
        self._bytes = 0

    def __len__(self) -> int:
        """Topics that have a retained message."""
        return len(self._by_topic)

    def keep(self, publish: Publish) -> bool:
        """Replace the topic's message; False: no room, and the topic now has none."""
        previous = self._by_topic.pop(publish.topic, None)
        if previous is not None:
            self._bytes -= len(previous.payload)
        if not publish.payload:
            return True
        size = self._bytes + len(publish.payload)
        if len(self._by_topic) >= self._max_topics or size > self._max_bytes:
            return False
        self._by_topic[publish.topic] = publish
        self._bytes = size
        return True

    def matching(self, matches: Callable[[str], bool]) -> Iterator[Publish]:
        """The messages under the topics that satisfy `matches`; linear in the topics."""
        return (publish for topic, publish in self._by_topic.items() if matches(topic))
