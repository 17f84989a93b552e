"""`GET /me`: who asks, and what they may do; docs/http.md.

The first thing that a page asks, before anybody has signed in: it offers what is allowed alone.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends
from pydantic import Field
from starlette.requests import Request

from gateway import __version__
from gateway.gates.http.caller import Caller
from gateway.gates.http.dependencies import GateOf, served_by
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.policy import EVERYTHING, Capability, Policy
from gateway.security.policy_text import words_of
from gateway.security.principal import Principal

PATH = "/me"

_OF_GATEWAYS = {Capability.FEDERATE, Capability.OPERATIONS}

NOBODY = Principal("", Policy())
"""Who shows nothing, where clients are asked who they are."""


class MeTold(Answer):
    """Who asks; `identity` is null where nobody is asked, and for who shows no token.

    `policy` has the words of `sosa-gateway client add`, by the kind of right; it is there with an
    identity. `claimable`: clients are asked who they are, and there is none yet. `gateways` are
    those of the federation, this one among them, for who may ask them or look after them.
    """

    secured: bool
    identity: str | None
    capabilities: list[str]
    everything: bool
    claimable: bool
    version: str
    name: str
    gateways: list[str] = Field(default_factory=list)
    policy: dict[str, list[str]] = Field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class MeGate:
    """Tells who asks; `name` is that of the machine, `is_claimable` whether there is no client.

    `gateways` are those of the federation, none where there is none.
    """

    is_secured: bool
    name: str
    is_claimable: Callable[[], bool] = lambda: False
    gateways: Callable[[], Collection[str]] = tuple

    def me(self, principal: Principal) -> MeTold:
        """As the guard knows them."""
        policy = principal.policy
        told = MeTold(
            secured=self.is_secured,
            identity=principal.identity or None,
            capabilities=sorted(each.value for each in policy.capabilities),
            everything=policy == EVERYTHING,
            claimable=self.is_secured and self.is_claimable(),
            version=__version__,
            name=self.name,
            gateways=sorted(self.gateways()) if policy.capabilities & _OF_GATEWAYS else [],
        )
        return told.model_copy(update={"policy": words_of(policy)}) if told.identity else told


router = JsonRouter(is_public=True, errors=(400, 401, 403, 429))


@router.get(PATH, "who asks, and what they may do", "as the gateway knows them")
async def me(request: Request, gate: Annotated[MeGate, Depends(GateOf(MeGate))]) -> MeTold:
    """A token that is shown must be in force; who shows none is nobody."""
    if gate.is_secured and "authorization" not in request.headers:
        return gate.me(NOBODY)
    return gate.me(Caller.of(request, served_by(request).guard).principal)
