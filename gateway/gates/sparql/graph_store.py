"""The Graph Store gate: whole graphs by GET, PUT, POST and DELETE at /rdf-graph-store.

Place on the way of the data: what reads goes to the query pool, what writes to the scheduler's URQ
as a plan (gateway/store/graph_store.py), so that subscribers are told. Source: SPARQL 1.1 Graph
Store HTTP Protocol (W3C, 2013), sections 4 and 5.

A graph is named by `?graph=<IRI>`, the default graph by `?default`, and directly by a URL below
the endpoint. POST to the endpoint itself makes a new graph there, named in Location. Relative IRIs
in a document are resolved against the graph's name.
"""

from dataclasses import dataclass
from itertools import chain
from typing import Protocol
from urllib.parse import parse_qsl
from uuid import uuid4

from pyoxigraph import NamedNode, Quad, QueryBoolean, QueryTriples
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from gateway.engine import Outcome, QueryRequest, UpdateRequest
from gateway.errors import BadRequestError, ForbiddenError, NotFoundError
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.http.rendering import Answer, BoundedBody
from gateway.gates.http.request_body import RequestLimits, read_body
from gateway.gates.http.responses import answer_response
from gateway.gates.protocol.media_types import GRAPHS, require
from gateway.gates.protocol.messages import graph_names
from gateway.gates.sparql.protocol_request import inferring
from gateway.gates.sparql.query_pool import QueryPool
from gateway.gates.sparql.rdf_document import Document
from gateway.rdf.dataset import Dataset
from gateway.rdf.documents import Documents
from gateway.rdf.rights import Rights
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName
from gateway.security.guard import Guard, OpenGuard
from gateway.store.graph_store import delete, post, put
from gateway.store.update import UpdatePlan

PATH = "/rdf-graph-store"

_TRIPLES = "CONSTRUCT { ?s ?p ?o } WHERE { ?s ?p ?o }"
_MOST_PARAMETERS = 100


class Updates(Protocol):
    """Runs an UPDATE in its place in the URQ; raises a GatewayError."""

    async def update(self, request: UpdateRequest, /) -> Outcome:
        """Returns when the change, or the UPDATE that is to wait, is in the store."""
        ...


@dataclass(frozen=True, slots=True)
class _Target:
    """The graph that a request is about; `is_new` where its URL leaves the name to us."""

    graph: GraphName
    is_new: bool = False

    @property
    def base(self) -> str:
        """What relative IRIs are resolved against, "" where there is nothing."""
        return self.graph.value if isinstance(self.graph, NamedNode) else ""


