"""What the handlers of the JSON interface are given: who asks, and the gate that answers.

Place on the way of the data: between FastAPI's routes and the gates. All are coroutines: FastAPI
would call plain functions in another thread, where results of pyoxigraph must not be.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Generic, TypeVar

from fastapi import Depends
from starlette.requests import Request

from gateway.errors import ForbiddenError
from gateway.gates.http.caller import Caller
from gateway.gates.http.request_body import RequestLimits
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.security.guard import Guard, OpenGuard
from gateway.security.policy import EVERYTHING, Capability

_Gate = TypeVar("_Gate")


@dataclass(frozen=True, slots=True)
class Served:
    """What the routes of one gateway stand on: its gates by their classes, its guard and limits."""

    gates: Mapping[type, object]
    guard: Guard = field(default_factory=OpenGuard)
    limits: RequestLimits = field(default_factory=RequestLimits)


def served_by(request: Request) -> Served:
    """That of the gateway that was asked."""
    served: Served = request.app.state.served
    return served


async def _caller(request: Request) -> Caller:
    """Raise what the guard raises; asked once a request."""
    return Caller.of(request, served_by(request).guard)


AnyCaller = Annotated[Caller, Depends(_caller)]
"""Whoever asks, as the guard knows them."""


class Requires:
    """A dependency: the caller has a capability."""

    def __init__(self, capability: Capability) -> None:
        self._capability = capability

    async def __call__(self, caller: AnyCaller) -> None:
        """Raise what the guard raises, and ForbiddenError."""
        caller.principal.require(self._capability)


async def require_everything(caller: AnyCaller) -> None:
    """Raise what the guard raises, and ForbiddenError for who has not all rights there are."""
    if caller.principal.policy != EVERYTHING:
        raise ForbiddenError(
            "this needs all rights there are",
            "ask who has them, or use `sosa-gateway client` on the gateway's machine",
        )


async def require_observations(caller: AnyCaller) -> None:
    """Raise what the guard raises, and ForbiddenError for who may not QUERY observations."""
    if not caller.principal.policy.query_rights.may_read(DEFAULT_GRAPH):
        raise ForbiddenError(
            "this needs the right to query the default graph, where observations are",
            "ask the gateway's administrator for --query default",
        )


class GateOf(Generic[_Gate]):
    """A dependency: the gate of a class, of the gateway that was asked."""

    def __init__(self, kind: type[_Gate]) -> None:
        self._kind = kind

    async def __call__(self, request: Request) -> _Gate:
        """Raise KeyError where the gateway was not given it, which is a defect."""
        gate = served_by(request).gates[self._kind]
        assert isinstance(gate, self._kind)  # noqa: S101
        return gate
