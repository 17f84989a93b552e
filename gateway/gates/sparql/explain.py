"""/explain: how the engine serves a query, or would, and what that has cost so far.

The scheduler asks the engine in the turn of the SUBSCRIBE requests. Source: `Engine.explain`; the
request is that of a QUERY (SPARQL 1.1 Protocol, 2.1), with `windows`, `output` and `mode` as a
SUBSCRIBE has them.

The sizes and counts are about what all clients do together, so it takes the capability for
operations; what the query reads is restricted as a subscription of the same client would be.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from gateway.engine import Explanation, QueryRequest, SubscribeRequest
from gateway.engine.lutt import LuttEntry
from gateway.engine.spu import EACH, UNION
from gateway.engine.windowed.over import told
from gateway.federation.asking.plain import no_federation, require_plain, scope_of
from gateway.federation.service import FederationService
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.protocol.media_types import choose
from gateway.gates.protocol.wire import JsonObject
from gateway.gates.sparql.crossing import Crossing, crossing_of
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
        federation: FederationService | None = None,
    ) -> None:
        """`infer` is what a query means that does not say."""
        self._engine = engine
        self._federation = federation
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
        is_here = over.gateways is None
        if infer is None:
            infer = self._infer and over.mode == UNION and is_here
        text, dataset = operation.text, operation.dataset
        asked = over.asked(SubscribeRequest(text, dataset, rights, infer=infer))
        crossing = None if is_here else await self._crossing(asked, caller)
        mode = UNION if over.mode == EACH else over.mode
        explanation = await self._engine.explain(replace(asked, gateways=None, after=(), mode=mode))
        accepted = ",".join(request.headers.getlist("accept"))
        if choose(accepted, [_TEXT, _JSON]) == _JSON:
            told = described(explanation)
            return JSONResponse(told if crossing is None else told | crossing.members())
        lines = [str(explanation), *(() if crossing is None else crossing.lines())]
        return PlainTextResponse("\n".join(lines) + "\n")

    async def _crossing(self, asked: SubscribeRequest, caller: Caller) -> Crossing:
        """What comes from other gateways for it. Raises as a SUBSCRIBE over them does."""
        caller.principal.require(Capability.FEDERATE)
        federation = self._federation
        if federation is None:
            raise no_federation()
        require_plain(asked)
        federation.require_known(scope_of(asked))
        return await crossing_of(asked, federation)


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
