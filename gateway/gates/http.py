"""The HTTP gate: QUERY and UPDATE of the SPARQL 1.1 Protocol, answered as SEPA's clients expect.

Place on the way of the data: an UPDATE goes to the scheduler's URQ, a QUERY to the pool beside it.
Sources: SPARQL 1.1 Protocol (W3C, 2013), section 2; RFC 9110, section 15.5; SEPA's drafts for the
answer to an UPDATE. A GET of /update is answered with 405 and Allow, as RFC 9110 asks (SEPA says
400).
"""

from collections.abc import Sequence
from typing import Protocol

from pyoxigraph import NamedNode
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.gates.protocol_request import QUERY, UPDATE, RequestLimits, read_operation
from gateway.gates.query_pool import QueryPool
from gateway.rdf.delta import Delta


class Outcome(Protocol):
    """What an UPDATE did."""

    @property
    def delta(self) -> Delta:
        """The net change."""
        ...


class Updates(Protocol):
    """Runs an UPDATE in its place in the URQ; raises a GatewayError."""

    async def update(
        self,
        text: str,
        /,
        *,
        using_graphs: Sequence[NamedNode],
        using_named_graphs: Sequence[NamedNode],
    ) -> Outcome:
        """Returns when the change is in the store."""
        ...


class HttpGate:
    """The endpoints /query and /update."""

    def __init__(
        self, updates: Updates, queries: QueryPool, limits: RequestLimits | None = None
    ) -> None:
        self._updates = updates
        self._queries = queries
        self._limits = limits or RequestLimits()

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        return [
            Route("/query", self._query, methods=["GET", "POST"]),
            Route("/update", self._update, methods=["POST"]),
        ]

    async def _query(self, request: Request) -> Response:
        operation = await read_operation(request, QUERY, self._limits)
        accept = ",".join(request.headers.getlist("accept"))
        answer = await self._queries.answer(operation, accept)
        return Response(answer.body, media_type=answer.media_type, headers={"Vary": "Accept"})

    async def _update(self, request: Request) -> Response:
        operation = await read_operation(request, UPDATE, self._limits)
        outcome = await self._updates.update(
            operation.text,
            using_graphs=operation.default_graphs,
            using_named_graphs=operation.named_graphs,
        )
        counts = {"added": len(outcome.delta.added), "removed": len(outcome.delta.removed)}
        # SEPA's draft says isJsonBody, its engine isJson; no client goes by either.
        return JSONResponse({"response": {"isJsonBody": True, "isJson": True, "body": counts}})
