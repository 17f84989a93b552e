"""Domains: graphs that are reasoned on together, and where their conclusions go.

A listed graph is a domain of its own, the active graph of SPARQL 1.1 Entailment Regimes,
section 1.3. A joint domain reads several graphs as one. The gateway's own graphs are in none.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from gateway.errors import ConfigurationError, ForbiddenError
from gateway.rdf.namespaces import CONTRADICTIONS_GRAPH, ONTOLOGY_GRAPH, OWN_GRAPHS
from gateway.rdf.terms import GraphName, Term


class Domain(NamedTuple):
    """Graphs whose quads are premises together; `into` is the only one, or no member of them."""

    graphs: frozenset[GraphName]
    into: GraphName

    @classmethod
    def of_one(cls, graph: GraphName) -> "Domain":
        """The domain of a graph by itself."""
        return cls(frozenset({graph}), graph)

    @property
    def is_joint(self) -> bool:
        """Whether conclusions go into a graph of their own."""
        return self.into not in self.graphs


SCHEMA = Domain.of_one(ONTOLOGY_GRAPH)
"""Where the schema closure is derived, by rules of its own: it is suspended like a domain."""


@dataclass(frozen=True, slots=True)
class Domains:
    """What [reasoning] says: graphs by themselves, perhaps all others too, and joint ones.

    Raises ConfigurationError where a graph is in two domains or one of the gateway's own.

    >>> from pyoxigraph import NamedNode
    >>> plain = Domains(frozenset({NamedNode("urn:g")}))
    >>> plain.of(NamedNode("urn:g")).into.value, plain.of(NamedNode("urn:h"))
    ('urn:g', None)
    """

    graphs: frozenset[GraphName] = frozenset()
    all_others: bool = False
    joint: tuple[Domain, ...] = ()
    _of: dict[GraphName, Domain] = field(
        init=False, repr=False, compare=False, default_factory=dict[GraphName, Domain]
    )

    def __post_init__(self) -> None:
        named = [
            *self.graphs,
            *(graph for each in self.joint for graph in (*each.graphs, each.into)),
        ]
        for graph in named:
            if graph in OWN_GRAPHS:
                raise ConfigurationError(f"{graph} is the gateway's own", "list your own graphs")
            if named.count(graph) > 1:
                raise ConfigurationError(f"{graph} is in two domains", "name it once")
        self._of.update({graph: Domain.of_one(graph) for graph in self.graphs})
        self._of.update({graph: each for each in self.joint for graph in each.graphs})

    def of(self, graph: GraphName) -> Domain | None:
        """The domain that reads the graph; None where nothing follows from it."""
        found = self._of.get(graph)
        if found is None and self.all_others and not self._is_apart(graph):
            return Domain.of_one(graph)
        return found

    def writes_refused(self, graph: GraphName) -> bool:
        """Whether the graph holds conclusions of a joint domain and nothing else."""
        return any(graph == each.into for each in self.joint)

    def require_writable(self, graphs: Iterable[GraphName | Term]) -> None:
        """Raise ForbiddenError for a graph that holds conclusions and nothing else."""
        for graph in graphs:
            if graph == CONTRADICTIONS_GRAPH or any(graph == each.into for each in self.joint):
                raise ForbiddenError(f"{graph} holds conclusions alone", "write what they rest on")

    def _is_apart(self, graph: GraphName) -> bool:
        return graph in OWN_GRAPHS or self.writes_refused(graph)
