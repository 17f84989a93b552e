"""What a query looks at: the look-ups of its LUTT, and what cannot be subscribed.

Place: asked once per subscription, between the parser and the choice of an SPU. Source: the LUTT
of the SEPA engine; SPARQL 1.1 Query Language, sections 9.3 (paths), 13 (datasets) and 18.5.

Invariant: a change that hits no look-up of a query leaves its answer as it was.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pyoxigraph import BlankNode, NamedNode, Variable

from gateway.rdf.dataset import Dataset
from gateway.rdf.namespaces import CLOCK
from gateway.rdf.terms import DEFAULT_GRAPH, GraphName, Term
from gateway.sparql import algebra, paths
from gateway.sparql.algebra import (
    Element,
    Exists,
    Group,
    PatternTerm,
    Query,
    QueryForm,
    TriplePattern,
)
from gateway.sparql.scope import walk

_Graphs = Sequence[GraphName | None]
_Edge = tuple[Term | None, NamedNode | None, Term | None]

_ANY_EDGE: _Edge = (None, None, None)
_RANDOM = frozenset({"RAND", "UUID", "STRUUID", "BNODE"})


@dataclass(frozen=True, slots=True)
class Unsupported:
    """The construct that keeps a query from being subscribed and why; what to do instead."""

    reason: str
    hint: str


_SERVICE = Unsupported(
    "SERVICE depends on another endpoint",
    "INSERT what it answers from time to time, and subscribe to that",
)
_FRESH_NODES = Unsupported(
    "blank nodes in a CONSTRUCT template are fresh each time",
    "name them: BIND(IRI(CONCAT(...)) AS ?node)",
)


@dataclass(frozen=True, slots=True)
class Lookup:
    """Quads that a query may look at: None is a wildcard, in `graph` any named graph.

    `Lookup()` besides means that the answer depends on which named graphs exist, empty ones too.
    """

    subject: Term | None = None
    predicate: NamedNode | None = None
    object: Term | None = None
    graph: GraphName | None = None


def quad_patterns(query: Query, dataset: Dataset | None = None) -> tuple[Lookup, ...]:
    """Every pattern anywhere in the query, each once.

    The dataset of a protocol request replaces FROM and FROM NAMED.
    """
    dataset = dataset or query.dataset
    reader = _Reader(dataset)
    reader.read_query(query, (DEFAULT_GRAPH,) if dataset is None else dataset.default_graphs)
    return tuple(reader.found)


def graphs_looked_at(query: Query, dataset: Dataset | None = None) -> frozenset[GraphName] | None:
    """The graphs that the answer depends on; None where that is every named graph there may be."""
    graphs = {each.graph for each in quad_patterns(query, dataset)}
    return None if None in graphs else frozenset(graph for graph in graphs if graph is not None)


class _Reader:
    """Goes through a query with the graphs that its patterns are matched against."""

    def __init__(self, dataset: Dataset | None) -> None:
        self.found: dict[Lookup, None] = {}
        self._dataset = dataset

    def read_query(self, query: Query, graphs: _Graphs) -> None:
        self._read_group(query.where, graphs)
        for clause in (query.projection, query.group_by, query.having, query.order_by):
            self._read_exists(clause, graphs)

    def _read_exists(self, expressions: object, graphs: _Graphs) -> None:
        for node in walk(expressions, (Exists,)):
            if isinstance(node, Exists):
                self._read_group(node.group, graphs)

    def _read_group(self, group: Group, graphs: _Graphs) -> None:
        for element in group.elements:
            self._read_element(element, graphs)

    def _read_element(self, element: Element, graphs: _Graphs) -> None:
        match element:
            case algebra.BasicPattern(patterns=patterns):
                for pattern in patterns:
                    self._read_pattern(pattern, graphs)
            case Group() | algebra.Optional() | algebra.Minus() | algebra.Union():
                for group in _groups_of(element):
                    self._read_group(group, graphs)
            case algebra.Filter(expression=expression) | algebra.Bind(expression=expression):
                self._read_exists(expression, graphs)
            case algebra.SubSelect(query=query):
                self.read_query(query, graphs)
            case algebra.Graph(name=name, group=group):
                self._read_graph(name, group)
            case algebra.Values() | algebra.Service():
                pass

    def _read_graph(self, name: algebra.VarOrIri, group: Group) -> None:
        graphs = self._named(name)
        if graphs and not _needs_edge(group):
            self.found[Lookup()] = None
        self._read_group(group, graphs)

    def _named(self, name: algebra.VarOrIri) -> _Graphs:
        if isinstance(name, Variable):
            return (None,) if self._dataset is None else self._dataset.named_graphs
        known = self._dataset is None or name in self._dataset.named_graphs
        return (name,) if known else ()

    def _read_pattern(self, pattern: TriplePattern, graphs: _Graphs) -> None:
        for edge in _edges(pattern):
            for graph in graphs:
                self.found[Lookup(*edge, graph)] = None


def _groups_of(
    element: Group | algebra.Optional | algebra.Minus | algebra.Union,
) -> tuple[Group, ...]:
    match element:
        case Group():
            return (element,)
        case algebra.Union(branches=branches):
            return branches
        case _:
            return (element.group,)


def _edges(pattern: TriplePattern) -> Iterator[_Edge]:
    subject, predicate = _constant(pattern.subject), pattern.predicate
    target = _constant(pattern.object)
    if isinstance(predicate, NamedNode):
        yield subject, predicate, target
    elif isinstance(predicate, Variable):
        yield subject, None, target
    elif _may_be_empty(predicate):
        # A path of length zero joins every node of the graph with itself.
        yield _ANY_EDGE
    else:
        yield from _path_edges(predicate, subject, target)


def _constant(node: PatternTerm) -> Term | None:
    return None if isinstance(node, Variable) else node


def _path_edges(path: paths.Path, start: Term | None, end: Term | None) -> Iterator[_Edge]:
    """The edges that a path can walk over between two nodes; None is any node."""
    match path:
        case paths.Link(iri=iri):
            yield start, iri, end
        case paths.Inverse(path=inner):
            yield from _path_edges(inner, end, start)
        case paths.Alternative(branches=branches):
            yield from (edge for branch in branches for edge in _path_edges(branch, start, end))
        case paths.Sequence(steps=steps):
            ends = _ends(steps, start, end)
            yield from (edge for known in ends for edge in _path_edges(*known))
        case paths.ZeroOrOne(path=inner):
            yield from _path_edges(inner, start, end)
        case paths.ZeroOrMore(path=inner) | paths.OneOrMore(path=inner):
            yield from _path_edges(inner, None, None)
        case paths.NegatedPropertySet(inverse=()):
            yield start, None, end
        case paths.NegatedPropertySet(forward=()):
            yield end, None, start
        case paths.NegatedPropertySet():
            yield from ((start, None, end), (end, None, start))


def _ends(
    steps: Sequence[paths.Path], start: Term | None, end: Term | None
) -> Iterator[tuple[paths.Path, Term | None, Term | None]]:
    """The steps of a sequence, each with what is known of its two ends."""
    last = len(steps) - 1
    for place, step in enumerate(steps):
        yield step, start if place == 0 else None, end if place == last else None


def _may_be_empty(path: paths.Path) -> bool:
    """Whether the path can have length zero."""
    match path:
        case paths.ZeroOrMore() | paths.ZeroOrOne():
            return True
        case paths.OneOrMore(path=inner) | paths.Inverse(path=inner):
            return _may_be_empty(inner)
        case paths.Sequence(steps=steps):
            return all(_may_be_empty(step) for step in steps)
        case paths.Alternative(branches=branches):
            return any(_may_be_empty(branch) for branch in branches)
        case _:
            return False


def _needs_edge(group: Group) -> bool:
    """Whether every solution of the group needs a triple of the graph it is matched against."""
    return any(_element_needs_edge(element) for element in group.elements)


def _element_needs_edge(element: Element) -> bool:
    match element:
        case algebra.BasicPattern(patterns=patterns):
            return any(
                not (isinstance(pattern.predicate, paths.Path) and _may_be_empty(pattern.predicate))
                for pattern in patterns
            )
        case Group():
            return _needs_edge(element)
        case algebra.Union(branches=branches):
            return all(_needs_edge(branch) for branch in branches)
        case _:
            return False


def unsupported(query: Query) -> Unsupported | None:
    """Why a query cannot be subscribed: its answer is no function of the dataset and the clock."""
    if query.form is QueryForm.DESCRIBE:
        return Unsupported("DESCRIBE has no defined answer", "CONSTRUCT the triples that you want")
    for node in walk(query):
        match node:
            case algebra.Service():
                return _SERVICE
            case algebra.Operation(name=name) if name in _RANDOM:
                hint = "leave it out, or make the value where the notification is read"
                return Unsupported(f"{name} gives another value each time", hint)
            case BlankNode():
                return _FRESH_NODES
            case _:
                pass
    return None


def reads_clock(query: Query) -> bool:
    """Whether the query calls NOW() or `gw:clock()`."""
    return any(
        (isinstance(node, algebra.Operation) and node.name == "NOW")
        or (isinstance(node, algebra.Call) and node.iri == CLOCK)
        for node in walk(query)
    )


def contains_service(tree: Query | Group | algebra.Update) -> bool:
    """Whether there is a SERVICE anywhere: in an EXISTS or a sub-query too."""
    return any(isinstance(node, algebra.Service) for node in walk(tree))
