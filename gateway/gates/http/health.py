"""/health and /ready: whether the gateway does its work, and whether it takes requests.

Asked by people, and by what restarts gateways or balances requests.
"""

import time
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, Protocol

from fastapi import Depends, Response
from pydantic import ConfigDict, Field
from starlette.requests import Request

from gateway import __version__
from gateway.admin.alarm_watch import Alarm
from gateway.errors import ClientError
from gateway.gates.http.caller import Caller
from gateway.gates.http.dependencies import GateOf, served_by
from gateway.gates.http.json_router import Answer, Error, JsonRouter
from gateway.security.policy import Capability


class Health(Protocol):
    """How the gateway is; a GatewayError that it raises is the answer."""

    async def alarms(self) -> Sequence[Alarm]:
        """What is wrong now."""
        ...

    def details(self) -> Mapping[str, object]:
        """Counters, for who may see operations."""
        ...

    @property
    def is_full(self) -> bool:
        """Whether it takes no more requests at the moment."""
        ...


class HealthState(Answer):
    """Whether it does its work; the rest for who may see operations."""

    model_config = ConfigDict(extra="allow")

    status: Literal["ok", "alarm"]
    alarms: list[str] = Field(default_factory=list)
    version: str = ""
    uptime_s: float = 0
    counters: dict[str, Any] = Field(default_factory=dict)
    flow: dict[str, Any] = Field(default_factory=dict)
    inverted: list[str] = Field(default_factory=list)


class Readiness(Answer):
    """Whether it takes requests."""

    ready: bool


class HealthGate:
    """The endpoints /health and /ready.

    While an alarm is a fault the gateway does not do its work, and /health is answered with 503;
    /ready also while a queue is full. Whether that is so is told to everyone; the alarms, and all
    numbers, to who may see operations.
    """

    def __init__(self, health: Health) -> None:
        self._health = health
        self._started = time.monotonic()

    async def state(self, *, is_operator: bool) -> HealthState:
        """How it is."""
        alarms = await self._health.alarms()
        told: dict[str, object] = {"status": "alarm" if _is_fault(alarms) else "ok"}
        if is_operator:
            told |= {
                "alarms": list(map(str, alarms)),
                "version": __version__,
                "uptime_s": round(time.monotonic() - self._started, 3),
                **self._health.details(),
            }
        return HealthState.model_validate(told)

    async def readiness(self) -> Readiness:
        """Asked before clients are sent here, and without secrets."""
        return Readiness(
            ready=not self._health.is_full and not _is_fault(await self._health.alarms())
        )


def _is_fault(alarms: Sequence[Alarm]) -> bool:
    return any(each.condition.is_fault for each in alarms)


router = JsonRouter(is_public=True, errors=(400, 403, 429))

_Gate = Annotated[HealthGate, Depends(GateOf(HealthGate))]


@router.get(
    "/health",
    "whether it does its work",
    "yes",
    answers={503: {"description": "no", "model": HealthState | Error}},
)
async def health(request: Request, response: Response, gate: _Gate) -> HealthState:
    """What is wrong, to who may see operations."""
    state = await gate.state(is_operator=_is_operator(request))
    _tell_later(response, is_troubled=state.status == "alarm")
    return state


@router.get(
    "/ready",
    "whether it takes requests",
    "yes",
    answers={503: {"description": "no", "model": Readiness | Error}},
)
async def ready(response: Response, gate: _Gate) -> Readiness:
    """To everyone."""
    readiness = await gate.readiness()
    _tell_later(response, is_troubled=not readiness.ready)
    return readiness


def _is_operator(request: Request) -> bool:
    try:
        Caller.of(request, served_by(request).guard).principal.require(Capability.OPERATIONS)
    except ClientError:
        return False
    return True


def _tell_later(response: Response, *, is_troubled: bool) -> None:
    if is_troubled:
        response.status_code = 503
        response.headers["Retry-After"] = "5"
