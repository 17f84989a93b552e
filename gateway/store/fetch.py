"""`fetch`: a document by HTTP for LOAD, within a size and a time; redirects are not followed.

Place: handed to the store's `Remote` (gateway/store/remote.py), which has asked before whether the
host may be reached; a redirect could lead to any other. It is called in the scheduler's thread, so
for its time other UPDATEs wait.
"""

from collections.abc import Iterator
from time import monotonic
from typing import IO
from urllib.error import URLError
from urllib.request import HTTPRedirectHandler, OpenerDirector, Request, build_opener

from gateway.errors import UpdateFailedError
from gateway.store.remote import Document

_ACCEPT = "text/turtle, application/n-triples, application/rdf+xml;q=0.9, application/ld+json;q=0.8"
_CHUNK_BYTES = 65_536


class _StayHere(HTTPRedirectHandler):
    """A redirect is an answer like any other: an error."""

    def redirect_request(self, *_: object) -> None:
        """Follow no redirect."""


def _opener() -> OpenerDirector:
    return build_opener(_StayHere)


class HttpFetch:
    """Gets documents of at most `most_bytes`, each in `timeout_s` seconds.

    Raises UpdateFailedError for any other status than 200, for what is longer or takes longer.
    """

    def __init__(self, most_bytes: int, timeout_s: float) -> None:
        self._most_bytes = most_bytes
        self._timeout_s = timeout_s
        self._opener = _opener()

    def __call__(self, iri: str) -> Document:
        """Fetch the document at the IRI."""
        request = Request(iri.partition("#")[0], headers={"Accept": _ACCEPT})  # noqa: S310
        try:
            with self._opener.open(request, timeout=self._timeout_s) as answer:
                content = b"".join(self._chunks(iri, answer))
                return Document(content, answer.headers.get_content_type())
        except (URLError, OSError, ValueError) as error:
            raise UpdateFailedError(f"LOAD <{iri}>: {error}", "try again, or fetch it") from error

    def _chunks(self, iri: str, answer: IO[bytes]) -> Iterator[bytes]:
        until = monotonic() + self._timeout_s
        left = self._most_bytes
        while chunk := answer.read(min(_CHUNK_BYTES, left + 1)):
            left -= len(chunk)
            if left < 0 or monotonic() > until:
                raise UpdateFailedError(
                    f"LOAD <{iri}>: more than {self._most_bytes} bytes or {self._timeout_s:g} s",
                    "raise remote.load_bytes or remote.load_s, or fetch it and INSERT it",
                )
            yield chunk
