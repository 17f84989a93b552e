"""LIMIT and OFFSET in a subscription: the rows depend on the dataset alone.

Two engines get the same quads in different orders, so their stores find them in different orders;
what they tell of a slice must be the same all the same.
"""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import Literal, NamedNode, Quad

from gateway.engine import Engine
from gateway.rdf.delta import Delta
from gateway.rdf.namespaces import XSD
from gateway.rdf.solutions import SolutionBag
from gateway.sparql.order.tie_break import with_tie_break
from gateway.sparql.parser import parse_query

pytestmark = pytest.mark.property

_TERMS: list[NamedNode | Literal] = [
    *(NamedNode(f"urn:{name}") for name in "abc"),
    *(Literal(number) for number in (1, 9, 10)),
    *(Literal("1", datatype=NamedNode(XSD + name)) for name in ("decimal", "double", "byte")),
    *(Literal(text) for text in ("1a", "9", "a")),
    *(Literal("a", language=tag) for tag in ("en", "de")),
    *(Literal(text, datatype=NamedNode("urn:d")) for text in ("1", "10")),
    Literal(True),
]
_SUBJECTS = [NamedNode(f"urn:s{number}") for number in range(4)]
_QUADS = [Quad(s, NamedNode("urn:p"), o) for s in _SUBJECTS for o in _TERMS]
_QUERIES = [
    "SELECT ?s ?o { ?s <urn:p> ?o } LIMIT 3",
    "SELECT ?o { ?s <urn:p> ?o } ORDER BY DESC(?s) OFFSET 1 LIMIT 4",
    "SELECT DISTINCT ?o { ?s <urn:p> ?o } LIMIT 2 OFFSET 2",
    "SELECT * { ?s <urn:p> ?o OPTIONAL { ?x ?o ?y } } OFFSET 3",
    "SELECT ?o (COUNT(*) AS ?n) { ?s <urn:p> ?o } GROUP BY ?o HAVING (COUNT(*) > 0) LIMIT 2",
    "SELECT ?s ?o { { SELECT ?s { ?s <urn:p> ?o } ORDER BY ?s LIMIT 2 } ?s <urn:p> ?o } limit 3",
    "SELECT (STR(?o) AS ?t) { ?s <urn:p> ?o } ORDER BY (EXISTS { { SELECT ?x { ?x ?y ?s } "
    "LIMIT 1 } }) LIMIT 3",
    "CONSTRUCT { ?s <urn:q> ?o } WHERE { ?s <urn:p> ?o } LIMIT 2",
]


def told(quads: list[Quad], text: str) -> SolutionBag:
    engine = Engine.open()
    first = engine.subscribe(text)
    rows = Counter(first.results.added)
    for quad in quads:
        engine.store.apply(Delta(added=(quad,)))
    for notification in engine.update("INSERT DATA { <urn:s0> <urn:p> <urn:z> }").notifications:
        rows = rows - Counter(notification.results.removed) + Counter(notification.results.added)
    return rows


@settings(max_examples=150, derandomize=True, deadline=None)
@given(
    st.lists(st.sampled_from(_QUADS), unique=True, max_size=14),
    st.sampled_from(_QUERIES),
    st.integers(0, 2**16),
)
def test_slice_does_not_depend_on_the_order_of_the_store(
    quads: list[Quad], text: str, seed: int
) -> None:
    shuffled = list(quads)
    random.Random(seed).shuffle(shuffled)
    assert told(quads, text) == told(shuffled, text)


@pytest.mark.parametrize("text", _QUERIES)
def test_tie_break_keeps_the_query(text: str) -> None:
    ordered = with_tie_break(text)
    query, before = parse_query(ordered), parse_query(text)
    assert ordered != text
    assert (query.variables, query.limit, query.offset) == (
        before.variables,
        before.limit,
        before.offset,
    )
    assert len(query.order_by) > len(before.order_by)


def test_tie_break_leaves_a_query_without_slice_alone() -> None:
    text = "SELECT ?limit { ?limit ?p 'OFFSET 1' } # LIMIT 3"
    assert with_tie_break(text) == text
