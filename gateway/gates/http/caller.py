"""`Caller`: who sends an HTTP request, from where, and whether they still wait for the answer.

Place on the way of the data: made by every HTTP gate first of all, by its `Guard`.
"""

from dataclasses import dataclass
from typing import Self

from starlette.requests import Request

from gateway.gates.protocol.media_types import choose
from gateway.security.guard import Guard
from gateway.security.principal import ANYONE, Principal


class PeerLeftError(Exception):
    """The client has closed its connection: whatever is answered, nobody reads it."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The sender of a request."""

    principal: Principal
    request: Request

    @classmethod
    def of(cls, request: Request, guard: Guard) -> Self:
        """By the Authorization header. Raises what the guard raises."""
        shown = request.headers.getlist("authorization")
        return cls(guard.principal(shown[0] if len(shown) == 1 else None), request)

    @property
    def client(self) -> str:
        """Whose limits count: the identity, or the address where nobody is asked who they are."""
        if self.principal is not ANYONE:
            return f"identity {self.principal.identity}"
        return f"address {self.request.client.host if self.request.client else ''}"

    @property
    def takes_gzip(self) -> bool:
        """Whether the client accepts the content coding gzip (RFC 9110, section 12.5.3)."""
        accepted = ",".join(self.request.headers.getlist("accept-encoding"))
        return accepted != "" and choose(accepted, ["gzip"]) is not None

    async def until_gone(self) -> None:
        """Return when the client has closed its connection; to be called once the body is read."""
        while (await self.request.receive())["type"] != "http.disconnect":
            pass
