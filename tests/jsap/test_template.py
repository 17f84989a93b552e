"""Templates: what bind takes, and where render puts it."""

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, Quad, QuerySolutions, Store, Triple

from jsap import BindingError, JsapError, Template
from jsap.forced_bindings import BindingType, ForcedBinding, Term, Value
from jsap.namespaces import DEFAULT_NAMESPACES, XSD

URI = ForcedBinding(BindingType.URI)
LITERAL = ForcedBinding(BindingType.LITERAL)
INTEGER = ForcedBinding(BindingType.LITERAL, datatype=NamedNode(XSD + "integer"))
A = NamedNode("urn:a")
ENGLISH = Literal("a", language="en")


def template(sparql: str, **bindings: ForcedBinding) -> Template:
    return Template("T", sparql, bindings)


def rendered(sparql: str, **terms: Term) -> str:
    return template(sparql).render(terms)


def holding(*quads: Quad) -> Store:
    store = Store()
    store.extend(quads)
    return store


def rows(text: str) -> list[list[Term | None]]:
    store = holding(Quad(A, NamedNode("urn:p"), Literal(1)), Quad(A, NamedNode("urn:q"), A))
    solutions = store.query(text)
    assert isinstance(solutions, QuerySolutions)
    return [[None if isinstance(term, Triple) else term for term in row] for row in solutions]


# bind


def test_bind_takes_terms_and_values() -> None:
    both = template("SELECT * { ?s ?p ?o }", s=URI, o=INTEGER)
    assert both.bind({"s": A, "o": 7}) == {"s": A, "o": Literal(7)}


def test_bind_prefers_the_value_to_the_profiles_own() -> None:
    default = ForcedBinding(BindingType.LITERAL, default=Literal("profile"))
    one = template("SELECT * { ?s ?p ?o }", o=default)
    assert one.bind({}) == {"o": Literal("profile")}
    assert one.bind({"o": "caller"}) == {"o": Literal("caller")}
    assert one.bind({}) == {"o": Literal("profile")}


@pytest.mark.parametrize(
    ("values", "variable", "told"),
    [
        ({}, "s", "template T, ?s: no value; give an IRI"),
        ({"s": A}, "o", "?o: no value; give a literal of datatype <http"),
        ({"s": A, "o": 1, "x": 2}, "x", "?x: not declared; bind ?s, ?o"),
        ({"s": A, "o": "one"}, "o", "?o: 'one' is no <http"),
        ({"s": Literal("urn:a"), "o": 1}, "s", "is a literal, not an IRI; give an IRI"),
        ({"s": A, "o": Literal("1")}, "o", "is not of datatype"),
    ],
)
def test_bind_of_wrong_values_tells_template_and_variable(
    values: dict[str, Value], variable: str, told: str
) -> None:
    with pytest.raises(BindingError) as caught:
        template("SELECT * { ?s ?p ?o }", s=URI, o=INTEGER).bind(values)
    assert (caught.value.template, caught.value.variable) == ("T", variable)
    assert told in str(caught.value)


def test_bind_does_not_ask_for_a_variable_that_does_not_occur() -> None:
    one = template("SELECT * { ?s ?p ?o }", s=URI, unused=URI)
    assert one.bind({"s": A}) == {"s": A}
    assert one.bind({"s": A, "unused": A}) == {"s": A, "unused": A}


# text


def test_text_declares_the_namespaces_that_are_used() -> None:
    text = template("SELECT * { ?s a owl:Class }").text
    assert text == f"PREFIX owl: <{DEFAULT_NAMESPACES['owl']}>\nSELECT * {{ ?s a owl:Class }}"


def test_text_that_declares_its_prefix_stays() -> None:
    sparql = "PREFIX owl: <urn:own:> SELECT * { ?s a owl:Class }"
    assert template(sparql).text == sparql


def test_prefix_declared_after_its_first_use_is_declared_before_too() -> None:
    sparql = "CLEAR GRAPH owl:A ; PREFIX owl: <urn:own:> CLEAR GRAPH owl:B"
    assert template(sparql).text == f"PREFIX owl: <{DEFAULT_NAMESPACES['owl']}>\n{sparql}"


def test_prefix_in_a_string_or_an_unknown_one_is_not_declared() -> None:
    sparql = "SELECT * { ?s x:p 'owl:Class' } # owl:Class"
    assert template(sparql).text == sparql


def test_variables_are_named_once_in_order() -> None:
    assert template("SELECT $b { ?b ?a 'x ?no' } # ?no").variables == ("b", "a")


def test_text_without_tokens_is_kept_and_not_rendered() -> None:
    broken = template("SELECT 'open")
    assert broken.text == "SELECT 'open"
    with pytest.raises(JsapError, match=r"template T: .* at line 1, column 8; correct"):
        broken.render({})


# render


