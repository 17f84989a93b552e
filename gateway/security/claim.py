"""`Claims`: how a gateway that knows nobody yet gets its first client, by a code.

Place: `sosa-gateway claim` prints the code on the machine of the gateway and keeps its hash beside
the identities; who gives it over the network becomes the first client, with all rights. The code
lasts as long as the gateway has run for an hour, and for five tries.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Callable

from gateway.errors import ConflictError, StorageError, UnknownIdentityError
from gateway.security.authority import Authority, Credentials, new_credentials
from gateway.security.clients import checked_name
from gateway.security.identity import Identity, Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.passwords import hash_password
from gateway.security.policy import EVERYTHING

log = logging.getLogger(__name__)

ALPHABET = "23456789ABCDEFGHJKMNPQRSTUVWXYZ"
"""What nobody takes for another one when it is read aloud or typed off: no 0, O, 1, I, L."""

VALID_S = 3600.0
TRIES = 5
SLICE_S = 15.0
"""Time is taken off the code by so much at once, and before it has passed: no start gives any back.
"""

_HALF = 5
_THROTTLED = "\0claim"  # which is nobody's name
_WRONG = "the code is wrong, or its time or tries are over"


def offer(store: IdentityStore, chosen: str = "") -> str:
    """A new code, in place of any before: ten characters in two groups; the one that was chosen.

    Raises ConflictError where there are clients already, StorageError.
    """
    code = normal(chosen) or "".join(secrets.choice(ALPHABET) for _ in range(2 * _HALF))
    store.offer_claim(hash_password(code), VALID_S, TRIES)
    return f"{code[:_HALF]}-{code[_HALF:]}"


def normal(code: str) -> str:
    """A code as it was made, however somebody has typed it.

    >>> normal(" abcde fghjk")
    'ABCDEFGHJK'
    """
    return "".join(each for each in code.upper() if each not in "- \t\n")


class Claims:
    """Takes codes in exchange for credentials; `run` is its task, in the event loop."""

    def __init__(
        self,
        store: IdentityStore,
        authority: Authority,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._store = store
        self._authority = authority
        self._clock = clock

    async def run(self) -> None:
        """Take the time that passes off the code, until cancelled."""
        while True:
            if not self._authority.clients:
                await self.charge()
            await asyncio.sleep(SLICE_S)

    async def charge(self) -> None:
        """Take off the time that comes; a disk that does not do its work is told in the log."""
        try:
            await asyncio.to_thread(self._store.charge_claim, SLICE_S)
        except StorageError as error:
            log.error("claim_not_charged", extra={"reason": str(error)})

    def require_unclaimed(self) -> None:
        """Raise ConflictError where there are clients already."""
        if self._authority.clients:
            raise ConflictError(
                "this gateway has clients already", "sign in, or ask who has all rights"
            )

    async def redeem(self, code: str, name: str, address: str) -> Credentials:
        """Make the first client, with all rights, of who gives the code.

        Raises UnknownIdentityError for a wrong code, TooManyRequestsError, ConflictError where
        somebody was faster, BadRequestError for what is no name, StorageError.
        """
        self.require_unclaimed()
        name = checked_name(name)
        throttle, passwords = self._authority.throttle, self._authority.passwords
        throttle.attempt(address, _THROTTLED)
        code_hash = await asyncio.to_thread(self._store.try_claim)
        if not await passwords.verify(code_hash, normal(code)) or code_hash is None:
            log.warning("claim_refused", extra={"address": address})
            raise UnknownIdentityError(_WRONG, "`sosa-gateway claim` on the machine prints one")
        credentials = new_credentials()
        hashes = await self._authority.hashes(credentials.client_secret)
        first = Identity(
            name,
            Kind.APPLICATION,
            EVERYTHING,
            credentials.client_id,
            hashes.secret,
            tokens_from=self._clock(),
            mosquitto_hash=hashes.mosquitto,
        )
        if not await asyncio.to_thread(self._store.claim, code_hash, first):
            raise ConflictError("somebody else was faster", "sign in, or ask who has all rights")
        throttle.succeeded(address, _THROTTLED)
        log.info("gateway_claimed", extra={"identity": name, "address": address})
        await self._authority.follow()
        return credentials
