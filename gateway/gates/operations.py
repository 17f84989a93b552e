"""Running the gates: who may call, how errors are answered, health and metrics, the server.

Place on the way of the data: around the HTTP and the WebSocket gate. A browser sends requests
from any page to loopback, so `Guard` lets in only expected names: Host against DNS rebinding,
Origin against foreign pages (Fetch standard, CORS protocol; RFC 6455, section 10.2). Clients that
are no browsers send no Origin and pass.

Errors of its own: 403 `forbidden_host` and `forbidden_origin`.
"""

import asyncio
import math
import re
import socket
import ssl
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass
from http import HTTPStatus

import uvicorn
from prometheus_client import CollectorRegistry
from prometheus_client.exposition import choose_encoder
from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from gateway import __version__
from gateway.errors import (
    ConfigurationError,
    GatewayError,
    NotFoundError,
    OverloadedError,
    TooManyRequestsError,
)
from gateway.gates.wire import error_object

LOOPBACK_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})

_AUTHORITY = re.compile(r"(?:https?://)?(\[[0-9a-f:.]+\]|[^\s:/?#@\[\]]+)(?::[0-9]{1,5})?")
_PREFLIGHT_AGE_S = 600
_END_S = 1.0


def host_name(authority: str) -> str:
    """The name in a Host or an Origin header, "" when it is neither.

    >>> host_name("http://LocalHost:8000"), host_name("[::1]:8000"), host_name("null@evil")
    ('localhost', '[::1]', '')
    """
    match = _AUTHORITY.fullmatch(authority.lower())
    return match[1] if match else ""


class Guard:
    """ASGI middleware: refuses foreign hosts and origins, answers CORS preflights.

    `hosts` are the names in Host and Origin that are let in, with any port; None lets in every
    Host, and every Origin of the same name as the Host.
    """

    def __init__(self, app: ASGIApp, hosts: frozenset[str] | None = LOOPBACK_NAMES) -> None:
        self._app = app
        self._hosts = hosts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the request through or answer it with 403."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._refuse(headers)
        if refusal is not None:
            await refusal(scope, receive, send)
        elif _is_preflight(scope, headers):
            await _preflight(headers)(scope, receive, send)
        else:
            await self._app(scope, receive, _with_headers(send, headers.get("origin")))

    def _refuse(self, headers: Headers) -> Response | None:
        host = host_name(headers.get("host", ""))
        if not host or (self._hosts is not None and host not in self._hosts):
            return _error_response("forbidden_host", "this Host is not served here", 403)
        allowed = self._hosts or {host}
        if any(host_name(origin) not in allowed for origin in headers.getlist("origin")):
            return _error_response("forbidden_origin", "pages of this Origin may not call", 403)
        return None


def _is_preflight(scope: Scope, headers: Headers) -> bool:
    return (
        scope["type"] == "http"
        and scope["method"] == "OPTIONS"
        and "origin" in headers
        and "access-control-request-method" in headers
    )


def _preflight(headers: Headers) -> Response:
    return Response(
        status_code=204,
        headers={
            "Access-Control-Allow-Origin": headers["origin"],
            "Access-Control-Allow-Methods": "GET, HEAD, POST",
            "Access-Control-Allow-Headers": headers.get("access-control-request-headers", "*"),
            "Access-Control-Max-Age": str(_PREFLIGHT_AGE_S),
            "Vary": "Origin",
        },
    )


def _with_headers(send: Send, origin: str | None) -> Send:
    """Have every HTTP response say whose pages may read it, and be taken as what it is."""

    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            headers["X-Content-Type-Options"] = "nosniff"
            headers.add_vary_header("Origin")
            if origin is not None:
                headers["Access-Control-Allow-Origin"] = origin
                headers["Access-Control-Expose-Headers"] = "Allow, Retry-After"
        await send(message)

    return send_with_headers


def _error_response(
    code: str, description: str, status: int, headers: Mapping[str, str] | None = None
) -> Response:
    return JSONResponse(error_object(code, description, status), status, headers)


def _answer_gateway_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, GatewayError)  # noqa: S101  Starlette's handlers are typed loosely
    return error_response(error)


def error_response(error: GatewayError) -> Response:
    """The answer to a request that failed, with Retry-After where it can be tried again."""
    headers = None
    if isinstance(error, TooManyRequestsError | OverloadedError):
        headers = {"Retry-After": str(math.ceil(error.retry_after_s))}
    return _error_response(error.code, str(error), error.http_status, headers)


