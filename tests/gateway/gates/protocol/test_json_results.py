"""Results as JSON read back: what the gateway writes, what pyoxigraph reads, what is none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import BlankNode, Literal, NamedNode, Triple

from gateway.gates.protocol.wire import encode_results, encode_term
from gateway.rdf.json_results import TRUE, decode_solutions, decode_term
from gateway.rdf.terms import Term

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
terms: st.SearchStrategy[Term] = st.one_of(
    st.just(NamedNode("urn:é")),
    st.just(BlankNode("b1")),
    texts.map(Literal),
    texts.map(lambda text: Literal(text, language="en-gb")),
    texts.map(lambda text: Literal(text, datatype=NamedNode("urn:type"))),
    texts.map(lambda text: Triple(NamedNode("urn:s"), NamedNode("urn:p"), Literal(text))),
)


@given(terms)
def test_a_term_comes_back(term: Term) -> None:
    assert decode_term(json.loads(encode_term(term))) == term


@given(st.lists(st.tuples(terms, st.none() | terms), max_size=4))
def test_rows_come_back_without_what_is_unbound(rows: list[tuple[Term, Term | None]]) -> None:
    solutions = decode_solutions(json.loads(encode_results(["a", "b"], rows)))
    assert [(each["a"], each.get("b")) for each in solutions] == rows
    assert all(
        ("b" in each) == (row[1] is not None) for each, row in zip(solutions, rows, strict=True)
    )


def test_truth_and_nothing() -> None:
    assert decode_solutions({"head": {}, "boolean": True}) == TRUE
    assert decode_solutions({"head": {}, "boolean": False}) == ()
    assert decode_solutions({}) == ()
    old = {"type": "typed-literal", "value": "1", "datatype": "urn:t"}
    assert decode_term(old) == Literal("1", datatype=NamedNode("urn:t"))


@pytest.mark.parametrize(
    "results",
    [
        3,
        [],
        {"results": 3},
        {"results": {"bindings": 3}},
        {"results": {"bindings": [3]}},
        {"results": {"bindings": [{"a": 3}]}},
        {"results": {"bindings": [{"a": {"type": "uri", "value": "no iri"}}]}},
        {"results": {"bindings": [{"a": {"type": "other", "value": "x"}}]}},
        {"results": {"bindings": [{"a": {"type": "literal"}}]}},
        {"results": {"bindings": [{"a": {"type": "literal", "value": 3, "datatype": 3}}]}},
        {"results": {"bindings": [{"a": {"type": "triple", "value": {"subject": 3}}}]}},
    ],
)
def test_what_is_no_result_is_a_value_error(results: object) -> None:
    with pytest.raises(ValueError, match=r"no |IRI"):
        decode_solutions(results)
