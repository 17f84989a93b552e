"""`Wire`: the MQTT connections of the fleet's devices, which also misbehave.

Place on the way of the data: carries each PUBLISH to the gateway's broker over a socket of its own.
A client library never repeats a PUBLISH with DUP at will, nor drops its connection in time; so the
few packets of MQTT 3.1.1 that devices send are written here (OASIS 2014, sections 3.1 to 3.4, 3.8).
"""

import asyncio
from collections.abc import Callable

from gateway.demo.fleet.acts import FLUSH, Connect, Sent
from gateway.errors import StorageError

TIMEOUT_S = 30.0
_CONNECT, _CONNACK, _PUBLISH, _PUBACK, _SUBSCRIBE, _DISCONNECT = 1, 2, 3, 4, 8, 14

Heard = Callable[[str, bytes], None]


class Wire:
    """One connection of one client; made by `connect`.

    `heard` is told topic and payload of what comes for the client.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, heard: Heard
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._heard = heard
        self._packet_id = 0
        self._waiting = 0
        self._unanswered = False
        self._acknowledged = asyncio.Event()
        self._reading = asyncio.create_task(self._read(), name="fleet-wire")

    @classmethod
    async def connect(cls, port: int, comes: Connect, heard: Heard) -> "Wire":
        """Connect and subscribe. Raises StorageError where the broker refuses or keeps silent."""
        try:
            async with asyncio.timeout(TIMEOUT_S):
                reader, writer = await asyncio.open_connection("127.0.0.1", port)
                writer.write(_connect(comes))
                kind, body = await _packet(reader)
                if kind != _CONNACK or body[1:2] != b"\0":
                    raise StorageError(f"the broker refuses {comes.client}", "see its log")
                for topic_filter in comes.listens:
                    writer.write(_frame(_SUBSCRIBE, 2, b"\0\1" + _text(topic_filter) + b"\0"))
                    await _packet(reader)
        except (TimeoutError, EOFError, OSError) as error:
            raise StorageError(f"{comes.client} cannot connect: {error!r}") from error
        return cls(reader, writer, heard)

    def publish(self, sent: Sent) -> None:
        """Send; a duplicate has the packet id of the message before."""
        if sent.qos and not sent.duplicate:
            self._packet_id = self._packet_id % 65_535 + 1
        flags = sent.duplicate << 3 | sent.qos << 1 | sent.retain
        packet_id = self._packet_id.to_bytes(2, "big") if sent.qos else b""
        self._waiting += bool(sent.qos)
        self._unanswered = not sent.qos
        self._writer.write(_frame(_PUBLISH, flags, _text(sent.topic) + packet_id + sent.payload))

    async def settled(self) -> None:
        """Wait until all is stored; behind QoS 0 goes one message that is acknowledged."""
        if self._unanswered:
            self.publish(Sent("", FLUSH, b"1"))
        try:
            async with asyncio.timeout(TIMEOUT_S):
                while self._waiting:
                    self._acknowledged.clear()
                    await self._acknowledged.wait()
        except TimeoutError:
            raise StorageError(f"no PUBACK in {TIMEOUT_S:g} s", "see the log") from None

    async def drop(self) -> None:
        """Be gone without a word: the broker publishes the will."""
        self._reading.cancel()
        await asyncio.wait({self._reading})
        self._writer.close()

    async def close(self) -> None:
        """Disconnect as MQTT wants it, without a last will."""
        self._writer.write(_frame(_DISCONNECT, 0, b""))
        await self.drop()

    async def _read(self) -> None:
        while True:
            try:
                kind, body = await _packet(self._reader)
            except (EOFError, OSError):
                return
            if kind == _PUBACK:
                self._waiting -= 1
                self._acknowledged.set()
            elif kind == _PUBLISH:
                self._take(body)

    def _take(self, body: bytes) -> None:
        """Subscriptions are of QoS 0, so there is no packet id."""
        end = 2 + int.from_bytes(body[:2], "big")
        self._heard(body[2:end].decode(), body[end:])


async def _packet(reader: asyncio.StreamReader) -> tuple[int, bytes]:
    """Kind and body of the next packet; EOFError at the end of the connection."""
    kind = (await reader.readexactly(1))[0] >> 4
    length = shift = 0
    while True:
        digit = (await reader.readexactly(1))[0]
        length |= (digit & 127) << shift
        shift += 7
        if digit < 128:
            return kind, await reader.readexactly(length)


def _connect(comes: Connect) -> bytes:
    """A clean session without keep-alive: simulated time may stand still."""
    flags, tail = 2, b""
    if comes.will is not None:
        flags |= 4 | comes.will.qos << 3 | comes.will.retain << 5
        tail = _text(comes.will.topic) + _text(comes.will.payload)
    head = _text("MQTT") + bytes([4, flags]) + b"\0\0"
    return _frame(_CONNECT, 0, head + _text(comes.client) + tail)


def _text(value: str | bytes) -> bytes:
    octets = value.encode() if isinstance(value, str) else value
    return len(octets).to_bytes(2, "big") + octets


def _frame(kind: int, flags: int, body: bytes) -> bytes:
    length, head = len(body), bytearray([kind << 4 | flags])
    while True:
        length, digit = divmod(length, 128)
        head.append(digit | (128 if length else 0))
        if not length:
            return bytes(head) + body
