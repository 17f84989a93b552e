"""QUERY over several gateways: what each has of it, at one moment of each, and the answer on that.

    QUERY -> needs of members -> their shares -> a store in memory, for this QUERY alone -> answer

Place: beside the pool of queries, in whose threads it is evaluated within the same limits; the
shares come by the federation. In mode `each` it is evaluated on each share alone, and rows have
`?gateway`. Meaning: docs/federation.md.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from pyoxigraph import Literal, Quad, QueryResultsFormat, QuerySolutions, Store, parse_query_results

from gateway.engine import QueryRequest, SubscribeRequest
from gateway.engine.spu import EACH, EVENT
from gateway.errors import BadRequestError, FederationIncompleteError, TooManyRequestsError
from gateway.federation.asking.each import GATEWAY
from gateway.federation.asking.plain import no_federation, require_plain, scope_of
from gateway.federation.needs import Scope
from gateway.federation.service import FederationService, Gathered
from gateway.gates.http.caller import Caller
from gateway.gates.http.rendering import Answer, BoundedBody
from gateway.gates.protocol.media_types import Acceptable
from gateway.gates.protocol.wire import encode_results
from gateway.gates.sparql.protocol_request import Operation
from gateway.gates.sparql.query_pool import QueryPool
from gateway.rdf.solutions import Row
from gateway.security.policy import Capability
from gateway.sparql.bounded import query_facts
from gateway.store.quad_store import QuadStore, QueryResults

_MOST_OF_ONE = 4
"""QUERYs of a client for which members are asked at once."""

_JSON = Acceptable.of("application/sparql-results+json")


def is_federated(operation: Operation) -> bool:
    """Whether a QUERY is about several gateways, or would be if it named them."""
    return not _NAMES.isdisjoint(name for name, _ in operation.parameters)


_NAMES = frozenset({"gateways", "mode", "after", "missing"})


class FederatedAnswer(NamedTuple):
    """An answer, and in headers where members stood, and who is missing."""

    answer: Answer
    headers: Mapping[str, str]


class FederatedQueries:
    """For the event loop. `federation` is None where there is none."""

    def __init__(self, federation: FederationService | None, pool: QueryPool) -> None:
        self._federation = federation
        self._pool = pool
        self._clients: Counter[str] = Counter()

    async def answer(self, operation: Operation, accept: str, caller: Caller) -> FederatedAnswer:
        """The result in a media type that `accept` chooses.

        Raises FederationIncompleteError where a member is missing, unless `missing=allow`; a
        BadRequestError for what cannot be asked of others, and what a QUERY raises.
        """
        caller.principal.require(Capability.FEDERATE)
        request = _asked(operation, caller)
        federation = self._federation
        if federation is None:
            raise no_federation()
        scope = scope_of(request)
        federation.require_known(scope)
        allowed = _allows_missing(operation)
        gathered = await self._gathered(federation, replace(request, gateways=None), scope, caller)
        if gathered.missing and not allowed:
            raise FederationIncompleteError(gathered.missing)
        acceptable = Acceptable.of(accept)

        def work(body: BoundedBody) -> Answer:
            return self._evaluated(request, gathered, acceptable, body, caller)

        return FederatedAnswer(await self._pool.run(work, caller), _headers(gathered))

    async def _gathered(
        self, federation: FederationService, request: SubscribeRequest, scope: Scope, caller: Caller
    ) -> Gathered:
        clients, client = self._clients, caller.client
        if clients[client] >= _MOST_OF_ONE:
            raise TooManyRequestsError("too many queries of this client over several gateways")
        clients[client] += 1
        try:
            return await federation.gather(request, scope)
        finally:
            clients[client] -= 1
            if not clients[client]:
                del clients[client]

    def _evaluated(
        self,
        request: SubscribeRequest,
        gathered: Gathered,
        acceptable: Acceptable,
        body: BoundedBody,
        caller: Caller,
    ) -> Answer:
        """In a thread of the pool."""
        plain = QueryRequest(request.text, request.dataset, request.rights)
        if request.mode == EACH:
            answer = body.render(self._of_each(plain, gathered, body), acceptable)
        else:
            quads = (quad for share in gathered.shares.values() for quad in share.quads)
            answer = self._on(plain, quads, acceptable, body)
        return answer.packed() if caller.takes_gzip else answer

    def _on(
        self, query: QueryRequest, quads: Iterable[Quad], acceptable: Acceptable, body: BoundedBody
    ) -> Answer:
        """The answer on these quads, in a process of its own where no form bounds it."""
        if self._pool.apart is not None and not query_facts(query.text).is_bounded:
            return self._pool.apart.answer_on(_store(quads), query, acceptable, body.look)
        return body.render(query.answer(_store(quads)), acceptable)

    def _of_each(self, query: QueryRequest, gathered: Gathered, body: BoundedBody) -> QueryResults:
        """The rows of each member, with its id."""
        variables: Sequence[str] = ()
        rows: list[Row] = []
        for name, share in gathered.shares.items():
            found = self._solutions(query, share.quads, body)
            variables = [each.value for each in found.variables]
            for row in found:
                rows.append((*row, Literal(name)))
                body.require(len(rows))
        text = encode_results([*variables, GATEWAY], rows)
        return _read(text.encode())

    def _solutions(
        self, query: QueryRequest, quads: Iterable[Quad], body: BoundedBody
    ) -> QuerySolutions:
        if self._pool.apart is not None and not query_facts(query.text).is_bounded:
            answer = self._pool.apart.answer_on(_store(quads), query, _JSON, body.look)
            return _read(answer.body)
        found = query.answer(_store(quads))
        assert isinstance(found, QuerySolutions)  # noqa: S101  # `each` is SELECT alone
        return found


def _read(body: bytes) -> QuerySolutions:
    """Solutions in SPARQL 1.1 JSON as results of the store are."""
    found = parse_query_results(body, format=QueryResultsFormat.JSON)
    assert isinstance(found, QuerySolutions)  # noqa: S101  # nothing else is written here
    return found


def _store(quads: Iterable[Quad]) -> QuadStore:
    store = QuadStore(Store())
    store.load(dict.fromkeys(quads), [])
    return store


def _asked(operation: Operation, caller: Caller) -> SubscribeRequest:
    """The request as members are asked. Raises BadRequestError, WindowError."""
    over = operation.over
    if over.gateways is None:
        raise BadRequestError(
            "`mode`, `after` and `missing` of a QUERY are about several gateways", "add `gateways`"
        )
    if over.mode == EVENT:
        raise BadRequestError(
            "a QUERY is about what members have, and events are no more than told",
            "subscribe in mode event, or leave the mode out",
        )
    rights, infer = caller.principal.policy.query_rights, operation.infer or False
    text, dataset = operation.text, operation.dataset
    request = over.asked(SubscribeRequest(text, dataset, rights, infer=infer))
    require_plain(request)
    return request


def _allows_missing(operation: Operation) -> bool:
    word = operation.parameter("missing")
    if word not in (None, "allow"):
        raise BadRequestError(f"missing={word:.20}", "send missing=allow, or leave it out")
    return word == "allow"


def _headers(gathered: Gathered) -> dict[str, str]:
    shares = gathered.shares.items()
    found = {"Federation-Position": positions(f"{name}={share.position}" for name, share in shares)}
    if gathered.missing:
        found["Federation-Missing"] = positions(gathered.missing)
    return found


def positions(words: Iterable[str]) -> str:
    """The value of a header, as a list (RFC 9110, section 5.6.1)."""
    return ", ".join(sorted(words))
