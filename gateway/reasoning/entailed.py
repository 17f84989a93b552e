"""`Entailed`: the store and what follows from it, as one `Source`.

    look-up -> store, and the derived quads besides
    text -> the store, where it looks at no domain, else the mirror

Place: where units, queries and WHEREs with `infer` have the store otherwise. Asserted and derived
quads are disjoint, so nothing is found twice.
"""

import shutil
from collections.abc import Iterable, Iterator
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

    `mirror` is what texts are evaluated on.
    """

    def __init__(self, store: QuadStore, reasoner: AnyReasoner, domains: Domains) -> None:
        self.store = store
        self._resumed = 0
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

    @property
    def changes(self) -> int:
        """How many changes of the view were made, deferred ones too."""
        return self.store.changes + self._resumed

    def take(self, delta: Delta, *, is_resumed: bool = False) -> None:
        """Take note of an entailed Delta, which store and reasoner have by now.

        With `is_resumed` it is none of the store's.
        """
        self._resumed += is_resumed
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

    def _quads(self, graph: GraphName) -> Iterator[Quad]:
        yield from self.store.each(graph)
        yield from self._reasoner.derived.match(None, None, None, graph)

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
        if not self._may_derive_into(graphs):
            return self.store.query(text, dataset, with_graph)
        with self.writing:
            self._require_known(graphs)
            mirror = self.mirror.current(graphs)
        return mirror.query(text, dataset, with_graph)

    def is_about_domains(self, text: str, dataset: Dataset | None) -> bool:
        """Whether a query looks at graphs into which something may be derived.

        Raises SuspendedError where it is not known what.
        """
        graphs = _looked_at(text, dataset, None)
        if not self._may_derive_into(graphs):
            return False
        with self.writing:
            self._require_known(graphs)
        return True

    def _may_derive_into(self, graphs: frozenset[GraphName] | None) -> bool:
        return graphs is None or any(map(self.may_derive, graphs))

    def _require_known(self, graphs: frozenset[GraphName] | None) -> None:
        self.require((None,) if graphs is None else graphs)

    def copy_to(self, folder: Path) -> int:
        """A copy of both in a new folder, as the store makes one of itself; which of `changes`.

        Raises StorageError.
        """
        stored, changes, derived = self._now()
        if self.store.copy_to(folder) != stored:  # an UPDATE came between
            shutil.rmtree(folder)
            with self.writing:
                stored, changes, derived = self._now()
                self.store.copy_to(folder)
        try:
            copy = Store(str(folder))
            copy.bulk_extend(derived)
            copy.flush()
        except (OSError, RuntimeError) as error:
            raise StorageError(
                f"what follows cannot be copied: {error}", "check the disk's free space and health"
            ) from error
        return changes

    def _now(self) -> tuple[int, int, list[Quad]]:
        """The store's changes and those of this view, and what is derived at them."""
        with self.writing:
            derived = list(self._reasoner.derived.match(None, None, None, None))
            return self.store.changes, self.changes, derived


@remembered()
def _looked_at(
    text: str, dataset: Dataset | None, with_graph: NamedNode | None
) -> frozenset[GraphName] | None:
    """The graphs that a text of a query looks at; None is all of them."""
    found = graphs_looked_at(parse_query(text, is_admitted=True), dataset)
    if found is None or with_graph is None:
        return found
    return frozenset(with_graph if graph == DEFAULT_GRAPH else graph for graph in found)
