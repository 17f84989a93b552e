"""`SocketConnection`: a WebSocket of the HTTP server, which tells no traceback of a peer's bytes.

Place on the way of the data: between the HTTP connection that was upgraded and the gates. Source:
RFC 6455, section 8.1.
"""

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from gateway.runtime.strangers import STRANGERS


class SocketConnection(WebSocketsSansIOProtocol):
    """uvicorn's, but for a text that is not UTF-8: that ends the socket, and is counted."""

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
