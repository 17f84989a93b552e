"""No value can change a query: what goes into a rendered text comes out of its answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    QuerySolutions,
    Store,
    Triple,
    Variable,
)

from jsap.forced_bindings import Term
from jsap.lexer import TokenKind, string_value, tokenize
from jsap.sparql_terms import written
from jsap.template import Template

pytestmark = pytest.mark.property

texts = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), max_size=20),
    st.text("\"'\\uU0041{}<>?v .#\n\r^@", max_size=20),
)
iris = st.text("abc/?#%20é-_~:", max_size=10).map(lambda rest: f"urn:x{rest}")


def is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True


names = iris.filter(is_iri).map(NamedNode)
literals = st.one_of(
    texts.map(Literal),
    st.builds(lambda text: Literal(text, language="en-gb"), texts),
    st.builds(lambda text, datatype: Literal(text, datatype=datatype), texts, names),
    st.integers(-9, 9).map(Literal),
)
terms = st.one_of(names, literals)


Substitutions = dict[Variable, NamedNode | BlankNode | Literal | Triple]


def answer(store: Store, text: str, bound: Substitutions | None = None) -> list[list[object]]:
    solutions = store.query(text, substitutions=bound)
    assert isinstance(solutions, QuerySolutions)
    return sorted(([*row] for row in solutions), key=str)


@given(terms)
def test_term_comes_back_from_the_answer(term: Term) -> None:
    text = Template("T", "SELECT ?v {}").render({"v": term})
    assert answer(Store(), text) == [[term]]


@given(texts)
def test_written_text_is_one_token_and_reads_back(value: str) -> None:
    [token] = tokenize(written(Literal(value)))
    assert token.kind is TokenKind.STRING
    assert string_value(token.text) == value


@given(names, names, terms)
def test_update_writes_one_triple_of_the_terms(
    subject: NamedNode, name: NamedNode, term: Term
) -> None:
    store = Store()
    update = Template("T", "INSERT{?s?p?o}WHERE{}").render({"s": subject, "p": name, "o": term})
    store.update(update)
    assert list(store) == [Quad(subject, name, term, DefaultGraph())]


QUERIES = (
    "SELECT ?s ?v ?x { ?s ?p ?v . ?s ?p ?x }",
    "SELECT ?x ?v { ?x ?v ?o }",
    "SELECT ?x ?v { ?x ?p ?o FILTER(?o=?v) }",
    "SELECT ?x ?v { ?x ?p ?o OPTIONAL { ?x ?q ?v } }",
    "SELECT ?v ?x { { ?x ?p ?v } UNION { ?v ?p ?x } }",
    "SELECT DISTINCT ?v ?x { ?x ?p ?o FILTER NOT EXISTS { ?x ?p ?v } } ORDER BY ?v",
)
NODES = tuple(NamedNode(f"urn:n{number}") for number in range(3))
nodes = st.sampled_from(NODES)
graphs = st.lists(st.builds(Quad, nodes, nodes, nodes | st.just(Literal('"?v"'))), max_size=12)


@given(st.sampled_from(QUERIES), graphs, nodes)
def test_rendered_query_answers_as_the_engine_with_substitutions(
    sparql: str, quads: list[Quad], term: NamedNode
) -> None:
    store = Store()
    store.extend(quads)
    text = Template("T", sparql).render({"v": term})
    assert answer(store, text) == answer(store, sparql, {Variable("v"): term})
