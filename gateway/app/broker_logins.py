"""Who may log in to the embedded broker, and which topics are theirs.

Place on the way of the data: the broker asks at CONNECT, PUBLISH and SUBSCRIBE, and before it
delivers. Identities are those of HTTP and WebSocket: name or client id with the secret, or with a
token as the password.
"""

from collections.abc import Callable, Mapping

from gateway.errors import UnauthorizedError
from gateway.gates.mqtt.embedded.settings import Authenticate, Authorize, Login, TopicAction
from gateway.security.authority import Authority
from gateway.security.passwords import Passwords


def login_by(authority: Authority) -> Authenticate:
    """Identities; a connection ends when the token or the identity that it came with does."""

    async def authenticate(user: str | None, password: str | None, address: str) -> Login | None:
        if user is None or password is None:
            return None
        try:
            principal = await authority.login(user, password, address)
        except UnauthorizedError:
            return None

        def watch(ended: Callable[[], None]) -> Callable[[], None]:
            return authority.watch(principal, lambda _: ended())

        return Login(principal.identity, watch)

    return authenticate


def topics_by(authority: Authority) -> Authorize:
    """The topics of each identity's policy of now."""

    def may(user: str | None, topic: str, action: TopicAction) -> bool:
        policy = None if user is None else authority.policy(user)
        if policy is None:
            return False
        match action:
            case TopicAction.PUBLISH:
                return policy.may_publish(topic)
            case TopicAction.SUBSCRIBE:
                return policy.may_subscribe(topic)
            case TopicAction.RECEIVE:
                return policy.may_receive(topic)

    return may


def login_of(users: Mapping[str, str]) -> Authenticate:
    """The users of a broker without identities, by the argon2 hashes of their passwords."""
    passwords = Passwords()

    async def authenticate(user: str | None, password: str | None, _: str) -> Login | None:
        if user is None or password is None:
            return None
        return Login(user) if await passwords.verify(users.get(user), password) else None

    return authenticate
