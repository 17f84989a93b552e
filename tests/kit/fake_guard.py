"""A guard whose tokens are the names of its principals."""

from collections.abc import Callable

from gateway.errors import InvalidTokenError, UnauthorizedError
from gateway.security.guard import Ended
from gateway.security.policy import Policy
from gateway.security.principal import Principal


class FakeGuard:
    """Lets in `Bearer NAME` for each policy that it was made with."""

    def __init__(self, **policies: Policy) -> None:
        self.policies = policies

    def principal(self, authorization: str | None) -> Principal:
        if authorization is None:
            raise UnauthorizedError("no token", "send Authorization: Bearer")
        name = authorization.removeprefix("Bearer ")
        if name not in self.policies:
            raise InvalidTokenError("the token is not known", "ask for a new one")
        return Principal(name, self.policies[name])

    def watch(self, principal: Principal, ended: Ended) -> Callable[[], None]:
        return lambda: None
