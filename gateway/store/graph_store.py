"""Whole graphs put, merged and deleted: what the Graph Store HTTP Protocol asks of the store.

Place: plans like those of an UPDATE's text, so a graph that comes by HTTP goes the same way as an
UPDATE does: through the scheduler, in one transaction, and its net Delta to the subscribers.
Source: SPARQL 1.1 Graph Store HTTP Protocol (W3C, 2013), section 5.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from pyoxigraph import DefaultGraph, NamedNode, Quad

from gateway.errors import NotFoundError
from gateway.rdf.terms import GraphName
from gateway.store.templates import Bindings
from gateway.store.update import UpdatePlan
from gateway.store.working import Working


def put(graph: GraphName, quads: Sequence[Quad]) -> UpdatePlan:
    """The graph has these quads and no others; it exists then, be it empty (5.3).

    The quads are canonical, in that graph and have blank nodes of their own.
    """
    return UpdatePlan(f"PUT {graph}", (_Clear(graph), _Merge(graph, tuple(quads))), _named(graph))


def post(graph: GraphName, quads: Sequence[Quad]) -> UpdatePlan:
    """The graph has these quads too; it exists then (5.5)."""
    return UpdatePlan(f"POST {graph}", (_Merge(graph, tuple(quads)),), _named(graph))


def delete(graph: GraphName) -> UpdatePlan:
    """The graph is gone, and the default graph empty (5.4); NotFoundError where it is not there.

    Whether it was there is told only to who may read it.
    """
    return UpdatePlan(f"DELETE {graph}", (_Delete(graph),), _named(graph))


def _named(graph: GraphName) -> tuple[NamedNode, ...]:
    return (graph,) if isinstance(graph, NamedNode) else ()


@dataclass(frozen=True, slots=True)
class _Clear:
    """Take everything out of a graph."""

    graph: GraphName

    def run(self, working: Working, bindings: Bindings) -> None:
        """Empty the graph."""
        del bindings
        working.clear_graph(self.graph)


@dataclass(frozen=True, slots=True)
class _Merge:
    """Put quads into a graph."""

    graph: GraphName
    quads: tuple[Quad, ...]

    def run(self, working: Working, bindings: Bindings) -> None:
        """Have it exist, with these quads besides its own."""
        del bindings
        working.create_graph(self.graph)
        working.state(self.quads)


@dataclass(frozen=True, slots=True)
class _Delete:
    """Take a graph away."""

    graph: GraphName

    def run(self, working: Working, bindings: Bindings) -> None:
        """Drop it; the default graph can only be emptied."""
        del bindings
        working.require_write(self.graph)
        if isinstance(self.graph, DefaultGraph):
            working.clear_graph(self.graph)
            return
        if working.may_read(self.graph) and not working.contains_graph(self.graph):
            raise NotFoundError(f"there is no graph {self.graph}", "PUT it first")
        working.drop_graph(self.graph)
