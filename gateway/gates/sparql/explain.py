"""/explain: how the engine serves a query, or would, and what that has cost so far.

The scheduler asks the engine in the turn of the SUBSCRIBE requests. Source: `Engine.explain`; the
request is that of a QUERY (SPARQL 1.1 Protocol, 2.1), with `windows`, `output` and `mode` as a
SUBSCRIBE has them.

The sizes and counts are about what all clients do together, so it takes the capability for
operations; what the query reads is restricted as a subscription of the same client would be.
"""

from collections.abc import Mapping
from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gateway.engine import Explanation, QueryRequest, SubscribeRequest
from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import UNION
from gateway.engine.windowed.over import told
from gateway.errors import BadRequestError
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.protocol.media_types import choose
from gateway.gates.protocol.wire import JsonObject
from gateway.gates.sparql.protocol_request import QUERY, read_operation
from gateway.security.guard import Guard, OpenGuard
from gateway.security.policy import Capability
from gateway.windows.info import WindowInfo, date_time

PATH = "/explain"

_JSON = "application/json"
_TEXT = "text/plain"


class Explains(Protocol):
    """Explains a query; raises a GatewayError."""

    async def explain(self, query: QueryRequest, /) -> Explanation:
        """As the engine is now."""
        ...


class ExplainGate:
    """The endpoint /explain; plain text unless Accept asks for JSON."""

    def __init__(
        self,
        engine: Explains,
        limits: RequestLimits | None = None,
        guard: Guard | None = None,
        *,
        infer: bool = False,
    ) -> None:
        """`infer` is what a query means that does not say."""
        self._engine = engine
        self._infer = infer
        self._limits = limits or RequestLimits()
        self._guard = guard or OpenGuard()

    def routes(self) -> list[Route]:
        """The endpoint, for `operations.application`."""
        return endpoint(PATH, {"GET": self._explain, "POST": self._explain})

    async def _explain(self, request: Request) -> Response:
        caller = Caller.of(request, self._guard)
        caller.principal.require(Capability.OPERATIONS)
        operation = await read_operation(request, (QUERY,), self._limits)
        rights = caller.principal.policy.subscribe_rights
        over = operation.over
        infer = operation.infer
        if over.gateways is not None:
            raise BadRequestError(
                "how a query is served by several gateways is not told yet",
                "leave out `gateways`: each explains its own part",
            )
        if infer is None:
            infer = self._infer and over.mode == UNION
        explanation = await self._engine.explain(
            SubscribeRequest(
                operation.text,
                operation.dataset,
                rights,
                infer=infer,
                windows=over.windows,
                output=over.output,
                mode=over.mode,
                after=over.after,
            )
        )
        accepted = ",".join(request.headers.getlist("accept"))
        if choose(accepted, [_TEXT, _JSON]) == _JSON:
            return JSONResponse(described(explanation))
        return PlainTextResponse(f"{explanation}\n")


def described(explanation: Explanation) -> JsonObject:
    """The members of an explanation; a LUTT entry is four terms in N-Triples, null for any."""
    costs = explanation.costs
    return {
        "query": explanation.query,
        "tier": explanation.tier,
        "refused": dict(explanation.refused),
        "lutt": [_entry(entry, explanation.cts) for entry in explanation.lutt],
        "members": explanation.members,
        "alike": explanation.alike,
        "parameters": explanation.parameters,
        "hits": explanation.hits,
        "costs": {"updates": costs.updates, "ms": costs.time_ns / 1e6, "rows": costs.rows},
        "is_subscribed": explanation.is_subscribed,
        "in_worker": explanation.in_worker,
        "output": explanation.output,
        "mode": explanation.mode,
        "windows": {iri: described_window(info) for iri, info in explanation.windows.items()},
        "automaton": dict(explanation.automaton),
    }


def described_window(info: WindowInfo) -> JsonObject:
    """What is known of a window now; times as xsd:dateTime."""
    return {
        **told(info),
        "triples": info.triples,
        "bytes": info.bytes,
        "oldest": date_time(info.oldest),
        "watermark": date_time(info.watermark),
        "late": info.late,
        "dropped": info.dropped,
        "expired": info.expired,
    }


def _entry(entry: LuttEntry, cts: Mapping[LuttEntry, int]) -> JsonObject:
    parts = (entry.subject, entry.predicate, entry.object, entry.graph)
    names = ("subject", "predicate", "object", "graph")
    terms = {
        name: None if part is None else str(part) for name, part in zip(names, parts, strict=True)
    }
    return {**terms, "cts_quads": cts.get(entry, 0)}
