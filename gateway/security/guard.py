"""`Guard`: tells a gate who sends a request.

Place: first thing that a gate asks about a request; see `Principal` for what it does with it.
"""

from collections.abc import Callable
from typing import Protocol

from gateway.errors import GatewayError
from gateway.security.principal import ANYONE, Principal

Ended = Callable[[GatewayError], None]
"""Told why a principal's rights have ended."""


class Guard(Protocol):
    """Authenticates requests; its methods are called on the event loop."""

    def principal(self, authorization: str | None) -> Principal:
        """Who shows this `Authorization` (the header, or SE's `authorization` member).

        Raises an UnauthorizedError: no token, another scheme than Bearer, or a token that is
        forged, expired or revoked. Never waits.
        """

    def watch(self, principal: Principal, ended: Ended) -> Callable[[], None]:
        """Tell `ended` once, on the event loop, when the principal's rights are no longer those.

        That is when its token expires or is revoked, when its identity is, or when its policy
        changes. The function that is returned stops the watch; it may be called more than once.
        """


class OpenGuard:
    """Asks nobody who they are: for a gateway that only its own machine reaches.

    >>> OpenGuard().principal(None) is ANYONE
    True
    """

    def principal(self, authorization: str | None) -> Principal:
        """Anyone, whatever they show."""
        del authorization
        return ANYONE

    def watch(self, principal: Principal, ended: Ended) -> Callable[[], None]:
        """The rights of anyone never end."""
        del principal, ended
        return _nothing


def _nothing() -> None:
    pass
