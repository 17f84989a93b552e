"""`Authority`: the guard of a gateway that asks who its clients are.

Place: gates ask it for the principal of a request, the OAuth gate for credentials and tokens, the
embedded broker for logins. It works on a snapshot of the identity store and looks for a newer one
twice a second, so what `sosa-gateway client` and `keys` do is in force at once. Sources: SPARQL 1.1
SE protocol (Roffia et al., "Dynamic Linked Data: A SPARQL Event Processing Architecture", 2018,
sections 3.4 to 3.6); RFC 6749, section 4.4; RFC 6750.
"""

import asyncio
import logging
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from gateway.errors import (
    InvalidTokenError,
    StorageError,
    UnauthorizedError,
    UnknownClientError,
    UnknownIdentityError,
    UnsupportedGrantError,
)
from gateway.security.guard import Ended
from gateway.security.identity import TOKEN_S, Identity, Kind, Snapshot
from gateway.security.identity_store import IdentityStore
from gateway.security.passwords import Hashes, Passwords, hash_password
from gateway.security.policy import Policy
from gateway.security.principal import Principal
from gateway.security.throttle import Throttle, ThrottleLimits
from gateway.security.tokens import Claims, Tokens, new_key
from gateway.security.watches import Watches

log = logging.getLogger(__name__)

SEPATEST = "SEPATest"
"""The identity that SEPA's own tests use: a public secret, tokens of 5 s."""

_SEPATEST_S = 5.0
_TICK_S = 0.5
_REMEMBERED = 4096
_JWT = "eyJ"
_LOGIN = "`sosa-gateway client list` names who may come; the password is its secret, or its token"
"""How every JSON Web Token begins: a JSON object in base64url."""


