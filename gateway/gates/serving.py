"""The gates that listen: HTTP and WebSocket on one port or on two, in front of one scheduler.

Place on the way of the data: where requests come in and notifications leave. The parts are made
first, so that metrics can be read from them, and listen later, once the scheduler runs. Source:
SEPA's default ports, 8000 for QUERY and UPDATE, 9000 for SUBSCRIBE.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from typing import Protocol

from prometheus_client import CollectorRegistry
from starlette.routing import BaseRoute

from gateway.crossing import Crossing
from gateway.gates.http import Evaluate, HttpGate, QueryLimits, QueryPool, RequestLimits, Updates
from gateway.gates.operations import (
    LOOPBACK_NAMES,
    Address,
    OperationsGate,
    ServerSettings,
    application,
    serve,
)
from gateway.gates.websocket import SocketLimits, Subscriptions, WebSocketGate


class Service(Updates, Subscriptions, Protocol):
    """What the gates need of the scheduler."""


@dataclass(frozen=True, slots=True)
class GateSettings:
    """Where the gates listen, for whom, and their limits.

    `websocket_port` None shares the HTTP port; 0 is any free port for either. `hosts` are the
    names that Host and Origin may have, None lets in all (see `operations.Guard`).
    """

    host: str = "127.0.0.1"
    http_port: int = 8000
    websocket_port: int | None = 9000
    hosts: frozenset[str] | None = LOOPBACK_NAMES
    queries: QueryLimits = field(default_factory=QueryLimits)
    requests: RequestLimits = field(default_factory=RequestLimits)
    sockets: SocketLimits = field(default_factory=SocketLimits)
    server: ServerSettings = field(default_factory=ServerSettings)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the gates listen; equal when they share a port."""

    http: Address
    websocket: Address


class Gates:
    """The HTTP and the WebSocket gate. Made in the event loop that serves them.

    `evaluate` is called in threads of the query pool: pyoxigraph's results may be touched only
    in the thread that made them, so the pool writes them out there too.
    """

    def __init__(
        self, service: Service, evaluate: Evaluate, settings: GateSettings | None = None
    ) -> None:
        self.settings = settings or GateSettings()
        self.queries = QueryPool(evaluate, self.settings.queries)
        self.http = HttpGate(service, self.queries, self.settings.requests)
        crossing = Crossing(asyncio.get_running_loop())
        self.websocket = WebSocketGate(service, crossing, self.settings.sockets)

    @asynccontextmanager
    async def open(
        self, registry: CollectorRegistry, counters: Callable[[], Mapping[str, object]]
    ) -> AsyncIterator[Addresses]:
        """Listen until the block ends, then close every socket within 5 s.

        `counters` are those of /health. Raises ConfigurationError for a port that is in use.
        The scheduler has to run until the block has ended: closing sockets unsubscribe.
        """
        http = [*self.http.routes(), *OperationsGate(registry, counters).routes()]
        websocket = self.websocket.routes()
        port, websocket_port = self.settings.http_port, self.settings.websocket_port
        with self.queries:
            if websocket_port is None:
                async with self._serve([*http, *websocket], port) as address:
                    yield Addresses(address, address)
            else:
                async with (
                    self._serve(http, port) as http_address,
                    self._serve(websocket, websocket_port) as websocket_address,
                ):
                    yield Addresses(http_address, websocket_address)

    def _serve(
        self, routes: Sequence[BaseRoute], port: int
    ) -> AbstractAsyncContextManager[Address]:
        app = application(routes, self.settings.hosts)
        return serve(app, self.settings.host, port, self.settings.server)
