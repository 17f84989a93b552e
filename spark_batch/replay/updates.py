"""To a SPARQL endpoint: INSERT DATA of the statements that the profile's templates make.

Place on the way of the data: the exit of `replay`. An observation keeps its IRI, so a batch that is
sent twice is there once. A gateway under load (429, 503) or gone for a moment is asked again, later
and later; what it refuses ends the replay. Source: SPARQL 1.1 Protocol, 2.2.
"""

import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import httpx

from spark_batch.errors import ArchiveError
from spark_batch.replay.receiver import Sent
from spark_batch.replay.selection import Row

_LATER = frozenset({429, 502, 503, 504})
_LONGEST_S = 10.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where updates go: its URL, a file with a bearer token, one with a certificate to trust."""

    url: str
    token: Path | None = None
    ca: Path | None = None
    timeout_s: float = 60.0


class UpdateReceiver:
    """A receiver of batches; a context manager."""

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], None] = time.sleep) -> None:
        if not endpoint.url.startswith(("http://", "https://")):
            raise ArchiveError(
                f"{endpoint.url!r} is no URL of an endpoint", "give http[s]://host:port/update"
            )
        self._endpoint = endpoint
        self._sleep = sleep
        self._client = httpx.Client(verify=_trust(endpoint.ca), timeout=endpoint.timeout_s)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def send(self, rows: Sequence[Row]) -> Sent:
        """One request; raises ArchiveError when it is refused, or not answered in time."""
        text = "INSERT DATA {\n" + "\n".join(row.statements for row in rows) + "\n}"
        end = time.monotonic() + self._endpoint.timeout_s
        pause_s = 0.2
        while (problem := self._post(text)) is not None:
            if time.monotonic() + pause_s > end:
                raise ArchiveError(
                    f"{self._endpoint.url} takes nothing: {problem}",
                    "look at it, and run the replay again: --position goes on where it was",
                )
            self._sleep(pause_s)
            pause_s = min(2 * pause_s, _LONGEST_S)
        return Sent(len(rows), 1)

    def _post(self, text: str) -> str | None:
        """None when it is done, else why it may be later; raises ArchiveError for a refusal."""
        headers = {"Content-Type": "application/sparql-update; charset=utf-8"}
        if self._endpoint.token is not None:
            headers["Authorization"] = f"Bearer {self._bearer(self._endpoint.token)}"
        try:
            answer = self._client.post(self._endpoint.url, content=text.encode(), headers=headers)
        except httpx.TransportError as error:
            return str(error) or type(error).__name__
        if answer.is_success:
            return None
        if answer.status_code in _LATER:
            return f"HTTP {answer.status_code}"
        raise ArchiveError(
            f"{self._endpoint.url} refused with {answer.status_code}: {answer.text[:300]}",
            "give a --token-file whose client may write"
            if answer.status_code in (401, 403)
            else "",
        )

    def _bearer(self, file: Path) -> str:
        """Read for each request: whoever renews the token replaces the file."""
        try:
            return file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ArchiveError(f"no token in {file}: {error}", "correct --token-file") from error


def _trust(ca: Path | None) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=None if ca is None else str(ca))
    except (OSError, ssl.SSLError) as error:
        raise ArchiveError(f"no certificate in {ca}: {error}", "correct --ca") from error
