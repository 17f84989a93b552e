"""Random states, UPDATE requests and queries.

Place: under the oracle tests of the engine; `query_writer` and `update_writer` write the texts.
"""

from dataclasses import dataclass
from itertools import product, starmap

from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad

from gateway.rdf.namespaces import XSD
from tests.gateway.engine.odd_literals import ODD_LITERALS
from tests.gateway.engine.query_writer import EDGES, GRAPHS, IRIS, QueryWriter
from tests.gateway.engine.update_writer import UpdateWriter

_SUBJECTS = tuple(NamedNode(iri[1:-1]) for iri in IRIS)
_NODES = (*(NamedNode(iri[1:-1]) for iri in IRIS), BlankNode("m"), BlankNode("n"))
_LITERALS = (
    Literal(1),
    Literal(2),
    Literal("01", datatype=NamedNode(XSD + "integer")),
    Literal("2.50", datatype=NamedNode(XSD + "decimal")),
    Literal("0.1", datatype=NamedNode(XSD + "double")),
    Literal("1", datatype=NamedNode(XSD + "boolean")),
    Literal("v"),
    Literal("v", language="en"),
    *ODD_LITERALS,
)
_COMMON_OBJECTS = {*_NODES[:4], *_LITERALS[:2], Literal("v")}
NAMES = tuple(NamedNode(graph[1:-1]) for graph in GRAPHS)
QUADS = tuple(
    starmap(
        Quad,
        product(
            _NODES,
            [NamedNode(edge[1:-1]) for edge in EDGES],
            (*_NODES, *_LITERALS),
            (DefaultGraph(), *NAMES),
        ),
    )
)


@dataclass(frozen=True, slots=True)
class State:
    """What is in a store before an UPDATE: quads, and named graphs that may be empty."""

    quads: tuple[Quad, ...]
    graphs: tuple[NamedNode, ...]


_IN_BLANK_GRAPH = tuple(
    Quad(quad.subject, quad.predicate, quad.object, BlankNode("k"))
    for quad in QUADS
    if quad.graph_name == NAMES[0]
)
"""No text can name such a graph, but INSERT { GRAPH ?g ... } makes one of a blank node."""


COMMON = tuple(
    quad for quad in QUADS if quad.subject != BlankNode("n") and quad.object in _COMMON_OBJECTS
)
"""Dense: a third of these make most patterns match."""


def _quads(chosen: tuple[Quad, ...], least: int, most: int) -> st.SearchStrategy[list[Quad]]:
    return st.lists(st.sampled_from(chosen), min_size=least, max_size=most, unique=True)


_default = tuple(quad for quad in COMMON if isinstance(quad.graph_name, DefaultGraph))
_in_named = tuple(quad for quad in COMMON if not isinstance(quad.graph_name, DefaultGraph))
_dense = st.tuples(_quads(_default, 12, 24), _quads(_in_named, 8, 24)).map(
    lambda two: two[0] + two[1]
)
_contents = st.one_of(
    *[_dense] * 5,
    _quads(QUADS, 0, 8),
    st.tuples(_quads(_default, 8, 16), _quads(_IN_BLANK_GRAPH, 1, 1)).map(
        lambda two: two[0] + two[1]
    ),
)
ODD = tuple(
    Quad(subject, NamedNode(edge[1:-1]), literal)
    for subject in _SUBJECTS
    for edge in EDGES
    for literal in ODD_LITERALS
)
"""Where nearly every pattern looks: expressions and aggregates meet them."""

states = st.builds(
    State,
    st.tuples(_contents, _quads(ODD, 0, 6)).map(lambda two: tuple(two[0] + two[1])),
    st.sets(st.sampled_from(NAMES)).map(lambda names: tuple(sorted(names, key=str))),
)


randoms = st.randoms(use_true_random=False)
"""Generators whose choices Hypothesis makes and shrinks."""


def requests(most: int = 3) -> st.SearchStrategy[str]:
    """UPDATE requests of at most so many operations."""
    return randoms.map(lambda random: UpdateWriter(random).request(most))


def plain_requests(most: int = 3) -> st.SearchStrategy[str]:
    """Requests that do the same to equal stores: they make no blank nodes."""
    return randoms.map(lambda random: UpdateWriter(random, makes_blanks=False).request(most))


def modifies(using: str) -> st.SearchStrategy[str]:
    """DELETE/INSERT ... WHERE with these clauses before WHERE."""
    return randoms.map(lambda random: UpdateWriter(random).modify(using))


def queries() -> st.SearchStrategy[str]:
    """Queries of every form that can be subscribed."""
    return randoms.map(lambda random: QueryWriter(random).query())
