"""`Working`: the dataset as a later operation of the same UPDATE request sees it.

The store is not touched while a request is evaluated; what its operations did so far lies over
it. Invariants: `added` and the store are disjoint, `removed` is within the store. So what is left
at the end is the net Delta: deleted and inserted again is nothing. All quads and terms that come
in are as the store gives them back (`rdf.canonical`). With restricted rights, what reads (`store`,
`match`, `named_graphs`, `exists`) sees readable graphs only, and what writes raises ForbiddenError
for a graph that may not be written, whether or not it would change anything.
"""

from collections.abc import Callable, Iterable, Sequence

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from gateway.errors import ForbiddenError
from gateway.rdf.delta import Delta
from gateway.rdf.rights import ALL_RIGHTS, Rights
from gateway.rdf.terms import GraphName, Term
from gateway.store.diverted import Diverted
from gateway.store.pending import without
from gateway.store.quad_index import QuadIndex, Quads
from gateway.store.quad_store import QuadStore
from gateway.store.readable import ReadableStore
from gateway.store.remote import Remote

GraphNode = NamedNode | BlankNode


class Working:
    """A store with changes on top that are not yet in it."""

    __slots__ = (
        *("_added", "_created", "_dropped", "_index", "_removed", "_rights", "_whole"),
        *("diverted", "stated", "store"),
    )

    def __init__(
        self, store: QuadStore, rights: Rights = ALL_RIGHTS, diverted: Diverted | None = None
    ) -> None:
        self.diverted = diverted
        self.stated: dict[Quad, None] | None = None
        self.store = store if rights.sees_all else ReadableStore(store, rights)
        self._whole = store
        self._rights = rights
        self._index = QuadIndex()
        self._added: Quads = self._index.quads
        self._removed: Quads = {}
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

    def add(self, quads: Iterable[Quad]) -> None:
        """Insert quads; the named graphs that hold them are there or are created beside."""
        added, removed = self._added, self._removed
        absent = [quad for quad in self._writable(quads) if quad not in added]
        new = [quad for quad in absent if quad not in removed] if removed else absent
        if len(new) < len(absent):
            for quad in absent:
                removed.pop(quad, None)
        self._index.add(self._whole.missing(new))

    def state(self, quads: Sequence[Quad]) -> None:
        """Insert what the request itself says, and note that it did, where `stated` is wanted."""
        self.add(quads)
        if self.stated is not None:
            self.stated.update(dict.fromkeys(quads))

    def remove(self, quads: Iterable[Quad]) -> None:
        """Delete quads, those that are there; their graphs stay, be they empty."""
        added, removed, store = self._added, self._removed, self._whole
        if self.diverted is not None:
            quads = list(quads)
            self.diverted.require_kept(quads)
        for quad in self._writable(quads):
            if quad in added:
                self._index.discard(quad)
            elif quad not in removed and quad in store:
                removed[quad] = None

    def remove_present(self, quads: Iterable[Quad]) -> None:
        """Delete distinct quads that `match` has just given."""
        added, removed = self._added, self._removed
        for quad in self._writable(quads):
            if added and quad in added:
                self._index.discard(quad)
            else:
                removed[quad] = None

    @property
    def seen(self) -> "Working":
        """What a WHERE is evaluated on."""
        return self

    @property
    def look_up(self) -> Callable[..., Iterable[Quad]]:
        """What `match` does, until this view changes; faster, as long as it has not."""
        if not self.is_unchanged:
            return self.match
        return self._whole.look_up if self._rights.sees_all else self.store.match

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        """The quads of a pattern as the next operation sees them; None is a wildcard.

        The caller may change the list, and this view.
        """
        found = self._match(self.store, subject, predicate, object_, graph)
        if self._rights.sees_all:
            return found
        return [quad for quad in found if self._rights.may_read(quad.graph_name)]

    def _match(
        self,
        store: QuadStore | ReadableStore,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        found = without(list(store.match(subject, predicate, object_, graph)), self._removed)
        if self._added:
            return found + self._index.match(subject, predicate, object_, graph)
        return found

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

    def _writable(self, quads: Iterable[Quad]) -> Iterable[Quad]:
        """The same quads, if all their graphs may be written."""
        if self._rights.writes_all:
            return quads
        listed = list(quads)
        self.require_write(*(quad.graph_name for quad in listed))
        return listed

    @property
    def remote(self) -> Remote:
        """The hosts that SERVICE and LOAD may reach."""
        return self._whole.remote

    def create_graph(self, graph: GraphName) -> None:
        """Make the graph exist; the default graph does."""
        self.require_write(graph)
        if isinstance(graph, DefaultGraph):
            return
        if graph in self._dropped:
            del self._dropped[graph]
        elif not self.contains_graph(graph):
            self._created[graph] = None

    def clear_graph(self, graph: GraphName) -> None:
        """Remove every quad of the graph."""
        self.require_write(graph)
        self.remove_present(self._match(self._whole, None, None, None, graph))

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
        found = self.match(None, None, None, source)
        if found:
            self.create_graph(destination)
        self.add(Quad(quad.subject, quad.predicate, quad.object, destination) for quad in found)

    def exists(self, graph: GraphName) -> bool:
        """Whether the graph can be a source: the default graph always can."""
        if isinstance(graph, DefaultGraph):
            return True
        return self._rights.may_read(graph) and self.contains_graph(graph)


class Inferring(Working):
    """A view whose WHERE sees the store and what follows, as it was before; all else is as ever.

    What that WHERE finds may be derived, and is deleted only where it is asserted.
    """

    __slots__ = ("_seen",)

    def __init__(
        self,
        store: QuadStore,
        entailed: QuadStore,
        rights: Rights,
        diverted: Diverted | None = None,
    ) -> None:
        super().__init__(store, rights, diverted)
        self._seen = Working(entailed, rights)

    @property
    def seen(self) -> Working:
        """Both as they were before the request; nothing is written there."""
        return self._seen

    def remove_present(self, quads: Iterable[Quad]) -> None:
        """Delete those of the quads that are asserted."""
        self.remove(quads)
