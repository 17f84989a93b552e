"""`Remote`: which other hosts SERVICE and LOAD may reach, and how a document is loaded.

Place: asked before the store evaluates a text with SERVICE, and by the LOAD of an UPDATE. Oxigraph
would ask any host. It follows no redirect of a SERVICE (tests/gateway/gates/sparql/test_remote.py
holds it to that), so a list of hosts is enough there; it has no time limit for an answer, so only
hosts that answer belong on the list. LOAD never reaches Oxigraph: the document comes through a
`Fetch` that is handed in, is parsed by `Documents`, and is part of the request's Delta like other
quads.
Source: SPARQL 1.1 Federated Query; SPARQL 1.1 Update, section 3.1.4.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple
from urllib.parse import urlsplit

from pyoxigraph import Quad, RdfFormat

from gateway.errors import (
    ClientError,
    QueryTimeoutError,
    UnsupportedQueryError,
    UpdateFailedError,
)
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.documents import Documents
from gateway.rdf.terms import GraphName
from gateway.sparql.bounded import query_facts

MOST_TRIPLES = 1_000_000
"""The most triples of one document: some 500 MB while the UPDATE is evaluated."""

_HINT = "name its host in the setting remote.hosts"


class Document(NamedTuple):
    """What a fetch brings: the bytes, and the media type without parameters, empty if unknown."""

    content: bytes
    media_type: str


Fetch = Callable[[str], Document]
"""Gets the document at an IRI. Raises UpdateFailedError; follows no redirect to another host."""


@dataclass(frozen=True, slots=True)
class Remote:
    """Hosts as `name` or `name:port`, in lower case; without a `fetch` there is no LOAD.

    >>> Remote(frozenset({"data.example"})).allows("https://data.example/lamps.ttl")
    True
    """

    hosts: frozenset[str] = frozenset()
    fetch: Fetch | None = None
    documents: Documents = field(default_factory=Documents, compare=False)

    def allows(self, iri: str) -> bool:
        """Whether the IRI is one of HTTP at a host on the list."""
        try:
            parts = urlsplit(iri)
            host, port = parts.hostname, parts.port
        except ValueError:
            return False
        if parts.scheme not in {"http", "https"} or not host or "@" in parts.netloc:
            return False
        return host in self.hosts or (port is not None and f"{host}:{port}" in self.hosts)

    def require(self, *iris: str) -> None:
        """Raise UnsupportedQueryError for the first IRI that may not be reached."""
        for iri in iris:
            if not self.allows(iri):
                raise UnsupportedQueryError(f"<{iri}> may not be reached from here", _HINT)

    def require_services(self, text: str) -> None:
        """The same for every SERVICE of a query."""
        self.require(*query_facts(text).services)

    def load(self, iri: str, graph: GraphName) -> list[Quad]:
        """The triples of the document at an IRI, as quads of `graph`; blank nodes are fresh.

        Raises UnsupportedQueryError for a host that is not on the list, UpdateFailedError for a
        document that does not come or cannot be read.
        """
        self.require(iri)
        if self.fetch is None:
            raise UnsupportedQueryError("LOAD is not available here", "fetch it and INSERT it")
        quads = self._parsed(iri, self.fetch(iri))
        named = (Quad(quad.subject, quad.predicate, quad.object, graph) for quad in quads)
        return [canonical_quad(quad) for quad in named]

    def _parsed(self, iri: str, document: Document) -> Iterator[Quad]:
        form = _format(iri, document.media_type)
        try:
            return self.documents.triples(document.content, form, iri, MOST_TRIPLES)
        except (ClientError, QueryTimeoutError) as error:
            raise UpdateFailedError(
                f"LOAD <{iri}>: {error.description}", error.hint or "load an RDF graph"
            ) from error


def _format(iri: str, media_type: str) -> RdfFormat:
    extension = urlsplit(iri).path.rpartition(".")[2]
    found = RdfFormat.from_media_type(media_type) or RdfFormat.from_extension(extension)
    if found is None or found == RdfFormat.N3:
        raise UpdateFailedError(
            f"LOAD <{iri}>: {media_type or 'no media type'} is no format of RDF known here",
            "serve it as text/turtle, application/n-triples or application/rdf+xml",
        )
    return found
