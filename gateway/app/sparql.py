"""The gates of SPARQL by HTTP put together, from the settings.

Place on the way of the data: built by `app` at the start; QUERY, UPDATE, whole graphs,
explanations and the service description share one pool, one guard and the same limits.
"""

import socket

from starlette.routing import Route

from gateway.config.settings import Config, HttpSettings, LimitsSettings, is_loopback
from gateway.gates.http.origins import LOOPBACK_NAMES, Names
from gateway.gates.http.rendering import RenderingLimits
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.http.request_load import LoadLimits
from gateway.gates.sparql.explain import ExplainGate
from gateway.gates.sparql.graph_store import GraphStoreGate
from gateway.gates.sparql.protocol import HttpGate, SubscribeAddress
from gateway.gates.sparql.query_pool import QueryLimits, QueryPool
from gateway.gates.sparql.service_description import ServiceDescription
from gateway.scheduler.scheduler import Scheduler
from gateway.security.guard import Guard, OpenGuard
from gateway.store.fetch import HttpFetch
from gateway.store.remote import Remote


class SparqlGates:
    """The raw endpoints of SPARQL, but those that keep a connection open."""

    def __init__(
        self, scheduler: Scheduler, pool: QueryPool, config: Config, guard: Guard | None = None
    ) -> None:
        guard = guard or OpenGuard()
        limits = RequestLimits(config.limits.request_bytes, config.limits.request_s)
        description = ServiceDescription(is_federated=bool(config.remote.hosts))
        self._http = HttpGate(scheduler, pool, limits, guard=guard, description=description)
        self._graphs = GraphStoreGate(scheduler, pool, guard, limits)
        self._explain = ExplainGate(scheduler, limits, guard)

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        gates = (self._http, self._graphs, self._explain)
        return [route for gate in gates for route in gate.routes()]

    def subscribe_at(self, port: int) -> None:
        """WebSockets are accepted on a port of their own."""
        self._http.subscribe = SubscribeAddress(port)


def query_limits(limits: LimitsSettings) -> QueryLimits:
    """Those of the query pool."""
    return QueryLimits(
        threads=limits.queries,
        waiting=limits.queries_waiting,
        per_client=limits.client_queries,
        rendering=RenderingLimits(solutions=limits.query_solutions, timeout_s=limits.query_s),
    )


def load_limits(limits: LimitsSettings) -> LoadLimits:
    """Those of requests under way."""
    return LoadLimits(limits.requests, limits.client_requests)


def called_names(http: HttpSettings) -> Names:
    """The names by which the gateway is called: its own, and its addresses unless it is local."""
    if is_loopback(http.host):
        return Names(LOOPBACK_NAMES | set(http.hosts), origins=frozenset(http.origins))
    own = socket.gethostname().lower()
    hosts = LOOPBACK_NAMES | {own, f"{own}.local", http.host.lower(), *http.hosts}
    return Names(hosts, any_address=True, origins=frozenset(http.origins))


def remote_of(config: Config) -> Remote:
    """The hosts that SERVICE, LOAD and includes may reach."""
    fetch = HttpFetch(config.remote.load_bytes, config.remote.load_s)
    return Remote(frozenset(config.remote.hosts), fetch)
