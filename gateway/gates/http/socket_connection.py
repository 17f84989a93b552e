"""`SocketConnection`: a WebSocket of the HTTP server, which tells no traceback of a peer's bytes.

Place on the way of the data: between the HTTP connection that was upgraded and the gates. Source:
RFC 6455, sections 5.2 and 8.1.
"""

from collections.abc import Sequence
from struct import pack

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.protocol import State

from gateway.runtime.strangers import STRANGERS

_OPEN = State.OPEN
"""Looked up once: each look at a member of an enumeration is a call."""

_TEXT = 0x81
"""The first byte of a final frame with text."""

AT_ONCE = "sosa.at_once"
"""The ASGI extension whose member `connection` is the `SocketConnection` itself."""


class SocketConnection(WebSocketsSansIOProtocol):
    """uvicorn's, but for a text that is not UTF-8: that ends the socket, and is counted.

    Who has to tell many the same need not wait for each: what a peer `takes` it is told at once.
    """

    async def run_asgi(self) -> None:
        """Serve the application, which finds this connection in the scope."""
        self.scope["extensions"][AT_ONCE] = {"connection": self}
        await super().run_asgi()

    def shutdown(self) -> None:
        """End the connection with the server's end, also where either side is closing it."""
        if self.handshake_complete and self.conn.state is not _OPEN:
            # A peer that said so and reads nothing: a second Close, as uvicorn sends it, raises.
            self.stop_keepalive()
            self.transport.close()
        else:
            super().shutdown()

    @property
    def takes(self) -> bool:
        """Whether `tell` may be called now: the socket is open, and what was sent has left."""
        return self.conn.state is _OPEN and self.writable.is_set() and not self.close_sent

    def tell(self, texts: Sequence[str]) -> None:
        """Send messages, as ASGI's `websocket.send` does, without a turn of the event loop."""
        if not texts:
            return
        if self.conn.extensions:
            for text in texts:
                self.conn.send_text(text.encode())
            frames = self.conn.data_to_send()
        elif len(texts) == 1:
            self.transport.write(_frame(texts[0].encode()))
            return
        else:
            frames = [_frame(text.encode()) for text in texts]
        self.transport.write(b"".join(frames))

    def send_receive_event_to_app(self) -> None:
        """Hand a whole message over."""
        if self.curr_msg_data_type == "text" and not self.close_sent:
            try:
                b"".join(self.frames).decode()
            except UnicodeDecodeError:
                self.frames = []
                if self.conn.close_sent is None:  # else the peer's close came with it
                    STRANGERS.saw("websocket", self.client)
                    self.conn.send_close(1007)
                    self.handle_parser_exception()
                return
        super().send_receive_event_to_app()


def _frame(text: bytes) -> bytes:
    r"""A whole text frame of a server, which masks nothing; a fifth of a general one's time.

    >>> _frame(b"ab")
    b'\x81\x02ab'
    """
    length = len(text)
    if length < 126:
        return pack("!BB", _TEXT, length) + text
    if length < 1 << 16:
        return pack("!BBH", _TEXT, 126, length) + text
    return pack("!BBQ", _TEXT, 127, length) + text
