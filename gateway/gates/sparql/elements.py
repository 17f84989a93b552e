"""/elements: what clients let into their streams, for windows alone; nothing of it is stored.

    POST /elements?stream=IRI, N-Triples -> elements -> scheduler's URQ -> windows over the stream

Place on the way of the data: beside the gates of UPDATE, whose rights and limits it has; an INSERT
into `GRAPH <stream>` does the same (docs/windows.md). Source: RDF 1.1 N-Triples (W3C, 2014): a line
is one triple, which is why it is the format here: a line can be an element.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pyoxigraph import NamedNode, Triple
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.engine import UpdateRequest
from gateway.engine.windowed.declared import Declared
from gateway.engine.windowed.over import written_out
from gateway.errors import (
    BadRequestError,
    ForbiddenError,
    NotFoundError,
    UnsupportedMediaTypeError,
)
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.http.rendering import BoundedBody
from gateway.gates.http.request_body import RequestLimits, media_type, read_body
from gateway.gates.protocol.messages import graph_names
from gateway.gates.sparql.delayed import since_epoch
from gateway.gates.sparql.graph_store import Updates
from gateway.gates.sparql.protocol_request import url_parameters
from gateway.gates.sparql.query_pool import QueryPool
from gateway.gates.sparql.rdf_document import MOST_TRIPLES
from gateway.rdf.canonical import canonical_triple
from gateway.rdf.documents import Documents
from gateway.rdf.namespaces import GW
from gateway.security.guard import Guard, OpenGuard
from gateway.windows.element import Element

PATH = "/elements"
MEDIA_TYPE = "application/n-triples"

_PARAMETERS = ("stream", "each", "time")
_EACH = ("request", "line")


@dataclass(frozen=True, slots=True)
class StreamNames:
    """Which streams there are: `declared` as the graph of mappings has them now.

    `is_observed` says of an IRI whether it is a stream of observations.
    """

    declared: Callable[[], Declared]
    is_observed: Callable[[str], bool] = lambda iri: iri.startswith(GW)

    def require_open(self, stream: str) -> None:
        """Raise where a client's elements may not enter it, whatever the client may write."""
        if self.is_observed(stream):
            raise ForbiddenError(
                f"{stream} is a stream of observations",
                "what devices send enters it; declare a stream of your own (docs/windows.md)",
            )
        declared = self.declared()
        if stream in declared.windows:
            over = declared.windows[stream].stream
            raise BadRequestError(f"{stream} is a window", f"send to its stream, {over}")
        if stream not in declared.streams:
            raise NotFoundError(
                f"there is no stream {stream}",
                f"declare it: INSERT DATA {{ GRAPH <https://sosa-gateway.example/graph/mappings> "
                f"{{ <{stream}> a <{GW}ElementStream> }} }}",
            )


@dataclass(frozen=True, slots=True)
class _Asked:
    """Parameters of a request; without a time it is the gateway's."""

    stream: NamedNode
    is_by_line: bool
    time: int | None

    @classmethod
    def of(cls, request: Request) -> "_Asked":
        """Raises BadRequestError."""
        given = url_parameters(request)
        values = dict(given)
        for name in values:
            if name not in _PARAMETERS:
                raise BadRequestError(f"there is no parameter {name!r}", ", ".join(_PARAMETERS))
        if len(values) < len(given):
            raise BadRequestError("a parameter is there twice", "send each once")
        if "stream" not in values:
            raise BadRequestError("there is no parameter 'stream'", f"POST {PATH}?stream=<IRI>")
        each = values.get("each", _EACH[0])
        if each not in _EACH:
            raise BadRequestError(f"each={each:.20}", "send each=request or each=line")
        time = since_epoch("time", values["time"]) if "time" in values else None
        return cls(graph_names([written_out(values["stream"])])[0], each == "line", time)

    def elements(self, triples: Sequence[Triple]) -> list[Element]:
        """One for all triples, or one each; measured here, where nobody waits for it."""
        together = [tuple(dict.fromkeys(triples))] if triples else []
        parts = [(each,) for each in triples] if self.is_by_line else together
        is_now = self.time is None
        return [
            Element(part, self.time, is_gateway_time=is_now, size=sum(len(str(t)) for t in part))
            for part in parts
        ]


class ElementsGate:
    """The endpoint /elements."""

    def __init__(
        self,
        updates: Updates,
        queries: QueryPool,
        documents: Documents,
        streams: StreamNames,
        *,
        guard: Guard | None = None,
        limits: RequestLimits | None = None,
    ) -> None:
        """A body is read with a place among the `queries`."""
        self._updates = updates
        self._queries = queries
        self._documents = documents
        self._streams = streams
        self._guard = guard or OpenGuard()
        self._limits = limits or RequestLimits()

    def routes(self) -> list[Route]:
        """The endpoint, for `operations.application`."""
        return endpoint(PATH, {"POST": self._post})

    async def _post(self, request: Request) -> Response:
        caller = Caller.of(request, self._guard)
        asked = _Asked.of(request)
        self._require(caller, asked.stream)
        elements = await self._elements(caller, asked)
        if elements:
            entering = {asked.stream.value: elements}
            rights, owner = caller.principal.policy.update_rights, caller.principal.identity
            change = UpdateRequest([], rights=rights, owner=owner, elements=entering)
            await self._updates.update(change)
        counts = {"elements": len(elements), "triples": sum(len(each.triples) for each in elements)}
        return JSONResponse({"stream": asked.stream.value, **counts})

    def _require(self, caller: Caller, stream: NamedNode) -> None:
        """Raise where it may not be, before anything of the body is read."""
        if not caller.principal.policy.update_rights.may_write(stream):
            raise ForbiddenError(
                f"{stream.value} may not be written",
                "ask the gateway's administrator for the right to write its graph",
            )
        self._streams.require_open(stream.value)
        body_type = media_type(caller.request.headers.get("content-type", ""))
        if body_type != MEDIA_TYPE:
            raise UnsupportedMediaTypeError(
                f"cannot read elements of type {body_type or 'unknown'}",
                f"use Content-Type {MEDIA_TYPE}",
            )

    async def _elements(self, caller: Caller, asked: _Asked) -> list[Element]:
        """The elements of the body, in order, their triples as the store would give them back."""
        content = await read_body(caller.request, self._limits)

        def work(body: BoundedBody) -> list[Element]:
            quads = self._documents.lines(content, MOST_TRIPLES, body.look)
            return asked.elements([canonical_triple(each.triple) for each in quads])

        return await self._queries.run(work, caller)
