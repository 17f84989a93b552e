"""Secrets of clients and passwords: argon2 hashes, verified in a thread, success remembered.

A verification takes some 50 ms of CPU and 64 MiB by design: never on the event loop, one at a
time, and once per client and not once per request or reconnection.
"""

import asyncio
import hashlib
import hmac
import secrets
from base64 import b64encode
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from gateway.errors import TooManyRequestsError
from gateway.security.mosquitto_hash import (
    CHOSEN_ROUNDS,
    MADE_ROUNDS,
    mosquitto_hash,
    verifies,
)

_WAITING = 32
_REMEMBERED = 4096


def hash_password(password: str) -> str:
    """The argon2id hash to keep in the password's place."""
    return PasswordHasher().hash(password)


@dataclass(frozen=True, slots=True)
class Hashes:
    """What is kept of a secret: argon2, and Mosquitto's own hash where that is to know it."""

    secret: str = field(default="", repr=False)
    mosquitto: str = field(default="", repr=False)


def hashes_of(secret: str, *, for_mosquitto: bool = False, is_made: bool = True) -> Hashes:
    """All that is kept of a secret, which is made and not thought of where `is_made`."""
    rounds = MADE_ROUNDS if is_made else CHOSEN_ROUNDS
    return Hashes(hash_password(secret), mosquitto_hash(secret, rounds) if for_mosquitto else "")


class Passwords:
    """Verifies passwords against their hashes."""

    def __init__(self) -> None:
        self._hasher = PasswordHasher()
        self._thread = ThreadPoolExecutor(1, "argon2")
        self._key = secrets.token_bytes(32)
        self._verified: OrderedDict[str, bytes] = OrderedDict()
        self._waiting = 0

    def remembers(self, stored: str, password: str) -> bool:
        """Whether this very password was found to be right before; in constant time."""
        known = self._verified.get(stored, b"")
        return hmac.compare_digest(known, self._fingerprint(password))

    async def verify(self, stored: str | None, password: str) -> bool:
        """Whether `stored` is the hash of the password; None (nobody's) costs the same time.

        Raises TooManyRequestsError where too many wait.
        """
        if stored is not None and self.remembers(stored, password):
            return True
        if self._waiting >= _WAITING:
            raise TooManyRequestsError("too many passwords are being verified")
        self._waiting += 1
        try:
            loop = asyncio.get_running_loop()
            known = await loop.run_in_executor(self._thread, self._matches, stored, password)
        finally:
            self._waiting -= 1
        if known and stored is not None:
            self._remember(stored, password)
        return known

    async def hashes(self, secret: str, *, for_mosquitto: bool, is_made: bool = True) -> Hashes:
        """What to keep in the secret's place."""
        work = partial(hashes_of, secret, for_mosquitto=for_mosquitto, is_made=is_made)
        return await asyncio.get_running_loop().run_in_executor(self._thread, work)

    def _matches(self, stored: str | None, password: str) -> bool:
        if stored is not None and stored.startswith("$7$"):
            return verifies(stored, password)
        try:
            self._hasher.verify(stored or nobody(), password)
        except (VerificationError, InvalidHashError):
            return False
        return stored is not None

    def _remember(self, stored: str, password: str) -> None:
        self._verified[stored] = self._fingerprint(password)
        if len(self._verified) > _REMEMBERED:
            self._verified.popitem(last=False)

    def _fingerprint(self, password: str) -> bytes:
        return hmac.new(self._key, password.encode(errors="surrogatepass"), hashlib.sha256).digest()


def nobody() -> str:
    """A hash that no password has, of the cost of all others; it is made up, which costs nothing.

    Source: PHC string format, "Argon2 encoding".
    """
    hasher = PasswordHasher()
    cost = f"m={hasher.memory_cost},t={hasher.time_cost},p={hasher.parallelism}"
    salt, digest = (
        _base64(secrets.token_bytes(size)) for size in (hasher.salt_len, hasher.hash_len)
    )
    return f"$argon2id$v=19${cost}${salt}${digest}"


def _base64(data: bytes) -> str:
    return b64encode(data).decode("ascii").rstrip("=")
