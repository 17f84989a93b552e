"""How the gateway was, over restarts, by HTTP: `GET /health/history`; docs/alarms.md."""

from typing import Annotated, Any

from fastapi import Depends, Query
from pydantic import Field

from gateway.admin.self_report import MOST_ENTRIES, Entry, SelfReport
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.policy import Capability

PATH = "/health/history"
_SHOWN = 200


class EntryTold(Answer):
    """Something that was; `number` is its order, since the clock may have been set."""

    number: int
    at: str = Field(description="by the wall clock of then")
    what: str = Field(description="started, stopped, alarm, cleared or counted")
    said: dict[str, Any] = Field(description="what is told of it")

    @classmethod
    def of(cls, entry: Entry) -> "EntryTold":
        """As JSON."""
        return cls(number=entry.number, at=entry.at, what=entry.what.value, said=dict(entry.said))


class HistoryTold(Answer):
    """The last entries, the oldest first."""

    entries: list[EntryTold]


class HealthHistoryGate:
    """The endpoint /health/history."""

    def __init__(self, report: SelfReport) -> None:
        self._report = report

    def told(self, limit: int) -> HistoryTold:
        """The last `limit` entries."""
        return HistoryTold(entries=list(map(EntryTold.of, self._report.entries[-limit:])))


router = JsonRouter(Requires(Capability.OPERATIONS))


@router.get(PATH, "how the gateway was, over restarts", "starts, stops, alarms, hourly counters")
async def health_history(
    gate: Annotated[HealthHistoryGate, Depends(GateOf(HealthHistoryGate))],
    limit: Annotated[int, Query(ge=1, le=MOST_ENTRIES)] = _SHOWN,
) -> HistoryTold:
    """From memory."""
    return gate.told(limit)
