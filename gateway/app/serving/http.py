"""The gates of HTTP and WebSocket put together and served, as the configuration says.

Last of all at the start, when every part that they ask is there.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

from starlette.routing import BaseRoute

from gateway.app.admin import json_interface
from gateway.app.alarms import Alarming, limit_alarms
from gateway.app.health import Health, operations_gate
from gateway.app.names import called_names
from gateway.app.security import Security
from gateway.app.sensorthings import sensorthings_served
from gateway.app.serving.flow import flow_gate
from gateway.app.serving.limits import (
    load_limits,
    query_limits,
    refusals,
    request_limits,
    server_settings,
)
from gateway.app.serving.sparql import SparqlGates
from gateway.app.stages import Stages
from gateway.app.windows import elements_gate
from gateway.config.settings import Config
from gateway.dashboard import STATIC
from gateway.gates.http.operations import Load, ServerSettings, application, serve
from gateway.gates.http.page import PageGate
from gateway.gates.sparql.query_pool import QueryPool
from gateway.gates.subscriptions.event_stream import EventStreamGate
from gateway.gates.subscriptions.websocket import WebSocketGate
from gateway.runtime.clocks import Clocks


@dataclass(frozen=True, slots=True)
class Ports:
    """Where they listen, which a configured port 0 does not tell; equal where they share one."""

    http: int
    websocket: int


@asynccontextmanager
async def serving(
    config: Config, stages: Stages, alarming: Alarming, security: Security, clocks: Clocks
) -> AsyncIterator[Ports]:
    """Serve all gates; at the end streams are closed before the servers are."""
    limits, load = request_limits(config), Load(load_limits(config.limits))
    subscribers, scheduler = stages.subscribing.subscribers, stages.storage.scheduler
    scheduler.engine.rights_of = security.update_rights
    streams = EventStreamGate(subscribers, limits)
    flow = flow_gate(stages, alarming)
    async with AsyncExitStack() as open_:
        pool = open_.enter_context(_query_pool(config, stages))
        health = Health(stages, alarming)
        alarming.watch.add(limit_alarms(refusals(pool, load)))
        warnings = alarming.mappings.of_update
        sparql = SparqlGates(stages, pool, config, security.guard, warnings)
        elements = elements_gate(stages, pool, security.guard, limits)
        sensorthings = sensorthings_served(config, stages, pool, security.guard, clocks)
        http: list[BaseRoute] = [  # looked through from the first: those of programs stand before
            *sparql.routes(),
            *await open_.enter_async_context(sensorthings),
            *elements.routes(),
            *operations_gate(health, pool, load, security.guard).routes(),
            *json_interface(stages, health, pool, security, config).routes(),
            *PageGate(STATIC).routes(),
            *flow.routes(),
        ]
        upgraded = (WebSocketGate(subscribers), streams, security)
        sockets = [route for gate in upgraded for route in gate.routes()]
        server = security.server(server_settings(config))
        async with open_ports(config, server, load, http, sockets) as ports:
            if ports.websocket != ports.http:
                sparql.subscribe_at(ports.websocket)
            try:
                yield ports
            finally:
                await streams.close()
                await flow.close()


def _query_pool(config: Config, stages: Stages) -> QueryPool:
    engine, limits = stages.storage.scheduler.engine, query_limits(config.limits)
    return QueryPool(engine.query, limits, stages.subscribing.apart, infer=config.reasoning.infer)


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
