"""MQTT over WebSocket: the stream of a connection comes and goes in binary messages.

Place: `Listener` → `WebSocketEntrance` → `HardenedBroker`, which sees a stream as from TCP.
Sources: MQTT 3.1.1, section 6; RFC 6455, sections 4.2 and 5. The handshake and what we send are the
library's; frames are read here, since a frame may be longer than anything that is ever held.
"""

import asyncio
import logging
from http import HTTPStatus

from websockets.exceptions import WebSocketException
from websockets.frames import Close, CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol
from websockets.utils import apply_mask

from gateway.errors import BadRequestError
from gateway.gates.http.origins import Names
from gateway.gates.mqtt.embedded.entrance.listener import (
    STREAM_BYTES,
    Converse,
    Refused,
    peer_of,
)
from gateway.gates.mqtt.embedded.entrance.openings import Opening

_MQTT = Subprotocol("mqtt")
_QUIET = logging.Logger("websockets", logging.CRITICAL)
_CHUNK_BYTES = 65_536
_MOST_OF_CONTROL = 125
_FIN, _RESERVED, _OPCODE, _MASKED, _LENGTH = 0x80, 0x70, 0x0F, 0x80, 0x7F


class FrameWriter(asyncio.StreamWriter):
    """A writer whose every `write` is a binary message, once `begin` was called."""

    close_code = CloseCode.NORMAL_CLOSURE
    _is_framing = False

    def begin(self) -> None:
        """The handshake is done."""
        self._is_framing = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        """Send a message, or bytes of the handshake."""
        if self._is_framing:
            self.send(Opcode.BINARY, bytes(data))
        else:
            super().write(data)

    def send(self, opcode: Opcode, data: bytes) -> None:
        """Send a frame of any kind."""
        super().write(Frame(opcode, data).serialize(mask=False))

    def close(self) -> None:
        """Say goodbye, where nobody has yet, and close the stream."""
        if self._is_framing and not self.is_closing():
            self._is_framing = False
            self.send(Opcode.CLOSE, Close(self.close_code, "").serialize())
        super().close()


class WebSocketEntrance:
    """Turns a connection into a WebSocket and hands its stream to `converse`.

    Only programs and pages that `names` admits come in, as at HTTP: a browser lets any page call.
    """

    def __init__(
        self, names: Names, timeout_s: float, converse: Converse, refused: Refused
    ) -> None:
        self._names = names
        self._timeout_s = timeout_s
        self._converse = converse
        self._refused = refused

    async def serve(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, opening: Opening
    ) -> None:
        """One connection, from the request of its handshake on; `writer` is a FrameWriter."""
        if not isinstance(writer, FrameWriter):
            raise TypeError("a WebSocket writes frames")
        try:
            async with asyncio.timeout(self._timeout_s):
                refusal = await self._shake_hands(reader, writer)
        except (EOFError, OSError, asyncio.LimitOverrunError, WebSocketException) as error:
            refusal = repr(error)
        if refusal:
            self._refused(peer_of(writer, opening), refusal)
            return
        writer.begin()
        messages = MessageStream(reader, writer)
        pumping = asyncio.create_task(messages.pump(), name="mqtt-web-socket")
        try:
            await self._converse(messages.stream, writer, opening)
        finally:
            pumping.cancel()
            await asyncio.wait({pumping})

    async def _shake_hands(self, reader: asyncio.StreamReader, writer: FrameWriter) -> str:
        """Answer the request; what was wrong with it, "" where nothing was."""
        protocol = ServerProtocol(subprotocols=[_MQTT], logger=_QUIET)
        protocol.receive_data(await reader.readuntil(b"\r\n\r\n"))
        events = protocol.events_received()
        if not events or not isinstance(events[0], Request):
            return "no request of HTTP"
        headers = events[0].headers
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if not self._names.admits_call(hosts, origins):
            response = protocol.reject(HTTPStatus.FORBIDDEN, "foreign Host or Origin\n")
        else:
            response = protocol.accept(events[0])
        protocol.send_response(response)
        writer.write(b"".join(protocol.data_to_send()))
        is_open = response.status_code == HTTPStatus.SWITCHING_PROTOCOLS
        return "" if is_open else f"WebSocket {response.status_code}"


class _Valve(asyncio.ReadTransport):
    """What a StreamReader holds back when it has enough."""

    def __init__(self) -> None:
        super().__init__()
        self.is_open = asyncio.Event()
        self.is_open.set()

    def pause_reading(self) -> None:
        self.is_open.clear()

    def resume_reading(self) -> None:
        self.is_open.set()


class MessageStream:
    """The bytes of a client's binary messages, wherever they begin and end, as one `stream`."""

    def __init__(self, reader: asyncio.StreamReader, writer: FrameWriter) -> None:
        self.stream = asyncio.StreamReader(STREAM_BYTES)
        self._valve = _Valve()
        self.stream.set_transport(self._valve)
        self._reader = reader
        self._writer = writer
        self._within_message = False

    async def pump(self) -> None:
        """Read frames until one of both ends; then the stream ends."""
        try:
            while await self._read_frame():
                pass
        except BadRequestError:
            self._writer.close_code = CloseCode.PROTOCOL_ERROR
        except (EOFError, OSError):
            pass  # The stream ends, and whoever reads it says so.
        finally:
            self.stream.feed_eof()

    async def _read_frame(self) -> bool:
        """False: it was the last one."""
        head, length = await self._reader.readexactly(2)
        if head & _RESERVED or not length & _MASKED:
            raise BadRequestError("a frame with reserved bits, or without a mask")
        size = length & _LENGTH
        if size > _MOST_OF_CONTROL:
            size = int.from_bytes(await self._reader.readexactly(2 if size == 126 else 8), "big")
        mask = await self._reader.readexactly(4)
        opcode = head & _OPCODE
        if opcode in {Opcode.BINARY, Opcode.CONT}:
            if (opcode == Opcode.CONT) is not self._within_message:
                raise BadRequestError("a fragment out of place")
            self._within_message = not head & _FIN
            await self._pass_on(size, mask)
            return True
        if size > _MOST_OF_CONTROL or not head & _FIN:
            raise BadRequestError("a control frame that is too long, or text [MQTT-6.0.0-1]")
        return self._control(opcode, apply_mask(await self._reader.readexactly(size), mask))

    async def _pass_on(self, size: int, mask: bytes) -> None:
        at = 0
        while at < size:
            await self._valve.is_open.wait()
            chunk = await self._reader.read(min(_CHUNK_BYTES, size - at))
            if not chunk:
                raise EOFError("the stream ended within a frame")
            turn = at % 4
            self.stream.feed_data(apply_mask(chunk, mask[turn:] + mask[:turn]))
            at += len(chunk)

    def _control(self, opcode: int, data: bytes) -> bool:
        if opcode == Opcode.PING:
            self._writer.send(Opcode.PONG, data)
        elif opcode not in {Opcode.PONG, Opcode.CLOSE}:
            raise BadRequestError("a message that is not binary [MQTT-6.0.0-1]")
        return opcode != Opcode.CLOSE
