"""paho's client over a socket that buffers both ways.

Place on the way of the data: socket → **buffered socket** → paho → gate. paho reads a packet in
three or more system calls and writes each PUBACK by one of its own; each of them lets another
thread take the interpreter, which at thousands of readings a second costs more than the protocol.
Here one read serves all packets that have come, and one write carries all that go.
"""

import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

from paho.mqtt.enums import MQTTErrorCode

from gateway.gates.mqtt.external.publishes import plain_publish
from gateway.gates.mqtt.external.tls_client import TlsClient

if TYPE_CHECKING:  # paho has this name for type checkers only
    from paho.mqtt.client import SocketLike

_CHUNK = 65_536
_PUBACK = b"\x40\x02"
"""With the length of a packet identifier: success needs no reason (MQTT 5.0, 3.4.2.1)."""


class BufferedSocket:
    """What paho needs of a socket; `flush` sends what it has written. Non-blocking."""

    def __init__(self, plain: "SocketLike") -> None:
        self._plain = plain
        self._arrived = b""
        self._taken = 0
        self._leaving = bytearray()

    @property
    def has_arrived(self) -> bool:
        """Whether something was read that paho has not taken yet, by us or by TLS."""
        if self._taken < len(self._arrived):
            return True
        return isinstance(self._plain, ssl.SSLSocket) and self._plain.pending() > 0

    @property
    def unsent(self) -> int:
        """Bytes that the broker has not accepted yet."""
        return len(self._leaving)

    def recv(self, size: int) -> bytes:
        """Up to `size` bytes; raises BlockingIOError where there is nothing."""
        if self._taken == len(self._arrived):
            self._arrived, self._taken = self._plain.recv(_CHUNK), 0
        chunk = self._arrived[self._taken : self._taken + size]
        self._taken += len(chunk)
        return chunk

    def send(self, buffer: bytes | bytearray) -> int:
        """Keep all of it for the next `flush`."""
        self._leaving += buffer
        return len(buffer)

    def flush(self) -> None:
        """Send what the broker takes now. Raises OSError where the connection is lost."""
        if self._leaving:
            with suppress(BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
                del self._leaving[: self._plain.send(bytes(self._leaving))]

    def close(self) -> None:
        """Send the last words, a DISCONNECT perhaps, and close."""
        with suppress(OSError):
            self.flush()
        self._plain.close()

    def fileno(self) -> int:
        """For select."""
        return self._plain.fileno()

    def setblocking(self, flag: bool) -> None:
        """For paho, which asks for False."""
        self._plain.setblocking(flag)


class BufferedClient(TlsClient):
    """A paho client whose network loop is ours (`loop_read`, `loop_write`, `loop_misc`)."""

    buffered: BufferedSocket

    def ack(self, mid: int, qos: int) -> MQTTErrorCode:
        """As paho, a PUBACK without its book of packets."""
        if qos != 1:
            return super().ack(mid, qos)
        self.buffered.send(_PUBACK + mid.to_bytes(2))
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def _handle_publish(self) -> MQTTErrorCode:
        """Called by paho for each PUBLISH; `on_message` is told of plain ones at once."""
        arrived = self._in_packet
        publish = plain_publish(arrived["command"], arrived["packet"])
        if publish is None or self.on_message is None:
            return super()._handle_publish()
        self.on_message(self, None, publish)  # type: ignore[arg-type]
        return MQTTErrorCode.MQTT_ERR_SUCCESS

    def send_written(self) -> None:
        """Send what paho has for the broker, in one piece."""
        if self.want_write():
            self.loop_write()
        try:
            self.buffered.flush()
        except OSError:
            self.loop_read()  # paho finds out for itself that the connection is lost

    def _create_socket(self) -> "SocketLike":
        """Called by paho at each connection."""
        self.buffered = BufferedSocket(super()._create_socket())
        return self.buffered
