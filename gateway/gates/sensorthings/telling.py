"""`Telling`: each Observation, as it is stored, on the MQTT topic of its Datastream.

Place: behind ingest, before the broker; QoS 0, not retained, to who listens now. What is told here
is never a reading: `is_ours` keeps its topics from ingest, on whatever broker. Source: OGC
SensorThings API Part 1: Sensing, version 1.1, section 14.3.
"""

from collections.abc import Sequence
from typing import Protocol

from adapters.values.observation import StreamKey
from gateway.exchange.sensorthings.encoding import encoded
from gateway.exchange.sensorthings.entities import past_observation
from gateway.exchange.sensorthings.index import digest
from gateway.exchange.sensorthings.past import seen_in
from gateway.gates.sensorthings.measures import Counted
from gateway.journal import Record
from gateway.runtime.loop_calls import LoopCalls

_TOPICS_REMEMBERED = 20_000


class Broker(Protocol):
    """Where it is told, as `gateway.app.brokers.mqtt.BrokerLink` has it."""

    def names(self, level: str) -> bool:
        """Whether somebody may listen to topics that begin with a level; in any thread."""
        ...

    def listens(self, topic: str) -> bool:
        """Whether it is worth writing a message."""
        ...

    def tell(self, topic: str, payload: bytes) -> bool:
        """Publish; False where nobody is told."""
        ...


class Telling:
    """Tells what is stored; `root` is what addresses in the messages begin with."""

    def __init__(
        self,
        prefix: str | None,
        observations: str,
        loop_calls: LoopCalls,
        counted: Counted,
    ) -> None:
        """`observations` is what the IRIs of the gateway's observations begin with.

        Without a prefix there is nothing to tell, and no topic is ours.
        """
        self._has_topics = prefix is not None
        self._begin = f"{prefix}/v1.1/"
        self._observations = observations
        self._loop_calls = loop_calls
        self.counted = counted
        self._topics: dict[StreamKey, str] = {}
        self._level = "" if prefix is None else prefix.partition("/")[0]
        self._broker: Broker | None = None
        self._root = ""

    def is_ours(self, topic: str) -> bool:
        """Whether only the gateway tells on a topic."""
        return self._has_topics and topic.startswith(self._begin)

    def begin(self, broker: Broker, root: str) -> None:
        """Tell from now on."""
        self._broker, self._root = broker, root

    def stored(self, records: Sequence[Record]) -> None:
        """Have them told soon; in the scheduler's thread. Where nobody listens it costs a look."""
        broker = self._broker
        if broker is not None and broker.names(self._level):
            self._loop_calls.call(self._told, broker, records)

    def _told(self, broker: Broker, records: Sequence[Record]) -> None:
        for record in records:
            stream = record.observation.stream
            topic = self._topic(stream)
            if not broker.listens(topic):
                continue
            seen = seen_in(record, self._observations)
            document = past_observation(self._root, self._observations, stream, seen)
            self.counted.told += broker.tell(topic, encoded(document))

    def _topic(self, stream: StreamKey) -> str:
        found = self._topics.get(stream)
        if found is None:
            if len(self._topics) >= _TOPICS_REMEMBERED:
                self._topics.clear()
            id_ = digest("\n".join(stream))
            found = self._topics[stream] = f"{self._begin}Datastreams('{id_}')/Observations"
        return found
