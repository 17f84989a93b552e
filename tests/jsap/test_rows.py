"""Rows by VALUES give what each row alone gives as terms, taken together."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, Literal, NamedNode, Quad, QuerySolutions, Store

from jsap import BindingError, JsapError, Template
from jsap.forced_bindings import BindingType, ForcedBinding, Term, Value

pytestmark = pytest.mark.property

nodes = st.integers(0, 3).map(lambda number: NamedNode(f"urn:n{number}"))
names = st.sampled_from(["p", "q"]).map(lambda name: NamedNode(f"urn:{name}"))
values = st.one_of(
    st.integers(0, 3).map(Literal), st.sampled_from(["a", '"} ?v', "b\\u0022"]).map(Literal)
)
stores = st.lists(st.builds(Quad, nodes, names, st.one_of(nodes, values)), max_size=12)
rows = st.lists(
    st.fixed_dictionaries({"a": nodes, "v": values}),
    min_size=2,
    max_size=4,
    unique_by=lambda row: (str(row["a"]), str(row["v"])),
)
DECLARED = {"a": ForcedBinding(BindingType.URI), "v": ForcedBinding(BindingType.LITERAL)}

QUERIES = (
    "SELECT ?a ?v ?x { ?a ?x ?v }",
    "SELECT * { ?a <urn:p> ?x . ?x ?y ?v }",
    "SELECT ?a ?v ?x { { ?a <urn:p> ?x } UNION { ?x <urn:q> ?z FILTER(?z = ?v) } }",
    "SELECT ?a ?v ?x ?z { ?a ?x ?y OPTIONAL { ?y ?z ?o FILTER(?o != ?v) } }",
    "SELECT ?a ?v ?x { ?a ?p ?x MINUS { ?a <urn:q> ?x . ?x <urn:p> ?v } }",
    "SELECT ?a ?v ?x { ?x ?p ?o FILTER NOT EXISTS { { ?a ?p ?o } UNION { ?x <urn:q> ?v } } }",
    "SELECT ?a ?v ?x { ?x ?p ?o { ?o ?q ?r FILTER EXISTS { ?a ?y ?v } } }",
    "SELECT ?a ?v ?x { ?a ?p ?x { SELECT ?a ?v ?x { ?x ?q ?v . ?a ?r ?s } } }",
    "SELECT ?a ?v ?x { ?a ?p ?x . { SELECT * { ?x ?q ?v . ?a ?r ?s } ORDER BY ?v LIMIT 100 } }",
    "SELECT ?a ?v ?n { ?a ?p ?o BIND(STRLEN(STR(?v)) AS ?n) }",
    "SELECT ?a ?v ?x { GRAPH ?a { ?x ?p ?v } } ORDER BY ?v ?a",
)


class AnyTerm(ForcedBinding):
    """A declaration that takes every term."""

    def term(self, value: Value) -> Term:
        assert isinstance(value, NamedNode | Literal)
        return value


def is_iri(text: str) -> bool:
    try:
        NamedNode(text)
    except ValueError:
        return False
    return True


def filled(quads: list[Quad]) -> Store:
    store = Store()
    store.extend(quads)
    store.extend(Quad(q.subject, q.predicate, q.object, NamedNode("urn:n0")) for q in quads)
    return store


def answer(store: Store, text: str) -> Counter[tuple[tuple[str, str], ...]]:
    solutions = store.query(text)
    assert isinstance(solutions, QuerySolutions)
    names = [variable.value for variable in solutions.variables]
    return Counter(
        tuple(sorted((name, str(row[name])) for name in names if row[name] is not None))
        for row in solutions
    )


@pytest.mark.parametrize("query", QUERIES)
@settings(max_examples=40)
@given(stores, rows)
def test_rows_together_give_what_each_gives(
    query: str, quads: list[Quad], rows: list[dict[str, Term]]
) -> None:
    store, template = filled(quads), Template("T", query, DECLARED)
    each = [
        Counter(
            tuple(sorted({**dict(found), **{name: str(row[name]) for name in row}}.items()))
            for found in answer(store, template.render(template.bind(row))).elements()
        )
        for row in rows
    ]
    assert answer(store, template.render_rows(rows)) == sum(each, Counter())


UPDATES = (
    "INSERT DATA { ?a <urn:new> ?v GRAPH <urn:g> { ?a <urn:new> 1 } }",
    "INSERT { ?a <urn:new> ?v . ?x <urn:new> ?a } WHERE { ?x <urn:p> ?v }",
    "DELETE DATA { ?a <urn:p> ?v }",
    "DELETE WHERE { ?a <urn:p> ?v }; INSERT DATA { ?a <urn:new> 2 }",
    "DELETE { ?a ?p ?v } INSERT { ?a ?p 'was' } WHERE { ?a ?p ?v }; INSERT DATA { ?a ?a 'other' }",
    "WITH <urn:n0> DELETE { ?a ?p ?v } WHERE { { ?a ?p ?v } UNION { ?a ?p ?v } }",
)


@pytest.mark.parametrize("update", UPDATES)
@settings(max_examples=40)
@given(stores, rows)
def test_rows_of_an_update_change_what_each_changes(
    update: str, quads: list[Quad], rows: list[dict[str, Term]]
) -> None:
    template = Template("T", update, DECLARED)
    together, one_by_one = filled(quads), filled(quads)
    together.update(template.render_rows(rows))
    for row in rows:
        one_by_one.update(template.render(template.bind(row)))
    assert set(together) == set(one_by_one)


written = st.one_of(
    st.text("\"'\\uU0041{}()<>?v .#\n\r^@;", max_size=12).map(Literal),
    st.text("\"'\\{}#", max_size=8).map(lambda text: Literal(text, language="en")),
    st.text("/#?%{", max_size=4).map(lambda text: f"urn:x{text}").filter(is_iri).map(NamedNode),
)


@given(st.lists(written, min_size=2, max_size=4, unique=True), written)
def test_no_value_of_a_row_leaves_its_place(terms: list[Term], kept: Term) -> None:
    declared = {"v": AnyTerm(BindingType.LITERAL), "vv": AnyTerm(BindingType.LITERAL)}
    template = Template("T", "SELECT ?v ?vv { BIND('?v' AS ?s) # ?v\n }", declared)
    text = template.render_rows([{"v": term, "vv": kept} for term in terms])
    assert answer(Store(), text) == Counter(
        tuple(sorted([("v", str(term)), ("vv", str(kept))])) for term in terms
    )


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("SELECT * { { SELECT ?x { ?x ?p ?a } } }", "?a: it is in a subselect without ?"),
        ("SELECT * { { SELECT ?a (?v AS ?w) { ?a ?p ?v } } }", "a subselect without ?v"),
        ("SELECT * { BIND(1 AS ?v) ?a ?p ?v }", "?v: the text itself assigns it"),
        ("DESCRIBE ?a", "?a: it stands where only one value can"),
        ("CLEAR GRAPH ?a", "?a: it stands where only one value can"),
    ],
)
def test_what_values_cannot_say_is_refused(text: str, told: str) -> None:
    rows: list[dict[str, Value]] = [{"a": "urn:1", "v": 1}, {"a": "urn:2", "v": 2}]
    with pytest.raises(BindingError) as caught:
        Template("T", text, DECLARED).render_rows(rows)
    assert told in str(caught.value)


def test_blank_nodes_and_no_rows_are_refused_and_one_row_is_terms() -> None:
    declared = {"b": ForcedBinding(BindingType.BNODE)}
    template = Template("T", "INSERT { ?b <urn:p> 1 } WHERE {}", declared)
    with pytest.raises(BindingError, match=r"\?b: a blank node in VALUES"):
        template.render_rows([{"b": BlankNode("x")}, {"b": BlankNode("y")}])
    with pytest.raises(JsapError, match="no row of values"):
        template.render_rows([])
    assert template.render_rows([{"b": BlankNode("x")}]) == "INSERT { _:x <urn:p> 1 } WHERE {}"


def test_an_operation_that_names_no_variable_of_the_rows_stays_and_defaults_are_terms() -> None:
    declared = {**DECLARED, "v": ForcedBinding(BindingType.LITERAL, default=Literal("x"))}
    template = Template(
        "T", "INSERT DATA { ?a <urn:p> ?v }; INSERT DATA { <urn:s> <urn:p> _:b }", declared
    )
    text = template.render_rows([{"a": "urn:1"}, {"a": "urn:2"}])
    assert text.endswith("; INSERT DATA { <urn:s> <urn:p> _:b }")
    assert "VALUES (?a) { (<urn:1>) (<urn:2>) }" in text
    assert '<urn:p> "x"' in text
    store = Store()
    store.update(text)
    assert len(store) == 3
    assert all(quad.graph_name == DefaultGraph() for quad in store)
