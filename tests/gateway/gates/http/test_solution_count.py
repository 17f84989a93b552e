"""Counting solutions in a written result: against the rows themselves, whatever the values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import (
    BlankNode,
    Literal,
    NamedNode,
    Quad,
    QueryResultsFormat,
    QuerySolutions,
    Store,
    Triple,
)

from gateway.gates.http.solution_count import solution_count

FORMATS = [
    QueryResultsFormat.JSON,
    QueryResultsFormat.XML,
    QueryResultsFormat.CSV,
    QueryResultsFormat.TSV,
]
TEXTS = st.text(st.sampled_from('a"},{\\\r\n\t<>&[]:é\u2028'), max_size=12)


def written(store: Store, query: str, result_format: QueryResultsFormat) -> tuple[bytes, int]:
    results = store.query(query)
    assert isinstance(results, QuerySolutions)
    body = results.serialize(format=result_format)
    again = store.query(query)
    assert isinstance(again, QuerySolutions)
    assert body is not None
    return body, len(list(again))


@pytest.mark.parametrize("result_format", FORMATS, ids=str)
@settings(max_examples=100, derandomize=True, deadline=None)
@given(texts=st.lists(TEXTS, max_size=6))
def test_count_is_that_of_the_rows(result_format: QueryResultsFormat, texts: list[str]) -> None:
    store = Store()
    for text in texts:
        store.add(Quad(NamedNode("urn:s"), NamedNode("urn:p"), Literal(text)))
        store.add(Quad(BlankNode(), NamedNode("urn:q"), Literal(text, language="en")))
    for query in ("SELECT * { ?s ?p ?o }", "SELECT ?x { ?s ?p ?o }", "SELECT ?o ?x { ?s ?p ?o }"):
        body, rows = written(store, query, result_format)
        assert solution_count(body, result_format) == rows


@pytest.mark.parametrize("result_format", FORMATS, ids=str)
def test_triples_as_values_are_no_solutions(result_format: QueryResultsFormat) -> None:
    store = Store()
    triple = Triple(NamedNode("urn:a"), NamedNode("urn:b"), Literal("},{"))
    store.add(Quad(NamedNode("urn:s"), NamedNode("urn:p"), triple))
    body, rows = written(store, "SELECT * { ?s ?p ?o }", result_format)
    assert solution_count(body, result_format) == rows == 1
