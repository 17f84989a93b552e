"""MQTT 5 packets, values to bytes and back: as much of them as a client needs that takes QoS 1.

Place on the way of the data: between the socket of an external broker and the gate. Sans-I/O; a
PUBLISH is decoded in a few microseconds, since every reading is one. Source: OASIS MQTT 5.0,
sections 1.5, 2 and 3.
"""

import struct
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum
from struct import Struct

from gateway.errors import BrokerError

_SHORT = Struct("!H")
_LONG = Struct("!L")


class Kind(IntEnum):
    """The packet types (2.1.2)."""

    CONNECT = 1
    CONNACK = 2
    PUBLISH = 3
    PUBACK = 4
    PUBREC = 5
    PUBREL = 6
    PUBCOMP = 7
    SUBSCRIBE = 8
    SUBACK = 9
    UNSUBSCRIBE = 10
    UNSUBACK = 11
    PINGREQ = 12
    PINGRESP = 13
    DISCONNECT = 14
    AUTH = 15


class Name(IntEnum):
    """The properties that are looked at or sent (2.2.2.2)."""

    SESSION_EXPIRY = 0x11
    SERVER_KEEP_ALIVE = 0x13
    RECEIVE_MAXIMUM = 0x21
    MAXIMUM_QOS = 0x24
    USER = 0x26
    MAXIMUM_PACKET = 0x27


_BYTES = {0x01: 1, 0x17: 1, 0x19: 1, 0x24: 1, 0x25: 1, 0x28: 1, 0x29: 1, 0x2A: 1}
_BYTES |= {0x13: 2, 0x21: 2, 0x22: 2, 0x23: 2, 0x02: 4, 0x11: 4, 0x18: 4, 0x27: 4}
_COUNTED = frozenset({0x03, 0x08, 0x09, 0x12, 0x15, 0x16, 0x1A, 0x1C, 0x1F})
_SUBSCRIPTION_IDENTIFIER = 0x0B


@dataclass(frozen=True, slots=True)
class Properties:
    """The numbers by property, and the user properties; texts and binary data are passed over."""

    numbers: dict[int, int] = field(default_factory=dict)
    user: tuple[tuple[str, str], ...] = ()


_NO_PROPERTIES = Properties()


@dataclass(frozen=True, slots=True)
class Publish:
    """A message (3.3); `packet_id` is 0 at QoS 0."""

    topic: str
    payload: bytes
    qos: int = 0
    duplicate: bool = False
    retain: bool = False
    packet_id: int = 0
    user: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """Any other packet of a broker; `reasons` of 0x80 and above say no."""

    kind: Kind
    packet_id: int = 0
    reasons: tuple[int, ...] = (0,)
    session_present: bool = False
    properties: Properties = _NO_PROPERTIES

    @property
    def is_refusal(self) -> bool:
        """Whether the broker says no to something."""
        return any(reason >= 0x80 for reason in self.reasons)


Packet = Publish | Answer


class PacketReader:
    """Cuts the broker's bytes into packets of at most `largest` bytes.

    >>> reader = PacketReader(100)
    >>> reader.feed(bytes([0x40, 2, 1])), reader.feed(bytes([2]))[0].packet_id
    ([], 258)
    """

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._rest = b""

    def feed(self, data: bytes) -> list[Packet]:
        """The packets that are complete now. Raises BrokerError for what is not MQTT 5."""
        if self._rest:
            data = self._rest + data
        packets: list[Packet] = []
        start = 0
        try:
            while (body := self._body(data, start)) is not None:
                at, end = body
                packets.append(_decode(data[start], data, at, end))
                start = end
        except (ValueError, IndexError, struct.error) as error:
            raise _malformed(f"{error}") from error
        self._rest = data[start:]
        return packets

    def _body(self, data: bytes, start: int) -> tuple[int, int] | None:
        """Where the variable header begins and the packet ends; None while bytes are missing."""
        length, shift, available = 0, 0, len(data)
        for at in range(start + 1, min(start + 5, available)):
            byte = data[at]
            length |= (byte & 127) << shift
            if byte < 128:
                if length > self._largest:
                    raise _malformed(f"a packet of {length} bytes")
                end = at + 1 + length
                return (at + 1, end) if end <= available else None
            shift += 7
        if available >= start + 5:
            raise _malformed("a remaining length of more than 4 bytes")
        return None


def _decode(first: int, data: bytes, at: int, end: int) -> Packet:
    if first >> 4 == Kind.PUBLISH:
        return _decode_publish(first, data, at, end)
    return _decode_answer(Kind(first >> 4), data[at:end])


def _decode_publish(first: int, data: bytes, at: int, end: int) -> Publish:
    qos = first >> 1 & 3
    topic_at = at + 2
    at = topic_at + (data[at] << 8 | data[at + 1])
    topic = data[topic_at:at].decode()
    packet_id = 0
    if qos:
        packet_id = data[at] << 8 | data[at + 1]
        at += 2
    user: tuple[tuple[str, str], ...] = ()
    if data[at]:
        properties, at = _decode_properties(data, at)
        user = properties.user
    else:
        at += 1
    if at > end:
        raise _malformed("a PUBLISH shorter than its topic")
    return Publish(topic, data[at:end], qos, first & 8 != 0, first & 1 != 0, packet_id, user)


