"""Running the gates: their routes as one application, metrics, the server.

Place on the way of the data: around the HTTP and the WebSocket gate; who may call at all is in
`origins`, how errors are answered in `responses`.
"""

import asyncio
import socket
import ssl
import sys
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field

import uvicorn
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp
from starlette.websockets import WebSocket

from gateway.config.limits import DEFAULT_LIMITS
from gateway.config.network import WebSocketSettings
from gateway.errors import NotFoundError
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.http.http_connection import ConnectionLimits, Connections
from gateway.gates.http.origins import Names, Origins
from gateway.gates.http.request_load import LoadLimits, RequestLoad, RequestStatistics
from gateway.gates.http.responses import EXCEPTION_HANDLERS, refusal
from gateway.gates.http.socket_connection import SocketConnection
from gateway.runtime.ports import not_listening
from gateway.runtime.strangers import quiet_libraries
from gateway.security.guard import Guard, OpenGuard
from gateway.security.policy import Capability

_END_S = 1.0


async def _refuse_websocket(websocket: WebSocket) -> None:
    await websocket.send_denial_response(
        refusal(
            NotFoundError.code,
            f"there is nothing to subscribe to at {websocket.url.path} (connect to /subscribe)",
            NotFoundError.http_status,
        )
    )


@dataclass(frozen=True, slots=True)
class Load:
    """What the applications of a gateway share: their limits, and what they count."""

    limits: LoadLimits = field(default_factory=LoadLimits)
    statistics: RequestStatistics = field(default_factory=RequestStatistics)


def application(
    routes: Sequence[BaseRoute], names: Names | None = None, load: Load | None = None
) -> ASGIApp:
    """The gates' routes as one guarded application; errors are answered as SEPA's error object."""
    load = load or Load()
    paths = [route.path for route in routes if isinstance(route, Route)]
    return Starlette(
        routes=[*routes, WebSocketRoute("/{path:path}", _refuse_websocket)],
        middleware=[
            Middleware(RequestLoad, paths=paths, statistics=load.statistics, limits=load.limits),
            Middleware(Origins, names=names or Names()),
        ],
        exception_handlers=EXCEPTION_HANDLERS,
    )


class OperationsGate:
    """The endpoints /metrics, and /openapi.json with what `document` tells of all gates."""

    def __init__(
        self,
        registry: CollectorRegistry,
        document: Callable[[], Mapping[str, object]],
        guard: Guard | None = None,
    ) -> None:
        self._registry = registry
        self._document = document
        self._guard = guard or OpenGuard()

    def routes(self) -> list[Route]:
        """The endpoints, for `application`."""
        return [
            *endpoint("/metrics", {"GET": self._answer_metrics}),
            *endpoint("/openapi.json", {"GET": self._answer_document}),
        ]

    async def _answer_metrics(self, request: Request) -> Response:
        Caller.of(request, self._guard).principal.require(Capability.OPERATIONS)
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(self._registry), headers={"Content-Type": media_type})

    async def _answer_document(self, _: Request) -> Response:
        return JSONResponse(await asyncio.to_thread(self._document))


_WEBSOCKET = WebSocketSettings()


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Longest WebSocket message and longest head of an HTTP request; RFC 6455 pings.

    A peer that does not answer a ping in time is dead: its socket and subscriptions go. One that
    takes nothing of what is sent for `stall_s` is cut off (on Linux; RFC 5482). When the server
    ends, requests under way have `grace_s` to finish. With `tls` the server speaks nothing else.
    `connections` may be open at once.
    """

    message_bytes: int = DEFAULT_LIMITS.message_bytes
    compression: bool = _WEBSOCKET.compression
    head_bytes: int = 64 * 1024
    ping_interval_s: float = _WEBSOCKET.ping_interval_s
    ping_timeout_s: float = _WEBSOCKET.ping_timeout_s
    grace_s: int = 3
    stall_s: float = 60.0
    tls: ssl.SSLContext | None = None
    connections: ConnectionLimits = field(default_factory=ConnectionLimits)


@dataclass(frozen=True, slots=True)
class Address:
    """Where a server listens."""

    host: str
    port: int


class _Server(uvicorn.Server):
    """uvicorn in somebody else's event loop: says when it listens, leaves signals alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()
        self._ending = asyncio.Event()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    async def main_loop(self) -> None:
        """Tick once a second for the Date header, where uvicorn wakes up ten times to look."""
        tenths = 0
        while not await self.on_tick(tenths):
            tenths += 10
            with suppress(TimeoutError):
                async with asyncio.timeout(1):
                    await self._ending.wait()

    def end(self) -> None:
        """Have `serve` close the server and return."""
        self.should_exit = True
        self._ending.set()

    async def cut_off(self) -> None:
        """Drop the connections and tasks that the grace was too short for."""
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        if self.server_state.tasks:
            await asyncio.wait(self.server_state.tasks, timeout=_END_S)


@asynccontextmanager
async def serve(
    app: ASGIApp, host: str, port: int, settings: ServerSettings | None = None
) -> AsyncIterator[Address]:
    """Serve until the block ends; port 0 is any free port. Raises ConfigurationError.

    Ends 2 s after the grace at the latest; sockets are closed at once with 1012 (service restart).
    """
    settings = settings or ServerSettings()
    quiet_libraries()
    with bind(host, port) as listener:
        _cut_off_stalled(listener, settings.stall_s)
        server = _Server(_uvicorn_config(app, settings))
        serving = asyncio.create_task(server.serve([listener]), name=f"server {host}")
        serving.add_done_callback(lambda _: server.listening.set())
        try:
            await server.listening.wait()
            yield Address(host, listener.getsockname()[1])
        finally:
            server.end()
            await serving
            await server.cut_off()


def bind(host: str, port: int) -> socket.socket:
    """A listening socket. Raises ConfigurationError with who has the port."""
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    try:
        listener = socket.create_server((bare, port), family=family)
    except OSError as error:
        raise not_listening("the gateway", host, port, error) from error
    # Inherited by what is accepted: asyncio's own loop sets it only where the protocol is named; an
    # answer then waits 40 ms for the acknowledgement of its head.
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _cut_off_stalled(listener: socket.socket, stall_s: float) -> None:
    """Have the kernel do it: uvicorn closes a connection only once all is sent, maybe never."""
    if sys.platform == "linux":
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(stall_s * 1000))


def _uvicorn_config(app: ASGIApp, settings: ServerSettings) -> uvicorn.Config:
    tls = settings.tls
    return uvicorn.Config(
        app,
        # uvicorn calls it as it would the class of a protocol.
        http=Connections(settings.connections).protocol,  # type: ignore[arg-type]
        ws=SocketConnection,
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws_max_size=settings.message_bytes,
        ws_ping_interval=settings.ping_interval_s,
        ws_ping_timeout=settings.ping_timeout_s,
        # Compressing each small message costs more than it saves (RFC 7692).
        ws_per_message_deflate=settings.compression,
        h11_max_incomplete_event_size=settings.head_bytes,
        timeout_graceful_shutdown=settings.grace_s,
        ssl_context_factory=None if tls is None else lambda _config, _default: tls,
    )
