"""The trail of a value by HTTP: from message to command, a station after the other.

What `WhyGate` tells of an observation, in stations; before and behind it what is known of its
stream, of the questions and rules that look at it, and of a command. docs/looking.md shows it.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, TypeVar

from fastapi import Depends, Query
from pydantic import BaseModel, ConfigDict, Field

from gateway.actuation.ledger import Entry
from gateway.admin.looking.near_streams import Wanted
from gateway.admin.looking.troubles import Before
from gateway.errors import BadRequestError, NotFoundError
from gateway.gates.http.caller import Caller
from gateway.gates.http.dependencies import AnyCaller, GateOf
from gateway.gates.http.json_router import JsonRouter
from gateway.gates.http.rendering import BoundedBody
from gateway.gates.looking import stations, trail_store
from gateway.gates.looking.asked_of import Standings, may_read_mappings
from gateway.gates.looking.questions import Questions
from gateway.gates.looking.trail_answers import Station, TrailTold
from gateway.gates.looking.why import Asked, Question, WhyGate
from gateway.gates.looking.why_answers import OriginTold
from gateway.gates.sparql.query_pool import QueryPool
from gateway.security.policy import Policy
from gateway.sparql.parser import parse_query
from jsap.template import Template

PATH = "/why/trail"

_T = TypeVar("_T")


class AskedTrail(BaseModel):
    """What stands in the URL: one of the ways to say what a trail is of."""

    model_config = ConfigDict(frozen=True, extra="allow")

    iri: Annotated[str, Field(description="an observation, or what one is about")] = ""
    subject: Annotated[str, Field(description="of a triple, as in N-Triples")] = ""
    predicate: str = ""
    object: str = ""
    graph: str = ""
    sensor: Annotated[str, Field(description="IRI: its newest observation of `property`")] = ""
    property: str = ""
    command: Annotated[str, Field(description="an actuation: IRI, or the id it was given")] = ""
    query: Annotated[str, Field(description="name of a query of the profiles or saved")] = ""
    row: Annotated[str, Field(description="of `query`: a binding as in SPARQL results JSON")] = ""


@dataclass(frozen=True, slots=True)
class TrailSources:
    """What a gateway is asked for besides why.

    `command` gives what became of a command, and raises NotFoundError; `before` what keeps values
    away, as far as somebody may know.
    """

    command: Callable[[str, Policy], Awaitable[Entry]]
    queries: Callable[[], Mapping[str, Template]]
    before: Callable[[Policy], Awaitable[Before]]
    standings: Standings


class TrailGate:
    """The endpoint /why/trail."""

    def __init__(self, why: WhyGate, pool: QueryPool, sources: TrailSources) -> None:
        self._why = why
        self._pool = pool
        self._sources = sources

    async def trail(self, asked: AskedTrail, caller: Caller) -> TrailTold:
        """The stations. Raises a GatewayError."""
        ways = [asked.iri, asked.subject, asked.sensor, asked.command, asked.query]
        if asked.model_extra or sum(map(bool, ways)) != 1:
            raise BadRequestError(
                "give one of iri=, subject=, sensor=, command=, query=",
                "with subject= predicate= and object=, with sensor= property=, with query= row=",
            )
        if asked.command:
            return await self._of_command(asked.command, caller)
        if asked.query:
            return await self._of_row(asked.query, asked.row, caller)
        if asked.sensor:
            return await self._of_sensor(asked.sensor, asked.property, caller)
        known = {"predicate": asked.predicate, "object": asked.object, "graph": asked.graph}
        given = {"iri": asked.iri} if asked.iri else {"subject": asked.subject, **known}
        return await self._of(Asked.model_validate(given), caller)

    async def _of_command(self, name: str, caller: Caller) -> TrailTold:
        """A command, behind the trail of the reading that confirmed it."""
        entry = await self._sources.command(name, caller.principal.policy)
        command = stations.actuation_station(entry)
        if not entry.observation:
            return TrailTold(about=entry.iri, stations=[command], others=[])
        found = await self._of(Asked(iri=entry.observation), caller)
        before = [each for each in found.stations if each.kind not in {"question", "command"}]
        return TrailTold(about=entry.iri, stations=[*before, command], others=found.others)

    async def _of_row(self, name: str, row: str, caller: Caller) -> TrailTold:
        """The observations of a row, the newest one in whole."""
        template = self._sources.queries().get(name)
        if template is None:
            raise NotFoundError(
                f"no query is called {name}", "GET /saved and GET /profiles/queries list them"
            )
        query = parse_query(template.text)
        found = await self._ask(lambda asks: trail_store.row_of(asks, query, row), caller)
        question = stations.row_station(name, found)
        iris = trail_store.newest_first(found.observations)
        if not iris:
            return TrailTold(about="", stations=[question], others=[])
        told = await self._of(Asked(iri=iris[0]), caller)
        placed = [question if each.kind == "question" else each for each in told.stations]
        return TrailTold(about=told.about, stations=placed, others=iris[1:])

    async def _of_sensor(self, sensor: str, observed: str, caller: Caller) -> TrailTold:
        """The newest observation of a sensor, or what keeps one away."""
        node, about = trail_store.named(sensor), trail_store.named(observed)
        found = await self._ask(lambda asks: trail_store.newest(asks, node, about), caller)
        if found is not None:
            return await self._of(Asked(iri=found), caller)
        before = await self._sources.before(caller.principal.policy)
        wanted = Wanted((about,), frozenset({node}), frozenset(), ())
        nears = before.near(wanted, (about,))
        told = stations.expected_stations(node.value, about.value, nears)
        return TrailTold(about="", stations=told, others=[])

    async def _of(self, asked: Asked, caller: Caller) -> TrailTold:
        """An observation, what one is about, or a triple."""
        told = await self._why.why(Question.of(asked), caller)
        follows = [stations.derived_station(told.proof)] if told.proof else []
        if not told.observations:
            kept = stations.nowhere_station(told.reason, is_stored=told.stored)
            return TrailTold(about="", stations=follows or [kept], others=[])
        first, *others = told.observations
        behind = await self._behind(first, caller)
        policy = caller.principal.policy
        before = stations.observed_stations(
            stations.Observed(first, told.stored, behind.silence),
            sees_mappings=may_read_mappings(policy),
        )
        return TrailTold(
            about=first.iri,
            stations=[*before, *follows, *behind.stations],
            others=[each.iri for each in others],
        )

    async def _behind(self, origin: OriginTold, caller: Caller) -> "_Behind":
        line, policy = origin.journal, caller.principal.policy

        def look(asks: Questions) -> tuple[trail_store.Silence | None, Sequence[str]]:
            silent = None if line is None else trail_store.silence(asks, line.sensor, line.property)
            return silent, trail_store.confirmed_by(asks, origin.iri)

        silent, confirmed = await self._ask(look, caller)
        told: list[Station] = []
        if line is not None:
            stream = (line.sensor, line.property, line.feature)
            looking = await self._sources.standings.looking_at(stream, policy)
            if looking is not None:
                told.append(stations.question_station(looking))
                told.append(stations.rule_station(looking.of_rules, looking.errors))
        told.append(stations.confirmed_station(confirmed))
        return _Behind(silent, told)

    async def _ask(self, work: Callable[[Questions], _T], caller: Caller) -> _T:
        def asked(body: BoundedBody) -> _T:
            questions = Questions(
                self._pool,
                body,
                rights=caller.principal.policy.query_rights,
                dataset=None,
                most=trail_store.MOST_ASKED,
                time_s=self._pool.time_s,
            )
            return work(questions)

        return await self._pool.run(asked, caller)


@dataclass(frozen=True, slots=True)
class _Behind:
    """What comes behind an observation, and whether its sensor is silent since."""

    silence: trail_store.Silence | None
    stations: Sequence[Station]


router = JsonRouter()


@router.get(PATH, "the trail of a value", "its stations", 404)
async def trail(
    caller: AnyCaller,
    gate: Annotated[TrailGate, Depends(GateOf(TrailGate))],
    asked: Annotated[AskedTrail, Query()],
) -> TrailTold:
    """The way of an observation, a triple, a sensor's newest, a row or a command."""
    return await gate.trail(asked, caller)
