"""A raw MQTT 3.1.1 client for probes: it sends what it is told to, legal or not, and hides nothing.

Nothing of amqtt or of the gateway is used, so that a fault of a codec cannot cancel itself out.
"""

import asyncio
from dataclasses import dataclass
from types import TracebackType
from typing import Self

CONNECT, CONNACK, PUBLISH, PUBACK, PUBREC, PUBREL, PUBCOMP = range(1, 8)
SUBSCRIBE, SUBACK, UNSUBSCRIBE, UNSUBACK, PINGREQ, PINGRESP, DISCONNECT = range(8, 15)

TIMEOUT_S = 30.0


@dataclass(frozen=True, slots=True)
class Packet:
    kind: int
    flags: int
    body: bytes

    @property
    def packet_id(self) -> int:
        return int.from_bytes(self.body[:2], "big")


@dataclass(frozen=True, slots=True)
class Received:
    topic: str
    payload: bytes
    qos: int
    retain: bool
    duplicate: bool
    packet_id: int


@dataclass(frozen=True, slots=True)
class Will:
    topic: str
    payload: bytes
    qos: int = 0
    retain: bool = False


def text(value: str | bytes) -> bytes:
    encoded = value.encode() if isinstance(value, str) else value
    return len(encoded).to_bytes(2, "big") + encoded


def packet(kind: int, flags: int, body: bytes) -> bytes:
    length, head = len(body), bytearray([kind << 4 | flags])
    while True:
        length, digit = divmod(length, 128)
        head.append(digit | (128 if length else 0))
        if not length:
            return bytes(head) + body


def connect_packet(
    client_id: str,
    user: str | None = None,
    password: str | None = None,
    clean: bool = True,
    *,
    keep_alive: int = 60,
    will: Will | None = None,
) -> bytes:
    flags = clean << 1 | (user is not None) << 7 | (password is not None) << 6
    body = text(client_id)
    if will is not None:
        flags |= 1 << 2 | will.qos << 3 | will.retain << 5
        body += text(will.topic) + text(will.payload)
    body += b"".join(text(value) for value in (user, password) if value is not None)
    head = text("MQTT") + bytes([4, flags]) + keep_alive.to_bytes(2, "big")
    return packet(CONNECT, 0, head + body)


def publish_packet(
    topic: str | bytes,
    payload: bytes = b"",
    qos: int = 0,
    packet_id: int = 1,
    *,
    retain: bool = False,
    duplicate: bool = False,
) -> bytes:
    identifier = packet_id.to_bytes(2, "big") if qos else b""
    return packet(PUBLISH, duplicate << 3 | qos << 1 | retain, text(topic) + identifier + payload)


def received(publish: Packet) -> Received:
    size = int.from_bytes(publish.body[:2], "big")
    qos = publish.flags >> 1 & 3
    rest = publish.body[2 + size :]
    return Received(
        topic=publish.body[2 : 2 + size].decode(),
        payload=rest[2:] if qos else rest,
        qos=qos,
        retain=bool(publish.flags & 1),
        duplicate=bool(publish.flags & 8),
        packet_id=int.from_bytes(rest[:2], "big") if qos else 0,
    )


class RawClient:
    """One connection; `code` and `session_present` are of its CONNACK, `code` None without one."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.code: int | None = None
        self.session_present = False

    @classmethod
    async def open(cls, port: int, source: str = "127.0.0.1") -> Self:
        """From an address of this machine, all of 127.0.0.0/8."""
        return cls(*await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0)))

    @classmethod
    async def connect(
        cls,
        port: int,
        client_id: str,
        user: str | None = None,
        password: str | None = None,
        *,
        clean: bool = True,
        keep_alive: int = 60,
        will: Will | None = None,
        source: str = "127.0.0.1",
    ) -> Self:
        client = await cls.open(port, source)
        client.send(
            connect_packet(client_id, user, password, clean, keep_alive=keep_alive, will=will)
        )
        answer = await client.next_packet()
        if answer is not None:
            client.session_present, client.code = bool(answer.body[0]), answer.body[1]
        return client

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.vanish()

    def send(self, data: bytes) -> None:
        self.writer.write(data)

    async def next_packet(self, timeout_s: float = TIMEOUT_S) -> Packet | None:
        """None at the end of the stream; TimeoutError."""
        try:
            async with asyncio.timeout(timeout_s):
                head, last = await self.reader.readexactly(2)
                length, shift = last & 127, 7
                while last & 128:
                    (last,) = await self.reader.readexactly(1)
                    length, shift = length | (last & 127) << shift, shift + 7
                return Packet(head >> 4, head & 15, await self.reader.readexactly(length))
        except (asyncio.IncompleteReadError, ConnectionError):
            return None

    async def expect(self, kind: int) -> Packet:
        """The next packet, which must be of this kind."""
        found = await self.next_packet()
        assert found is not None, f"the stream ended before packet type {kind}"
        assert found.kind == kind, f"packet type {found.kind} instead of {kind}"
        return found

    async def next_message(self) -> Received:
        return received(await self.expect(PUBLISH))

    async def closed(self, timeout_s: float = TIMEOUT_S) -> bool:
        """Whether the peer closes in time, whatever it sends before."""
        try:
            async with asyncio.timeout(timeout_s):
                while await self.next_packet(timeout_s) is not None:
                    pass
        except TimeoutError:
            return False
        return True

    async def subscribe(self, topic_filter: str, qos: int = 0) -> int:
        """The return code of SUBACK."""
        self.send(packet(SUBSCRIBE, 2, b"\0\1" + text(topic_filter) + bytes([qos])))
        return (await self.expect(SUBACK)).body[2]

    async def unsubscribe(self, topic_filter: str) -> None:
        self.send(packet(UNSUBSCRIBE, 2, b"\0\1" + text(topic_filter)))
        await self.expect(UNSUBACK)

    async def publish(
        self, topic: str, payload: bytes, qos: int = 1, packet_id: int = 1, retain: bool = False
    ) -> None:
        """Publish and, for QoS 1, wait for PUBACK; for QoS 2 to the end of its flow."""
        self.send(publish_packet(topic, payload, qos, packet_id, retain=retain))
        if qos == 1:
            assert (await self.expect(PUBACK)).packet_id == packet_id
        elif qos == 2:
            await self.expect(PUBREC)
            self.send(packet(PUBREL, 2, packet_id.to_bytes(2, "big")))
            assert (await self.expect(PUBCOMP)).packet_id == packet_id

    async def messages_until(self, payload: bytes) -> list[Received]:
        """What arrives before the message with this payload; acknowledges none."""
        found: list[Received] = []
        while (message := await self.next_message()).payload != payload:
            found.append(message)
        return found

    def acknowledge(self, packet_id: int, kind: int = PUBACK) -> None:
        self.send(packet(kind, 2 if kind == PUBREL else 0, packet_id.to_bytes(2, "big")))

    async def ping(self) -> list[Packet]:
        """What arrives before PINGRESP."""
        self.send(packet(PINGREQ, 0, b""))
        found: list[Packet] = []
        while (answer := await self.next_packet()) is not None and answer.kind != PINGRESP:
            found.append(answer)
        assert answer is not None, "the stream ended before PINGRESP"
        return found

    async def disconnect(self) -> None:
        self.send(packet(DISCONNECT, 0, b""))
        await self.closed()
        await self.vanish()

    async def vanish(self) -> None:
        """Close the socket without a DISCONNECT."""
        self.writer.transport.abort()
        try:
            await self.writer.wait_closed()
        except ConnectionError:
            return
