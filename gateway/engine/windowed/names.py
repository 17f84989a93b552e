"""`Names`: the IRIs of windows and streams, which are no graphs of the store.

    SUBSCRIBE -> with the declared windows that it names
    QUERY, UPDATE -> refused where they name one

Place: beside `WindowedView`, asked before a text is evaluated. A window that somebody has opened
under a name is refused to a QUERY only while the store has no graph of that name.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace

from pyoxigraph import NamedNode

from gateway.engine.request import QueryRequest, SubscribeRequest
from gateway.engine.windowed.declared import Declared
from gateway.errors import UnsupportedQueryError
from gateway.rdf.delta import Delta
from gateway.sparql.graphs.mentioned import graphs_of_dataset, graphs_of_query, graphs_of_update
from gateway.store.diverted import Diverted, stream_keeps_nothing
from gateway.store.quad_store import QuadStore


class Names:
    """Changed in the engine's thread; QUERYs may be asked about in any."""

    def __init__(self, store: QuadStore) -> None:
        self._store = store
        self._opened: Counter[NamedNode] = Counter()
        self.declared = Declared()
        self._windows: frozenset[NamedNode] = frozenset()
        self._streams: frozenset[NamedNode] = frozenset()

    def declare(self, declared: Declared) -> None:
        """What is declared from now on."""
        self.declared = declared
        self._windows = frozenset(map(NamedNode, declared.windows))
        self._streams = frozenset(map(NamedNode, declared.streams))

    def opened(self, names: Iterable[NamedNode]) -> None:
        """Somebody has windows by these names."""
        self._opened.update(iter(names))

    def closed(self, names: Iterable[NamedNode]) -> None:
        """The reverse of `opened`."""
        for name in names:
            self._opened[name] -= 1
            if not self._opened[name]:
                del self._opened[name]

    def completed(self, request: SubscribeRequest) -> SubscribeRequest:
        """The request with the declared windows that it names and does not bring itself.

        Raises SparqlSyntaxError; UnsupportedQueryError where it looks into a stream.
        """
        if self.declared.is_empty:
            return request
        given = dict(request.windows)
        named = _named(request)
        for stream in (named & self._streams) - set(map(NamedNode, given)):
            raise _is_stream(stream)
        added = [
            (node.value, self.declared.windows[node.value])
            for node in named & self._windows
            if node.value not in given
        ]
        if not added:
            return request
        return replace(request, windows=tuple(sorted([*request.windows, *added])))

    def require_answerable(self, request: QueryRequest) -> None:
        """Raise UnsupportedQueryError for a QUERY that names a window or a stream."""
        if not (self._opened or self._windows or self._streams):
            return
        for graph in _named(request):
            if graph in self._streams:
                raise _is_stream(graph)
            is_open = graph in self._opened and not self._store.contains_graph(graph)
            if graph in self._windows or is_open:
                raise _is_window(graph)

    def diverted(self, texts: Iterable[str]) -> Diverted | None:
        """What takes the elements that an UPDATE lets into streams; None where there is no stream.

        Raises UnsupportedQueryError where one of its texts names a window, or a stream otherwise
        than to insert.
        """
        if self._opened or self._windows or self._streams:
            for text in texts:
                self._require_executable(text)
        return Diverted(self._streams) if self._streams else None

    def _require_executable(self, text: str) -> None:
        graphs, streams = graphs_of_update(text), self._streams
        for graph in graphs.deleted & streams:
            raise stream_keeps_nothing(str(graph))
        for graph in (graphs.read | graphs.managed) & streams:
            raise _is_stream(graph)
        written = graphs.deleted | graphs.inserted | graphs.managed
        for graph in (graphs.read | written) & self._windows:
            raise _is_window(graph)
        for graph in graphs.read:
            if graph in self._opened and not self._store.contains_graph(graph):
                raise _is_window(graph)

    def require_stored(self, delta: Delta) -> None:
        """Raise UnsupportedQueryError where a change would make a graph of a window or stream."""
        if self._windows or self._streams:
            for graph in {quad.graph_name for quad in delta.added}.union(delta.graphs_created):
                if graph in self._windows:
                    raise _is_window(graph)
                if graph in self._streams:
                    raise _is_stream(graph)


def _named(request: QueryRequest) -> frozenset[NamedNode]:
    """The graphs that a request names; the dataset of the protocol stands for that of the text."""
    return graphs_of_query(request.text) | graphs_of_dataset(request.dataset)


def _is_window(graph: object) -> UnsupportedQueryError:
    return UnsupportedQueryError(
        f"{graph} is a window over a stream, which only a subscription sees",
        "SUBSCRIBE to the query; its first notification is the answer now",
    )


def _is_stream(graph: object) -> UnsupportedQueryError:
    return UnsupportedQueryError(
        f"{graph} is a stream, which keeps nothing to look at",
        "SUBSCRIBE over a window of it; elements enter it by INSERT",
    )
