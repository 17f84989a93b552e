"""`Diverted`: what the INSERTs of an UPDATE let into streams, which store nothing.

Place: beside `Working`, while a request is evaluated. An INSERT (DATA or template) into the graph
of a stream is one element: its triples in the order of solutions and, of each, of the template.
"""

from collections.abc import Iterable, Sequence

from pyoxigraph import NamedNode, Quad, Triple

from gateway.errors import UnsupportedQueryError
from gateway.rdf.terms import GraphName
from gateway.store.templates import QuadTemplate, Row


class Diverted:
    """`streams` are the graphs; `elements` what each got, a tuple of triples for each INSERT."""

    __slots__ = ("elements", "streams")

    def __init__(self, streams: frozenset[NamedNode]) -> None:
        self.streams = streams
        self.elements: dict[str, list[tuple[Triple, ...]]] = {}

    def take(
        self, template: QuadTemplate, rows: Sequence[Row], quads: list[Quad]
    ) -> tuple[list[Quad], Iterable[GraphName]]:
        """The quads of an INSERT that are for the store, and the streams that got the others."""
        streams = self.streams
        if not any(quad.graph_name in streams for quad in quads):
            return quads, ()
        stored: list[Quad] = []
        entering: dict[NamedNode, dict[Triple, None]] = {}
        for row in rows:
            for quad in template.instantiate((row,)):
                graph = quad.graph_name
                if isinstance(graph, NamedNode) and graph in streams:
                    triple = Triple(quad.subject, quad.predicate, quad.object)
                    entering.setdefault(graph, {})[triple] = None
                else:
                    stored.append(quad)
        for graph, triples in entering.items():
            self.elements.setdefault(graph.value, []).append(tuple(triples))
        return stored, entering.keys()

    def require_kept(self, quads: Iterable[Quad]) -> None:
        """Raise UnsupportedQueryError where one of these, which are to go, is of a stream."""
        for quad in quads:
            if quad.graph_name in self.streams:
                raise stream_keeps_nothing(str(quad.graph_name))


def stream_keeps_nothing(stream: str) -> UnsupportedQueryError:
    """Why nothing can be deleted from a stream."""
    return UnsupportedQueryError(
        f"{stream} is a stream, which keeps nothing: there is nothing to delete",
        "its elements leave the windows over it by themselves",
    )
