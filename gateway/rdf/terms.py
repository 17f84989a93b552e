"""Names for the kinds of RDF terms; the values themselves are pyoxigraph's."""

from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Triple

Term = NamedNode | BlankNode | Literal | Triple
"""What a variable can be bound to."""

GraphName = NamedNode | BlankNode | DefaultGraph

DEFAULT_GRAPH = DefaultGraph()
