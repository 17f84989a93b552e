"""Why by HTTP: where an observation, or a triple, came from.

Place on the way of the data: beside it; docs/mappings.md shows the request. What the asker's QUERYs
may not read is not told of, nor a message of a topic that it may not receive.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from pyoxigraph import DefaultGraph, NamedNode, Quad, QueryBoolean, QuerySolutions, RdfFormat, parse
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from adapters.values.mapping import Mapping
from gateway.admin.onboarding.changes import MappingChange
from gateway.admin.provenance import Origin, Provenance
from gateway.engine import QueryRequest
from gateway.errors import BadRequestError, ForbiddenError
from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.protocol.payload_json import payload_members
from gateway.gates.protocol.wire import JsonObject
from gateway.gates.sparql.query_pool import QueryPool
from gateway.rdf.namespaces import MAPPINGS_GRAPH, SOSA
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName
from gateway.security.guard import Guard
from gateway.security.policy import Capability, Policy

PATH = "/mappings/why"

History = Callable[[], Awaitable[Sequence[MappingChange]]]
"""The recorded changes of mappings, the last first."""

_MOST = 20
"""Observations that are looked at for one triple."""

_TERMS = ("subject", "predicate", "object", "graph")


@dataclass(frozen=True, slots=True)
class Question:
    """An IRI, or a triple in a graph."""

    subject: NamedNode
    quad: Quad | None
    graph: GraphName

    @classmethod
    def of(cls, request: Request) -> "Question":
        """By the parameters. Raises BadRequestError."""
        asked = request.query_params
        unknown = set(asked) - {"iri", *_TERMS}
        if unknown or ("iri" in asked) == ("subject" in asked):
            raise BadRequestError(
                "give iri=, or subject=, predicate= and object= and perhaps graph=",
                'terms as in N-Triples: <urn:a>, "21.5"^^<http://www.w3.org/2001/XMLSchema#decimal>',
            )
        if "iri" in asked:
            subject = _quad(asked["iri"], "<urn:p>", "<urn:o>", "").subject
            return cls(_named(subject), None, DEFAULT_GRAPH)
        quad = _quad(*(asked.get(name, "") for name in _TERMS))
        if isinstance(quad.graph_name, DefaultGraph | NamedNode):
            return cls(_named(quad.subject), quad, quad.graph_name)
        raise BadRequestError("a blank node names no graph", "give its IRI")


def _named(term: object) -> NamedNode:
    if isinstance(term, NamedNode):
        return term
    raise BadRequestError("this is about nodes with an IRI", "give an IRI")


def _quad(*terms: str) -> Quad:
    """An IRI may be without its brackets, as people have it at hand."""
    line = " ".join(map(_written, terms))
    try:
        quads = list(parse(f"{line} .".encode(), format=RdfFormat.N_QUADS))
    except (SyntaxError, UnicodeEncodeError) as error:
        raise BadRequestError(f"these are no terms: {error}", "write them as in N-Quads") from error
    if len(quads) != 1:
        raise BadRequestError("this is not one triple", "write its terms as in N-Quads")
    quad: Quad = quads[0]
    return quad


def _written(term: str) -> str:
    return f"<{term}>" if term and term[0] not in '<"_' else term


class WhyGate:
    """The endpoint /mappings/why."""

    def __init__(
        self, provenance: Provenance, history: History, pool: QueryPool, guard: Guard
    ) -> None:
        self._provenance = provenance
        self._history = history
        self._pool = pool
        self._guard = guard

    def routes(self) -> list[Route]:
        """The endpoint, for `operations.application`."""
        return endpoint(PATH, {"GET": self._why})

    async def _why(self, request: Request) -> Response:
        caller = Caller.of(request, self._guard)
        policy = caller.principal.policy
        question = Question.of(request)
        if not policy.query_rights.may_read(question.graph):
            raise ForbiddenError(
                "this graph may not be read", "ask the gateway's administrator for --query"
            )
        stored = await self._pool.run(lambda _: self._stored(question, policy), caller)
        found = await asyncio.to_thread(self._origins, question, stored)
        changes = await self._history()
        return JSONResponse(self._answer(question, stored, found, policy, changes))

    def _stored(self, question: Question, policy: Policy) -> "_Stored":
        """What the store says, as far as the asker may see it; in a thread of the pool."""

        def ask(text: str) -> object:
            return self._pool.evaluate(QueryRequest(text, rights=policy.query_rights))

        subject, quad = question.subject, question.quad
        own = self._provenance.observation_of(subject.value)
        if own is not None:
            candidates = [own]
        elif quad is None or question.graph == DEFAULT_GRAPH:
            about = f"?o a <{SOSA}Observation> ; ?x {subject}"
            candidates = _column(ask(f"SELECT DISTINCT ?o {{ {about} }} LIMIT {_MOST}"))
        else:
            candidates = []
        pattern = (
            f"{subject} ?p ?o" if quad is None else f"{subject} {quad.predicate} {quad.object}"
        )
        if isinstance(question.graph, NamedNode):
            pattern = f"GRAPH {question.graph} {{ {pattern} }}"
        return _Stored(_is_true(ask(f"ASK {{ {pattern} }}")), self._ours(candidates))

    def _ours(self, candidates: Sequence[str]) -> tuple[str, ...]:
        mine = self._provenance.observation_of
        return tuple(iri for iri in candidates if mine(iri) == iri)

    def _origins(self, question: Question, stored: "_Stored") -> list[Origin]:
        origins = self._provenance.origins(stored.candidates)
        if question.quad is None or question.graph != DEFAULT_GRAPH:
            return origins
        lost = [origin for origin in origins if origin.found is None]
        return self._provenance.writers(question.quad, origins) or lost

    def _answer(
        self,
        question: Question,
        stored: "_Stored",
        found: Sequence[Origin],
        policy: Policy,
        changes: Sequence[MappingChange],
    ) -> JsonObject:
        told: JsonObject = {"stored": stored.is_there, "observations": []}
        if question.graph == MAPPINGS_GRAPH:
            return told | {"reason": self._why_mapping(question.subject.value)}
        if question.graph != DEFAULT_GRAPH or not found:
            own = self._provenance.written_by_gateway(question.subject.value)
            return told | {"reason": own or _reason(question, stored)}
        shown = [self._described(origin, policy, changes) for origin in reversed(found)]
        return told | {"observations": shown, "reason": ""}

    def _why_mapping(self, iri: str) -> str:
        place = self._provenance.place_of_node(iri)
        return f"as {place} has it" if place else "an UPDATE wrote this"

    def _described(
        self, origin: Origin, policy: Policy, changes: Sequence[MappingChange]
    ) -> JsonObject:
        described: JsonObject = {
            "iri": origin.iri,
            "journal": _line(origin),
            "template": _template(origin, self._provenance.place_of_template),
            "message": _message(origin, policy),
            "mappings": [],
            "certain": origin.is_certain,
        }
        if policy.query_rights.may_read(MAPPINGS_GRAPH) or Capability.MAPPINGS in (
            policy.capabilities
        ):
            source_of = self._provenance.source_of
            described["mappings"] = [
                _mapping(each, source_of(each, changes)) for each in origin.mappings
            ]
        return described


@dataclass(frozen=True, slots=True)
class _Stored:
    """Whether what was asked about is in the store, and the observations that it may be of."""

    is_there: bool
    candidates: tuple[str, ...]


def _column(solutions: object) -> list[str]:
    assert isinstance(solutions, QuerySolutions)  # noqa: S101
    return [row[0].value for row in solutions if isinstance(row[0], NamedNode)]


def _is_true(answer: object) -> bool:
    return isinstance(answer, QueryBoolean) and bool(answer)


def _reason(question: Question, stored: _Stored) -> str:
    if question.quad is None:
        return "no observation of this gateway is, or is about, this node"
    if not stored.candidates:
        return "no observation wrote this: its subject is of no observation of this gateway"
    return "no observation wrote this: the templates of those that are about it write other triples"


def _line(origin: Origin) -> JsonObject | None:
    found = origin.found
    if found is None:
        return None
    record = found.record
    seen = record.observation
    time = seen.phenomenon_time
    return {
        "position": str(record.position),
        "segment": found.segment,
        "sensor": seen.sensor,
        "property": seen.observed_property,
        "feature": seen.feature_of_interest,
        "result": seen.lexical,
        "datatype": seen.datatype,
        "unit": seen.unit,
        "time": None if time is None else time.isoformat(),
        "sequence": seen.device_sequence,
        "ingested_at": record.ingested_at.isoformat(),
    }


def _template(origin: Origin, place: Callable[[str], str]) -> JsonObject | None:
    name = origin.template
    return {"id": name, "file": place(name)} if name else None


def _message(origin: Origin, policy: Policy) -> JsonObject | None:
    """Only for who may see raw messages, and this one."""
    message = origin.message
    if message is None or not (
        Capability.OPERATIONS in policy.capabilities and policy.may_receive(message.topic)
    ):
        return None
    return {
        "kept_in": origin.kept_in,
        "topic": message.topic,
        "received_at": message.received_at.isoformat(),
        "retained": message.retained,
        **payload_members(message.payload),
    }


def _mapping(mapping: Mapping, source: str) -> JsonObject:
    return {
        "id": mapping.iri,
        "topic": mapping.topic_filter,
        "format": mapping.format,
        "selector": mapping.selector,
        "source": source,
    }
