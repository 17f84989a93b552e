"""`Publish`: a PUBLISH of MQTT 5 as a broker sends nearly all of them.

Place on the way of the data: packet → **here** → gate. paho makes six objects of each, with all
properties that there might be. What it does with a plain one is done here in one go; all else is
left to it. Source: MQTT 5.0, 3.3.
"""

from dataclasses import dataclass, field

_SUBSCRIPTION_IDENTIFIER = 0x0B


@dataclass(frozen=True, slots=True)
class Properties:
    """The only one that a plain PUBLISH may have, under paho's name for it."""

    SubscriptionIdentifier: tuple[int, ...] = ()


_NONE = Properties()


@dataclass(frozen=True, slots=True)
class Publish:
    """What the gate reads of a message, under paho's names."""

    topic: str
    payload: bytes
    mid: int
    dup: bool
    retain: bool
    qos: int
    properties: Properties = field(default=_NONE)


def plain_publish(header: int, packet: bytes | bytearray) -> Publish | None:
    """A PUBLISH of QoS 0 or 1 with no property but subscription identifiers; None for any other.

    `header` is the first byte, `packet` what stands behind the remaining length.

    >>> plain_publish(0x32, b"\\x00\\x01t\\x00\\x07\\x00on")
    Publish(topic='t', payload=b'on', mid=7, dup=False, retain=False, qos=1, \
properties=Properties(SubscriptionIdentifier=()))
    """
    qos = header >> 1 & 3
    if qos > 1:
        return None
    data = bytes(packet)
    end = 2 + int.from_bytes(data[:2])
    at = end + 2 * qos
    try:
        topic = data[2:end].decode()
        length = data[at]
        if not topic or length > 127:
            return None
        identifiers = _identifiers(data[at + 1 : at + 1 + length]) if length else ()
    except (IndexError, UnicodeDecodeError):
        return None
    if identifiers is None or len(data) < at + 1 + length:
        return None
    return Publish(
        topic,
        data[at + 1 + length :],
        int.from_bytes(data[end:at]),
        bool(header & 8),
        bool(header & 1),
        qos,
        Properties(identifiers) if identifiers else _NONE,
    )


def _identifiers(properties: bytes) -> tuple[int, ...] | None:
    """Subscription identifiers, where there is nothing else. Raises IndexError for half of one."""
    found: list[int] = []
    at = 0
    while at < len(properties):
        if properties[at] != _SUBSCRIPTION_IDENTIFIER:
            return None
        number = shift = 0
        while True:
            at += 1
            number |= (properties[at] & 127) << shift
            shift += 7
            if properties[at] < 128:
                break
        if not number or shift > 28:
            return None
        found.append(number)
        at += 1
    return tuple(found)
