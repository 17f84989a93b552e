"""The ports of HTTP and WebSocket, as the configuration has them: one, or one each.

Place on the way of the data: none; put together once, when the gateway starts.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from starlette.routing import BaseRoute

from gateway.app.sparql import called_names
from gateway.config.settings import Config
from gateway.gates.http.operations import Load, ServerSettings, application, serve


@dataclass(frozen=True, slots=True)
class Ports:
    """Where they listen, which a configured port 0 does not tell; equal where they share one."""

    http: int
    websocket: int


@asynccontextmanager
async def open_ports(
    config: Config,
    server: ServerSettings,
    load: Load,
    http: Sequence[BaseRoute],
    sockets: Sequence[BaseRoute],
) -> AsyncIterator[Ports]:
    """Serve all routes on the HTTP port, and `sockets` on a port of their own beside."""
    names, host = called_names(config.http), config.http.host
    async with AsyncExitStack() as open_:
        # The socket routes are on the HTTP port too: one port is enough for who wants one.
        app = application([*http, *sockets], names, load)
        first = await open_.enter_async_context(serve(app, host, config.http_port, server))
        ports = Ports(first.port, first.port)
        if not config.shared_port:
            app = application(list(sockets), names.with_pages_of(first.port), load)
            own = await open_.enter_async_context(serve(app, host, config.websocket_port, server))
            ports = Ports(first.port, own.port)
        yield ports
