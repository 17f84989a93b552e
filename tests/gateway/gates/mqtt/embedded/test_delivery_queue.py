"""`DeliveryQueue` against its contract: at least once, in order, within its bounds."""

from dataclasses import dataclass, field

from hypothesis import given
from hypothesis import strategies as st

from gateway.gates.mqtt.embedded.delivery import DeliveryQueue
from gateway.gates.mqtt.embedded.frames import Publish
from tests.gateway.gates.mqtt.embedded.raw_mqtt import PUBREL, Packet, Received, packet, received

WINDOW = 3


def queue(max_inflight: int = WINDOW) -> DeliveryQueue:
    return DeliveryQueue(max_inflight, max_queued=5, max_queued_bytes=1000)


def sent(queue: DeliveryQueue) -> Packet:
    data = queue.take()
    assert data is not None
    return Packet(data[0] >> 4, data[0] & 15, data[2:])


def test_message_leaves_with_its_acknowledgement() -> None:
    one = queue()
    one.offer(Publish("t", b"x", qos=1))
    assert received(sent(one)) == Received("t", b"x", 1, False, False, 1)
    assert len(one) == 1
    one.puback(1)
    assert len(one) == 0


def test_window_holds_qos_1_back_and_what_is_behind_it() -> None:
    one = queue(max_inflight=1)
    for publish in (Publish("t", b"1", qos=1), Publish("t", b"2", qos=1), Publish("t", b"3")):
        one.offer(publish)
    assert received(sent(one)).payload == b"1"
    assert one.take() is None
    one.puback(1)
    assert received(sent(one)).payload == b"2"
    assert received(sent(one)).payload == b"3"


def test_wrong_acknowledgement_releases_nothing() -> None:
    one = queue()
    one.offer(Publish("t", b"x", qos=2))
    sent(one)
    one.puback(1)
    one.pubcomp(1)
    one.puback(77)
    one.pubcomp(77)
    assert len(one) == 1


def test_pubrec_of_unknown_message_is_answered() -> None:
    assert queue().pubrec(300) == packet(PUBREL, 2, b"\x01\x2c")


def test_resumed_queue_repeats_in_order_before_anything_new() -> None:
    one = queue()
    for publish in (Publish("t", b"1", qos=1), Publish("t", b"2", qos=2), Publish("t", b"3", 2)):
        one.offer(publish)
        sent(one)
    one.pubrec(2)
    one.suspend()
    one.offer(Publish("t", b"new", qos=1))
    one.resume()
    assert received(sent(one)) == Received("t", b"1", 1, False, True, 1)
    assert sent(one) == Packet(PUBREL, 2, b"\0\2")
    assert received(sent(one)) == Received("t", b"3", 2, False, True, 3)
    assert one.take() is None
    one.puback(1)
    assert received(sent(one)).duplicate is False


def test_suspended_queue_forgets_qos_0() -> None:
    one = queue()
    one.offer(Publish("t", bytes(999), qos=0))
    one.offer(Publish("t", b"1", qos=1))
    one.suspend()
    assert len(one) == 1
    assert one.offer(Publish("t", bytes(999), qos=1))


def test_packet_identifiers_wrap_round_those_in_use() -> None:
    one = queue(max_inflight=2)
    one.offer(Publish("t", b"held", qos=1))
    sent(one)
    for _ in range(65_534):
        one.offer(Publish("t", b"x", qos=1))
        one.puback(received(sent(one)).packet_id)
    one.offer(Publish("t", b"x", qos=1))
    assert received(sent(one)).packet_id == 2


@dataclass
class Subscriber:
    """The other side: takes what it is sent, acknowledges when told to."""

    payloads: list[bytes] = field(default_factory=list)
    open: list[Received] = field(default_factory=list)

    def read(self, queue: DeliveryQueue) -> None:
        data = queue.take()
        if data is None:
            return
        message = received(Packet(data[0] >> 4, data[0] & 15, data[2:]))
        self.open.append(message)
        if message.payload not in self.payloads:
            self.payloads.append(message.payload)
        else:
            assert message.duplicate

    def acknowledge(self, queue: DeliveryQueue) -> None:
        if self.open:
            queue.puback(self.open.pop(0).packet_id)


@given(st.lists(st.sampled_from(["offer", "read", "acknowledge", "break"]), max_size=60))
def test_every_queued_message_arrives_in_order_whatever_breaks(steps: list[str]) -> None:
    one, subscriber, queued = queue(), Subscriber(), list[bytes]()
    for number, step in enumerate(steps):
        match step:
            case "offer":
                payload = b"%d" % number
                if one.offer(Publish("t", payload, qos=1)):
                    queued.append(payload)
            case "read":
                subscriber.read(one)
            case "acknowledge":
                subscriber.acknowledge(one)
            case "break":
                subscriber.open.clear()
                one.suspend()
                one.resume()
        assert len(subscriber.open) <= WINDOW
    while len(one):
        subscriber.read(one)
        subscriber.acknowledge(one)
    assert subscriber.payloads == queued
