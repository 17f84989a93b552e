"""`Identity`: what the gateway knows of somebody who may get in, and the keys that sign tokens.

Place: values of the identity store; the authority makes `Principal`s of them.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from gateway.security.policy import Policy


class Kind(StrEnum):
    """What an identity is; each kind has a lifetime of its tokens (SEPA's)."""

    APPLICATION = "application"
    DEVICE = "device"
    USER = "user"


TOKEN_S: Mapping[Kind, float] = {Kind.APPLICATION: 43_200.0, Kind.DEVICE: 3600.0, Kind.USER: 300.0}
"""How long tokens live where nobody says otherwise."""


@dataclass(frozen=True, slots=True)
class Identity:
    """Somebody whom an administrator has let in.

    `client_id` and `secret_hash` (argon2) are empty until it has credentials; `mosquitto_hash` is
    that of the same secret, for a Mosquitto beside the gateway, "" where it was not made. It may
    register itself until `register_until`; tokens that were issued before `tokens_from` are
    revoked. Times are seconds since the Unix epoch.
    """

    name: str
    kind: Kind
    policy: Policy
    client_id: str = ""
    secret_hash: str = field(default="", repr=False)
    register_until: float = 0.0
    tokens_from: float = 0.0
    mosquitto_hash: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class SigningKey:
    """An RSA key as PEM; a retired one verifies and signs no more."""

    kid: str
    private_pem: bytes = field(repr=False)
    created_at: float
    retired_at: float | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """All that the identity store held at one moment.

    `identities` are by name, `clients` those with credentials by client id. The key that signs is
    the first of `keys`; `revoked` are ids of tokens.
    """

    identities: Mapping[str, Identity] = field(default_factory=dict)
    clients: Mapping[str, Identity] = field(default_factory=dict)
    keys: tuple[SigningKey, ...] = ()
    revoked: frozenset[str] = frozenset()

    def login(self, name: str) -> Identity | None:
        """Who logs in under this name or client id."""
        return self.clients.get(name) or self.identities.get(name)
