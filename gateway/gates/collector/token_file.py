"""`TokenFile`: a guard for a collector, from a file with one `<identity> <token>` a line.

Place: in front of the collector. The file is read again when it has changed, so a token is
withdrawn by taking its line away; only digests are kept and compared.
"""

import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path

from gateway.errors import ConfigurationError, InvalidTokenError, UnauthorizedError
from gateway.security.guard import Ended
from gateway.security.policy import Policy
from gateway.security.principal import Principal

_SHORTEST = 16


class TokenFile:
    """A guard; see Guard. Its principals have no rights but their identity."""

    def __init__(self, path: Path) -> None:
        """Raises ConfigurationError for a file that is missing or wrong."""
        self._path = path
        self._stamp = (0, 0)
        self._identities: dict[bytes, str] = {}
        self._read()

    def principal(self, authorization: str | None) -> Principal:
        """The gateway whose token this is; raises where none has it."""
        scheme, _, token = (authorization or "").partition(" ")
        if scheme.lower() != "bearer" or not token:
            raise UnauthorizedError("no token", "send Authorization: Bearer <token>")
        self._read()
        shown = _digest(token.strip())
        for known, identity in self._identities.items():
            if hmac.compare_digest(known, shown):
                return Principal(identity, Policy())
        raise InvalidTokenError("the token is not known", "add it to the collector's token file")

    def watch(self, principal: Principal, ended: Ended) -> Callable[[], None]:
        """See Guard; an upload is over before its rights could end."""
        del principal, ended
        return lambda: None

    def _read(self) -> None:
        try:
            seen = self._path.stat()
            if (seen.st_mtime_ns, seen.st_size) == self._stamp:
                return
            lines = self._path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"cannot read the tokens in {self._path}: {error}",
                "write one line for each gateway: its id, a blank, its token",
            ) from error
        self._identities = dict(self._entry(n, line) for n, line in _entries(lines))
        self._stamp = (seen.st_mtime_ns, seen.st_size)

    def _entry(self, number: int, line: str) -> tuple[bytes, str]:
        parts = line.split()
        if len(parts) != 2 or len(parts[1]) < _SHORTEST:
            raise ConfigurationError(
                f"{self._path}:{number}: not an id and a token of {_SHORTEST} characters or more",
                "make a token: openssl rand -hex 32",
            )
        return _digest(parts[1]), parts[0]


def _entries(lines: list[str]) -> list[tuple[int, str]]:
    return [(n, line) for n, line in enumerate(lines, 1) if line.strip() and line[0] != "#"]


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()
