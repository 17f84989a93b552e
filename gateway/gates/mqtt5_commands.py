"""`Commands`: messages on their way to an external broker, until it has acknowledged them.

Place on the way of the data: republish rule → **commands** → connection. Bounded; the flows of QoS
1 and 2 and what is sent again after a reconnection are those of MQTT 5.0, 4.3 and 4.4; no more are
in flight than the broker's Receive Maximum (4.9). Sans-I/O.
"""

import random
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace

from gateway.gates.mqtt5_packets import (
    Answer,
    Kind,
    Name,
    Properties,
    Publish,
    encode_publish,
    encode_pubrel,
)

_PACKET_IDS = 65_535
_LARGEST_PACKET = 268_435_460


@dataclass(slots=True)
class _InFlight:
    """A message that was sent; `released` once PUBREL followed it."""

    message: Publish
    released: bool = False


class Commands:
    """First in, first out, at most `limit` of them; lives in one thread.

    `dropped` counts those that found no place, or were too large for the broker.
    """

    def __init__(self, limit: int) -> None:
        self.dropped = 0
        self._limit = limit
        self._waiting: deque[Publish] = deque()
        self._in_flight: dict[int, _InFlight] = {}
        self._most_in_flight = _PACKET_IDS
        self._most_qos = 2
        self._largest = _LARGEST_PACKET
        # The broker may know an id from our last life (QoS 2), and would take it for the same.
        self._packet_id = random.randrange(_PACKET_IDS)  # noqa: S311

    def __len__(self) -> int:
        return len(self._waiting) + len(self._in_flight)

    def add(self, message: Publish) -> bool:
        """Put a message in its place; False when too many are here already."""
        if len(self) >= self._limit:
            self.dropped += 1
            return False
        self._waiting.append(message)
        return True

    def packet_id(self) -> int:
        """A packet id that no message has, for a packet of ours."""
        while True:
            self._packet_id = self._packet_id % _PACKET_IDS + 1
            if self._packet_id not in self._in_flight:
                return self._packet_id

    def reconnect(self, properties: Properties) -> Iterator[bytes]:
        """What a new connection has to say first, under the terms of its CONNACK."""
        self._most_in_flight = properties.numbers.get(Name.RECEIVE_MAXIMUM, _PACKET_IDS)
        self._most_qos = properties.numbers.get(Name.MAXIMUM_QOS, 2)
        self._largest = properties.numbers.get(Name.MAXIMUM_PACKET, _LARGEST_PACKET)
        for packet_id, sent in self._in_flight.items():
            if sent.released:
                yield encode_pubrel(packet_id)
            else:
                yield encode_publish(replace(sent.message, duplicate=True))

    def sendable(self) -> Iterator[bytes]:
        """What may be sent now, taken out."""
        while self._waiting and len(self._in_flight) < self._most_in_flight:
            message = self._waiting.popleft()
            qos = min(message.qos, self._most_qos)
            message = replace(message, qos=qos, packet_id=self.packet_id() if qos else 0)
            packet = encode_publish(message)
            if len(packet) > self._largest:
                self.dropped += 1
                continue
            if qos:
                self._in_flight[message.packet_id] = _InFlight(message)
            yield packet

    def answered(self, answer: Answer) -> bytes | None:
        """Take up an acknowledgement; what has to be answered to it."""
        sent = self._in_flight.get(answer.packet_id)
        if answer.kind is Kind.PUBREC and not answer.is_refusal:
            if sent is not None:
                sent.released = True
            return encode_pubrel(answer.packet_id)
        self._in_flight.pop(answer.packet_id, None)
        return None
