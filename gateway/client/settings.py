"""What an agent needs beside a profile: patience, trust, and who it is.

Place: given once when an agent is made; nothing reads the environment. Proxies are not used: a
gateway is on the same network as its clients.
"""

import json
import os
import random
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from gateway.client.errors import AgentError


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a broker gave a client at its registration."""

    client_id: str
    client_secret: str = field(repr=False)

    @classmethod
    def load(cls, path: Path) -> Self | None:
        """From a file that `save` wrote, None where there is none. Raises AgentError."""
        try:
            members = json.loads(path.read_text(encoding="utf-8"))
            return cls(str(members["client_id"]), str(members["client_secret"]))
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise AgentError(f"{path} has no credentials: {error}", "remove it") from error

    def save(self, path: Path) -> None:
        """To a file that only its owner may read, at once or not at all."""
        members = {"client_id": self.client_id, "client_secret": self.client_secret}
        new = path.with_name(f"{path.name}.new")
        new.unlink(missing_ok=True)
        with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            json.dump(members, file)
        new.replace(path)


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait between attempts: doubled each time, half of it by chance.

    `tries` is how often a lost subscription is asked for again, None for ever.
    """

    first_s: float = 0.5
    most_s: float = 30.0
    tries: int | None = None

    def wait_s(self, attempt: int) -> float:
        """Before the attempt, counted from 1.

        >>> 0.25 <= Backoff().wait_s(1) <= 0.5
        True
        """
        longest = min(self.most_s, self.first_s * 2.0 ** min(attempt - 1, 30))
        return longest * (0.5 + random.random() / 2)  # noqa: S311  # spreads clients, no secret


@dataclass(frozen=True, slots=True)
class Settings:
    """`timeout_s` bounds each request and each step of a connection.

    A broker with a certificate of its own is trusted by `ca_file`. Who has `credentials` gets
    tokens by them; who has an `identity` registers once, and keeps what it gets in
    `credentials_file` where that is given.
    """

    timeout_s: float = 60.0
    backoff: Backoff = field(default_factory=Backoff)
    ping_s: float = 20.0
    ca_file: Path | None = None
    credentials: Credentials | None = None
    identity: str | None = None
    credentials_file: Path | None = None

    def tls(self) -> ssl.SSLContext:
        """What is trusted. Raises AgentError for a `ca_file` that cannot be used."""
        try:
            return ssl.create_default_context(cafile=self.ca_file)
        except (OSError, ssl.SSLError) as error:
            reason = f"{self.ca_file} is no file of certificates: {error}"
            raise AgentError(reason, "name the CA's certificate, as PEM") from error
