"""Mappings by HTTP: list, unknown topics, proposals, try, apply, undo.

Place on the way of the data: beside it; what is changed here goes to the scheduler as every other
UPDATE does. docs/mappings.md shows each request.
"""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from gateway.errors import ForbiddenError
from gateway.gates.asker import Asker
from gateway.gates.endpoint import endpoint
from gateway.onboarding.onboarding import Onboarding
from gateway.rdf.namespaces import MAPPINGS_GRAPH
from gateway.security.guard import Guard, OpenGuard
from gateway.security.policy import Capability

PATH = "/mappings"


class MappingsGate:
    """The endpoints below /mappings.

    Who may read the graph of mappings may list them; all else needs the capability `mappings`.
    """

    def __init__(self, onboarding: Onboarding, guard: Guard | None = None) -> None:
        self._onboarding = onboarding
        self._guard = guard or OpenGuard()

    def routes(self) -> list[Route]:
        """The endpoints, for `operations.application`."""
        return [*endpoint(PATH, {"GET": self._list})]

    async def _list(self, request: Request) -> Response:
        policy = Asker.of(request, self._guard).principal.policy
        is_mapper = Capability.MAPPINGS in policy.capabilities
        if not (is_mapper or policy.query_rights.may_read(MAPPINGS_GRAPH)):
            raise ForbiddenError(
                "the mappings may not be read",
                f"ask the gateway's administrator for --query {MAPPINGS_GRAPH.value}",
            )
        return JSONResponse({"mappings": await self._onboarding.mappings()})
