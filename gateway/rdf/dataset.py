"""`Dataset`: the graphs that a query or the WHERE of an UPDATE is asked of, where they are chosen.

FROM and USING choose them in the text, a protocol request by parameters beside it, which replace
those of the text (SPARQL 1.1 Protocol, 2.1.4 and 2.2.3). Where neither does, there is None instead
of a `Dataset`, and the store says what is asked. Source: SPARQL 1.1 Query Language, section 13.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Self

from pyoxigraph import BlankNode, NamedNode

from gateway.rdf.terms import GraphName


@dataclass(frozen=True, slots=True)
class Dataset:
    """The default graph is the RDF merge of `default_graphs`; GRAPH chooses among `named_graphs`.

    Either part may be empty: then the default graph is empty, or there is no named graph.
    """

    default_graphs: tuple[GraphName, ...] = ()
    named_graphs: tuple[NamedNode | BlankNode, ...] = ()

    @classmethod
    def chosen(
        cls, default: Iterable[GraphName], named: Iterable[NamedNode | BlankNode]
    ) -> Self | None:
        """What FROM clauses or parameters choose; None where there are none.

        >>> Dataset.chosen([], [])
        >>> len(Dataset.chosen([NamedNode("urn:g")], []).default_graphs)
        1
        """
        default, named = tuple(default), tuple(named)
        return cls(default, named) if default or named else None

    @property
    def parts(self) -> tuple[tuple[GraphName, ...], tuple[NamedNode | BlankNode, ...]]:
        """The graphs of the default graph, and the named ones."""
        return self.default_graphs, self.named_graphs

    def names_once(self, graph: NamedNode | BlankNode) -> bool:
        """Whether it is a named graph that counts once: one that is named twice counts twice."""
        return self.parts[1].count(graph) == 1

    def within(self, sees: Callable[[GraphName], bool]) -> "Dataset":
        """What is left of both parts for somebody who sees these graphs only."""
        default, named = self.parts
        return Dataset(tuple(filter(sees, default)), tuple(filter(sees, named)))

    def iris(self) -> tuple[list[str], list[str]]:
        """Both parts as the protocol's parameters name them."""
        default, named = (
            [graph.value for graph in graphs if isinstance(graph, NamedNode)]
            for graphs in self.parts
        )
        return default, named
