"""Rehearsals by HTTP: what changed mappings would make of the last messages.

docs/mappings.md shows the request. A client rehearses the
messages of topics that it may receive, on the graphs that it may query.
"""

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import Field
from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    NamedNode,
    Quad,
    QuerySolutions,
    RdfFormat,
    serialize,
)

from gateway.actuation.rules import Rule
from gateway.admin.onboarding.edits import Edits
from gateway.admin.onboarding.nodes import InNodes, Nodes, is_mapping, nodes_of
from gateway.admin.rehearsal.rehearsal import Asked
from gateway.admin.rehearsal.runner import Ground, RehearsalRunner
from gateway.engine import QueryRequest
from gateway.errors import BadRequestError, InvalidMappingError
from gateway.gates.admin.mapping_bodies import ApplyBody
from gateway.gates.admin.rehearsal_answers import Report
from gateway.gates.http.caller import Caller
from gateway.gates.http.dependencies import AnyCaller, GateOf, Requires
from gateway.gates.http.json_body import Body, JsonBody
from gateway.gates.http.json_router import JsonRouter
from gateway.gates.protocol.payload_json import topic_filter
from gateway.gates.sparql.query_pool import QueryPool
from gateway.ingest.raw_messages import RawMessage, RawMessages
from gateway.rdf.canonical import canonical_quad
from gateway.security.policy import Capability, Policy, covers
from jsap.errors import JsapError
from jsap.extended.quads import mapping_quads
from jsap.profile import Profile

PATH = "/mappings/rehearse"

MOST_QUADS = 50_000
"""Quads of the store that are copied for standing queries."""

_EVERYTHING = "SELECT ?s ?p ?o ?g {{ {{ ?s ?p ?o }} UNION {{ GRAPH ?g {{ ?s ?p ?o }} }} }} LIMIT {}"


class RuleBody(Body):
    """A republish rule as in a profile, its query as text."""

    id: Annotated[str, Field(min_length=1, max_length=2000)] = "the rule"
    sparql: Annotated[str, Field(min_length=1, max_length=65_536)]
    topic: Annotated[str, Field(min_length=1, max_length=65_535)]
    payload: Annotated[str, Field(max_length=65_536)]
    on: Literal["added", "removed"] = "added"
    on_start: bool = Field(default=False, alias="onStart")
    infer: bool = False

    def rule(self) -> Rule:
        """As the gateway follows it."""
        removed = self.on == "removed"
        return Rule(
            self.id,
            self.sparql,
            self.topic,
            self.payload,
            removed,
            on_start=self.on_start,
            infer=self.infer,
        )


class RehearseBody(ApplyBody):
    """Edits as for apply, and a JSAP profile whose mappings are added or replaced.

    `topic` chooses among the messages; `queries` are rehearsed beside the standing ones; of `rules`
    it is told what they would have sent.
    """

    profile: dict[str, Any] | None = None
    topic: str | None = None
    queries: Annotated[tuple[str, ...], Field(max_length=50, strict=False)] = ()
    rules: Annotated[tuple[RuleBody, ...], Field(max_length=20, strict=False)] = ()

    def wanted(self, nodes: Nodes) -> Mapping[NamedNode, frozenset[Quad]]:
        """What changed nodes are to say. Raises a ClientError."""
        edits = Edits(self.add, self.replace, self.remove).wanted(InNodes(nodes))
        return {**_of_profile(self.profile), **edits}


def _of_profile(members: Mapping[str, Any] | None) -> Nodes:
    if members is None:
        return {}
    try:
        quads = mapping_quads(Profile.parse(members))
    except JsapError as error:
        raise InvalidMappingError(f"{error.path}: {error.reason}", error.what_to_do) from error
    nodes = nodes_of(map(canonical_quad, quads))
    return {node: of_it for node, of_it in nodes.items() if is_mapping(of_it)}


class RehearsalGate:
    """Rehearses what a client may: messages that it may receive, graphs that it may query."""

    def __init__(self, rehearsals: RehearsalRunner, raw: RawMessages, pool: QueryPool) -> None:
        self._rehearsals = rehearsals
        self._raw = raw
        self._pool = pool

    async def rehearse(self, body: RehearseBody, caller: Caller) -> Report:
        """What would differ. Raises a GatewayError."""
        policy = caller.principal.policy
        messages = self._messages(body.topic, policy)
        queries = [Asked(text) for text in body.queries]
        if policy.query is None:
            queries += await self._rehearsals.standing()
        quads = await self._pool.run(lambda _: self._copy(policy), caller)
        ground = Ground(messages, quads, queries, [each.rule() for each in body.rules])
        report = await self._rehearsals.rehearse(body.wanted, ground)
        skipped = "" if quads is not None else f"the store has more than {MOST_QUADS} quads"
        return Report.model_validate(report | {"subscriptions_skipped": skipped})

    def _messages(self, topic: str | None, policy: Policy) -> list[RawMessage]:
        chosen = None if topic is None else topic_filter(topic)
        return [
            raw
            for raw in self._raw.all()
            if policy.may_receive(raw.message.topic)
            and (chosen is None or covers(chosen, raw.message.topic))
        ]

    def _copy(self, policy: Policy) -> bytes | None:
        """What the asker may read, as N-Quads; None where it is too much."""
        rows = self._pool.evaluate(
            QueryRequest(_EVERYTHING.format(MOST_QUADS + 1), rights=policy.query_rights)
        )
        if not isinstance(rows, QuerySolutions):
            raise BadRequestError("the store cannot be copied")
        quads = [Quad(row[0], row[1], row[2], _graph(row[3])) for row in rows]
        if len(quads) > MOST_QUADS:
            return None
        written = serialize(quads, format=RdfFormat.N_QUADS)
        return written or b""


router = JsonRouter(Requires(Capability.MAPPINGS))


@router.post(PATH, "the last messages by changed mappings", "what would differ", 404, 409)
async def rehearse(
    caller: AnyCaller,
    gate: Annotated[RehearsalGate, Depends(GateOf(RehearsalGate))],
    body: Annotated[RehearseBody, Depends(JsonBody(RehearseBody))],
) -> Report:
    """Nothing is changed."""
    return await gate.rehearse(body, caller)


def _graph(term: object) -> NamedNode | BlankNode | DefaultGraph:
    return term if isinstance(term, NamedNode | BlankNode) else DefaultGraph()
