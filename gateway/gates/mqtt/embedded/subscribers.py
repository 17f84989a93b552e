"""`Subscribers`: whom a topic is for, found without a look at every filter.

Place: subscription table → `Subscribers` → fan-out. amqtt looks through all filters for each topic:
one client with many of them would slow everybody's messages.
"""

from collections import Counter
from collections.abc import Mapping, Sequence

from amqtt.session import Session

from adapters.values.topic_filter import TopicFilter, TopicTrie
from gateway.gates.mqtt.embedded.session import SessionState, state_of

_TOPICS_REMEMBERED = 10_000


class Subscribers:
    """Follows a `table` of subscriptions by topic filter: told when a filter comes or goes."""

    def __init__(self, table: Mapping[str, Sequence[tuple[Session, int]]]) -> None:
        self._table = table
        self._filters = TopicTrie[str]()
        self._known: set[str] = set()
        self._levels: Counter[str] = Counter()
        self._remembered: dict[str, list[tuple[SessionState, int]]] = {}

    def changed(self, topic_filter: str) -> None:
        """Somebody has subscribed or unsubscribed by a filter, which is legal."""
        self._remembered.clear()
        is_there = bool(self._table.get(topic_filter))
        if is_there and topic_filter not in self._known:
            self._known.add(topic_filter)
            self._levels[_first_level(topic_filter)] += 1
            self._filters.insert(TopicFilter.parse(topic_filter), topic_filter)
        elif not is_there and topic_filter in self._known:
            self._known.remove(topic_filter)
            level = _first_level(topic_filter)
            self._levels[level] -= 1
            if not self._levels[level]:
                del self._levels[level]
            self._filters.remove(TopicFilter.parse(topic_filter), topic_filter)

    def names(self, level: str) -> bool:
        """Whether a filter begins with this level; in any thread."""
        return level in self._levels

    def of(self, topic: str) -> list[tuple[SessionState, int]]:
        """Each session once, with its highest QoS; remembered until a subscription changes."""
        found = self._remembered.get(topic)
        if found is None:
            if len(self._remembered) >= _TOPICS_REMEMBERED:
                self._remembered.clear()
            found = self._remembered[topic] = self._matching(topic)
        return found

    def _matching(self, topic: str) -> list[tuple[SessionState, int]]:
        found: dict[str, tuple[SessionState, int]] = {}
        for topic_filter in self._filters.match(topic):
            for session, qos in self._table[topic_filter]:
                _, known = found.get(session.client_id, (None, 0))
                found[session.client_id] = (state_of(session), max(qos, known))
        return list(found.values())


def _first_level(topic_filter: str) -> str:
    return topic_filter.partition("/")[0]
