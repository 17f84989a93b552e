"""A plain PUBLISH is read as paho reads it, and every other is left to paho."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paho.mqtt import _packet
from paho.mqtt.enums import MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties

from gateway.gates.mqtt.external.publishes import plain_publish

_TOPIC = b"\x00\x01t"


def _packed(topic: str, qos: int, mid: int, payload: bytes, identifiers: list[int]) -> bytes:
    properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
    for each in identifiers:
        properties.SubscriptionIdentifier = each
    name = topic.encode()
    packet = len(name).to_bytes(2) + name + (mid.to_bytes(2) if qos else b"")
    packed: bytes = properties.pack()  # type: ignore[no-untyped-call]
    return packet + packed + payload


@pytest.mark.property
@given(
    st.text(min_size=1, max_size=20),
    st.sampled_from([0x30, 0x31, 0x32, 0x33, 0x3A, 0x3B]),
    st.integers(1, 65_535),
    st.binary(max_size=40),
    st.lists(st.integers(1, 268_435_455), max_size=3),
)
def test_plain_publish_is_that_of_paho(
    topic: str, header: int, mid: int, payload: bytes, identifiers: list[int]
) -> None:
    packet = _packed(topic, header >> 1 & 1, mid, payload, identifiers)
    known = _packet.decode_publish(header, packet, MQTTProtocolVersion.MQTTv5)
    found = plain_publish(header, packet)
    assert found is not None
    assert found.topic.encode() == known.topic
    assert (found.mid, found.payload) == (known.mid, known.payload)
    assert (found.dup, found.qos, found.retain) == (known.dup, known.qos, known.retain)
    has = getattr(known.properties, "SubscriptionIdentifier", ())
    assert list(found.properties.SubscriptionIdentifier) == list(has)


@pytest.mark.property
@given(st.integers(0x30, 0x3F), st.binary(max_size=16))
def test_any_bytes_are_those_of_paho_or_left_to_it(header: int, packet: bytes) -> None:
    found = plain_publish(header, packet)
    if found is None:
        return
    try:
        known = _packet.decode_publish(header, packet, MQTTProtocolVersion.MQTTv5)
    except _packet.MalformedPacket:  # type: ignore[attr-defined]
        pytest.fail(f"{packet!r} is taken, and paho refuses it")
    assert (found.topic.encode(), found.payload) == (known.topic, known.payload)


@pytest.mark.parametrize(
    ("header", "packet"),
    [
        pytest.param(0x34, _TOPIC + b"\x00\x01\x00", id="QoS 2"),
        pytest.param(0x30, b"\x00\x00\x00", id="no topic, so an alias"),
        pytest.param(0x30, b"\x00\x01\xff\x00", id="a topic that is no UTF-8"),
        pytest.param(0x30, _TOPIC + b"\x07\x26\x00\x01a\x00\x01b", id="a user property"),
        pytest.param(0x30, _TOPIC + b"\x02\x0b\x80", id="half an identifier"),
        pytest.param(0x30, _TOPIC + b"\x02\x0b\x00", id="identifier 0"),
        pytest.param(0x32, _TOPIC + b"\x00", id="half a packet identifier"),
        pytest.param(0x30, b"\x00", id="half a length"),
    ],
)
def test_what_is_not_plain_is_left_to_paho(header: int, packet: bytes) -> None:
    assert plain_publish(header, packet) is None
