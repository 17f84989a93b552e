"""The standing queries by HTTP: how each is served and what that costs; docs/looking.md.

What all clients do together is for the operators. The engine is asked for a snapshot of counters in
the turn of the SUBSCRIBE requests: nothing is compiled, and nothing is asked of the store.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Depends
from pydantic import Field

from gateway.engine import Standing
from gateway.engine.windowed.over import OverWindows
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.policy import Capability

PATH = "/subscriptions"

MOST = 1_000
"""Subscriptions that are told."""

LONGEST = 4_096
"""Characters of a query that are told."""

Kind = Literal["client", "rule", "gateway"]


class SubscriptionTold(Answer):
    """A standing query; what its unit is, costs and keeps is shared by `members` SPUs."""

    spuid: str
    query: str
    alias: str | None
    kind: Kind
    owner: str = Field(description="identity or address of a client, IRI of a rule")
    tier: str = Field(description="empty where a worker process serves it")
    members: int
    lutt: int = Field(description="entries of the look-up triples table")
    cts_quads: int
    hits: int = Field(description="updates that reached it")
    notifications: int
    updates: int = Field(description="updates that the unit processed")
    rows: int = Field(description="rows added and removed that the unit told")
    cost_us: int = Field(description="time that the unit took")
    worker: bool
    windows: dict[str, Any] | None = None
    output: str | None = None
    mode: str | None = None


class SubscriptionsTold(Answer):
    """The oldest first; `total` counts those that are not told as well."""

    subscriptions: list[SubscriptionTold]
    total: int


@dataclass(frozen=True, slots=True)
class StandingSources:
    """The engine's snapshot, and who has which spuid: clients, rules."""

    standing: Callable[[int], Awaitable[tuple[Sequence[Standing], int]]]
    clients: Callable[[], Mapping[str, str]]
    rules: Callable[[], Mapping[str, str]]


class StandingGate:
    """The endpoint /subscriptions."""

    def __init__(self, sources: StandingSources) -> None:
        self._sources = sources

    async def told(self) -> SubscriptionsTold:
        """All of them as they are served now. Raises a GatewayError."""
        standing, total = await self._sources.standing(MOST)
        clients, rules = self._sources.clients(), self._sources.rules()
        return SubscriptionsTold(
            subscriptions=[_told(each, clients, rules) for each in standing], total=total
        )


def kind_of(spuid: str, clients: Mapping[str, str], rules: Mapping[str, str]) -> tuple[Kind, str]:
    """Whose it is; what is nobody's is the gateway's own."""
    if spuid in clients:
        return "client", clients[spuid]
    return ("rule", rules[spuid]) if spuid in rules else ("gateway", "")


def _told(each: Standing, clients: Mapping[str, str], rules: Mapping[str, str]) -> SubscriptionTold:
    kind, owner = kind_of(each.spuid, clients, rules)
    told = SubscriptionTold(
        spuid=each.spuid,
        query=each.text.strip()[:LONGEST],
        alias=each.alias,
        kind=kind,
        owner=owner,
        tier=each.tier,
        members=each.members,
        lutt=each.lutt,
        cts_quads=each.cts_quads,
        hits=each.hits,
        notifications=each.sequence,
        updates=each.costs.updates,
        rows=each.costs.rows,
        cost_us=each.costs.time_ns // 1000,
        worker=each.in_worker,
    )
    return told.model_copy(update=OverWindows(each.windows, each.output, each.mode).members())


router = JsonRouter(Requires(Capability.OPERATIONS))


@router.get(PATH, "the standing queries", "how they are served, and what that costs")
async def subscriptions(
    gate: Annotated[StandingGate, Depends(GateOf(StandingGate))],
) -> SubscriptionsTold:
    """A snapshot of counters."""
    return await gate.told()
