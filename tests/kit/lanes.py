"""`Lanes`: a guard for tests of gates, without keys and clocks."""

from collections.abc import Callable

from pyoxigraph import NamedNode

from gateway.errors import InvalidTokenError, UnauthorizedError
from gateway.security.guard import Ended
from gateway.security.policy import Policy
from gateway.security.principal import Principal


class Lanes:
    """Takes any name as a token: it may subscribe to `urn:graph:NAME` until `end(NAME)`."""

    def __init__(self) -> None:
        self._watches: dict[str, list[Ended]] = {}

    def principal(self, authorization: str | None) -> Principal:
        """A principal of the name, who may subscribe to one graph."""
        if authorization is None:
            raise UnauthorizedError("no token", "send one")
        name = authorization.removeprefix("Bearer ")
        return Principal(name, Policy(subscribe=frozenset({NamedNode(f"urn:graph:{name}")})))

    def watch(self, principal: Principal, ended: Ended) -> Callable[[], None]:
        """Keep `ended` until `end` calls it."""
        watches = self._watches.setdefault(principal.identity, [])
        watches.append(ended)
        return lambda: watches.remove(ended) if ended in watches else None

    def end(self, name: str) -> None:
        """The rights of a name have ended."""
        for ended in list(self._watches.pop(name, [])):
            ended(InvalidTokenError("the token has expired", "ask for a new one"))
