"""`Protection`: what stands between the network and the gates, made of the configuration.

Place: the app makes one, hands its guard to every gate, adds its routes, and runs it as long as the
gates are open.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.routing import BaseRoute

from gateway.config import Config
from gateway.gates.broker_settings import Authenticate
from gateway.gates.oauth import OAuthGate
from gateway.security.authority import Authority, AuthoritySettings
from gateway.security.guard import Guard, OpenGuard
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.passwords import Passwords
from gateway.security.throttle import ThrottleLimits


@dataclass(frozen=True, slots=True)
class Protection:
    """The guard of every gate; `authority` is None where nobody is asked who they are."""

    guard: Guard
    authority: Authority | None = None

    def routes(self) -> list[BaseRoute]:
        """The endpoints at which clients get their tokens."""
        return [] if self.authority is None else [*OAuthGate(self.authority).routes()]


def mqtt_users(users: Mapping[str, str]) -> Authenticate | None:
    """The users of the embedded broker without identities; None: there are none, so anyone."""
    if not users:
        return None
    passwords = Passwords()

    async def authenticate(user: str | None, password: str | None) -> bool:
        if user is None or password is None:
            return False
        return await passwords.verify(users.get(user), password)

    return authenticate


def identities_path(config: Config) -> Path:
    """Where identities and keys are kept."""
    return config.gateway.data_dir / "security" / "identities.sqlite"


def token_lifetimes_s(config: Config) -> Mapping[Kind, float]:
    """How long tokens live, by the kind of their identity."""
    return {
        Kind.APPLICATION: config.security.application_token_s,
        Kind.DEVICE: config.security.device_token_s,
        Kind.USER: config.security.user_token_s,
    }


def protection(config: Config) -> Protection:
    """As the configuration has it. Raises StorageError."""
    if not config.security.enabled:
        return Protection(OpenGuard())
    security = config.security
    settings = AuthoritySettings(
        issuer=f"{config.gateway.base_iri}{config.gateway.id}",
        token_s=token_lifetimes_s(config),
        sepatest=security.sepatest,
        throttle=ThrottleLimits(security.address_failures, security.identity_failures),
    )
    authority = Authority(IdentityStore(identities_path(config)), settings)
    return Protection(authority, authority)
