"""Alarms by HTTP: what a person has to look after now; docs/alarms.md."""

from typing import Annotated

from fastapi import Depends
from pydantic import Field

from gateway.admin.alarm_watch import Alarm
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.health import Health
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.policy import Capability

PATH = "/alarms"


class AlarmTold(Answer):
    """What is wrong since when, where, and what to do about it."""

    kind: str
    since: str
    where: str
    what: str
    what_to_do: str
    fault: bool = Field(description="whether the gateway does not do its work meanwhile")

    @classmethod
    def of(cls, alarm: Alarm) -> "AlarmTold":
        """As JSON; since when in UTC."""
        said = alarm.condition
        return cls(
            kind=said.kind.value,
            since=alarm.since.isoformat(timespec="milliseconds"),
            where=said.where,
            what=said.what,
            what_to_do=said.what_to_do,
            fault=said.is_fault,
        )


class AlarmsTold(Answer):
    """All of them, the first that came first; none while all is well."""

    alarms: list[AlarmTold]


class AlarmsGate:
    """The endpoint /alarms."""

    def __init__(self, health: Health) -> None:
        self._health = health

    async def told(self) -> AlarmsTold:
        """What is wrong now."""
        return AlarmsTold(alarms=list(map(AlarmTold.of, await self._health.alarms())))


router = JsonRouter(Requires(Capability.OPERATIONS))


@router.get(PATH, "what a person has to look after", "the alarms")
async def alarms(gate: Annotated[AlarmsGate, Depends(GateOf(AlarmsGate))]) -> AlarmsTold:
    """From memory: a full disk does not keep it from being told."""
    return await gate.told()
