"""The HTTP gate: QUERY and UPDATE of the SPARQL 1.1 Protocol, answered as SEPA's clients expect.

Place on the way of the data: an UPDATE goes to the scheduler's URQ, a QUERY to the pool beside it.
Sources: SPARQL 1.1 Protocol (W3C, 2013), section 2; RFC 9110, section 15.5; SEPA's drafts for the
answer to an UPDATE. A GET of /update is answered with 405 and Allow, as RFC 9110 asks (SEPA says
400).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.engine import Outcome, UpdateRequest
from gateway.federation.service import FederationService
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.http.responses import answer_response
from gateway.gates.sparql import graph_store
from gateway.gates.sparql.delayed import accepted, due_time, location
from gateway.gates.sparql.federated_queries import FederatedQueries, is_federated
from gateway.gates.sparql.history import HistoryQueries, is_over_time
from gateway.gates.sparql.protocol_request import QUERY, UPDATE, Names, Operation, read_operation
from gateway.gates.sparql.query_pool import QueryPool
from gateway.gates.sparql.service_description import Endpoints, ServiceDescription
from gateway.runtime.alarms import Condition
from gateway.security.guard import Guard, OpenGuard


@dataclass(frozen=True, slots=True)
class SubscribeAddress:
    """Where WebSockets are accepted; without a port, on that of the request."""

    port: int | None = None
    path: str = "/subscribe"

    def of(self, request: Request) -> str:
        """The absolute IRI for the client of this request."""
        url = request.url.replace(scheme="wss" if request.url.scheme == "https" else "ws")
        return str(url.replace(path=self.path, query=None, port=self.port or request.url.port))


Warnings = Callable[[Outcome], Sequence[Condition]]
"""What is wrong with the mappings, rules and actuators that an UPDATE has just written."""


class HttpGate:
    """The endpoints /query and /update, and /sparql for both; `history` answers over time."""

    def __init__(
        self,
        updates: graph_store.Updates,
        queries: QueryPool,
        limits: RequestLimits | None = None,
        *,
        guard: Guard | None = None,
        description: ServiceDescription | None = None,
        subscribe: SubscribeAddress | None = None,
        warnings: Warnings = lambda _: (),
        federation: FederationService | None = None,
    ) -> None:
        self._updates = updates
        self._queries = queries
        self._limits = limits or RequestLimits()
        self._guard = guard or OpenGuard()
        self._description = description or ServiceDescription()
        self.subscribe = subscribe or SubscribeAddress()
        self._warnings = warnings
        self._federation = federation
        self._federated = FederatedQueries(federation, queries)
        self.history: HistoryQueries | None = None

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        both = {"GET": self._read, "POST": self._either}
        return [
            *endpoint("/update", {"POST": self._update}),
            *endpoint("/query", {"GET": self._read, "POST": self._query}),
            *endpoint("/sparql", both),
            *endpoint("/sparql/", both),
        ]

    async def _read(self, request: Request) -> Response:
        """A QUERY, or the service description where there is none."""
        if request.url.query:
            return await self._query(request)
        Caller.of(request, self._guard)
        here = request.url.replace(query=None)
        endpoints = Endpoints(
            str(here),
            str(here.replace(path=graph_store.PATH)),
            self.subscribe.of(request),
        )
        return answer_response(self._description.answer(endpoints, _accept(request)))

    async def _query(self, request: Request) -> Response:
        return await self._operate(request, (QUERY,))

    async def _update(self, request: Request) -> Response:
        return await self._operate(request, (UPDATE,))

    async def _either(self, request: Request) -> Response:
        return await self._operate(request, (QUERY, UPDATE))

    async def _operate(self, request: Request, offered: Sequence[Names]) -> Response:
        caller = Caller.of(request, self._guard)
        operation = await read_operation(request, offered, self._limits)
        if operation.names is QUERY and self.history is not None and is_over_time(operation):
            timed = await self.history.answer(operation, _accept(request), caller)
            return answer_response(timed.answer, timed.headers)
        if operation.names is QUERY and is_federated(operation):
            found = await self._federated.answer(operation, _accept(request), caller)
            return answer_response(found.answer, found.headers)
        if operation.names is QUERY:
            answer = await self._queries.answer(operation, _accept(request), caller)
            return answer_response(answer)
        return await self._change(operation, caller)

    async def _change(self, operation: Operation, caller: Caller) -> Response:
        request = UpdateRequest(
            operation.text,
            using=operation.dataset,
            rights=caller.principal.policy.update_rights,
            at=due_time(operation),
            owner=caller.principal.identity,
            infer=operation.infer or False,
        )
        outcome = await self._updates.update(request)
        if outcome.id is not None and outcome.due is not None:
            headers = {"Location": location(outcome.id)}
            return JSONResponse(accepted(outcome.id, outcome.due), 202, headers)
        counts = {"added": len(outcome.delta.added), "removed": len(outcome.delta.removed)}
        # SEPA's draft says isJsonBody, its engine isJson; no client goes by either.
        told: dict[str, object] = {"response": {"isJsonBody": True, "isJson": True, "body": counts}}
        if warnings := self._warnings(outcome):
            told["warnings"] = [
                {"where": each.where, "what": each.what, "what_to_do": each.what_to_do}
                for each in warnings
            ]
        return JSONResponse(told, headers=self._place())

    def _place(self) -> dict[str, str]:
        """Where this gateway stands, for who asks others `after` it; a federation alone tells."""
        federation = self._federation
        return {} if federation is None else {"Federation-Position": federation.place}


def _accept(request: Request) -> str:
    return ",".join(request.headers.getlist("accept"))
