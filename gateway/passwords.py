"""MQTT users' passwords: argon2 hashes, verified in a thread, success remembered for a while.

A verification takes some 50 ms of CPU by design: never on the event loop, and once per client and
not once per reconnection.
"""

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Mapping

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError


def hash_password(password: str) -> str:
    """The argon2id hash to put into `[mqtt.users]`."""
    return PasswordHasher().hash(password)


class Passwords:
    """The users of the embedded broker."""

    def __init__(self, users: Mapping[str, str]) -> None:
        self._users = dict(users)
        self._hasher = PasswordHasher()
        self._key = secrets.token_bytes(32)
        self._verified: dict[str, bytes] = {}

    async def verify(self, user: str | None, password: str | None) -> bool:
        """Whether the password is the user's; an unknown user costs the same time."""
        if user is None or password is None:
            return False
        fingerprint = hmac.new(self._key, password.encode(), hashlib.sha256).digest()
        if hmac.compare_digest(self._verified.get(user, b""), fingerprint):
            return True
        known = await asyncio.to_thread(self._matches, user, password)
        if known:
            self._verified[user] = fingerprint
        return known

    def _matches(self, user: str, password: str) -> bool:
        stored = self._users.get(user)
        try:
            self._hasher.verify(stored or _NOBODY, password)
        except (VerificationError, InvalidHashError):
            return False
        return stored is not None


_NOBODY = hash_password(secrets.token_urlsafe(16))