def _decode_answer(kind: Kind, body: bytes) -> Answer:
    if kind is Kind.CONNACK:
        properties, _ = _decode_properties(body, 2)
        return Answer(kind, 0, (body[1],), body[0] & 1 == 1, properties)
    if kind in (Kind.SUBACK, Kind.UNSUBACK):
        _, at = _decode_properties(body, 2)
        return Answer(kind, _SHORT.unpack_from(body)[0], tuple(body[at:]))
    if kind in (Kind.PUBACK, Kind.PUBREC, Kind.PUBREL, Kind.PUBCOMP):
        return Answer(kind, _SHORT.unpack_from(body)[0], (body[2],) if len(body) > 2 else (0,))
    return Answer(kind, reasons=(body[0],) if body else (0,))


def _decode_properties(data: bytes, at: int) -> tuple[Properties, int]:
    """The properties whose length stands at `at`, and where they end."""
    length, at = _decode_varint(data, at)
    end = at + length
    numbers: dict[int, int] = {}
    user: list[tuple[str, str]] = []
    while at < end:
        name = data[at]
        at += 1
        if name == Name.USER:
            key, at = _decode_counted(data, at)
            value, at = _decode_counted(data, at)
            user.append((key.decode(), value.decode()))
        elif name in _BYTES:
            numbers[name] = int.from_bytes(data[at : at + _BYTES[name]], "big")
            at += _BYTES[name]
        elif name in _COUNTED:
            _, at = _decode_counted(data, at)
        elif name == _SUBSCRIPTION_IDENTIFIER:
            _, at = _decode_varint(data, at)
        else:
            raise _malformed(f"property {name:#04x}")
    if at != end:
        raise _malformed("properties longer than they say")
    return Properties(numbers, tuple(user)), end


def _decode_varint(data: bytes, at: int) -> tuple[int, int]:
    value, shift = 0, 0
    for index in range(at, at + 4):
        value |= (data[index] & 127) << shift
        if data[index] < 128:
            return value, index + 1
        shift += 7
    raise _malformed("a variable byte integer of more than 4 bytes")


def _decode_counted(data: bytes, at: int) -> tuple[bytes, int]:
    end = at + 2 + _SHORT.unpack_from(data, at)[0]
    return data[at + 2 : end], end


@dataclass(frozen=True, slots=True)
class Connect:
    """Whom a client says it is and what it can take (3.1); the session outlives the connection."""

    client_id: str
    username: str | None = None
    password: str | None = None
    keep_alive_s: int = 60
    session_expiry_s: int = 0
    receive_maximum: int = 65_535
    largest_packet: int = 1 << 20

    def encode(self) -> bytes:
        """The packet, without clean start and without a will."""
        flags, credentials = 0, b""
        if self.username is not None:
            flags, credentials = 0x80, _text(self.username)
        if self.password is not None:
            flags, credentials = flags | 0x40, credentials + _text(self.password)
        properties = (
            bytes([Name.SESSION_EXPIRY]) + _LONG.pack(self.session_expiry_s)
            + bytes([Name.RECEIVE_MAXIMUM]) + _SHORT.pack(self.receive_maximum)
            + bytes([Name.MAXIMUM_PACKET]) + _LONG.pack(self.largest_packet)
        )  # fmt: skip
        head = _text("MQTT") + bytes([5, flags]) + _SHORT.pack(self.keep_alive_s)
        return _packet(
            Kind.CONNECT << 4, head + _counted(properties) + _text(self.client_id) + credentials
        )


def encode_publish(message: Publish) -> bytes:
    """A PUBLISH; raises BrokerError for a topic that is too long."""
    first = Kind.PUBLISH << 4 | message.duplicate << 3 | message.qos << 1 | message.retain
    packet_id = _SHORT.pack(message.packet_id) if message.qos else b""
    user = b"".join(bytes([Name.USER]) + _text(key) + _text(text) for key, text in message.user)
    return _packet(first, _text(message.topic) + packet_id + _counted(user) + message.payload)


def encode_puback(packet_id: int) -> bytes:
    """The acknowledgement of a message at QoS 1."""
    return b"\x40\x02" + _SHORT.pack(packet_id)


def encode_pubrel(packet_id: int) -> bytes:
    """The second step of a message at QoS 2."""
    return b"\x62\x02" + _SHORT.pack(packet_id)


AT_LEAST_ONCE, NO_LOCAL, RETAINED_IF_NEW = 0x01, 0x04, 0x10
"""Subscription options (3.8.3.1): QoS 1; not what we publish; retained messages only once."""


def encode_subscribe(packet_id: int, filters: Iterable[str], options: int) -> bytes:
    """Subscribe to topic filters."""
    wanted = b"".join(_text(each) + bytes([options]) for each in filters)
    return _packet(Kind.SUBSCRIBE << 4 | 2, _SHORT.pack(packet_id) + b"\0" + wanted)


def encode_unsubscribe(packet_id: int, filters: Iterable[str]) -> bytes:
    """Unsubscribe from topic filters."""
    gone = b"".join(map(_text, filters))
    return _packet(Kind.UNSUBSCRIBE << 4 | 2, _SHORT.pack(packet_id) + b"\0" + gone)


PINGREQ = b"\xc0\x00"
DISCONNECT = b"\xe0\x00"


def _packet(first: int, body: bytes) -> bytes:
    return bytes([first]) + _varint(len(body)) + body


def _varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 127:
        encoded.append(value & 127 | 128)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def _counted(data: bytes) -> bytes:
    """Properties with their length before them."""
    return _varint(len(data)) + data


def _text(text: str) -> bytes:
    data = text.encode()
    if len(data) > 65_535:
        raise BrokerError(f"{text[:80]!r}... is too long for MQTT")
    return _SHORT.pack(len(data)) + data


def _malformed(what: str) -> BrokerError:
    return BrokerError(f"the broker sent {what}", "it must be an MQTT 5 broker")
