"""Identities for tests, with secrets that are cheap to verify."""

from pathlib import Path

from argon2 import PasswordHasher

from gateway.security.authority import Authority, AuthoritySettings
from gateway.security.identity import Identity, Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import Policy

ISSUER = "https://sosa-gateway.example/id/test"
ADDRESS = "192.0.2.1"
_CHEAP = PasswordHasher(time_cost=1, memory_cost=64, parallelism=1)


def cheap_hash(secret: str) -> str:
    """An argon2 hash that takes no time; verified by the real verifier."""
    return _CHEAP.hash(secret)


def identity(name: str, policy: Policy | None = None, kind: Kind = Kind.DEVICE) -> Identity:
    """One with credentials: its client id is `<name>-id`, its secret `<name>-secret`."""
    return Identity(
        name, kind, policy or Policy(), f"{name}-id", cheap_hash(f"{name}-secret"), tokens_from=1.0
    )


class Clock:
    """Seconds since the epoch that pass when a test says so."""

    def __init__(self) -> None:
        self.now = 1_800_000_000.25

    def __call__(self) -> float:
        return self.now


def store_of(folder: Path, *identities: Identity) -> IdentityStore:
    store = IdentityStore(folder / "security" / "identities.sqlite")
    for each in identities:
        store.add(each)
    return store


def authority_of(store: IdentityStore, clock: Clock, **settings: object) -> Authority:
    return Authority(store, AuthoritySettings(ISSUER, **settings), clock)  # type: ignore[arg-type]
