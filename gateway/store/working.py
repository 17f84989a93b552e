"""`Working`: the dataset as a later operation of the same UPDATE request sees it.

The store is not touched while a request is evaluated; what its operations did so far lies over
it. Invariants: `added` and the store are disjoint, `removed` is within the store. So what is left
at the end is the net Delta: deleted and inserted again is nothing.
"""

from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from gateway.rdf.canonical import canonical, canonical_quad
from gateway.rdf.delta import Delta
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.store.quad_store import QuadStore

GraphNode = NamedNode | BlankNode


class Working:
    """A store with changes on top that are not yet in it."""

    __slots__ = ("_added", "_created", "_dropped", "_removed", "store")

    def __init__(self, store: QuadStore) -> None:
        self.store = store
        self._added: dict[Quad, None] = {}
        self._removed: dict[Quad, None] = {}
        self._created: dict[GraphNode, None] = {}
        self._dropped: dict[GraphNode, None] = {}

    @property
    def is_unchanged(self) -> bool:
        """Whether the store alone tells the truth."""
        return not (self._added or self._removed or self._created or self._dropped)

    def delta(self) -> Delta:
        """The net change so far."""
        return Delta(
            tuple(self._added), tuple(self._removed), tuple(self._created), tuple(self._dropped)
        )

    def add(self, quad: Quad) -> None:
        """Insert the quad, and the named graph that holds it."""
        self.add_all((quad,))

    def add_all(self, quads: Iterable[Quad]) -> None:
        """Insert the quads: one loop, since the time of an UPDATE of readings is spent here."""
        added, removed, store = self._added, self._removed, self.store
        for written in quads:
            quad = canonical_quad(written)
            if removed and quad in removed:
                del removed[quad]
            elif quad not in added and quad not in store:
                added[quad] = None
            graph = quad.graph_name
            if not isinstance(graph, DefaultGraph) and not self.contains_graph(graph):
                self.create_graph(graph)

    def remove(self, quad: Quad) -> None:
        """Delete the quad; its graph stays, be it empty."""
        quad = canonical_quad(quad)
        if quad in self._added:
            del self._added[quad]
        elif quad not in self._removed and quad in self.store:
            self._removed[quad] = None

    def remove_present(self, quad: Quad) -> None:
        """Delete a quad that `match` has just given."""
        if quad in self._added:
            del self._added[quad]
        else:
            self._removed[quad] = None

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterator[Quad]:
        """The quads of a pattern as the next operation sees them; None is a wildcard."""
        for quad in self.store.match(subject, predicate, object_, graph):
            if quad not in self._removed:
                yield quad
        if not self._added:
            return
        wanted_object = None if object_ is None else canonical(object_)
        for quad in self._added:
            if (
                (subject is None or subject == quad.subject)
                and (predicate is None or predicate == quad.predicate)
                and (graph is None or graph == quad.graph_name)
                and (wanted_object is None or wanted_object == quad.object)
            ):
                yield quad

    def contains_graph(self, graph: GraphNode) -> bool:
        """Whether the named graph exists now, be it empty."""
        if graph in self._created:
            return True
        return graph not in self._dropped and self.store.contains_graph(graph)

    def named_graphs(self) -> list[GraphNode]:
        """The named graphs that exist now."""
        kept = [graph for graph in self.store.named_graphs() if graph not in self._dropped]
        return kept + list(self._created)

    def create_graph(self, graph: GraphNode) -> None:
        """Make the graph exist."""
        if graph in self._dropped:
            del self._dropped[graph]
        elif not self.contains_graph(graph):
            self._created[graph] = None

    def clear_graph(self, graph: GraphName) -> None:
        """Remove every quad of the graph."""
        for quad in list(self.match(None, None, None, graph)):
            self.remove(quad)

    def drop_graph(self, graph: GraphNode) -> None:
        """Remove the graph and all that is in it."""
        self.clear_graph(graph)
        if graph in self._created:
            del self._created[graph]
        elif self.store.contains_graph(graph):
            self._dropped[graph] = None

    def copy_graph(self, source: GraphName, destination: GraphName) -> None:
        """Add the source's triples to the destination, which comes into being with the first."""
        for quad in list(self.match(None, None, None, source)):
            self.add(Quad(quad.subject, quad.predicate, quad.object, destination))

    def exists(self, graph: GraphName) -> bool:
        """Whether the graph can be a source: the default graph always can."""
        return graph == DEFAULT_GRAPH or (
            not isinstance(graph, DefaultGraph) and self.contains_graph(graph)
        )
