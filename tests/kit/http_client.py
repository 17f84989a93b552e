"""A client of the HTTP gates on a real socket, over the real engine."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from datetime import UTC, datetime

import httpx
from prometheus_client import CollectorRegistry, Counter

from gateway.admin.alarm_watch import Alarm
from gateway.engine import Engine
from gateway.errors import StorageError
from gateway.gates.admin.openapi import document
from gateway.gates.http import health as health_routes
from gateway.gates.http.dependencies import Served
from gateway.gates.http.health import Health, HealthGate
from gateway.gates.http.json_interface import JsonInterface
from gateway.gates.http.operations import Load, OperationsGate, application, serve
from gateway.gates.http.origins import Names
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.http.request_load import LoadLimits
from gateway.gates.sparql import delayed
from gateway.gates.sparql.delayed import DelayedGate
from gateway.gates.sparql.explain import ExplainGate
from gateway.gates.sparql.graph_store import GraphStoreGate
from gateway.gates.sparql.protocol import HttpGate
from gateway.gates.sparql.query_pool import Evaluate, QueryLimits, QueryPool
from gateway.runtime.alarms import AlarmKind, Condition
from gateway.scheduler.scheduler import Scheduler
from gateway.security.guard import Guard, OpenGuard

ALL = "SELECT ?s ?o { ?s <urn:p> ?o }"
FILL = 'INSERT DATA { <urn:a> <urn:p> "a+b %41" . GRAPH <urn:g> { <urn:b> <urn:p> 2 } }'


class FakeHealth:
    """A gateway that is as a test says."""

    def __init__(self, *alarms: str, is_broken: bool = False, is_full: bool = False) -> None:
        self.is_full = is_full
        self._alarms = alarms
        self._is_broken = is_broken

    async def alarms(self) -> Sequence[Alarm]:
        if self._is_broken:
            raise StorageError("the disk is full", "make room")
        said = [Condition(AlarmKind.DISK, "disk", each, "do it", True) for each in self._alarms]
        return [Alarm(each, datetime.now(UTC)) for each in said]

    def details(self) -> Mapping[str, object]:
        return {"counters": {"updates": 3}}


def health_interface(health: Health) -> JsonInterface:
    """/health and /ready alone."""
    return JsonInterface([health_routes.router.api], Served({HealthGate: HealthGate(health)}))


class Client(httpx.AsyncClient):
    """A client that also knows the pool that the server's queries go to."""

    queries: QueryPool


@asynccontextmanager
async def open_gate(
    *,
    evaluate: Evaluate | None = None,
    limits: QueryLimits | None = None,
    names: Names | None = None,
    guard: Guard | None = None,
    health: FakeHealth | None = None,
    load: LoadLimits | None = None,
) -> AsyncIterator[Client]:
    """A client of a gateway whose store is filled."""
    engine = Engine.open()
    registry = CollectorRegistry()
    Counter("readings", "Readings.", registry=registry).inc(7)
    operations = OperationsGate(registry, document, guard)
    with Scheduler(engine) as scheduler, QueryPool(evaluate or engine.query, limits) as queries:
        await scheduler.update(FILL)
        limits_ = RequestLimits(body_bytes=2000, body_timeout_s=0.3)
        gates = (
            HttpGate(scheduler, queries, limits_, guard=guard),
            GraphStoreGate(scheduler, queries, engine.store.remote.documents, guard, limits_),
            ExplainGate(scheduler, limits_, guard),
            operations,
            JsonInterface(
                [delayed.router.api, health_routes.router.api],
                Served(
                    {
                        DelayedGate: DelayedGate(scheduler),
                        HealthGate: HealthGate(health or FakeHealth()),
                    },
                    guard or OpenGuard(),
                    limits_,
                ),
            ),
        )
        app = application(
            [route for gate in gates for route in gate.routes()], names, Load(load or LoadLimits())
        )
        async with (
            serve(app, "127.0.0.1", 0) as address,
            Client(base_url=f"http://127.0.0.1:{address.port}", verify=False) as client,
        ):
            client.queries = queries
            yield client


def values(response: httpx.Response, name: str = "o") -> list[str]:
    assert response.status_code == 200, response.text
    return [row[name]["value"] for row in response.json()["results"]["bindings"]]


def check_error(response: httpx.Response, status: int, code: str) -> None:
    body = response.json()
    assert (response.status_code, body["status_code"], body["error"]) == (status, status, code)
    assert body["error_description"]
