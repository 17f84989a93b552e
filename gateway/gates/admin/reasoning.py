"""Reasoning by HTTP: what is reasoned on and how far, and another try for what is suspended."""

from typing import Annotated

from fastapi import Depends

from gateway.admin.reasoning import ReasoningState, reasoning_state
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.reasoning.domains import Domains
from gateway.scheduler.scheduler import Scheduler
from gateway.security.policy import Capability

PATH = "/reasoning"


class DomainTold(Answer):
    """Graphs that are reasoned on together; `suspended` says why nothing is derived, if so."""

    graphs: list[str]
    into: str
    suspended: str


class AxiomTold(Answer):
    """An axiom in words, and how many derived quads it supports."""

    axiom: str
    derived: int


class ReasoningTold(Answer):
    """What follows now; the axioms that support most, and the first of the contradictions."""

    on: bool
    bound: int
    derived: int
    domains: list[DomainTold]
    used: dict[str, int]
    unused: dict[str, int]
    by_axiom: list[AxiomTold]
    contradicted: int
    contradictions: list[str]

    @classmethod
    def of(cls, state: ReasoningState) -> "ReasoningTold":
        """As JSON."""
        return cls(
            on=state.is_on,
            bound=state.bound,
            derived=state.derived,
            domains=[
                DomainTold(graphs=list(each.graphs), into=each.into, suspended=each.suspended)
                for each in state.domains
            ],
            used=dict(state.used or {}),
            unused=dict(state.unused or {}),
            by_axiom=[AxiomTold(axiom=text, derived=count) for text, count in state.by_axiom],
            contradicted=state.contradicted,
            contradictions=list(state.contradictions),
        )


class ReasoningGate:
    """The endpoints below /reasoning."""

    def __init__(self, scheduler: Scheduler, domains: Domains, bound: int) -> None:
        self._scheduler = scheduler
        self._domains = domains
        self._bound = bound

    async def told(self) -> ReasoningTold:
        """The state now."""
        state = await self._scheduler.look(
            lambda engine: reasoning_state(engine, self._domains, self._bound)
        )
        return ReasoningTold.of(state)

    async def resume(self) -> ReasoningTold:
        """Try what is suspended again; the state then. Raises NoReasoningError."""
        await self._scheduler.look(lambda engine: engine.resume_reasoning())
        return await self.told()


reader = JsonRouter(Requires(Capability.OPERATIONS))
writer = JsonRouter(Requires(Capability.ONTOLOGY))

_Gate = Annotated[ReasoningGate, Depends(GateOf(ReasoningGate))]


@reader.get(PATH, "what is reasoned on, and what follows", "axioms, domains, contradictions")
async def show_reasoning(gate: _Gate) -> ReasoningTold:
    """Off is told as such."""
    return await gate.told()


@writer.post(f"{PATH}/resume", "try suspended domains again", "how it is then")
async def resume_reasoning(gate: _Gate) -> ReasoningTold:
    """What still passes the bound stays suspended."""
    return await gate.resume()
