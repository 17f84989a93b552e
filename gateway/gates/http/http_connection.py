"""`HttpConnection`: a connection of the HTTP server, with limits that uvicorn has not.

Place on the way of the data: before every gate, between socket and application. uvicorn waits for
ever for the head of a request, and takes as many connections as there are: a client that opens
many and sends nothing would keep everybody else out. A WebSocket counts until it is one. Sources:
RFC 9112, section 9.5; RFC 9110, sections 15.5.9 (408) and 15.6.4 (503).
"""

import asyncio
import json
import sys
from collections import Counter
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from gateway.config.limits import DEFAULT_LIMITS
from gateway.gates.http.request_head import (
    HeadRefusedError,
    check_framing,
    check_length,
    status_of,
)
from gateway.gates.protocol.wire import error_object
from gateway.runtime.strangers import STRANGERS

AppState = dict[str, Any]
"""What an ASGI application keeps from its start on."""

_LINGER_S = 1.0
_UNANSWERED = (h11.IDLE, h11.SEND_RESPONSE)
_NO_HTTP = (400, "bad_request", "this is no HTTP request (send HTTP/1.1, framed in one way)")
_REFUSALS = {
    HTTPStatus.REQUEST_URI_TOO_LONG: (414, "uri_too_long", "the URL is too long (use POST)"),
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: (
        431,
        "header_fields_too_large",
        "the header fields are too large (send fewer)",
    ),
}


@dataclass(frozen=True, slots=True)
class ConnectionLimits:
    """Connections at once, in all and of one address; seconds for the head of a request."""

    connections: int = DEFAULT_LIMITS.http_connections
    client_connections: int = DEFAULT_LIMITS.client_http_connections
    head_s: float = DEFAULT_LIMITS.head_s


@dataclass(slots=True)
class Connections:
    """The limits of a server, and who is connected to it."""

    limits: ConnectionLimits = field(default_factory=ConnectionLimits)
    clients: Counter[str] = field(default_factory=Counter)

    def protocol(
        self,
        config: Config,
        server_state: ServerState,
        app_state: AppState,
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> "HttpConnection":
        """A connection; uvicorn asks for it, by these names."""
        return HttpConnection(self, config, server_state, app_state, _loop)

    def has_room(self, address: str) -> bool:
        """Whether one more of an address may come."""
        limits = self.limits
        return (
            self.clients.total() < limits.connections
            and self.clients[address] < limits.client_connections
        )

    def leave(self, address: str) -> None:
        """One of an address has gone."""
        self.clients[address] -= 1
        if not self.clients[address]:
            del self.clients[address]


class HttpConnection(H11Protocol):
    """One connection."""

    def __init__(
        self,
        connections: Connections,
        config: Config,
        server_state: ServerState,
        app_state: AppState,
        loop: asyncio.AbstractEventLoop | None,
    ) -> None:
        super().__init__(config, server_state, app_state, loop)
        assert config.h11_max_incomplete_event_size is not None  # noqa: S101  set by operations
        self._head_bytes = config.h11_max_incomplete_event_size
        self._came = 0
        self._connections = connections
        self._counted: str | None = None
        self._is_refused = False
        self._head: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take it, or answer with 503 and close it."""
        super().connection_made(transport)
        address = self.client[0] if self.client else ""
        if not self._connections.has_room(address):
            self._refuse(503, "overloaded", "too many connections (try again in 1 s)")
            return
        self._connections.clients[address] += 1
        self._counted = address
        self._await_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Count the connection no longer."""
        self._stop()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """The time for a head runs from the connection, and from the first byte of the next one."""
        if self._is_refused:
            return
        self._came += len(data)
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._has_head()
        elif self._head is None and self.transport.get_protocol() is self:
            self._await_head()

    def handle_websocket_upgrade(self, event: h11.Request) -> None:
        """From now on it is a WebSocket, whose gate has limits of its own."""
        self._stop()
        super().handle_websocket_upgrade(event)

    def send_400_response(self, msg: str) -> None:
        """What is no HTTP, or too long, is answered with the error object too.

        uvicorn calls it while it handles the error, and does not hand it over.
        """
        del msg
        self._refuse_head(status_of(sys.exc_info()[1], self.conn))

    def handle_events(self) -> None:
        """What has come, up to a head that is refused."""
        try:
            super().handle_events()
        except HeadRefusedError as refusal:
            self._refuse_head(refusal.status)

    def _should_upgrade(self) -> bool:
        """Asked when a head is there, before anything is done about it. Raises HeadRefusedError."""
        if self._came > self._head_bytes:  # else it cannot be too long
            target_bytes = len(self.scope["raw_path"]) + len(self.scope["query_string"])
            check_length(target_bytes, self.headers, self._head_bytes)
        self._came = 0
        check_framing(self.headers)
        return super()._should_upgrade()

    def _refuse_head(self, status: HTTPStatus) -> None:
        STRANGERS.saw("http", self.client)
        self._refuse(*_REFUSALS.get(status, _NO_HTTP), linger_s=_LINGER_S)

    def _refuse(self, status: int, code: str, description: str, linger_s: float = 0) -> None:
        """Answer and close; who still sends has so long to read the answer (RFC 9112, 9.6)."""
        self._forget()
        body = json.dumps(error_object(code, description, status)).encode()
        phrase = HTTPStatus(status).phrase
        retry = "Retry-After: 1\r\n" if status == 503 else ""
        if self.conn.our_state not in _UNANSWERED:
            self.transport.close()
            return
        self.transport.write(
            f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\n{retry}"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        if linger_s and self.transport.can_write_eof():
            self.transport.write_eof()
        self.loop.call_later(linger_s, self.transport.close)

    def _forget(self) -> None:
        """Hear and say nothing more: neither uvicorn nor an application that still answers."""
        self._is_refused = True
        self.connections.discard(self)
        if self.cycle is not None:
            self.cycle.disconnected = True
            self.cycle.message_event.set()

    def _await_head(self) -> None:
        self._head = self.loop.call_later(self._connections.limits.head_s, self._give_up)

    def _has_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None

    def _give_up(self) -> None:
        self._head = None
        if not self.transport.is_closing():
            self._refuse(408, "request_timeout", "the head of the request took too long")

    def _stop(self) -> None:
        self._has_head()
        if self._counted is not None:
            self._connections.leave(self._counted)
            self._counted = None