class GraphStoreGate:
    """The endpoint /rdf-graph-store and all below it."""

    def __init__(
        self,
        updates: Updates,
        queries: QueryPool,
        documents: Documents,
        guard: Guard | None = None,
        limits: RequestLimits | None = None,
    ) -> None:
        self._updates = updates
        self._queries = queries
        self._documents = documents
        self._guard = guard or OpenGuard()
        self._limits = limits or RequestLimits()

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        handlers = {
            "GET": self._get,
            "PUT": self._put,
            "POST": self._post,
            "DELETE": self._delete,
        }
        return [*endpoint(PATH, handlers), *endpoint(f"{PATH}/{{graph:path}}", handlers)]

    async def _get(self, request: Request) -> Response:
        caller = Caller.of(request, self._guard)
        graph, infer = _named(request).graph, inferring(request.query_params.getlist("infer"))
        media_type = require(",".join(request.headers.getlist("accept")), GRAPHS)
        rights = caller.principal.policy.query_rights

        def work(body: BoundedBody) -> Answer:
            answer = self._graph(body, graph, media_type, rights, infer=infer or False)
            return answer.packed() if caller.takes_gzip else answer

        return answer_response(await self._queries.run(work, caller))

    def _graph(
        self,
        body: BoundedBody,
        graph: GraphName,
        media_type: str,
        rights: Rights,
        *,
        infer: bool,
    ) -> Answer:
        """In the pool's thread. An empty graph that exists is an answer; a hidden one is not."""
        dataset = Dataset((graph,)) if isinstance(graph, NamedNode) else None
        triples = self._queries.evaluate(QueryRequest(_TRIPLES, dataset, rights, infer=infer))
        assert isinstance(triples, QueryTriples)  # noqa: S101  what CONSTRUCT gives
        first = next(triples, None)
        if first is None and not self._exists(graph, rights, infer):
            raise NotFoundError(f"there is no graph {graph}", "PUT it first")
        every = triples if first is None else chain((first,), triples)
        body.write_triples(every, GRAPHS[media_type])
        return Answer(media_type, body.getvalue())

    def _exists(self, graph: GraphName, rights: Rights, infer: bool) -> bool:
        if not isinstance(graph, NamedNode):
            return True
        ask = QueryRequest(f"ASK {{ GRAPH {graph} {{}} }}", rights=rights, infer=infer)
        known = self._queries.evaluate(ask)
        return isinstance(known, QueryBoolean) and bool(known)

    async def _put(self, request: Request) -> Response:
        _require_asserted(request)
        caller = Caller.of(request, self._guard)
        target = _named(request)
        return await self._write(
            caller, target, put(target.graph, await self._quads(caller, target))
        )

    async def _post(self, request: Request) -> Response:
        _require_asserted(request)
        caller = Caller.of(request, self._guard)
        target = _target(request)
        plan = post(target.graph, await self._quads(caller, target))
        return await self._write(caller, target, plan)

    async def _delete(self, request: Request) -> Response:
        _require_asserted(request)
        caller = Caller.of(request, self._guard)
        target = _named(request)
        await self._write(caller, target, delete(target.graph))
        return Response(status_code=204)

    async def _quads(self, caller: Caller, target: _Target) -> list[Quad]:
        """The document in the body; read with a place among the queries, if it may be written.

        Raises ForbiddenError before anything of it is read.
        """
        if not caller.principal.policy.update_rights.may_write(target.graph):
            raise ForbiddenError(f"{target.graph} may not be written", "ask for the right to it")
        content_type = caller.request.headers.get("content-type", "")
        document = Document(await read_body(caller.request, self._limits), content_type)

        def work(body: BoundedBody) -> list[Quad]:
            graph, base = target.graph, target.base
            return document.quads(graph, base, self._documents, body.look)

        return await self._queries.run(work, caller)

    async def _write(self, caller: Caller, target: _Target, plan: UpdatePlan) -> Response:
        """201 with a new graph, else 204; who may not read the graph is not told which."""
        rights = caller.principal.policy.update_rights
        outcome = await self._updates.update(UpdateRequest([(plan, {})], rights=rights))
        is_created = target.graph in outcome.delta.graphs_created and rights.may_read(target.graph)
        headers = {"Location": target.base} if target.is_new else None
        return Response(status_code=201 if is_created else 204, headers=headers)


def _require_asserted(request: Request) -> None:
    """Raise BadRequestError where a write is to be about what follows."""
    if inferring(request.query_params.getlist("infer")):
        raise BadRequestError("what follows cannot be written", "leave infer out of a write")


def _named(request: Request) -> _Target:
    """The graph that the URL names. Raises BadRequestError where it names none."""
    target = _target(request)
    if target.is_new:
        raise BadRequestError("the URL names no graph", "use ?default or ?graph=<IRI>")
    return target


def _target(request: Request) -> _Target:
    """Section 4. Raises BadRequestError for a URL that names more than one graph, or no IRI."""
    here = f"{request.url.scheme}://{request.url.netloc}{_raw_path(request)}"
    names = _names(request)
    is_direct = bool(request.path_params.get("graph"))
    if len(names) + is_direct > 1:
        raise BadRequestError("the URL names several graphs", "use one ?default or ?graph=<IRI>")
    if is_direct:
        return _Target(graph_names([here])[0])
    if not names:
        return _Target(graph_names([f"{here.rstrip('/')}/{uuid4()}"])[0], is_new=True)
    return _Target(DEFAULT_GRAPH if names[0] is None else graph_names([names[0]])[0])


def _names(request: Request) -> list[str | None]:
    """The graphs among the parameters, None for the default one; `+` is no space in an IRI."""
    try:
        parameters = parse_qsl(
            request.url.query.replace("+", "%2B"),
            keep_blank_values=True,
            errors="strict",
            max_num_fields=_MOST_PARAMETERS,
        )
    except ValueError as error:
        raise BadRequestError(
            f"the parameters cannot be read: {error}", "percent-encode them as UTF-8"
        ) from error
    named: list[str | None] = [value for name, value in parameters if name == "graph"]
    return named + [None for name, _ in parameters if name == "default"]


def _raw_path(request: Request) -> str:
    """As it was sent: decoding it would make two names of graphs one."""
    raw: bytes = request.scope["raw_path"]
    return raw.decode("ascii")
