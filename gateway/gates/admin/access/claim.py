"""`POST /claim`: the first client of a gateway that has none, for a code; docs/security.md."""

from typing import Annotated, ClassVar

from fastapi import Depends, Response
from pydantic import Field
from starlette.requests import Request

from gateway.errors import NotFoundError
from gateway.gates.admin.access.clients import PRIVATE
from gateway.gates.http.dependencies import GateOf
from gateway.gates.http.json_body import Body, PublicBody
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.claim import Claims

PATH = "/claim"


class ClaimBody(Body):
    """The code that `sosa-gateway claim` printed, and how the client is to be called."""

    hint: ClassVar[str] = "docs/security.md shows the members"

    code: Annotated[str, Field(min_length=1, max_length=64)]
    client: Annotated[str, Field(min_length=1, max_length=256)]


class ClaimTold(Answer):
    """With what the first client gets its tokens; told here and never again."""

    client_id: str
    client_secret: str


class ClaimGate:
    """Takes codes, where clients are asked who they are."""

    def __init__(self, claims: Claims | None) -> None:
        self._claims = claims

    def claims(self) -> Claims:
        """What takes them. Raises NotFoundError, and ConflictError where there are clients."""
        if self._claims is None:
            raise NotFoundError(
                "nobody is asked who they are here", "say [security] enabled = true"
            )
        self._claims.require_unclaimed()
        return self._claims


async def _claims(gate: Annotated[ClaimGate, Depends(GateOf(ClaimGate))]) -> Claims:
    return gate.claims()


router = JsonRouter(_claims, is_public=True)


@router.post(PATH, "be the first client of a gateway, with all rights", "its secret", 404, 409)
async def claim(
    request: Request,
    response: Response,
    claims: Annotated[Claims, Depends(_claims)],
    body: Annotated[ClaimBody, Depends(PublicBody(ClaimBody))],
) -> ClaimTold:
    """For the code that the gateway's owner has; in force when this is answered."""
    address = request.client.host if request.client else ""
    credentials = await claims.redeem(body.code, body.client, address)
    response.headers.update(PRIVATE)
    return ClaimTold(client_id=credentials.client_id, client_secret=credentials.client_secret)
