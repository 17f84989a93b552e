"""`HttpConnection`: a connection of the HTTP server, with limits that uvicorn has not.

Place on the way of the data: before every gate, between socket and application. uvicorn waits for
ever for the head of a request, and takes as many connections as there are: a client that opens
many and sends nothing would keep everybody else out. A WebSocket counts until it is one. Sources:
RFC 9112, section 9.5; RFC 9110, sections 15.5.9 (408) and 15.6.4 (503).
"""

import asyncio
import json
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import h11
from uvicorn import Config
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

from gateway.config.limits import DEFAULT_LIMITS
from gateway.gates.protocol.wire import error_object

AppState = dict[str, Any]
"""What an ASGI application keeps from its start on."""

_UNANSWERED = (h11.IDLE, h11.SEND_RESPONSE)


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
        self._connections = connections
        self._counted: str | None = None
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
        """What is no HTTP is answered with the error object too."""
        self._refuse(400, "bad_request", f"{msg} (send HTTP/1.1)")

    def _refuse(self, status: int, code: str, description: str) -> None:
        body = json.dumps(error_object(code, description, status)).encode()
        phrase = {400: "Bad Request", 408: "Request Timeout", 503: "Service Unavailable"}[status]
        retry = "Retry-After: 1\r\n" if status == 503 else ""
        if self.conn.our_state not in _UNANSWERED:
            self.transport.close()
            return
        self.transport.write(
            f"HTTP/1.1 {status} {phrase}\r\nContent-Type: application/json\r\n{retry}"
            f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode()
            + body
        )
        self.transport.close()

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
