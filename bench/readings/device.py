"""`Device`: a client that publishes at QoS 1 and costs next to nothing.

Place on the way of the data: before the broker. Four clients of a library take as much CPU time as
half of the gateway, on the same two cores; what publishes must not be what is measured. Source:
OASIS MQTT 3.1.1, sections 3.1 to 3.4 and 3.14.
"""

import socket
from struct import pack
from types import TracebackType
from typing import Self

from bench.processes import ChildFailedError
from gateway.demo.devices import Publication

_TIMEOUT_S = 60.0
_PUBACK_BYTES = 4
_PACKET_IDS = 65_535


class Device:
    """A connected client; a context manager. At most `window` messages are unacknowledged."""

    def __init__(self, port: int, client_id: str, window: int) -> None:
        self._port = port
        self._client_id = client_id
        self._window = window
        self._sent = 0
        self._leaving: list[bytes] = []
        self._acknowledged_bytes = 0

    def __enter__(self) -> Self:
        self._socket = socket.create_connection(("127.0.0.1", self._port), _TIMEOUT_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connect = _text("MQTT") + b"\x04\x02\x00\x00" + _text(self._client_id)
        self._socket.sendall(_packet(0x10, connect))
        if self._socket.recv(4) != b"\x20\x02\x00\x00":
            raise ChildFailedError("the broker refused a publisher")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._socket:
            if error is None:
                self._socket.sendall(b"\xe0\x00")

    @property
    def unacknowledged(self) -> int:
        """How many messages the broker has not acknowledged."""
        return self._sent - self._acknowledged_bytes // _PUBACK_BYTES

    def publish(self, publication: Publication) -> None:
        """Have a message sent, together with those before and after it; waits for the window."""
        packet_id = self._sent % _PACKET_IDS + 1
        self._leaving.append(
            _packet(0x32, _text(publication.topic) + pack("!H", packet_id) + publication.payload)
        )
        self._sent += 1
        if self.unacknowledged >= self._window:
            self.drain(self._window // 2)

    def flush(self) -> None:
        """Send what has not been sent yet."""
        self._socket.sendall(b"".join(self._leaving))
        self._leaving.clear()

    def drain(self, most: int = 0) -> None:
        """Flush, and wait until at most so many are unacknowledged."""
        self.flush()
        while self.unacknowledged > most:
            acknowledged = self._socket.recv(65_536)
            if not acknowledged:
                raise ChildFailedError("the broker closed the connection of a publisher")
            self._acknowledged_bytes += len(acknowledged)


def _packet(first: int, body: bytes) -> bytes:
    length, rest = bytearray(), len(body)
    while rest > 127:
        length.append(rest & 127 | 128)
        rest >>= 7
    return bytes([first, *length, rest]) + body


def _text(text: str) -> bytes:
    data = text.encode()
    return pack("!H", len(data)) + data
