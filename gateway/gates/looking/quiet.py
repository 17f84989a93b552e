"""Why is this quiet, by HTTP: which part of a query takes its rows away; docs/looking.md."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Annotated, ClassVar

from fastapi import Depends
from pydantic import Field
from pyoxigraph import NamedNode

from gateway.admin.looking.near import Near
from gateway.admin.looking.quiet import (
    MOST_ASKED,
    MOST_COUNTED,
    Quiet,
    Surroundings,
    require_answerable,
    why_quiet,
)
from gateway.admin.looking.troubles import Before
from gateway.engine.spu import EVENT
from gateway.errors import BadRequestError, NotFoundError
from gateway.gates.http.caller import Caller
from gateway.gates.http.dependencies import AnyCaller, GateOf
from gateway.gates.http.json_body import Body, JsonBody
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.gates.http.rendering import BoundedBody
from gateway.gates.looking.questions import Questions
from gateway.gates.sparql.query_pool import QueryPool
from gateway.rdf.dataset import Dataset
from gateway.security.policy import Policy
from gateway.sparql.algebra import Query, QueryForm
from gateway.sparql.parser import parse_query
from gateway.sparql.written import Writer
from jsap.template import Template

PATH = "/why/quiet"

_LONGEST = 65_536


class QuietBody(Body):
    """A query, or the name of one of the profiles or of the saved ones.

    With `infer` it is asked of what follows too; None is as a QUERY means it.
    """

    hint: ClassVar[str] = 'give {"query": …} or {"name": …}; docs/looking.md shows it'

    query: Annotated[str, Field(max_length=_LONGEST)] = ""
    name: Annotated[str, Field(max_length=200)] = ""
    infer: bool | None = None


class LinkTold(Answer):
    """Where there is more about it: what kind of thing, and its IRI or id."""

    kind: str
    id: str


class NearTold(Answer):
    """What would be a row but for one thing; since when, and where to go, where that is known."""

    what: str
    reason: str
    advice: str
    since: str = ""
    link: LinkTold | None = None

    @classmethod
    def of(cls, near: Near) -> "NearTold":
        """As JSON, without what is not known."""
        told: dict[str, object] = {
            "what": near.what,
            "reason": near.reason,
            "advice": near.advice,
        }
        if near.since:
            told["since"] = near.since
        if near.link is not None:
            told["link"] = LinkTold(kind=near.link.kind, id=near.link.id)
        return cls.model_validate(told)


class PartTold(Answer):
    """A part of the query, its solutions alone and joined with all before it."""

    text: str
    alone: int
    joined: int


class QuietTold(Answer):
    """Why a query has so many rows; counts that are `most` may be more."""

    query: str
    rows: int
    patterns: list[PartTold]
    first_starved: int | None = Field(description="the place in `patterns`, from 0")
    near: list[NearTold]
    most: int
    whole: bool = Field(description="whether there was time for all of it")


@dataclass(frozen=True, slots=True)
class QuietSources:
    """What a gateway is asked for: its queries by name, what keeps values away, the time."""

    queries: Callable[[], Mapping[str, Template]]
    before: Callable[[Policy], Awaitable[Before]]
    now: Callable[[], datetime]


class QuietGate:
    """The endpoint /why/quiet."""

    def __init__(self, pool: QueryPool, sources: QuietSources) -> None:
        self._pool = pool
        self._sources = sources

    async def quiet(self, body: QuietBody, caller: Caller) -> QuietTold:
        """The answer. Raises a GatewayError."""
        asked = self._asked(body.query, body.name)
        said = asked.infer if body.infer is None else body.infer
        infer = self._pool.infer if said is None else said
        query = parse_query(asked.text)
        require_answerable(query)
        dataset = asked.dataset or query.dataset
        policy, sources = caller.principal.policy, self._sources
        before = await sources.before(policy)
        around = Surroundings(sources.now(), before.near, asked.prefixes)

        def work(answer: BoundedBody) -> Quiet:
            time_s = _SHARE * self._pool.time_s
            asks = Questions(
                self._pool,
                answer,
                rights=policy.query_rights,
                dataset=dataset,
                most=MOST_ASKED,
                time_s=time_s,
                infer=infer,
            )
            return why_quiet(query, asks, lambda: _count_rows(query, asks), around)

        return _told(asked.text, await self._pool.run(work, caller))

    def _asked(self, text: str, name: str) -> "_Asked":
        if bool(text) == bool(name):
            raise BadRequestError("give a query or a name, one of them", QuietBody.hint)
        if text:
            return _Asked(text)
        template = self._sources.queries().get(name)
        if template is None:
            raise NotFoundError(
                f"no query is called {name}",
                "GET /saved and GET /profiles/queries list them",
            )
        if template.over.get("windows"):
            raise BadRequestError(
                f"{name} is over windows, which nobody has asked for patterns yet",
                "/explain says what its windows have, /windows what all have",
            )
        if template.over.get("gateways"):
            raise BadRequestError(
                f"{name} is asked of several gateways, and only this one's patterns are known here",
                "/explain?gateways=all says what each has of it",
            )
        if template.over.get("mode") == EVENT:
            raise BadRequestError(
                f"{name} is asked in mode event, of one event after another",
                "/explain?mode=event says which patterns an event must match",
            )
        graphs = template.graphs
        default, named = graphs.default_graph_uri, graphs.named_graph_uri
        dataset = Dataset.chosen(map(NamedNode, default), map(NamedNode, named))
        return _Asked(template.text, dataset, template.namespaces, template.infer)


@dataclass(frozen=True, slots=True)
class _Asked:
    """A text and, of a named query, its graphs, its profile's prefixes and its view."""

    text: str
    dataset: Dataset | None = None
    prefixes: Mapping[str, str] = field(default_factory=dict)
    infer: bool | None = None


_SHARE = 0.8
"""A part of the time that a QUERY has; what is known by then is told."""


def _count_rows(query: Query, asks: Questions) -> int:
    """The rows of a SELECT, the solutions of a CONSTRUCT, whether an ASK is true."""
    is_select = query.form is QueryForm.SELECT
    select = query if is_select else replace(query, form=QueryForm.SELECT, projection=None)
    most = 1 if query.form is QueryForm.ASK else MOST_COUNTED
    return asks.count_rows(Writer.of(query).select(select), most)


def _told(text: str, quiet: Quiet) -> QuietTold:
    return QuietTold(
        query=text,
        rows=quiet.rows,
        patterns=[
            PartTold(text=each.text, alone=each.alone, joined=each.joined) for each in quiet.parts
        ],
        first_starved=quiet.first_starved,
        near=list(map(NearTold.of, quiet.near)),
        most=MOST_COUNTED,
        whole=quiet.is_whole,
    )


router = JsonRouter()


@router.post(PATH, "why is this query quiet?", "what takes its rows away", 404)
async def quiet(
    caller: AnyCaller,
    gate: Annotated[QuietGate, Depends(GateOf(QuietGate))],
    body: Annotated[QuietBody, Depends(JsonBody(QuietBody))],
) -> QuietTold:
    """With the rights of who asks, as of a QUERY; within its limits."""
    return await gate.quiet(body, caller)
