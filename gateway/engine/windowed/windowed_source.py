"""`WindowedSource`: a view's graphs and those of windows, as one `Source`.

    look-up -> the window of that name, or the view
    text    -> the view, where it names no window, else a mirror of what the LUTTs let through

Place: where the units of subscriptions over windows have a view otherwise. What is evaluated as a
text gets an Oxigraph in memory that has, of the graphs that it looks at, the quads that match a
LUTT: the context store of the paper. It is filled when a text is evaluated first, and dropped when
more changes wait for it than it holds.
"""

from collections.abc import Iterable, Iterator

from pyoxigraph import NamedNode, Quad

from gateway.engine.lutt import Artq, LuttEntry, LuttIndex, matches
from gateway.engine.windowed.window_graph import WindowGraph
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.terms import GraphName, Term
from gateway.reasoning.entailed import Entailed
from gateway.reasoning.mirror import Mirror
from gateway.runtime.text_cache import remembered
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import graphs_looked_at
from gateway.store.quad_store import QuadStore, QueryResults
from gateway.store.readable import GraphNode

View = QuadStore | Entailed
"""The store, or the store and what follows from it."""


class WindowedSource:
    """`graphs` are the windows by name, `entries` the LUTTs of who looks here.

    A window's name hides a graph of that name in the view. `GRAPH ?g` and look-ups in every graph
    are about the view alone: texts list what else they range over.
    """

    def __init__(self, view: View, store: QuadStore) -> None:
        self.graphs: dict[GraphName, WindowGraph] = {}
        self.entries: dict[LuttEntry, int] = {}
        self._covered: LuttIndex[str] = LuttIndex()
        self._view = view
        self._mirror = Mirror(store, self._kept, self._named)

    def want(self, entries: Iterable[LuttEntry]) -> None:
        """Keep what these match from now on."""
        entries = tuple(entries)
        grows = sum(graph.want(entries) for graph in self.graphs.values()) > 0
        for entry in entries:
            if entry not in self.entries:
                self._covered.insert(entry, "")
                grows = True
            self.entries[entry] = self.entries.get(entry, 0) + 1
        if grows:
            self._mirror.drop()

    def unwant(self, entries: Iterable[LuttEntry]) -> None:
        """The reverse of `want`."""
        entries = tuple(entries)
        for graph in self.graphs.values():
            graph.unwant(entries)
        for entry in entries:
            self.entries[entry] -= 1
            if not self.entries[entry]:
                self._covered.remove(entry, "")
                del self.entries[entry]
        if not self.entries:
            self._mirror.drop()

    def take(self, delta: Delta) -> None:
        """Take note of a change that view and windows have by now."""
        if self._mirror.is_filled:
            kept = self._covered.match(delta).get("") or Artq()
            quads = tuple(kept.added), tuple(kept.removed)
            self._mirror.take(Delta(*quads, delta.graphs_created, delta.graphs_dropped))

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> Iterable[Quad]:
        """The quads of a pattern; None is a wildcard, for graphs it is those of the view."""
        window = self.graphs.get(graph)  # type: ignore[arg-type]
        if window is None:
            return self._view.match(subject, predicate, object_, graph)
        return window.match(subject, predicate, object_, None)

    def contains_graph(self, graph: GraphNode) -> bool:
        """Whether the named graph exists, be it empty; a window always does."""
        return graph in self.graphs or self._view.contains_graph(graph)

    def query(self, text: str, dataset: Dataset | None = None) -> QueryResults:
        """Evaluate a query."""
        graphs = _looked_at(text, dataset)
        if graphs is not None and graphs.isdisjoint(self.graphs):
            return self._view.query(text, dataset)
        return self._mirror.current(graphs).query(text, dataset)

    def _kept(self, graph: GraphName) -> Iterator[Quad]:
        """The quads of a graph that a LUTT lets through."""
        window = self.graphs.get(graph)
        if window is not None:
            yield from window.quads()
            return
        entries = [each for each in self.entries if each.graph is None or each.graph == graph]
        found: dict[Quad, None] = {}
        for entry in entries:
            within = LuttEntry(entry.subject, entry.predicate, entry.object, graph)
            found.update(dict.fromkeys(matches(self._view, within)))
        yield from found

    def _named(self) -> list[GraphNode]:
        windows = [each for each in self.graphs if isinstance(each, NamedNode)]
        return [*dict.fromkeys((*self._view.named_graphs(), *windows))]


@remembered()
def _looked_at(text: str, dataset: Dataset | None) -> frozenset[GraphName] | None:
    return graphs_looked_at(parse_query(text, is_admitted=True), dataset)
