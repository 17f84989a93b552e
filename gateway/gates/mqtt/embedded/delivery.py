"""`DeliveryQueue`: what one session still has to receive. No I/O, no clock.

Place: fan-out → `offer` → queue → `take` → the subscriber's socket; its acknowledgements come
back in. Source: MQTT 3.1.1, sections 4.3 (QoS flows), 4.4 (redelivery), 4.6 (order).

Invariants: at most `max_inflight` messages are unacknowledged; what waits behind them is bounded
in number and bytes, and a message beyond either bound is refused (the newest is dropped, what was
queued first stays in order). A message of QoS 1 or 2 leaves only when it was acknowledged.
"""

from collections import deque

from amqtt.mqtt.packet import PUBREL

from gateway.gates.mqtt.embedded.frames import Publish, encode_answer, encode_publish

_LAST_PACKET_ID = 65_535


class DeliveryQueue:
    """One session's outgoing messages, alive across its connections.

    >>> queue = DeliveryQueue(max_inflight=1, max_queued=1, max_queued_bytes=100)
    >>> [queue.offer(Publish("t", payload, qos=1)) for payload in (b"a", b"b")]
    [True, False]
    >>> queue.take()
    b'2\\x06\\x00\\x01t\\x00\\x01a'
    """

    def __init__(self, max_inflight: int, max_queued: int, max_queued_bytes: int) -> None:
        self._max_inflight = max_inflight
        self._max_queued = max_queued
        self._max_queued_bytes = max_queued_bytes
        self._queued: deque[Publish] = deque()
        self._queued_bytes = 0
        # By packet id, in the order first sent; None: PUBREC came, only PUBCOMP is missing.
        self._inflight: dict[int, Publish | None] = {}
        self._again: deque[int] = deque()
        self._packet_id = 0

    def __len__(self) -> int:
        """Messages not yet acknowledged, or not yet sent."""
        return len(self._queued) + len(self._inflight)

    def offer(self, publish: Publish) -> bool:
        """Queue a message; False: the queue is full and the message dropped."""
        size = self._queued_bytes + len(publish.payload)
        if len(self._queued) >= self._max_queued or size > self._max_queued_bytes:
            return False
        self._queued.append(publish)
        self._queued_bytes = size
        return True

    def take(self, now_s: float = 0.0) -> bytes | None:
        """The next packet to write; None when nothing waits or the window is full.

        What has expired at `now_s` is passed over, unless its delivery was begun by this
        connection.
        """
        while self._again:
            packet_id = self._again.popleft()
            if packet_id in self._inflight and not self._gives_up(packet_id, now_s):
                return self._repeated(packet_id)
        while self._queued and self._queued[0].expires_s <= now_s:
            self._queued_bytes -= len(self._queued.popleft().payload)
        if not self._queued or (self._queued[0].qos and len(self._inflight) >= self._max_inflight):
            return None
        publish = self._queued.popleft()
        self._queued_bytes -= len(publish.payload)
        if not publish.qos:
            return encode_publish(publish, 0, duplicate=False)
        packet_id = self._next_packet_id()
        self._inflight[packet_id] = publish
        return encode_publish(publish, packet_id, duplicate=False)

    def puback(self, packet_id: int) -> None:
        """The client has a QoS 1 message; unknown identifiers are ignored."""
        publish = self._inflight.get(packet_id)
        if publish is not None and publish.qos == 1:
            del self._inflight[packet_id]

    def pubrec(self, packet_id: int) -> bytes:
        """The client has a QoS 2 message: the PUBREL to answer with, also where it is unknown."""
        publish = self._inflight.get(packet_id)
        if publish is not None and publish.qos == 2:
            self._inflight[packet_id] = None
        return encode_answer(PUBREL, packet_id)

    def pubcomp(self, packet_id: int) -> None:
        """The client has released a QoS 2 message."""
        if self._inflight.get(packet_id, self) is None:
            del self._inflight[packet_id]

    def suspend(self) -> None:
        """The connection is gone: QoS 0 is forgotten, the rest waits [MQTT-3.1.2-5]."""
        self._queued = deque(publish for publish in self._queued if publish.qos)
        self._queued_bytes = sum(len(publish.payload) for publish in self._queued)
        self._again.clear()

    def resume(self) -> None:
        """A connection is back: `take` starts with everything unacknowledged [MQTT-4.4.0-1]."""
        self._again = deque(self._inflight)

    def _gives_up(self, packet_id: int, now_s: float) -> bool:
        """Whether a delivery that an earlier connection began has become useless."""
        publish = self._inflight[packet_id]
        if publish is None or publish.expires_s > now_s:
            return False
        del self._inflight[packet_id]
        return True

    def _repeated(self, packet_id: int) -> bytes:
        publish = self._inflight[packet_id]
        if publish is None:
            return encode_answer(PUBREL, packet_id)
        return encode_publish(publish, packet_id, duplicate=True)

    def _next_packet_id(self) -> int:
        while True:
            self._packet_id = self._packet_id % _LAST_PACKET_ID + 1
            if self._packet_id not in self._inflight:
                return self._packet_id
