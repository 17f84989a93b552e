"""`Entailed`: the store and what follows from it, as one `Source`.

    look-up -> store, and the derived quads besides
    text -> the store, where it looks at no domain, else the mirror

Place: where units, queries and WHEREs with `infer` have the store otherwise. Asserted and derived
quads are disjoint, so nothing is found twice.
"""

from collections.abc import Iterable
from pathlib import Path
from threading import RLock

from pyoxigraph import NamedNode, Quad, Store

from gateway.errors import StorageError, SuspendedError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.reasoning.domains import Domains
from gateway.reasoning.mirror import Mirror
from gateway.reasoning.reasoning import AnyReasoner
from gateway.runtime.text_cache import remembered
from gateway.sparql.parser import parse_query
from gateway.sparql.patterns import graphs_looked_at
from gateway.store.quad_store import QuadStore, QueryResults
from gateway.store.readable import GraphNode
from gateway.store.remote import Remote

_OWN = frozenset({ONTOLOGY_GRAPH, CONTRADICTIONS_GRAPH})
"""Graphs of the gateway into which something is derived."""


class Entailed:
    """The entailed view. Texts may be asked from any thread, all else by the one that writes.

    `changes` counts those of the view; `mirror` is what texts are evaluated on.
    """

    def __init__(self, store: QuadStore, reasoner: AnyReasoner, domains: Domains) -> None:
        self.store = store
        self.changes = 0
        self._reasoner = reasoner
        self._domains = domains
        self.mirror = Mirror(store, self._quads, self._named)

    @property
    def writing(self) -> RLock:
        """Held while an UPDATE is made, and while the mirror catches up."""
        return self.store.writing

    @property
    def remote(self) -> Remote:
        """The hosts that SERVICE may reach."""
        return self.store.remote

    def take(self, delta: Delta) -> None:
        """Take note of an entailed Delta, which store and reasoner have by now."""
        self.changes += 1
        self.mirror.take(delta)

    def match(
        self,
        subject: Term | None,
        predicate: Term | None,
        object_: Term | None,
        graph: GraphName | None,
    ) -> list[Quad]:
        """The quads of a pattern; None is a wildcard."""
        found = self.store.match(subject, predicate, object_, graph)
        found.extend(self._reasoner.derived.match(subject, predicate, object_, graph))
        return found

    look_up = match

    def contains_graph(self, graph: GraphNode) -> bool:
        """Whether the named graph exists, be it empty or all derived."""
        return self.store.contains_graph(graph) or (
            self.may_derive(graph) and graph in self._reasoner.derived.graphs()
        )

    def named_graphs(self) -> list[GraphNode]:
        """All named graphs, empty ones too."""
        return self._named()

    def _named(self) -> list[GraphNode]:
        return [*dict.fromkeys((*self.store.named_graphs(), *self._reasoner.derived.graphs()))]

    def _quads(self, graph: GraphName) -> Iterable[Quad]:
        return self.match(None, None, None, graph)

    def may_derive(self, graph: GraphName) -> bool:
        """Whether quads may be derived into the graph."""
        if graph in _OWN or self._domains.writes_refused(graph):
            return True
        domain = self._domains.of(graph)
        return domain is not None and domain.into == graph

    def require(self, graphs: Iterable[GraphName | None]) -> None:
        """Raise SuspendedError where what follows in one of the graphs is not known.

        None is every graph.
        """
        suspended = self._reasoner.suspended
        if suspended:
            wanted = set(graphs)
            for domain, reason in suspended.items():
                if not wanted.isdisjoint({None, domain.into, CONTRADICTIONS_GRAPH}):
                    raise SuspendedError(reason)

    def query(
        self,
        text: str,
        dataset: Dataset | None = None,
        with_graph: NamedNode | None = None,
    ) -> QueryResults:
        """Evaluate a query, as the store does. Raises SuspendedError."""
        graphs = _looked_at(text, dataset, with_graph)
        if graphs is not None and not any(map(self.may_derive, graphs)):
            return self.store.query(text, dataset, with_graph)
        with self.writing:
            self.require((None,) if graphs is None else graphs)
            mirror = self.mirror.current(graphs)
        return mirror.query(text, dataset, with_graph)

    def copy_to(self, folder: Path) -> int:
        """A copy of both in a new folder, as the store makes one of itself; which of `changes`.

        Raises StorageError.
        """
        with self.writing:
            self.store.copy_to(folder)
            derived = list(self._reasoner.derived.match(None, None, None, None))
            changes = self.changes
        try:
            copy = Store(str(folder))
            copy.bulk_extend(derived)
            copy.flush()
        except (OSError, RuntimeError) as error:
            raise StorageError(
                f"what follows cannot be copied: {error}", "check the disk's free space and health"
            ) from error
        return changes


@remembered()
def _looked_at(
    text: str, dataset: Dataset | None, with_graph: NamedNode | None
) -> frozenset[GraphName] | None:
    """The graphs that a text of a query looks at; None is all of them."""
    found = graphs_looked_at(parse_query(text, is_admitted=True), dataset)
    if found is None or with_graph is None:
        return found
    return frozenset(with_graph if graph == DEFAULT_GRAPH else graph for graph in found)
