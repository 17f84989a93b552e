"""`Clients`: letting clients in and out of a gateway that runs, as `sosa-gateway client` does it.

Place: asked by the gates; writes the identity store and has the authority follow at once.
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from gateway.errors import BadRequestError, ConflictError, NotFoundError
from gateway.security.authority import SEPATEST, Authority, Credentials, new_credentials
from gateway.security.identity import Identity
from gateway.security.identity_store import IdentityStore

log = logging.getLogger(__name__)

MOST_CLIENTS = 10_000
"""That are let in over the network; the command line has no limit."""

MOST_NAME = 256

LEAST_PASSWORD, MOST_PASSWORD = 12, 128
_TOKEN = "eyJ"  # noqa: S105  # by which a token is told from a password


def checked_name(name: str) -> str:
    """The name of a client, if it can be one. Raises BadRequestError."""
    if not name or len(name) > MOST_NAME or not name.isprintable():
        raise BadRequestError(f"{name!r} is no name", f"use 1 to {MOST_NAME} printable characters")
    if name == SEPATEST:
        raise BadRequestError(f"{SEPATEST} is not made here", "set [security] sepatest = true")
    return name


def checked_password(password: str) -> str:
    """A password that somebody has thought of, if it can be one. Raises BadRequestError."""
    is_long = LEAST_PASSWORD <= len(password) <= MOST_PASSWORD
    if not is_long or not password.isprintable() or password.startswith(_TOKEN):
        raise BadRequestError(
            "this password cannot be taken",
            f"use {LEAST_PASSWORD} to {MOST_PASSWORD} printable characters, or leave it out and "
            "have a secret made",
        )
    return password


def state_of(identity: Identity, now: float) -> str:
    """Whether a client has credentials, or may still register for them."""
    if identity.client_id:
        return "registered"
    return "may-register" if identity.register_until > now else "registration-expired"


class Clients:
    """The clients of an authority's store; in the thread of the event loop."""

    def __init__(
        self,
        store: IdentityStore,
        authority: Authority,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._authority = authority
        self._clock = clock

    def all(self) -> Sequence[Identity]:
        """All of them, by name."""
        return sorted(self._authority.clients, key=lambda each: each.name)

    async def add(self, identity: Identity, password: str = "") -> tuple[Identity, Credentials]:
        """Let one in, with a secret of its own unless a `password` is given for it.

        Its client id is its name: devices know one name alone. Raises BadRequestError,
        ConflictError where there is one of that name or there are too many, StorageError.
        """
        name = checked_name(identity.name)
        secret = checked_password(password) if password else new_credentials().client_secret
        known = self._authority.clients
        if len(known) >= MOST_CLIENTS:
            raise ConflictError(f"there are {MOST_CLIENTS} clients", "remove some that are gone")
        if any(name in {each.name, each.client_id} for each in known):
            raise ConflictError(f"there is a client {name!r} already", "remove it first")
        hashes = await self._authority.hashes(secret, is_made=not password)
        made = replace(
            identity,
            client_id=name,
            secret_hash=hashes.secret,
            mosquitto_hash=hashes.mosquitto,
            tokens_from=self._clock(),
        )
        await asyncio.to_thread(self._store.add, made)
        log.info("client_added", extra={"identity": name})
        await self._authority.follow()
        return made, Credentials(name, secret)

    async def remove(self, name: str) -> None:
        """Forget one, by its name or client id, and end what it has open.

        Raises NotFoundError, ConflictError for the last one with all rights, StorageError.
        """
        known = self._authority.clients
        found = [each.name for each in known if name in {each.name, each.client_id}]
        if not found:
            raise NotFoundError(f"there is no client {name[:80]!r}", "GET /clients has them")
        await asyncio.to_thread(self._store.revoke_but_last, found[0])
        log.info("client_removed", extra={"identity": found[0]})
        await self._authority.follow()