@pytest.mark.parametrize(
    ("sparql", "expected"),
    [
        ("ASK { ?s ?p ?v }", "ASK { ?s ?p <urn:a> }"),
        ("ASK { $v ?p ?vv, ?v_1 }", "ASK { <urn:a> ?p ?vv, ?v_1 }"),
        ('ASK { ?s ?p \'?v\', """?v""" } # ?v', 'ASK { ?s ?p \'?v\', """?v""" } # ?v'),
        ("ASK { ?s <urn:x?v> 1 }", "ASK { ?s <urn:x?v> 1 }"),
        ("SELECT ?v ?o { ?v ?p ?o }", "SELECT (<urn:a> AS ?v) ?o { <urn:a> ?p ?o }"),
        ("SELECT DISTINCT ?v WHERE {}", "SELECT DISTINCT (<urn:a> AS ?v) WHERE {}"),
        ("SELECT * { ?v ?p ?o } ORDER BY ?v", "SELECT * { <urn:a> ?p ?o } ORDER BY (<urn:a>)"),
        ("ASK { FILTER BOUND(?v) }", "ASK { FILTER (true) }"),
        ("DESCRIBE ?v", "DESCRIBE <urn:a>"),
    ],
)
def test_render_puts_the_term_where_the_variable_is(sparql: str, expected: str) -> None:
    assert rendered(sparql, v=A) == expected


@pytest.mark.parametrize(
    ("sparql", "terms", "row"),
    [
        ("SELECT (?v-1 AS ?x) {}", {"v": Literal(3)}, [Literal(2)]),
        ("SELECT ?x { ?s <urn:p> ?x FILTER(?x<?v) }", {"v": Literal(9)}, [Literal(1)]),
        ("SELECT ?x { ?v<urn:p>?x }", {"v": A}, [Literal(1)]),
        ("SELECT (CONCAT(?v,'b') AS ?x) {}", {"v": ENGLISH}, [Literal("ab")]),
        ("SELECT (STR(?v) AS ?x) {} GROUP BY ?v", {"v": ENGLISH}, [Literal("a")]),
        ("SELECT (COUNT(*) AS ?n) ?v { ?v ?p ?o } GROUP BY ?v", {"v": A}, [Literal(2), A]),
        ("SELECT ?o { ?s ?p ?o } GROUP BY ?o HAVING (?o=?v)", {"v": A}, [A]),
        ("SELECT ?v { ?v <urn:p> ?o } ORDER BY DESC(?v) ?v LIMIT 1", {"v": A}, [A]),
        ("SELECT ?v { { SELECT ?v { ?v <urn:p> ?o } } }", {"v": A}, [A]),
        ("SELECT ?o { { SELECT ?v ?o { ?v <urn:p> ?o } } }", {"v": A}, [Literal(1)]),
        (
            "SELECT ?n { { SELECT ?v (COUNT(?o) AS ?n) { ?v ?p ?o } GROUP BY ?v } }",
            {"v": A},
            [Literal(2)],
        ),
        (
            "SELECT (EXISTS { ?v ?p ?o } AS ?x) ?v {}",
            {"v": A},
            [Literal(True), A],
        ),
        (
            "SELECT ?v { FILTER(EXISTS { ?v ?p 1 } && BOUND(?v)) } ORDER BY ?v",
            {"v": A},
            [A],
        ),
    ],
)
def test_rendered_query_is_legal_and_answers(
    sparql: str, terms: dict[str, Term], row: list[Term]
) -> None:
    assert rows(rendered(sparql, **terms)) == [row]


@pytest.mark.parametrize(
    "sparql",
    [
        "SELECT * { BIND(1 AS ?v) }",
        "SELECT (1 AS ?v) {}",
        "SELECT * { VALUES ?v { 1 } }",
        "SELECT * { VALUES (?x ?v) { (1 2) } }",
        "SELECT * {} VALUES $v { 1 }",
    ],
)
def test_variable_that_the_text_assigns_is_refused(sparql: str) -> None:
    with pytest.raises(BindingError, match=r"template T, \?v: the text itself assigns it"):
        rendered(sparql, v=A)
    assert rendered(sparql, other=A) == sparql


def test_variable_after_values_or_a_condition_is_a_term_again() -> None:
    text = rendered(
        "SELECT * { VALUES ?x { 1 } ?s ?p ?v { SELECT ?x {} ORDER BY ?x } ?v ?q ?x }", v=A
    )
    assert text.count("<urn:a>") == 2
    assert "(<urn:a>)" not in text


def test_blank_node_is_a_label_in_patterns_and_no_column() -> None:
    text = rendered("SELECT ?v ?o { ?v <urn:p> ?o }", v=BlankNode("b"))
    assert text == "SELECT ?v ?o { _:b <urn:p> ?o }"
    assert rows(text) == [[None, Literal(1)]]


def test_update_with_several_operations_is_rendered_in_all() -> None:
    store = holding(Quad(A, NamedNode("urn:p"), Literal(1)))
    sparql = "DELETE WHERE { ?v ?p ?o } ; INSERT { ?v <urn:p> ?w } WHERE {}"
    store.update(rendered(sparql, v=A, w=Literal(2)))
    assert list(store) == [Quad(A, NamedNode("urn:p"), Literal(2))]


@pytest.mark.parametrize(
    "value",
    ['"', "\\", '\\"', '"""', "'", "\n\r\t\b\f\x00", "\\u0022", "\\\\u0022", "\\U00000022", "?v"],
)
def test_text_that_looks_like_syntax_stays_text(value: str) -> None:
    assert rows(rendered("SELECT ?v {}", v=Literal(value))) == [[Literal(value)]]
