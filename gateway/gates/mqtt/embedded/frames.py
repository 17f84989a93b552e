"""MQTT 3.1.1 packets as they lie on the wire: framing, PUBLISH, SUBSCRIBE and UNSUBSCRIBE.

Place: TCP stream → `Frame` → connection; `Publish` → bytes → TCP stream. Stands in for amqtt's
decoder, which reads field by field from the stream without a limit and takes malformed UTF-8
(source: MQTT 3.1.1, sections 1.5.3, 2.2, 3.3, 3.8, 3.10).
"""

import asyncio
from asyncio import StreamReader
from dataclasses import dataclass
from math import inf

from amqtt.mqtt.packet import (
    DISCONNECT,
    PINGREQ,
    PUBACK,
    PUBCOMP,
    PUBLISH,
    PUBREC,
    PUBREL,
    SUBSCRIBE,
    UNSUBSCRIBE,
)
from amqtt.mqtt.publish import PublishPacket

from gateway.errors import BadRequestError, TooLargeError
from gateway.gates.mqtt.embedded.fields import Fields

FROM_CLIENTS: dict[int, tuple[int, int | None]] = {
    PUBACK: (0, 2),
    PUBREC: (0, 2),
    PUBREL: (2, 2),
    PUBCOMP: (0, 2),
    SUBSCRIBE: (2, None),
    UNSUBSCRIBE: (2, None),
    PINGREQ: (0, 0),
    DISCONNECT: (0, 0),
}
"""What a client may send after CONNECT, PUBLISH apart: flags, and how many bytes come then."""

BEGINNING_BYTES = 1024
"""Of a payload that is too long, as much as a person needs to see what it is."""

CHUNK_BYTES = 65_536


@dataclass(frozen=True, slots=True)
class Frame:
    """One control packet: type and flags of the fixed header, and all that follows it."""

    packet_type: int
    flags: int
    body: bytes

    @property
    def packet_id(self) -> int:
        """The packet identifier that opens the body, 1..65535."""
        packet_id = int.from_bytes(self.body[:2], "big")
        if len(self.body) < 2 or packet_id == 0:
            raise BadRequestError(f"packet type {self.packet_type} without packet identifier")
        return packet_id


@dataclass(frozen=True, slots=True)
class Publish:
    """One PUBLISH, from or to a client; `packet_id` 0 means that none is set (QoS 0, queued).

    At `expires_s` of the steady clock it is of no use any more.
    """

    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False
    duplicate: bool = False
    packet_id: int = 0
    expires_s: float = inf


@dataclass(frozen=True, slots=True)
class LongPublish(Frame):
    """The beginning of a PUBLISH; the last `rest_bytes` of its payload are still in the stream."""

    rest_bytes: int


async def read_frame(reader: StreamReader, max_bytes: int) -> Frame:
    """The next packet. EOFError at the end of the stream; its length is checked before its body.

    Beyond `max_bytes` of remaining length a PUBLISH is a LongPublish, anything else a
    TooLargeError. BadRequestError for a malformed header.
    """
    head, last = await reader.readexactly(2)
    length = last & 0x7F
    shift = 7
    while last & 0x80:
        if shift > 21:
            raise BadRequestError("remaining length longer than four bytes")
        (last,) = await reader.readexactly(1)
        length |= (last & 0x7F) << shift
        shift += 7
    if length > max_bytes:
        return await _read_beginning(reader, head, length, max_bytes)
    return Frame(head >> 4, head & 0x0F, await reader.readexactly(length))


async def _read_beginning(
    reader: StreamReader, head: int, length: int, max_bytes: int
) -> LongPublish:
    if head >> 4 != PUBLISH:
        raise TooLargeError(f"packet of {length} bytes; at most {max_bytes} are read")
    size = await reader.readexactly(2)
    more = int.from_bytes(size, "big") + 2 + BEGINNING_BYTES
    beginning = size + await reader.readexactly(min(more, length - 2))
    return LongPublish(PUBLISH, head & 0x0F, beginning, length - len(beginning))


