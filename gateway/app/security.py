"""`Security`: what stands between the network and the gates, made of the configuration.

Place: the app makes one, hands its guard to every gate, adds its routes, and runs it as long as the
gates are open.
"""

import ssl
from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from starlette.routing import BaseRoute

from gateway.app.names import server_names
from gateway.config.settings import Config
from gateway.errors import ForbiddenError, UnauthorizedError
from gateway.gates.admin.oauth import OAuthGate
from gateway.gates.http.operations import ServerSettings
from gateway.gates.mqtt.embedded.settings import Authenticate, Authorize, Login, TopicAction
from gateway.rdf.rights import ALL_RIGHTS, Rights
from gateway.security.authority import Authority, AuthoritySettings
from gateway.security.claim import Claims
from gateway.security.clients import Clients
from gateway.security.guard import Guard, OpenGuard
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.passwords import Passwords
from gateway.security.throttle import ThrottleLimits
from gateway.security.tls import GivenCertificate, OwnCertificate, ServerTls


@dataclass(frozen=True, slots=True)
class Security:
    """The guard of every gate, and TLS of every server.

    `authority`, `clients` and `claims` are None where nobody is asked who they are, `tls` where all
    is in clear text.
    """

    guard: Guard
    authority: Authority | None = None
    tls: ServerTls | None = None
    clients: Clients | None = None
    claims: Claims | None = None

    def routes(self) -> list[BaseRoute]:
        """The endpoints at which clients get their tokens."""
        return [] if self.authority is None else [*OAuthGate(self.authority).routes()]

    @property
    def context(self) -> ssl.SSLContext | None:
        """That of every server, where TLS is on."""
        return None if self.tls is None else self.tls.context

    def server(self, settings: ServerSettings) -> ServerSettings:
        """The settings of a server, with TLS where that is on."""
        return replace(settings, tls=self.context)

    def broker_rules(
        self, users: Mapping[str, str]
    ) -> tuple[Authenticate | None, Authorize | None]:
        """Who may log in to the embedded broker, and who may do what there; None: anyone.

        Without identities these are `users`, by argon2 hashes of their passwords.
        """
        if self.authority is not None:
            return _login_by(self.authority), _topics_by(self.authority)
        return (_login_of(users), None) if users else (None, None)

    def tasks(self) -> dict[str, Callable[[], Coroutine[object, object, None]]]:
        """What runs as long as the gates are open, by name."""
        followed = {
            "authority": self.authority,
            "certificate": self.tls,
            "claim": self.claims,
        }
        return {name: each.run for name, each in followed.items() if each is not None}

    def update_rights(self, identity: str) -> Rights:
        """What an UPDATE of an identity may do now. Raises ForbiddenError for one that is gone."""
        if self.authority is None:
            return ALL_RIGHTS
        policy = self.authority.policy(identity)
        if policy is None:
            raise ForbiddenError(f"the identity {identity} was revoked", "nothing was changed")
        return policy.update_rights


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


def own_certificate(config: Config) -> OwnCertificate:
    """The certificate by our own CA, made where it is missing."""
    folder = config.gateway.data_dir / "tls"
    return OwnCertificate(folder, partial(server_names, config.http, config.mqtt))


def security(config: Config) -> Security:
    """As the configuration has it. Raises StorageError, ConfigurationError."""
    tls = _tls(config)
    if not config.security.enabled:
        return Security(OpenGuard(), tls=tls)
    security = config.security
    settings = AuthoritySettings(
        issuer=f"{config.gateway.base_iri}{config.gateway.id}",
        token_s=token_lifetimes_s(config),
        sepatest=security.sepatest,
        throttle=ThrottleLimits(security.address_failures, security.identity_failures),
        for_mosquitto=config.mqtt.mode == "mosquitto",
    )
    store = IdentityStore(identities_path(config))
    authority = Authority(store, settings)
    return Security(authority, authority, tls, Clients(store, authority), Claims(store, authority))


def _tls(config: Config) -> ServerTls | None:
    if config.tls.mode == "off":
        return None
    if config.tls.mode == "own":
        return own_certificate(config)
    return GivenCertificate(Path(config.tls.certificate), Path(config.tls.key))


def _login_by(authority: Authority) -> Authenticate:
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


def _topics_by(authority: Authority) -> Authorize:
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


def _login_of(users: Mapping[str, str]) -> Authenticate:
    """The users of a broker without identities, by the argon2 hashes of their passwords."""
    passwords = Passwords()

    async def authenticate(user: str | None, password: str | None, _: str) -> Login | None:
        if user is None or password is None:
            return None
        return Login(user) if await passwords.verify(users.get(user), password) else None

    return authenticate
