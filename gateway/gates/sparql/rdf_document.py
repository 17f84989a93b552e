"""A document of RDF in a request, as the quads of one graph.

Place on the way of the data: body of a Graph Store request → **quads** → scheduler. In a thread,
which waits for the process that parses it. Sources: SPARQL 1.1 Graph Store HTTP Protocol (W3C,
2013), section 5; RFC 7578 (multipart/form-data, each part a document).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from email import message_from_bytes, policy

from pyoxigraph import DefaultGraph, Quad, RdfFormat

from gateway.errors import BadRequestError, UnsupportedMediaTypeError
from gateway.gates.http.request_body import media_type
from gateway.gates.protocol.media_types import GRAPHS
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.documents import Documents
from gateway.rdf.terms import GraphName

MOST_TRIPLES = 250_000
"""Of one request: some 200 MB while they become a change of the store."""

_MULTIPART = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes with the Content-Type that came with them."""

    content: bytes
    content_type: str

    def quads(
        self,
        graph: GraphName,
        base: str,
        documents: Documents,
        is_wanted: Callable[[], bool] = lambda: True,
    ) -> list[Quad]:
        """The triples in `graph`, canonical and distinct, blank nodes fresh.

        Relative IRIs are resolved against `base`. Raises UnsupportedMediaTypeError and what
        `Documents.triples` does.
        """
        quads: dict[Quad, None] = {}
        left = MOST_TRIPLES
        for part in self._parts():
            form = _format(part.content_type)
            for quad in documents.triples(part.content, form, base, left, is_wanted):
                left -= 1
                quads[_in_graph(quad, graph)] = None
        return list(quads)

    def _parts(self) -> Iterable["Document"]:
        if media_type(self.content_type.partition(";")[0]) != _MULTIPART:
            return [self]
        head = b"Content-Type: " + self.content_type.encode("latin-1", "replace") + b"\r\n\r\n"
        message = message_from_bytes(head + self.content, policy=policy.HTTP)
        parts = [part for part in message.iter_parts() if not part.is_multipart()]
        if not parts or message.defects:
            raise BadRequestError("the body is not multipart/form-data", "send each part whole")
        return [
            Document(bytes(part.get_payload(decode=True) or b""), str(part["content-type"] or ""))
            for part in parts
        ]


def _format(content_type: str) -> RdfFormat:
    found = RdfFormat.from_media_type(media_type(content_type))
    if found is None or found not in GRAPHS.values():
        raise UnsupportedMediaTypeError(
            f"cannot read a graph of type {content_type or 'unknown'}",
            f"use Content-Type {', '.join(GRAPHS)}",
        )
    return found


def _in_graph(quad: Quad, graph: GraphName) -> Quad:
    if isinstance(graph, DefaultGraph):
        return canonical_quad(quad)
    return canonical_quad(Quad(quad.subject, quad.predicate, quad.object, graph))
