"""`Readable`: the store as somebody sees it who may read some graphs only.

Place: between the store and a query, a WHERE or an SPU of a request with restricted rights. The
other graphs are as if they did not exist: not matched, not named by `GRAPH ?g`, not in FROM. A
forbidden graph in FROM NAMED counts as not named there.
"""

from collections.abc import Iterable, Iterator
from itertools import chain
from typing import Protocol

from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from gateway.errors import TooManyRequestsError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.rights import Rights
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.runtime.text_cache import remembered
from gateway.sparql.parser import parse_query
from gateway.store.delta_text import Functions
from gateway.store.quad_store import QuadStore, QueryResults

GraphNode = NamedNode | BlankNode

_SNAPSHOTS = 8
"""So often a query is begun anew because readable graphs came or went while it began."""


class Source(Protocol):
    """A store, or what stands for it in a worker."""

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard."""

    def contains_graph(self, graph: GraphNode) -> bool:
        """Whether the named graph exists, be it empty."""

    def query(self, text: str, dataset: Dataset | None = None) -> QueryResults:
        """Evaluate a query; without a dataset, on what the text chooses."""


class Readable:
    """The readable graphs of a store.

    >>> store = QuadStore.open(None)
    >>> readable = Readable(store, frozenset({NamedNode("urn:g")}))
    >>> quad = Quad(NamedNode("urn:s"), NamedNode("urn:p"), NamedNode("urn:o"))
    >>> store.apply(Delta(added=(quad,)))
    >>> list(readable.match(None, None, None, None))
    []
    """

    def __init__(self, store: Source, graphs: frozenset[GraphName]) -> None:
        self._source = store
        self._graphs = graphs

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern in readable graphs; linear in their number for a wildcard."""
        if graph is not None:
            seen = self._sees(graph)
            return self._source.match(subject, predicate, object_, graph) if seen else ()
        return chain.from_iterable(
            self._source.match(subject, predicate, object_, each)
            for each in self._graphs
            if self._sees(each)
        )

    def _sees(self, graph: GraphName) -> bool:
        return graph in self._graphs

    def contains_graph(self, graph: GraphNode) -> bool:
        """Whether a named graph that may be read exists, be it empty."""
        return self._sees(graph) and self._source.contains_graph(graph)

    def named_graphs(self) -> list[GraphNode]:
        """The named graphs that exist and may be read."""
        return [graph for graph in self._named() if self._source.contains_graph(graph)]

    def _named(self) -> Iterator[GraphNode]:
        named = (graph for graph in self._graphs if not isinstance(graph, DefaultGraph))
        return (graph for graph in named if self._sees(graph))

    def query(
        self, text: str, dataset: Dataset | None = None, with_graph: NamedNode | None = None
    ) -> QueryResults:
        """Evaluate a query on the readable part of its dataset.

        The store takes a list of the graphs that `GRAPH ?g` names, so the list must be that of the
        snapshot: where graphs came or went meanwhile, another snapshot is taken. Raises
        TooManyRequestsError where they never rest. For `with_graph` see QuadStore.
        """
        asked = dataset or _dataset(text)
        if asked is not None:
            return self._source.query(text, asked.within(self._sees))
        default = Dataset((with_graph or DEFAULT_GRAPH,)).within(self._sees)
        for _ in range(_SNAPSHOTS):
            named = self.named_graphs()
            dataset = Dataset(default.default_graphs, tuple(named))
            results = self._source.query(text, dataset)
            if named == self.named_graphs():
                return results
        raise TooManyRequestsError("readable graphs come and go too fast for this query")


class ReadableStore(Readable):
    """What an UPDATE sees of a store: its readable graphs, or all but the reserved ones."""

    def __init__(self, store: QuadStore, rights: Rights) -> None:
        super().__init__(store, rights.read or frozenset())
        self._store = store
        self._rights = rights

    def _sees(self, graph: GraphName) -> bool:
        return self._rights.may_read(graph)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; a wildcard over all but the reserved graphs is one look-up."""
        if graph is not None or self._rights.read is not None:
            return super().match(subject, predicate, object_, graph)
        found = self._store.match(subject, predicate, object_, None)
        return (quad for quad in found if self._sees(quad.graph_name))

    def _named(self) -> Iterator[GraphNode]:
        if self._rights.read is not None:
            return super()._named()
        return (graph for graph in self._store.named_graphs() if self._sees(graph))

    def update_text(self, delta: Delta) -> tuple[str, Functions]:
        """The change as an UPDATE that leaves nothing but what may be read, for `rehearse`.

        Linear in what is hidden: the store takes no list of graphs for a WHERE that has the default
        graph among them.
        """
        sees = self._sees
        hidden = tuple(graph for graph in self._store.named_graphs() if not sees(graph))
        visible = Delta(
            tuple(quad for quad in delta.added if sees(quad.graph_name)),
            tuple(quad for quad in delta.removed if sees(quad.graph_name)),
            tuple(graph for graph in delta.graphs_created if sees(graph)),
            tuple(graph for graph in delta.graphs_dropped if sees(graph)) + hidden,
        )
        text, functions = self._store.update_text(visible)
        if sees(DEFAULT_GRAPH):
            return text, functions
        return f"CLEAR DEFAULT ;\n{text}" if text else "CLEAR DEFAULT", functions

    def rehearse(self, text: str, functions: Functions) -> None:
        """Evaluate an update on what may be read, and roll it back; as the store does."""
        self._store.rehearse(text, functions)


@remembered()
def _dataset(text: str) -> Dataset | None:
    return parse_query(text, is_admitted=True).dataset