async def pass_over(reader: StreamReader, size: int, silence_s: float | None) -> None:
    """Read so many bytes and keep none. EOFError, TimeoutError after a silence of so long."""
    while size:
        async with asyncio.timeout(silence_s):
            chunk = await reader.read(min(size, CHUNK_BYTES))
        if not chunk:
            raise EOFError("the stream ended within a packet")
        size -= len(chunk)


def require_form(frame: Frame) -> None:
    """BadRequestError unless a client may send this type, so, with these flags [MQTT-2.2.2-2]."""
    flags, size = FROM_CLIENTS.get(frame.packet_type, (None, None))
    if flags != frame.flags:
        raise BadRequestError(f"packet type {frame.packet_type} with flags {frame.flags:#06b}")
    if size is not None and size != len(frame.body):
        raise BadRequestError(f"packet type {frame.packet_type} with {len(frame.body)} bytes")


def require_topic(topic: str) -> None:
    """BadRequestError unless `topic` is a topic name [MQTT-1.5.3-2, 3.3.2-2, 4.7.3-1]."""
    if not topic or "+" in topic or "#" in topic or "\0" in topic:
        raise BadRequestError("a PUBLISH needs a topic without wildcards or U+0000")


def decode_publish(frame: Frame) -> Publish:
    """The PUBLISH in `frame`; BadRequestError where it is malformed."""
    qos = frame.flags >> 1 & 3
    start = 2 + int.from_bytes(frame.body[:2], "big")
    end = start + (2 if qos else 0)
    if qos == 3 or frame.flags & 0b1110 == 0b1000 or len(frame.body) < max(end, 2):
        raise BadRequestError("malformed PUBLISH [MQTT-3.3.1-2, 3.3.1-4]")
    packet_id = int.from_bytes(frame.body[start:end], "big")
    if qos and not packet_id:
        raise BadRequestError("PUBLISH with packet identifier 0")
    try:
        topic = frame.body[2:start].decode("utf-8")
    except UnicodeDecodeError:
        raise BadRequestError("PUBLISH to a topic that is not UTF-8") from None
    require_topic(topic)
    flags = frame.flags
    return Publish(topic, frame.body[end:], qos, bool(flags & 1), bool(flags & 8), packet_id)


def encode_publish(publish: Publish, packet_id: int, duplicate: bool) -> bytes:
    """The packet for a subscriber; `packet_id` counts where the QoS is 1 or 2."""
    packet = PublishPacket.build(
        publish.topic,
        publish.payload,
        packet_id if publish.qos else None,
        duplicate,
        publish.qos,
        publish.retain,
    )
    return bytes(packet.to_bytes())


def encode_answer(packet_type: int, packet_id: int) -> bytes:
    """PUBACK, PUBREC, PUBREL, PUBCOMP or UNSUBACK."""
    flags = 2 if packet_type == PUBREL else 0
    return bytes((packet_type << 4 | flags, 2)) + packet_id.to_bytes(2, "big")


def decode_subscribe(frame: Frame) -> list[tuple[str, int]]:
    """Topic filters and wanted QoS; BadRequestError where malformed [MQTT-3.8.3]."""
    fields, topics = _filters_of(frame), []
    while not fields.is_at_end:
        topics.append((fields.text(), fields.number(1)))
    if not topics or any(qos > 2 for _, qos in topics):
        raise BadRequestError("SUBSCRIBE without a topic filter, or with a QoS above 2")
    return topics


def decode_unsubscribe(frame: Frame) -> list[str]:
    """Topic filters; BadRequestError where malformed [MQTT-3.10.3]."""
    fields, filters = _filters_of(frame), []
    while not fields.is_at_end:
        filters.append(fields.text())
    if not filters:
        raise BadRequestError("UNSUBSCRIBE without a topic filter")
    return filters


def _filters_of(frame: Frame) -> Fields:
    fields = Fields(frame.body)
    if not fields.number(2):
        raise BadRequestError(f"packet type {frame.packet_type} with packet identifier 0")
    return fields