def _answer_http_exception(_: Request, error: Exception) -> Response:
    """No such path (404) or method (405, with Allow)."""
    assert isinstance(error, HTTPException)  # noqa: S101  as above
    code = HTTPStatus(error.status_code).phrase.lower().replace(" ", "_")
    return _error_response(code, error.detail, error.status_code, error.headers)


def _answer_disconnect(_: Request, __: Exception) -> Response:
    """The client went away while it sent its request: nobody reads this."""
    return Response(status_code=400)


def _answer_internal_error(_: Request, __: Exception) -> Response:
    return _error_response(GatewayError.code, "the gateway failed; its log says why", 500)


async def _refuse_websocket(websocket: WebSocket) -> None:
    await websocket.send_denial_response(
        _error_response(
            NotFoundError.code,
            f"there is nothing to subscribe to at {websocket.url.path} (connect to /subscribe)",
            NotFoundError.http_status,
        )
    )


def application(
    routes: Sequence[BaseRoute], hosts: frozenset[str] | None = LOOPBACK_NAMES
) -> ASGIApp:
    """The gates' routes as one guarded application; errors are answered as SEPA's error object."""
    return Starlette(
        routes=[*routes, WebSocketRoute("/{path:path}", _refuse_websocket)],
        middleware=[Middleware(Guard, hosts=hosts)],
        exception_handlers={
            GatewayError: _answer_gateway_error,
            HTTPException: _answer_http_exception,
            ClientDisconnect: _answer_disconnect,
            Exception: _answer_internal_error,
        },
    )


class OperationsGate:
    """The endpoints /health and /metrics.

    `counters` and `alarms` are asked at each /health; a GatewayError that one raises is the
    answer. While there is an alarm the gateway does not do its work, and the answer is 503.
    """

    def __init__(
        self,
        registry: CollectorRegistry,
        counters: Callable[[], Mapping[str, object]],
        alarms: Callable[[], Sequence[str]] = tuple,
    ) -> None:
        self._registry = registry
        self._counters = counters
        self._alarms = alarms
        self._started = time.monotonic()

    def routes(self) -> list[Route]:
        """The endpoints, for `application`."""
        return [Route("/health", self._health), Route("/metrics", self._metrics)]

    async def _health(self, _: Request) -> Response:
        alarms = list(self._alarms())
        return JSONResponse(
            {
                "status": "alarm" if alarms else "ok",
                "alarms": alarms,
                "version": __version__,
                "uptime_s": round(time.monotonic() - self._started, 3),
                "counters": dict(self._counters()),
            },
            503 if alarms else 200,
        )

    async def _metrics(self, request: Request) -> Response:
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
        return Response(encode(self._registry), headers={"Content-Type": media_type})


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Longest WebSocket message and longest head of an HTTP request; RFC 6455 pings.

    A peer that does not answer a ping in time is dead: its socket and subscriptions go. One that
    takes nothing of what is sent for `stall_s` is cut off (on Linux; RFC 5482). When the server
    ends, requests under way have `grace_s` to finish. With `tls` the server speaks nothing else.
    """

    message_bytes: int = 1024 * 1024
    compression: bool = False
    head_bytes: int = 64 * 1024
    ping_interval_s: float = 20.0
    ping_timeout_s: float = 20.0
    grace_s: int = 3
    stall_s: float = 60.0
    tls: ssl.SSLContext | None = None


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
    with _bind(host, port) as listener:
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


def _bind(host: str, port: int) -> socket.socket:
    bare = host.strip("[]")
    family = socket.AF_INET6 if ":" in bare else socket.AF_INET
    try:
        return socket.create_server((bare, port), family=family)
    except OSError as error:
        raise ConfigurationError(
            f"cannot listen on {host} port {port}: {error.strerror or error}",
            "another program may use the port; configure another one",
        ) from error


def _cut_off_stalled(listener: socket.socket, stall_s: float) -> None:
    """Have the kernel do it: uvicorn closes a connection only once all is sent, maybe never."""
    if sys.platform == "linux":
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, round(stall_s * 1000))


def _uvicorn_config(app: ASGIApp, settings: ServerSettings) -> uvicorn.Config:
    tls = settings.tls
    return uvicorn.Config(
        app,
        http="h11",
        ws="websockets-sansio",
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
