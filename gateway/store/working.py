"""`Working`: the dataset as a later operation of the same UPDATE request sees it.

The store is not touched while a request is evaluated; what its operations did so far lies over
it. Invariants: `added` and the store are disjoint, `removed` is within the store. So what is left
at the end is the net Delta: deleted and inserted again is nothing. With restricted rights, what
reads (`store`, `match`, `named_graphs`, `exists`) sees readable graphs only, and what writes raises
ForbiddenError for a graph that may not be written, whether or not it would change anything.
"""

from collections.abc import Iterable, Iterator

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from gateway.errors import ForbiddenError
from gateway.rdf.canonical import canonical, canonical_quad
from gateway.rdf.delta import Delta
from gateway.rdf.rights import ALL_RIGHTS, Rights
from gateway.rdf.terms import GraphName, Term
from gateway.store.quad_store import QuadStore
from gateway.store.readable import ReadableStore

GraphNode = NamedNode | BlankNode


class Working:
    """A store with changes on top that are not yet in it."""

    __slots__ = ("_added", "_created", "_dropped", "_removed", "_rights", "_whole", "store")

    def __init__(self, store: QuadStore, rights: Rights = ALL_RIGHTS) -> None:
        self.store = store if rights.read is None else ReadableStore(store, rights.read)
        self._whole = store
        self._rights = rights
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
        added, removed, store = self._added, self._removed, self._whole
        if self._rights.write is not None:
            quads = list(quads)
            self.require_write(*(quad.graph_name for quad in quads))
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
        if self._rights.write is not None:
            self.require_write(quad.graph_name)
        if quad in self._added:
            del self._added[quad]
        elif quad not in self._removed and quad in self._whole:
            self._removed[quad] = None

    def remove_present(self, quad: Quad) -> None:
        """Delete a quad that `match` has just given."""
        if self._rights.write is not None:
            self.require_write(quad.graph_name)
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
        found = self._match(self.store, subject, predicate, object_, graph)
        if self._rights.read is None:
            return found
        return (quad for quad in found if self._rights.may_read(quad.graph_name))

    def _match(
        self,
        store: QuadStore | ReadableStore,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterator[Quad]:
        for quad in store.match(subject, predicate, object_, graph):
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
        """Whether the named graph exists now, be it empty; to be asked of one that is written."""
        if graph in self._created:
            return True
        return graph not in self._dropped and self._whole.contains_graph(graph)

    def named_graphs(self) -> list[GraphNode]:
        """The named graphs that exist now."""
        kept = [graph for graph in self.store.named_graphs() if graph not in self._dropped]
        return kept + [graph for graph in self._created if self._rights.may_read(graph)]

    def may_read(self, graph: GraphName) -> bool:
        """Whether the graph is not as if it did not exist."""
        return self._rights.may_read(graph)

    def require_write(self, *graphs: GraphName) -> None:
        """Raise ForbiddenError unless all the graphs may be written, be they there or not."""
        for graph in graphs:
            if not self._rights.may_write(graph):
                name = "default graph" if isinstance(graph, DefaultGraph) else f"graph {graph}"
                raise ForbiddenError(
                    f"the {name} may not be written; nothing was changed",
                    "leave it out of the UPDATE, or ask for the right to write it",
                )

    def create_graph(self, graph: GraphNode) -> None:
        """Make the graph exist."""
        self.require_write(graph)
        if graph in self._dropped:
            del self._dropped[graph]
        elif not self.contains_graph(graph):
            self._created[graph] = None

    def clear_graph(self, graph: GraphName) -> None:
        """Remove every quad of the graph."""
        self.require_write(graph)
        for quad in list(self._match(self._whole, None, None, None, graph)):
            self.remove(quad)

    def drop_graph(self, graph: GraphNode) -> None:
        """Remove the graph and all that is in it."""
        self.clear_graph(graph)
        if graph in self._created:
            del self._created[graph]
        elif self._whole.contains_graph(graph):
            self._dropped[graph] = None

    def copy_graph(self, source: GraphName, destination: GraphName) -> None:
        """Add the source's triples to the destination, which comes into being with the first."""
        self.require_write(destination)
        for quad in list(self.match(None, None, None, source)):
            self.add(Quad(quad.subject, quad.predicate, quad.object, destination))

    def exists(self, graph: GraphName) -> bool:
        """Whether the graph can be a source: the default graph always can."""
        if isinstance(graph, DefaultGraph):
            return True
        return self._rights.may_read(graph) and self.contains_graph(graph)
