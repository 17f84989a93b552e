"""MQTT 5 packets: what is written is read again, however it is cut; junk raises one error only."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gateway.errors import BrokerError
from gateway.gates.mqtt5_packets import (
    AT_LEAST_ONCE,
    Connect,
    Kind,
    Name,
    Packet,
    PacketReader,
    Publish,
    encode_puback,
    encode_publish,
    encode_pubrel,
    encode_subscribe,
    encode_unsubscribe,
)

LARGEST = 1 << 20
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)


@st.composite
def publishes(draw: st.DrawFn) -> Publish:
    qos = draw(st.integers(0, 2))
    return Publish(
        draw(TEXTS),
        draw(st.binary(max_size=300)),
        qos,
        draw(st.booleans()),
        draw(st.booleans()),
        draw(st.integers(1, 65_535)) if qos else 0,
        tuple(draw(st.lists(st.tuples(TEXTS, TEXTS), max_size=2))),
    )


def read(data: bytes, cut: int, largest: int = LARGEST) -> list[Packet]:
    reader = PacketReader(largest)
    return [
        packet for at in range(0, len(data), cut) for packet in reader.feed(data[at : at + cut])
    ]


@given(st.lists(publishes(), max_size=5), st.integers(1, 400))
def test_publish_is_read_as_it_was_written_however_it_is_cut(
    messages: list[Publish], cut: int
) -> None:
    assert read(b"".join(map(encode_publish, messages)), cut) == messages


@given(st.binary(max_size=60), st.integers(1, 60))
def test_junk_is_never_more_than_a_broker_error(data: bytes, cut: int) -> None:
    with suppress(BrokerError):
        read(data, cut, largest=50)


@given(publishes(), st.data())
def test_a_broken_publish_is_never_more_than_a_broker_error(
    message: Publish, data: st.DataObject
) -> None:
    packet = bytearray(encode_publish(message))
    packet[data.draw(st.integers(0, len(packet) - 1))] = data.draw(st.integers(0, 255))
    with suppress(BrokerError):
        read(bytes(packet), len(packet))


def test_a_connack_says_on_what_terms() -> None:
    # 3.2.2.3: Receive Maximum 7, Maximum QoS 1, a reason string, Server Keep Alive 5
    properties = bytes([0x21, 0, 7, 0x24, 1, 0x1F, 0, 2, 0x68, 0x69, 0x13, 0, 5])
    packet = bytes([0x20, 3 + len(properties), 1, 0, len(properties)]) + properties
    (answer,) = read(packet, 100)
    assert not isinstance(answer, Publish)
    assert (answer.kind, answer.session_present, answer.is_refusal) == (Kind.CONNACK, True, False)
    assert answer.properties.numbers == {
        Name.RECEIVE_MAXIMUM: 7,
        Name.MAXIMUM_QOS: 1,
        Name.SERVER_KEEP_ALIVE: 5,
    }


def test_a_suback_gives_a_reason_for_each_filter() -> None:
    (answer,) = read(bytes([0x90, 5, 0, 9, 0, 1, 0x87]), 1)
    assert not isinstance(answer, Publish)
    assert (answer.packet_id, answer.reasons, answer.is_refusal) == (9, (1, 0x87), True)


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (encode_puback(258), "40020102"),
        (encode_pubrel(258), "62020102"),
        (encode_subscribe(1, ["a", "b"], AT_LEAST_ONCE), "820b000100" + "00016101" + "00016201"),
        (encode_unsubscribe(1, ["a"]), "a206000100" + "000161"),
        (
            Connect("c", "u", "p", 60, 1, 2, 3).encode(),
            "1021" + "00044d515454" + "05c0" + "003c" + "0d" + "1100000001" + "210002"
            "2700000003" + "000163" + "000175" + "000170",
        ),
    ],
)
def test_packets_are_written_as_the_standard_says(packet: bytes, expected: str) -> None:
    assert packet.hex() == expected


def test_a_packet_beyond_the_limit_is_refused_before_it_is_there() -> None:
    packet = encode_publish(Publish("t", b"x" * 200))
    with pytest.raises(BrokerError, match="a packet of"):
        read(packet[:3], 3, largest=100)
