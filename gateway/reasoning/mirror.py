"""`Mirror`: asserted and derived quads together in an Oxigraph of its own, for texts.

    QUERY, first answer, re-queried SPU -> the graphs that it looks at, filled -> Oxigraph

Place: under `Entailed`, whose look-ups need none. A graph is filled when a text looks at it first;
until then there is nothing here. Changes wait, net, until somebody asks; when more has changed
since then than is here, keeping up costs more than filling it again, and all is dropped.
"""

from collections.abc import Callable, Iterable
from typing import TypeVar

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad, Store

from gateway.rdf.delta import Delta
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName
from gateway.store.quad_store import QuadStore

GraphNode = NamedNode | BlankNode
Key = TypeVar("Key")

_FEWEST_LATE = 1_000
"""Changes that may come at any rate before somebody asks."""


class Mirror:
    """The graphs that texts look at. What changes it holds the lock of the store's writer.

    `quads` gives those of a graph of now, `graphs` the named graphs of now, empty ones too.
    """

    def __init__(
        self,
        like: QuadStore,
        quads: Callable[[GraphName], Iterable[Quad]],
        graphs: Callable[[], Iterable[GraphNode]],
    ) -> None:
        self._like = like
        self._quads = quads
        self._graphs = graphs
        self._store: QuadStore | None = None
        self._held: set[GraphName] = set()
        self._is_whole = False
        self._late: list[Delta] = []
        self.filled = 0
        self._unasked = 0
        self._size = 0

    def __len__(self) -> int:
        """The quads that it holds, without what waits."""
        return 0 if self._store is None else len(self._store)

    @property
    def is_filled(self) -> bool:
        """Whether it has graphs, so that changes are to be taken."""
        return self._store is not None

    @property
    def waiting(self) -> int:
        """The changes that wait, net, as far as they are about graphs that are here."""
        quads, graphs = self._net()
        return len(quads) + len(graphs)

    def take(self, delta: Delta) -> None:
        """Let a change wait."""
        if self._store is None or delta.is_empty:
            return
        self._late.append(delta)
        self._unasked += len(delta) + len(delta.graphs_created) + len(delta.graphs_dropped)
        if self._unasked > _FEWEST_LATE and self._unasked > self._size:
            self.drop()

    def drop(self) -> None:
        """Forget all of it."""
        self._store = None
        self._held.clear()
        self._late.clear()
        self._is_whole = False

    def current(self, graphs: frozenset[GraphName] | None) -> QuadStore:
        """A store that has these graphs as they are now, None is all; it may have others too."""
        store = self._store
        self._unasked = 0
        if store is None:
            store = QuadStore(Store())
            store.clock, store.remote = self._like.clock, self._like.remote
        else:
            self._catch_up(store)
        if not self._is_whole:
            self._fill(store, graphs)
            self._size = len(store)
        self._store = store
        return store

    def _catch_up(self, store: QuadStore) -> None:
        quads, graphs = self._net()
        self._late.clear()
        if quads or graphs:
            store.apply(
                Delta(
                    tuple(quad for quad, is_there in quads.items() if is_there),
                    tuple(quad for quad, is_there in quads.items() if not is_there),
                    tuple(graph for graph, is_there in graphs.items() if is_there),
                    tuple(graph for graph, is_there in graphs.items() if not is_there),
                )
            )

    def _net(self) -> tuple[dict[Quad, bool], dict[GraphNode, bool]]:
        """The quads and the graphs that come (True) and go, by all that waits."""
        is_whole, held = self._is_whole, self._held
        quads: dict[Quad, bool] = {}
        graphs: dict[GraphNode, bool] = {}
        for delta in self._late:
            for is_there, its_quads in ((False, delta.removed), (True, delta.added)):
                for quad in its_quads:
                    if is_whole or quad.graph_name in held:
                        _note(quads, quad, is_there)
            for is_there, named in ((False, delta.graphs_dropped), (True, delta.graphs_created)):
                for graph in named:
                    if is_whole or graph in held:
                        _note(graphs, graph, is_there)
        return quads, graphs

    def _fill(self, store: QuadStore, graphs: frozenset[GraphName] | None) -> None:
        named = set(self._graphs())
        wanted = named | {DEFAULT_GRAPH} if graphs is None else graphs
        for graph in wanted - self._held:
            self.filled += 1
            there = [each for each in (graph,) if not isinstance(each, DefaultGraph)]
            store.load(self._quads(graph), [each for each in there if each in named])
            self._held.add(graph)
        self._is_whole = graphs is None


def _note(late: dict[Key, bool], key: Key, is_there: bool) -> None:
    """Consolidate: what comes and goes again is nothing."""
    if late.get(key, is_there) is not is_there:
        del late[key]
    else:
        late[key] = is_there
