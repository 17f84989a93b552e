"""`CompoundEvent`: the quads that one request states in one graph, as a dataset of its own.

    stated quads, net Delta -> an event for each graph -> what queries see of it

Place: behind the store, before the queries of the mode `event`. Source: Pellegrino, Huet, Baude and
Alshabani, "A Distributed Publish/Subscribe System for RDF Data", 2013, section 2: a compound event
is the quads with one graph term. A request makes at most one for each graph: what it states there,
if at least one of it is new, so that a retry is none (docs/events.md).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from pyoxigraph import BlankNode, NamedNode, Quad, Store, Triple

from gateway.journal.event_position import EventPosition
from gateway.rdf.delta import Delta
from gateway.rdf.geometry import GEOMETRY
from gateway.rdf.namespaces import OWN_GRAPHS
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.store.clock import Clock
from gateway.store.quad_store import QueryResults

GraphNode = NamedNode | BlankNode

Stated = Triple | Quad
"""A triple of an event; of a quad its graph counts for nothing."""

By = Mapping[Term, Sequence[Stated]]

Layout = tuple[Term, ...]
"""Predicates of triples, in their order."""

REPEATED = -1

LAID_OUT = 16
LAID_OUT_CHARACTERS = 2_048
"""What is known of a layout is kept where it has no more predicates, nor these more characters."""


class CompoundEvent:
    """An event: `graph` is where it was stated, `term` the name that queries see that graph by.

    For the default graph the `term` is that of the message or request. The triples are distinct, in
    the form of the store. `time` is the engine's, µs since the epoch.
    """

    def __init__(
        self,
        graph: GraphName,
        term: GraphNode,
        triples: Sequence[Stated],
        *,
        gateway: str,
        position: EventPosition,
        time: int,
    ) -> None:
        self.graph = graph
        self.term = term
        self.triples = triples
        self.gateway = gateway
        self.position = position
        self.time = time
        self._by_predicate: dict[Term, list[Stated]] | None = None
        self._layout: Layout | None = None
        self._places: dict[Term, int] | None = None
        self._name = ""

    @property
    def name(self) -> str:
        """The graph term as text."""
        if not self._name:
            term = self.term
            self._name = term.value if isinstance(term, NamedNode) else f"_:{term.value}"
        return self._name

    @property
    def is_message(self) -> bool:
        """Whether it was a message that stated it, which the journal has."""
        return self.position.request == 0

    def __len__(self) -> int:
        return len(self.triples)

    @cached_property
    def quads(self) -> Sequence[Quad]:
        """The triples in the graph of the event."""
        return [Quad(each.subject, each.predicate, each.object, self.term) for each in self.triples]

    @property
    def layout(self) -> Layout:
        """The predicates of the triples, in their order: the same for most events of a device."""
        found = self._layout
        if found is None:
            found = self._layout = tuple([triple.predicate for triple in self.triples])
        return found

    def has_layout(self, known: Layout) -> None:
        """Have an equal layout, which others know by its identity."""
        self._layout = known

    @cached_property
    def is_short(self) -> bool:
        """Whether what is known of its layout is to be kept: an enemy's takes no memory."""
        if len(self) > LAID_OUT:
            return False
        return sum(len(str(term)) for term in self.layout) <= LAID_OUT_CHARACTERS

    @property
    def places(self) -> Mapping[Term, int]:
        """Where the triple of each predicate is; REPEATED where there are several."""
        found = self._places
        if found is None:
            found = self._places = {}
            for place, predicate in enumerate(self.layout):
                found[predicate] = REPEATED if predicate in found else place
        return found

    @property
    def by_predicate(self) -> By:
        """The triples of each predicate."""
        found = self._by_predicate
        if found is None:
            found = self._by_predicate = {}
            for predicate, triple in zip(self.layout, self.triples, strict=True):
                found.setdefault(predicate, []).append(triple)
        return found

    @cached_property
    def _store(self) -> Store:
        store = Store()
        store.extend(Quad(each.subject, each.predicate, each.object) for each in self.triples)
        store.extend(self.quads)
        return store

    def query(self, text: str) -> QueryResults:
        """Evaluate a text that is ready for the store, at the time of the event.

        It sees the quads as the default graph and as the one named graph.
        """
        clock = Clock(lambda: self.time)
        return self._store.query(text, custom_functions={**GEOMETRY, **clock.functions()})


def events_of(stated: Iterable[Quad], delta: Delta) -> Iterator[tuple[GraphName, Sequence[Stated]]]:
    """The graphs in which a request states something of which a part is new, and what it states.

    The gateway's own graphs are none of these.
    """
    new = {quad.graph_name for quad in delta.added if quad.graph_name not in OWN_GRAPHS}
    if not new:
        return
    known = frozenset(delta.added)
    by_graph: dict[GraphName, list[Quad]] = {}
    for quad in stated:
        if quad.graph_name in new:
            by_graph.setdefault(quad.graph_name, []).append(quad)
    for graph, quads in by_graph.items():
        if not known.isdisjoint(quads):
            yield graph, _triples(graph, quads)


def _triples(graph: GraphName, quads: Sequence[Quad]) -> Sequence[Stated]:
    """Quads of the default graph are as good as triples, and are there already."""
    if graph == DEFAULT_GRAPH:
        return quads
    return [Triple(each.subject, each.predicate, each.object) for each in quads]


def message_events(quads: Iterable[Quad]) -> Iterator[tuple[GraphName, Sequence[Stated]]]:
    """The same of what a message states, which is always new."""
    by_graph: dict[GraphName, dict[Triple, None]] = {}
    for quad in quads:
        triple = Triple(quad.subject, quad.predicate, quad.object)
        if quad.graph_name not in OWN_GRAPHS:
            by_graph.setdefault(quad.graph_name, {})[triple] = None
    return ((graph, tuple(triples)) for graph, triples in by_graph.items())


def term_of(graph: GraphName, default: NamedNode) -> GraphNode:
    """The name that queries see a graph by; `default` is that of the default graph."""
    return default if graph == DEFAULT_GRAPH else graph  # type: ignore[return-value]
