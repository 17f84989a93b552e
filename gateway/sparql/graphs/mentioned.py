"""Which graphs a text names, whatever it does with them.

Place: asked before a text is answered where graphs have names that are no graphs of the store:
streams and windows. `GRAPH ?g` names none. Source: SPARQL 1.1 Query Language, section 13;
SPARQL 1.1 Update, section 3.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from pyoxigraph import NamedNode

from gateway.rdf.dataset import Dataset
from gateway.runtime.text_cache import remembered
from gateway.sparql import algebra
from gateway.sparql.parser import parse_query, parse_update
from gateway.sparql.scope import walk

Graphs = frozenset[NamedNode]
_NONE: Graphs = frozenset()


@dataclass(frozen=True, slots=True)
class UpdateGraphs:
    """The graphs that an UPDATE names to look at, to delete from, to insert into, to manage."""

    read: Graphs = _NONE
    deleted: Graphs = _NONE
    inserted: Graphs = _NONE
    managed: Graphs = _NONE


@remembered()
def graphs_of_query(text: str) -> Graphs:
    """The graphs of GRAPH, FROM and FROM NAMED, in sub-queries too. Raises SparqlSyntaxError."""
    query = parse_query(text)
    return frozenset((*_in_patterns(query), *_in_dataset(query.dataset)))


@remembered()
def graphs_of_update(text: str) -> UpdateGraphs:
    """The graphs of every operation of a request. Raises SparqlSyntaxError."""
    found: dict[str, set[NamedNode]] = {"read": set(), "deleted": set(), "inserted": set()}
    found["managed"] = set()
    for operation in parse_update(text).operations:
        for kind, graph in _of_operation(operation):
            if isinstance(graph, NamedNode):
                found[kind].add(graph)
    return UpdateGraphs(**{kind: frozenset(graphs) for kind, graphs in found.items()})


def _of_operation(operation: algebra.UpdateOperation) -> Iterator[tuple[str, object]]:
    match operation:
        case algebra.InsertData(quads):
            yield from (("inserted", quad.graph) for quad in quads)
        case algebra.DeleteData(quads):
            yield from (("deleted", quad.graph) for quad in quads)
        case algebra.Modify(delete, insert, where, with_graph, using):
            yield from (("deleted", quad.graph or with_graph) for quad in delete)
            yield from (("inserted", quad.graph or with_graph) for quad in insert)
            yield from (("read", graph) for graph in _in_patterns(where))
            yield from (("read", graph) for graph in _in_dataset(using))
            if where.elements:
                yield "read", with_graph
        case algebra.Clear(target=graph) | algebra.Drop(target=graph):
            yield "managed", graph
        case algebra.Create(graph=graph) | algebra.Load(into=graph):
            yield "managed", graph
        case algebra.Copy() | algebra.Move() | algebra.Add():
            yield "managed", operation.source
            yield "managed", operation.destination


def _in_patterns(tree: algebra.Query | algebra.Group) -> Iterator[NamedNode]:
    for node in walk(tree):
        if isinstance(node, algebra.Graph) and isinstance(node.name, NamedNode):
            yield node.name


def _in_dataset(dataset: Dataset | None) -> Iterator[NamedNode]:
    for graphs in () if dataset is None else dataset.parts:
        for graph in graphs:
            if isinstance(graph, NamedNode):
                yield graph


def graphs_of_dataset(dataset: Dataset | None) -> Graphs:
    """The named graphs that a request chooses."""
    return frozenset(_in_dataset(dataset))
