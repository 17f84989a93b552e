"""`Principal`: who sends a request, with the rights they have now.

Place: made by a `Guard` from a token or a password; a gate keeps it as long as the request, the
connection or the subscription lives.
"""

from dataclasses import dataclass
from datetime import datetime

from gateway.errors import ForbiddenError
from gateway.security.policy import EVERYTHING, Capability, Policy


@dataclass(frozen=True, slots=True)
class Principal:
    """An authenticated identity; `expires_at` is when its token ends, None is never.

    `token` names the token that was shown (its `jti`), "" where there was none. `since` is when it
    was issued, or when the password was shown, in seconds since the Unix epoch; 0 where another
    connection stands for it. Requests of one identity may come under several tokens: compare
    identities to say whose something is.
    """

    identity: str
    policy: Policy
    expires_at: datetime | None = None
    token: str = ""
    since: float = 0.0

    def require(self, capability: Capability) -> None:
        """Raise ForbiddenError unless the policy has the capability."""
        if capability not in self.policy.capabilities:
            raise ForbiddenError(
                f"this needs the right {capability.value!r}",
                f"ask the gateway's administrator for --may {capability.value}",
            )


ANYONE = Principal("", EVERYTHING)
"""Whoever reaches a gateway that asks for no authentication: all rights."""
