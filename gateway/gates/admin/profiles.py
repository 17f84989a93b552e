"""The JSAP profiles by HTTP: which are in force, and reading their files again.

Place on the way of the data: beside it; docs/profiles.md says what a reload does.
"""

from typing import Protocol

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.gates.http.caller import Caller
from gateway.gates.http.endpoint import endpoint
from gateway.gates.protocol.wire import JsonObject
from gateway.security.guard import Guard
from gateway.security.policy import Capability

PATH = "/profiles"


class Reloading(Protocol):
    """The profiles of a gateway."""

    def state(self) -> JsonObject:
        """Their files, since when they are in force, and why newer ones are not."""
        ...

    async def reload_now(self) -> JsonObject:
        """Read the files; what has changed. Raises a GatewayError."""
        ...


class ProfilesGate:
    """The endpoints /profiles and /profiles/reload."""

    def __init__(self, reloading: Reloading, guard: Guard) -> None:
        self._reloading = reloading
        self._guard = guard

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        return [
            *endpoint(PATH, {"GET": self._get}),
            *endpoint(f"{PATH}/reload", {"POST": self._reload}),
        ]

    async def _get(self, request: Request) -> Response:
        Caller.of(request, self._guard).principal.require(Capability.OPERATIONS)
        return JSONResponse(self._reloading.state())

    async def _reload(self, request: Request) -> Response:
        Caller.of(request, self._guard).principal.require(Capability.MAPPINGS)
        return JSONResponse(await self._reloading.reload_now())
