"""What HTTP and WebSocket may cost, as `[limits]` says."""

from collections.abc import Callable

from gateway.app.subscribers import rendering_limits
from gateway.config.settings import Config, LimitsSettings
from gateway.gates.http.http_connection import ConnectionLimits
from gateway.gates.http.operations import Load, ServerSettings
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.http.request_load import LoadLimits
from gateway.gates.sparql.query_pool import QueryLimits, QueryPool


def refusals(pool: QueryPool, load: Load) -> dict[str, tuple[str, Callable[[], float]]]:
    """What has been refused, by the limits that say so: in words, and how often."""
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
