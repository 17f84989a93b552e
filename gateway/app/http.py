"""The gates of HTTP and WebSocket put together and served, as the configuration says.

Last of all at the start, when every part that they ask is there.
"""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from starlette.routing import BaseRoute, Route

from gateway.app.admin import json_interface
from gateway.app.alarms import Alarming, limit_alarms
from gateway.app.health import Health, operations_gate
from gateway.app.looking import flow_gate
from gateway.app.names import called_names
from gateway.app.security import Security
from gateway.app.stages import Stages
from gateway.app.subscribers import rendering_limits
from gateway.app.windows import elements_gate
from gateway.config.settings import Config, LimitsSettings
from gateway.dashboard import STATIC
from gateway.federation.service import FederationService
from gateway.gates.http.http_connection import ConnectionLimits
from gateway.gates.http.operations import Load, ServerSettings, application, serve
from gateway.gates.http.page import PageGate
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.http.request_load import LoadLimits
from gateway.gates.sparql.explain import ExplainGate
from gateway.gates.sparql.graph_store import GraphStoreGate
from gateway.gates.sparql.protocol import HttpGate, SubscribeAddress, Warnings
from gateway.gates.sparql.query_pool import QueryLimits, QueryPool
from gateway.gates.sparql.service_description import ServiceDescription
from gateway.gates.subscriptions.event_stream import EventStreamGate
from gateway.gates.subscriptions.websocket import WebSocketGate
from gateway.scheduler.scheduler import Scheduler
from gateway.security.guard import Guard


@dataclass(frozen=True, slots=True)
class Ports:
    """Where they listen, which a configured port 0 does not tell; equal where they share one."""

    http: int
    websocket: int


@asynccontextmanager
async def serving(
    config: Config, stages: Stages, alarming: Alarming, security: Security
) -> AsyncIterator[Ports]:
    """Serve all gates; at the end streams are closed before the servers are."""
    limits, load = request_limits(config), Load(load_limits(config.limits))
    subscribers, scheduler = stages.subscribing.subscribers, stages.storage.scheduler
    scheduler.engine.rights_of = security.update_rights
    streams = EventStreamGate(subscribers, limits)
    flow = flow_gate(stages, alarming)
    apart = stages.subscribing.apart
    pool_limits, infer = query_limits(config.limits), config.reasoning.infer
    with QueryPool(scheduler.engine.query, pool_limits, apart, infer=infer) as pool:
        health = Health(stages, alarming)
        alarming.watch.add(limit_alarms(_refusals(pool, load)))
        gathering = stages.federation
        warnings = alarming.mappings.of_update
        sparql = SparqlGates(
            scheduler, pool, config, security.guard, warnings=warnings, federation=gathering
        )
        elements = elements_gate(stages, pool, security.guard, limits)
        http: list[BaseRoute] = [
            *sparql.routes(),
            *elements.routes(),
            *operations_gate(health, pool, load, security.guard).routes(),
            *json_interface(stages, health, pool, security, config).routes(),
            *PageGate(STATIC).routes(),
            *flow.routes(),
        ]
        sockets: list[BaseRoute] = [
            *WebSocketGate(subscribers).routes(),
            *streams.routes(),
            *security.routes(),
        ]
        server = security.server(server_settings(config))
        async with open_ports(config, server, load, http, sockets) as ports:
            if ports.websocket != ports.http:
                sparql.subscribe_at(ports.websocket)
            try:
                yield ports
            finally:
                await streams.close()
                await flow.close()


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


class SparqlGates:
    """The raw endpoints of SPARQL, but those that keep a connection open."""

    def __init__(
        self,
        scheduler: Scheduler,
        pool: QueryPool,
        config: Config,
        guard: Guard,
        *,
        warnings: Warnings,
        federation: FederationService | None,
    ) -> None:
        limits = request_limits(config)
        self._http = HttpGate(
            scheduler,
            pool,
            limits,
            guard=guard,
            description=ServiceDescription(is_federated=bool(config.remote.hosts)),
            warnings=warnings,
            federation=federation,
        )
        documents = scheduler.engine.store.remote.documents
        self._graphs = GraphStoreGate(scheduler, pool, documents, guard, limits)
        infer = config.reasoning.infer
        self._explain = ExplainGate(scheduler, limits, guard, infer=infer, federation=federation)

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        gates = (self._http, self._graphs, self._explain)
        return [route for gate in gates for route in gate.routes()]

    def subscribe_at(self, port: int) -> None:
        """WebSockets are accepted on a port of their own."""
        self._http.subscribe = SubscribeAddress(port)


def _refusals(pool: QueryPool, load: Load) -> dict[str, tuple[str, Callable[[], float]]]:
    queries, requests = pool.statistics, load.statistics
    return {
        "[limits] queries_waiting, client_queries": (
            "QUERYs are refused: too many wait already",
            lambda: queries.refused,
        ),
        "[limits] requests, client_requests": (
            "HTTP requests are refused: too many are under way",
            lambda: requests.refused,
        ),
    }


def server_settings(config: Config) -> ServerSettings:
    """How the servers for HTTP and WebSocket work."""
    return ServerSettings(
        message_bytes=config.limits.message_bytes,
        compression=config.websocket.compression,
        ping_interval_s=config.websocket.ping_interval_s,
        ping_timeout_s=config.websocket.ping_timeout_s,
        connections=ConnectionLimits(
            config.limits.http_connections,
            config.limits.client_http_connections,
            config.limits.head_s,
        ),
    )


def request_limits(config: Config) -> RequestLimits:
    """What a request may bring, and how long it may take."""
    return RequestLimits(config.limits.request_bytes, config.limits.request_s)


def query_limits(limits: LimitsSettings) -> QueryLimits:
    """How many QUERYs run and wait, and how long an answer may be."""
    return QueryLimits(
        threads=limits.queries,
        waiting=limits.queries_waiting,
        per_client=limits.client_queries,
        rendering=rendering_limits(limits),
    )


def load_limits(limits: LimitsSettings) -> LoadLimits:
    """How many requests may be under way."""
    return LoadLimits(limits.requests, limits.client_requests)