@dataclass(frozen=True, slots=True)
class AuthoritySettings:
    """`issuer` is this gateway's IRI, named in every token; lifetimes are those of SEPA.

    With `for_mosquitto` what is kept of new secrets lets a Mosquitto verify them too.
    """

    issuer: str
    token_s: Mapping[Kind, float] = field(default_factory=lambda: TOKEN_S)
    sepatest: bool = False
    throttle: ThrottleLimits = field(default_factory=ThrottleLimits)
    for_mosquitto: bool = False


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a client registers for; the secret is told once."""

    client_id: str
    client_secret: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class Issued:
    """A token and its lifetime."""

    access_token: str = field(repr=False)
    expires_in_s: int


class Authority:
    """A `Guard` over an identity store; all in the event loop's thread, `run` is its task.

    `passwords` verifies secrets, `throttle` counts who fails to show them. Raises StorageError
    where the store cannot be read.
    """

    def __init__(
        self,
        store: IdentityStore,
        settings: AuthoritySettings,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._settings = settings
        self._clock = clock
        self.passwords = Passwords()
        self.throttle = Throttle(time.monotonic, settings.throttle)
        self._watches = Watches()
        self._claims: OrderedDict[str, Claims] = OrderedDict()
        self._public = _sepatest() if settings.sepatest else {}
        if not store.snapshot().keys:
            store.first_key(new_key(clock()))
        self._version = store.version
        self._take(store.snapshot())

    def _take(self, snapshot: Snapshot) -> None:
        self._snapshot = replace(
            snapshot,
            identities={**snapshot.identities, **self._public},
            clients={**snapshot.clients, **self._public},
        )
        longest_s = max(self._settings.token_s.values())
        self._tokens = Tokens(self._settings.issuer, snapshot.keys, longest_s)
        self._claims.clear()

    async def run(self) -> None:
        """Follow the store and end what has expired, until cancelled."""
        while True:
            await asyncio.sleep(_TICK_S)
            try:
                await self.refresh()
            except StorageError as error:
                log.error("identities_not_read", extra={"reason": str(error)})
            self._watches.look(self._fault)

    async def refresh(self) -> None:
        """Take up what has changed in the store. Raises StorageError."""
        version = await asyncio.to_thread(lambda: self._store.version)
        if version != self._version:
            snapshot = await asyncio.to_thread(self._store.snapshot)
            self._version = version
            self._take(snapshot)

    async def follow(self) -> None:
        """Take up a change that was just made, and end what it ends. Raises StorageError."""
        await self.refresh()
        self._watches.look(self._fault)

    def principal(self, authorization: str | None) -> Principal:
        """The client of a Bearer token that is in force; raises an UnauthorizedError."""
        if not authorization:
            raise UnauthorizedError("this needs a token", "send Authorization: Bearer <token>")
        scheme, _, token = authorization.strip().partition(" ")
        if scheme.lower() != "bearer":
            raise UnsupportedGrantError(
                "the authorization is no Bearer token", "send Authorization: Bearer <token>"
            )
        return self._bearer(token.strip())

    def _bearer(self, token: str) -> Principal:
        claims = self._claims.get(token)
        if claims is None:
            claims = self._claims[token] = self._tokens.read(token, self._clock())
            if len(self._claims) > _REMEMBERED:
                self._claims.popitem(last=False)
        identity = self._snapshot.clients.get(claims.client_id)
        if identity is None:
            raise _ended("the client of the token was revoked")
        principal = Principal(
            identity.name,
            identity.policy,
            datetime.fromtimestamp(claims.expires_at, UTC),
            claims.token_id,
            claims.issued_at,
        )
        fault = self._fault(principal)
        if fault is not None:
            raise fault
        return principal

    def watch(self, principal: Principal, ended: Ended) -> Callable[[], None]:
        """Call `ended` at the first tick or change of the store that ends the rights."""
        return self._watches.add(principal, ended)

    def _fault(self, principal: Principal) -> InvalidTokenError | None:
        expires_at = principal.expires_at
        if expires_at is not None and expires_at.timestamp() <= self._clock():
            return _ended("the token has expired")
        identity = self._snapshot.identities.get(principal.identity)
        if identity is None or 0 < principal.since < identity.tokens_from:
            return _ended("the client was revoked")
        if principal.token in self._snapshot.revoked:
            return _ended("the token was revoked")
        if identity.policy != principal.policy:
            return _ended("the rights of the client have changed")
        return None

    @property
    def clients(self) -> list[Identity]:
        """Who may come, by name, SEPA's test identity left out."""
        public = self._public
        return [each for name, each in self._snapshot.identities.items() if name not in public]

    def policy(self, name: str) -> Policy | None:
        """What an identity may do now; None: there is no such identity (any more)."""
        identity = self._snapshot.identities.get(name)
        return None if identity is None else identity.policy

    async def login(self, name: str, password: str, address: str) -> Principal:
        """Who shows a client's name or id, and its secret or a token of its own.

        Raises an UnauthorizedError, or TooManyRequestsError.
        """
        if not password.startswith(_JWT):
            identity = await self._verified(name, password, address)
            return Principal(identity.name, identity.policy, since=self._clock())
        self.throttle.attempt(address, name)
        principal = self._bearer(password)
        identity_shown = self._snapshot.login(name)
        if identity_shown is None or identity_shown.name != principal.identity:
            raise UnknownClientError("the token is not that of this client")
        self.throttle.succeeded(address, name)
        return principal

    async def _verified(self, name: str, secret: str, address: str) -> Identity:
        """The identity with this secret; who is remembered cannot be locked out by others."""
        identity = self._snapshot.login(name)
        stored = identity.secret_hash if identity else ""
        if identity is not None and stored and self.passwords.remembers(stored, secret):
            return identity
        self.throttle.attempt(address, name)
        known = await self.passwords.verify(stored or None, secret)
        if not known or identity is None:
            told = {"identity": name[:256], "address": address, "hint": _LOGIN}
            log.warning("login_refused", extra=told)
            raise UnknownClientError(
                "the client is unknown or its secret is wrong",
                "register, or ask the gateway's administrator",
            )
        self.throttle.succeeded(address, name)
        return identity

    async def issue(self, client_id: str, secret: str, address: str) -> Issued:
        """A token for a client that knows its secret. Raises as `login` does."""
        identity = await self._verified(client_id, secret, address)
        if identity.client_id != client_id:
            raise UnknownClientError("the client is unknown or its secret is wrong")
        special = identity.name in self._public
        lifetime_s = _SEPATEST_S if special else self._settings.token_s[identity.kind]
        token = await asyncio.to_thread(
            self._tokens.issue, identity.client_id, self._clock(), lifetime_s
        )
        return Issued(token, int(lifetime_s))

    async def register(self, name: str, address: str) -> Credentials:
        """Credentials for an identity that an administrator has allowed to register, once.

        Raises UnknownIdentityError, TooManyRequestsError, StorageError.
        """
        if name in self._public:
            return Credentials(name, name)
        self.throttle.attempt(address, name)
        credentials = new_credentials()
        hashes = await self.hashes(credentials.client_secret)
        registered = await asyncio.to_thread(
            self._store.register, name, credentials.client_id, hashes, self._clock()
        )
        if not registered:
            log.warning("registration_refused", extra={"identity": name[:256], "address": address})
            raise UnknownIdentityError(
                "this identity may not register",
                "ask the gateway's administrator: sosa-gateway client add",
            )
        self.throttle.succeeded(address, name)
        log.info("client_registered", extra={"identity": name, "address": address})
        await self.refresh()
        return credentials

    async def hashes(self, secret: str, *, is_made: bool = True) -> Hashes:
        """What is kept of a new secret; `is_made`: nobody has thought of it."""
        return await self.passwords.hashes(
            secret, for_mosquitto=self._settings.for_mosquitto, is_made=is_made
        )

    async def revoke(self, token: str) -> None:
        """Revoke a token of ours; others are nothing to revoke (RFC 7009, 2.2)."""
        try:
            claims = self._tokens.read(token, self._clock())
        except UnauthorizedError:
            return
        await asyncio.to_thread(
            self._store.revoke_token, claims.token_id, claims.expires_at, self._clock()
        )
        await self.follow()

    @property
    def issuer(self) -> str:
        """This gateway's IRI, which its tokens name."""
        return self._settings.issuer

    def public_keys(self) -> list[dict[str, Any]]:
        """The JWK Set's keys."""
        return self._tokens.public_keys()


def new_credentials() -> Credentials:
    """Fresh ones, that nobody can guess."""
    return Credentials(secrets.token_hex(16), secrets.token_urlsafe(32))


def _sepatest() -> Mapping[str, Identity]:
    everything = Policy(None, None, None, None, None)
    secret_hash = hash_password(SEPATEST)
    return {SEPATEST: Identity(SEPATEST, Kind.USER, everything, SEPATEST, secret_hash)}


def _ended(reason: str) -> InvalidTokenError:
    return InvalidTokenError(reason, "get a token from /oauth/token")
