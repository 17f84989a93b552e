"""A document of RDF in a request, as the quads of one graph.

Place on the way of the data: body of a Graph Store request → **quads** → scheduler. In a thread,
because it is linear in the document. Sources: SPARQL 1.1 Graph Store HTTP Protocol (W3C, 2013),
section 5; RFC 7578 (multipart/form-data, each part a document).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from email import message_from_bytes, policy
from itertools import islice

from pyoxigraph import DefaultGraph, Quad, RdfFormat, parse

from gateway.errors import BadRequestError, TooLargeError, UnsupportedMediaTypeError
from gateway.gates.http.request_body import media_type
from gateway.gates.protocol.media_types import GRAPHS
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.terms import GraphName

MOST_TRIPLES = 250_000
"""Of one request: some 200 MB while they become a change of the store."""

_MULTIPART = "multipart/form-data"


@dataclass(frozen=True, slots=True)
class Document:
    """Bytes with the Content-Type that came with them."""

    content: bytes
    content_type: str

    def quads(self, graph: GraphName, base: str) -> list[Quad]:
        """The triples in `graph`, canonical and distinct, blank nodes fresh.

        Relative IRIs are resolved against `base`. Raises UnsupportedMediaTypeError,
        BadRequestError, TooLargeError.
        """
        found = (quad for part in self._parts() for quad in part.triples(base))
        quads = [_in_graph(quad, graph) for quad in islice(found, MOST_TRIPLES + 1)]
        if len(quads) > MOST_TRIPLES:
            raise TooLargeError(
                f"more than {MOST_TRIPLES} triples", "POST them in several requests"
            )
        return list(dict.fromkeys(quads))

    def triples(self, base: str) -> Iterator[Quad]:
        """As they are read, in the default graph. Raises what `quads` does."""
        form = _format(self.content_type)
        try:
            yield from parse(
                self.content,
                form,
                base_iri=base or None,
                without_named_graphs=True,
                rename_blank_nodes=True,
            )
        except (SyntaxError, ValueError) as error:
            raise BadRequestError(
                f"the body is not {form.name}: {error}", "correct it, or its Content-Type"
            ) from error

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
