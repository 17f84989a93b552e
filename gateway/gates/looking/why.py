"""Why by HTTP: where an observation, or a triple, came from.

docs/mappings.md shows the request. What the asker's QUERYs
may not read is not told of, nor a message of a topic that it may not receive.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from pyoxigraph import DefaultGraph, NamedNode, Quad, QueryBoolean, QuerySolutions, RdfFormat, parse

from adapters.values.mapping import Mapping
from gateway.admin.onboarding.changes import MappingChange
from gateway.admin.provenance import Origin, Provenance
from gateway.engine import QueryRequest
from gateway.errors import BadRequestError, ForbiddenError, NoReasoningError, NotFoundError
from gateway.gates.http.caller import Caller
from gateway.gates.http.dependencies import AnyCaller, GateOf
from gateway.gates.http.json_router import JsonRouter
from gateway.gates.looking.asked_of import may_read_mappings
from gateway.gates.looking.proofs import Listed, Prove
from gateway.gates.looking.why_answers import (
    KeptMessage,
    LineTold,
    MappingTold,
    OriginTold,
    TemplateTold,
    WhyTold,
)
from gateway.gates.protocol.payload_json import payload_members
from gateway.gates.sparql.query_pool import QueryPool
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.document_form import require_form
from gateway.rdf.namespaces import MAPPINGS_GRAPH, SOSA
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName
from gateway.reasoning.why import Proof
from gateway.security.policy import Capability, Policy

PATH = "/mappings/why"

History = Callable[[], Awaitable[Sequence[MappingChange]]]
"""The recorded changes of mappings, the last first."""

_MOST = 20
"""Observations that are looked at for one triple."""


_TERM = Field(description="of a triple, as in N-Triples")


class Asked(BaseModel):
    """What stands in the URL: an IRI, or the terms of a triple and perhaps its graph."""

    model_config = ConfigDict(frozen=True, extra="allow")

    iri: Annotated[
        str | None,
        Field(description="an observation, its result, its instant, or what one is about"),
    ] = None
    subject: Annotated[str | None, _TERM] = None
    predicate: Annotated[str, _TERM] = ""
    object: Annotated[str, _TERM] = ""
    graph: Annotated[str, _TERM] = ""


@dataclass(frozen=True, slots=True)
class Question:
    """An IRI, or a triple in a graph."""

    subject: NamedNode
    quad: Quad | None
    graph: GraphName

    @classmethod
    def of(cls, asked: Asked) -> "Question":
        """By the parameters. Raises BadRequestError."""
        if asked.model_extra or (asked.iri is None) == (asked.subject is None):
            raise BadRequestError(
                "give iri=, or subject=, predicate= and object= and perhaps graph=",
                'terms as in N-Triples: <urn:a>, "21.5"^^<http://www.w3.org/2001/XMLSchema#decimal>',
            )
        if asked.subject is None:
            subject = _quad(asked.iri or "", "<urn:p>", "<urn:o>", "").subject
            return cls(_named(subject), None, DEFAULT_GRAPH)
        quad = _quad(asked.subject, asked.predicate, asked.object, asked.graph)
        if isinstance(quad.graph_name, DefaultGraph | NamedNode):
            return cls(_named(quad.subject), quad, quad.graph_name)
        raise BadRequestError("a blank node names no graph", "give its IRI")


def _named(term: object) -> NamedNode:
    if isinstance(term, NamedNode):
        return term
    raise BadRequestError("this is about nodes with an IRI", "give an IRI")


_DEPTH = 10
"""Triple terms within each other that somebody may ask about."""


def _quad(*terms: str) -> Quad:
    """An IRI may be without its brackets, as people have it at hand."""
    line = " ".join(map(_written, terms))
    try:
        content = f"{line} .".encode()
        require_form(content, RdfFormat.N_QUADS, _DEPTH)
        quads = list(parse(content, format=RdfFormat.N_QUADS))
    except (SyntaxError, UnicodeEncodeError) as error:
        raise BadRequestError(f"these are no terms: {error}", "write them as in N-Quads") from error
    if len(quads) != 1:
        raise BadRequestError("this is not one triple", "write its terms as in N-Quads")
    quad: Quad = quads[0]
    return quad


def _written(term: str) -> str:
    return f"<{term}>" if term and term[0] not in '<"_' else term


class WhyGate:
    """Tells a client where things came from, as far as it may know."""

    def __init__(
        self,
        provenance: Provenance,
        history: History,
        pool: QueryPool,
        prove: Prove,
    ) -> None:
        """`prove` says why something follows; NoReasoningError: nothing does here."""
        self._provenance = provenance
        self._history = history
        self._pool = pool
        self._prove = prove

    async def why(self, question: Question, caller: Caller) -> WhyTold:
        """The answer. Raises ForbiddenError, and what the pool raises."""
        policy = caller.principal.policy
        if not policy.query_rights.may_read(question.graph):
            raise ForbiddenError(
                "this graph may not be read", "ask the gateway's administrator for --query"
            )
        stored = await self._pool.run(lambda _: self._stored(question, policy), caller)
        if not stored.is_there:
            proof = await self._pool.run(lambda _: self._proof(question, policy), caller)
            if proof is not None:
                return await self._why_derived(Listed.of(proof), caller)
        found = await asyncio.to_thread(self._origins, question, stored)
        changes = await self._history()
        return self._answer(question, stored, found, policy, changes)

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

    def _proof(self, question: Question, policy: Policy) -> Proof | None:
        """Why it follows, None where it does not; in a thread of the pool."""
        if question.quad is None:
            return None
        try:
            return self._prove(canonical_quad(question.quad), policy.query_rights)
        except (NotFoundError, NoReasoningError):
            return None

    async def _why_derived(self, listed: Listed, caller: Caller) -> WhyTold:
        """What it follows from, and where that came from."""
        policy, sources = caller.principal.policy, dict[Quad, str]()
        found: dict[str, Origin] = {}
        for quad in listed.asserted[:_MOST]:
            origins = await self._came_from(quad, caller)
            found |= {origin.iri: origin for origin in origins}
            sources[quad] = self._source(quad, origins, policy)
        changes = await self._history()
        return WhyTold(
            stored=False,
            observations=[self._described(each, policy, changes) for each in found.values()],
            reason="nobody wrote this: it follows",
            proof=listed.told(sources),
        )

    async def _came_from(self, quad: Quad, caller: Caller) -> list[Origin]:
        """The last observation that wrote a quad, if one did."""
        if not isinstance(quad.subject, NamedNode) or quad.graph_name != DEFAULT_GRAPH:
            return []
        question = Question(quad.subject, quad, DEFAULT_GRAPH)
        policy = caller.principal.policy
        stored = await self._pool.run(lambda _: self._stored(question, policy), caller)
        origins = await asyncio.to_thread(self._origins, question, stored)
        return [each for each in origins if each.found is not None][-1:]

    def _source(self, quad: Quad, origins: Sequence[Origin], policy: Policy) -> str:
        if origins:
            return f"observation {origins[-1].iri}"
        subject = quad.subject.value if isinstance(quad.subject, NamedNode) else ""
        named = self._provenance.classifying(quad) if may_read_mappings(policy) else ()
        if named:
            places = (
                f"{each.iri} ({self._provenance.place_of(each) or 'UPDATE'})" for each in named
            )
            return f"mapping {', '.join(places)}: its sensor is of this class"
        return self._provenance.written_by_gateway(subject) or "an UPDATE wrote this"

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
    ) -> WhyTold:
        if question.graph == MAPPINGS_GRAPH:
            return _without(stored, self._why_mapping(question.subject.value))
        if question.graph != DEFAULT_GRAPH or not found:
            own = self._provenance.written_by_gateway(question.subject.value)
            return _without(stored, own or _reason(question, stored))
        shown = [self._described(origin, policy, changes) for origin in reversed(found)]
        return WhyTold(stored=stored.is_there, observations=shown, reason="")

    def _why_mapping(self, iri: str) -> str:
        place = self._provenance.place_of_node(iri)
        return f"as {place} has it" if place else "an UPDATE wrote this"

    def _described(
        self, origin: Origin, policy: Policy, changes: Sequence[MappingChange]
    ) -> OriginTold:
        shown = origin.mappings if may_read_mappings(policy) else ()
        source_of = self._provenance.source_of
        return OriginTold(
            iri=origin.iri,
            journal=_line(origin),
            template=_template(origin, self._provenance.place_of_template),
            message=_message(origin, policy),
            mappings=[_mapping(each, source_of(each, changes)) for each in shown],
            certain=origin.is_certain,
        )


router = JsonRouter()


@router.get(PATH, "why is this here?", "where it came from")
async def why(
    caller: AnyCaller,
    gate: Annotated[WhyGate, Depends(GateOf(WhyGate))],
    asked: Annotated[Asked, Query()],
) -> WhyTold:
    """An observation, what one is about, or a triple."""
    return await gate.why(Question.of(asked), caller)


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


def _without(stored: _Stored, reason: str) -> WhyTold:
    """No observation wrote it."""
    return WhyTold(stored=stored.is_there, observations=[], reason=reason)


def _line(origin: Origin) -> LineTold | None:
    found = origin.found
    if found is None:
        return None
    record = found.record
    seen = record.observation
    time = seen.phenomenon_time
    return LineTold(
        position=str(record.position),
        segment=found.segment,
        sensor=seen.sensor,
        property=seen.observed_property,
        feature=seen.feature_of_interest,
        result=seen.lexical,
        datatype=seen.datatype,
        unit=seen.unit,
        time=None if time is None else time.isoformat(),
        sequence=seen.device_sequence,
        ingested_at=record.ingested_at.isoformat(),
    )


def _template(origin: Origin, place: Callable[[str], str]) -> TemplateTold | None:
    name = origin.template
    return TemplateTold(id=name, file=place(name)) if name else None


def _message(origin: Origin, policy: Policy) -> KeptMessage | None:
    """Only for who may see raw messages, and this one."""
    message = origin.message
    if message is None or not (
        Capability.OPERATIONS in policy.capabilities and policy.may_receive(message.topic)
    ):
        return None
    return KeptMessage(
        kept_in=origin.kept_in,
        topic=message.topic,
        received_at=message.received_at.isoformat(),
        retained=message.retained,
        **payload_members(message.payload),
    )


def _mapping(mapping: Mapping, source: str) -> MappingTold:
    return MappingTold(
        id=mapping.iri,
        topic=mapping.topic_filter,
        format=mapping.format,
        selector=mapping.selector,
        source=source,
    )
