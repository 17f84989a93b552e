"""Query texts become the values of the syntax tree, faithfully and in order."""

from collections.abc import Iterator

import pytest
from pyoxigraph import BlankNode, Literal, NamedNode, QuerySolutions, Store, Variable

from gateway.errors import SparqlSyntaxError
from gateway.rdf.dataset import Dataset
from gateway.rdf.namespaces import RDF, XSD
from gateway.sparql import algebra
from gateway.sparql.algebra import (
    BasicPattern,
    Group,
    GroupKey,
    OrderKey,
    Projection,
    Query,
    QueryForm,
    TriplePattern,
    is_hidden,
)
from gateway.sparql.bounds.form import FormBounds, set_bounds
from gateway.sparql.parser import parse_query
from gateway.sparql.paths import (
    Alternative,
    Inverse,
    Link,
    NegatedPropertySet,
    OneOrMore,
    Path,
    Sequence,
    ZeroOrMore,
    ZeroOrOne,
)

S, P, OBJ, X, Y = (Variable(name) for name in "spoxy")
A, B, C = (NamedNode(f"urn:{name}") for name in "abc")
SPO = TriplePattern(S, P, OBJ)
TYPE, FIRST, REST, NIL = (NamedNode(RDF + name) for name in ("type", "first", "rest", "nil"))


def elements(body: str) -> tuple[algebra.Element, ...]:
    return parse_query("SELECT * {" + body + "}").where.elements


def patterns(body: str) -> tuple[TriplePattern, ...]:
    (element,) = elements(body)
    assert isinstance(element, BasicPattern)
    return element.patterns


def path(text: str) -> Path | NamedNode | Variable:
    return patterns(f"?s {text} ?o")[0].predicate


def basic(pattern: TriplePattern = SPO) -> Group:
    return Group((BasicPattern((pattern,)),))


def integer(text: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + "integer"))


def test_select_with_every_clause() -> None:
    query = parse_query(
        "BASE <http://base/> PREFIX ex: <ns#> SELECT DISTINCT ?s (COUNT(?o) AS ?n) "
        "FROM <g> FROM NAMED <h> WHERE { ?s ex:p ?o } GROUP BY ?s HAVING (COUNT(?o) > 1) "
        "ORDER BY DESC(?n) ?s LIMIT 10 OFFSET 5 VALUES ?s { <urn:a> }"
    )
    count = algebra.Aggregate("COUNT", OBJ)
    assert query == Query(
        form=QueryForm.SELECT,
        where=basic(TriplePattern(S, NamedNode("http://base/ns#p"), OBJ)),
        projection=(Projection(S), Projection(Variable("n"), count)),
        distinct=True,
        dataset=Dataset((NamedNode("http://base/g"),), (NamedNode("http://base/h"),)),
        group_by=(GroupKey(S),),
        having=(algebra.Operation(">", (count, integer("1"))),),
        order_by=(OrderKey(Variable("n"), descending=True), OrderKey(S)),
        limit=10,
        offset=5,
        values=algebra.Values((S,), ((A,),)),
    )
    assert query.prefixes == (("ex", "http://base/ns#"),)
    assert query.base == "http://base/"


def test_offset_before_limit() -> None:
    query = parse_query("SELECT * {} OFFSET 1 LIMIT 2")
    assert (query.limit, query.offset) == (2, 1)


def test_group_keys_of_each_kind() -> None:
    query = parse_query("SELECT ?x {?s ?p ?o} GROUP BY ?s STR(?p) <urn:a>(?p) (?o) (?o AS ?x)")
    assert query.group_by == (
        GroupKey(S),
        GroupKey(algebra.Operation("STR", (P,))),
        GroupKey(algebra.Call(A, (P,))),
        GroupKey(OBJ),
        GroupKey(OBJ, X),
    )


def test_ask() -> None:
    query = parse_query("ASK FROM <urn:a> { ?s ?p ?o }")
    assert query == Query(QueryForm.ASK, basic(), dataset=Dataset((A,)))
    assert query.variables == ()


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("DESCRIBE <urn:a> ?x { ?x ?p ?o }", (A, X)),
        ("DESCRIBE *  WHERE { ?x ?p ?o }", None),
        ("DESCRIBE <urn:a>", (A,)),
    ],
)
def test_describe(text: str, targets: tuple[NamedNode | Variable, ...] | None) -> None:
    query = parse_query(text)
    assert (query.form, query.describe) == (QueryForm.DESCRIBE, targets)


def test_construct_keeps_blank_nodes_of_its_template() -> None:
    query = parse_query("CONSTRUCT { _:x <urn:a> ?s, [] . _:x <urn:b> 1 } { ?s ?p _:x }")
    first, second = BlankNode("b0"), BlankNode("b1")
    assert query.template == (
        TriplePattern(first, A, S),
        TriplePattern(first, A, second),
        TriplePattern(first, B, integer("1")),
    )
    assert query.variables == ("subject", "predicate", "object")
    assert query.where == basic(TriplePattern(S, P, Variable(":2")))


def test_construct_where_has_its_pattern_as_template() -> None:
    query = parse_query("CONSTRUCT FROM <urn:a> WHERE { ?s ?p _:x }")
    assert query.template == (TriplePattern(S, P, BlankNode("b0")),)
    assert query.where == basic(TriplePattern(S, P, Variable(":b0")))
    assert query.dataset == Dataset((A,))


def test_terms_of_each_kind() -> None:
    objects = [
        pattern.object
        for pattern in patterns(
            "?s ?p ?o, <urn:a>, 'x', \"\"\"y\n\"\"\", 'z'@EN-us, 'w'^^<urn:b>, 1, -2, +3.5, .5e1,"
            " true, FALSE, ()"
        )
    ]
    assert objects == [
        OBJ,
        A,
        Literal("x"),
        Literal("y\n"),
        Literal("z", language="en-us"),
        Literal("w", datatype=B),
        integer("1"),
        integer("-2"),
        Literal("+3.5", datatype=NamedNode(XSD + "decimal")),
        Literal(".5e1", datatype=NamedNode(XSD + "double")),
        Literal("true", datatype=NamedNode(XSD + "boolean")),
        Literal("false", datatype=NamedNode(XSD + "boolean")),
        NIL,
    ]


def test_prefixed_names_with_escapes_and_redeclared_prefix() -> None:
    query = parse_query(
        r"PREFIX : <urn:1:> PREFIX p: <urn:2:> PREFIX : <urn:3:> ASK { :a\-b p: p:x%20y }"
    )
    assert query.where == basic(
        TriplePattern(NamedNode("urn:3:a-b"), NamedNode("urn:2:"), NamedNode("urn:2:x%20y"))
    )


def test_property_lists_are_expanded() -> None:
    assert patterns("?s a <urn:a> ; <urn:b> 1, 2 ; ; <urn:c> ?o ; .") == (
        TriplePattern(S, TYPE, A),
        TriplePattern(S, B, integer("1")),
        TriplePattern(S, B, integer("2")),
        TriplePattern(S, C, OBJ),
    )


def test_blank_node_property_lists_are_expanded() -> None:
    node, inner = Variable(":0"), Variable(":1")
    assert set(patterns("[ <urn:a> [ <urn:b> ?x ] ] ?p ?o")) == {
        TriplePattern(node, A, inner),
        TriplePattern(inner, B, X),
        TriplePattern(node, P, OBJ),
    }


def test_collections_are_expanded() -> None:
    first, second = Variable(":0"), Variable(":1")
    assert set(patterns("(?x <urn:a>) ?p ?o")) == {
        TriplePattern(first, FIRST, X),
        TriplePattern(first, REST, second),
        TriplePattern(second, FIRST, A),
        TriplePattern(second, REST, NIL),
        TriplePattern(first, P, OBJ),
    }


def test_blank_nodes_of_a_pattern_are_hidden_variables() -> None:
    first, second = patterns("_:a ?p [] . _:a <urn:b> ?o")
    assert first.subject == second.subject != first.object
    assert isinstance(first.subject, Variable)
    assert is_hidden(first.subject)
    assert not is_hidden(P)
    assert parse_query("SELECT * { _:a ?p [] }").variables == ("p",)


def test_label_continues_across_a_filter() -> None:
    first, _, second = elements("_:a ?p ?o FILTER(?o = 1) _:a <urn:b> ?x")
    assert isinstance(first, BasicPattern)
    assert isinstance(second, BasicPattern)
    assert first.patterns[0].subject == second.patterns[0].subject


@pytest.mark.parametrize(
    "body",
    [
        "_:a ?p ?o . OPTIONAL { _:a ?p ?o }",
        "_:a ?p ?o . { } _:a ?p ?o",
        "_:a ?p ?o . BIND(1 AS ?x) _:a ?p ?o",
        "{ _:a ?p ?o } UNION { _:a ?p ?o }",
        "_:a ?p ?o FILTER EXISTS { _:a ?p ?o }",
        "_:a ?p ?o FILTER EXISTS { { _:a ?p ?o } }",
        "FILTER EXISTS { _:a ?p ?o } _:a ?p ?o",
        "{ SELECT * { _:a ?p ?o } } _:a ?p ?o",
    ],
)
def test_label_in_two_basic_graph_patterns_is_refused(body: str) -> None:
    with pytest.raises(SparqlSyntaxError, match="blank node _:a"):
        elements(body)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<urn:a>", A),
        ("a", TYPE),
        ("(<urn:a>)", A),
        ("<urn:a>/<urn:b>", Sequence((Link(A), Link(B)))),
        ("<urn:a>|<urn:b>/<urn:c>", Alternative((Link(A), Sequence((Link(B), Link(C)))))),
        ("(<urn:a>|a)/<urn:b>", Sequence((Alternative((Link(A), Link(TYPE))), Link(B)))),
        ("^<urn:a>*", Inverse(ZeroOrMore(Link(A)))),
        ("(^<urn:a>)+", OneOrMore(Inverse(Link(A)))),
        ("<urn:a>?/<urn:b>", Sequence((ZeroOrOne(Link(A)), Link(B)))),
        ("!<urn:a>", NegatedPropertySet((A,), ())),
        ("!^a", NegatedPropertySet((), (TYPE,))),
        ("!(<urn:a>|^<urn:b>|a)", NegatedPropertySet((A, TYPE), (B,))),
        ("!()", NegatedPropertySet((), ())),
    ],
)
def test_path(text: str, expected: Path | NamedNode) -> None:
    assert path(text) == expected


def test_sign_beside_a_number_is_no_path_modifier() -> None:
    assert patterns("?s <urn:a> +1") == (TriplePattern(S, A, integer("+1")),)
    assert patterns("?s <urn:a>+ 1") == (TriplePattern(S, OneOrMore(Link(A)), integer("1")),)


def test_group_elements_keep_the_order_of_the_text() -> None:
    kinds = [type(element).__name__ for element in elements(
        "FILTER(?x) ?s ?p ?o . OPTIONAL {} . {} UNION {} UNION {} MINUS {} GRAPH ?g {} {} "
        "BIND(1 AS ?y) VALUES ?x {} ?s ?p ?x SERVICE SILENT <urn:a> {} { SELECT * {} }"
    )]  # fmt: skip
    assert kinds == [
        *("Filter", "BasicPattern", "Optional", "Union", "Minus", "Graph", "Group"),
        *("Bind", "Values", "BasicPattern", "Service", "Group"),
    ]


def test_group_elements_have_their_parts() -> None:
    assert elements("GRAPH <urn:a> { ?s ?p ?o }") == (algebra.Graph(A, basic()),)
    assert elements("SERVICE SILENT ?x { ?s ?p ?o }") == (algebra.Service(X, basic(), True),)
    assert elements("{?s ?p ?o} UNION {}") == (algebra.Union((basic(), Group(()))),)
    assert elements("BIND(?s AS ?x)") == (algebra.Bind(S, X),)


def test_group_knows_its_span() -> None:
    text = "SELECT * WHERE { ?s ?p ?o OPTIONAL { ?o ?p ?x } } LIMIT 1"
    group = parse_query(text).where
    (_, optional) = group.elements
    assert isinstance(optional, algebra.Optional)
    assert text[group.start : group.end] == "{ ?s ?p ?o OPTIONAL { ?o ?p ?x } }"
    assert text[optional.group.start : optional.group.end] == "{ ?o ?p ?x }"


@pytest.mark.parametrize(
    ("body", "values"),
    [
        ("VALUES ?x { 1 UNDEF 1 }", ((X,), ((integer("1"),), (None,), (integer("1"),)))),
        ("VALUES (?x ?y) { (1 <urn:a>) }", ((X, Y), ((integer("1"), A),))),
        ("VALUES () { () () }", ((), ((), ()))),
        ("VALUES (?x) { }", ((X,), ())),
    ],
)
def test_values(
    body: str, values: tuple[tuple[Variable, ...], tuple[tuple[Literal | None, ...], ...]]
) -> None:
    assert elements(body) == (algebra.Values(*values),)


def test_sub_select_is_the_only_element_of_its_group() -> None:
    (group,) = elements("{ SELECT ?s { ?s ?p ?o } LIMIT 1 VALUES ?s { <urn:a> } }")
    assert isinstance(group, Group)
    (sub,) = group.elements
    assert isinstance(sub, algebra.SubSelect)
    assert (sub.query.limit, sub.query.variables) == (1, ("s",))


@pytest.mark.parametrize(
    "body",
    [
        "?b ?c ?a",
        "?s ?p ?o FILTER EXISTS { ?hidden ?p ?o } MINUS { ?minus ?p ?o }",
        "{ ?z ?p ?o } UNION { ?a ?p ?o } OPTIONAL { GRAPH ?g { ?x <urn:a>+ ?y } }",
        "{ SELECT ?z (1 AS ?one) { ?z ?y ?x } } BIND(2 AS ?two) VALUES (?v ?u) { (1 1) }",
        "{ SELECT * { ?z ?Z ?é } } _:b ?p []",
    ],
)
def test_variables_of_star_are_those_of_the_store(body: str) -> None:
    text = "SELECT * {" + body + "} VALUES ?last { 1 }"
    answer = Store().query(text)
    assert isinstance(answer, QuerySolutions)
    assert parse_query(text).variables == tuple(v.value for v in answer.variables)


def test_variables_of_a_projection_keep_its_order() -> None:
    assert parse_query("SELECT ?z (1 AS ?b) ?a { ?z ?p ?a }").variables == ("z", "b", "a")


def test_later_column_may_use_an_earlier_one() -> None:
    query = parse_query("SELECT (?s AS ?x) (?x AS ?y) { ?s ?p ?o }")
    assert query.variables == ("x", "y")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("SELECT * { ?s ?p ?x BIND(1 AS ?x) }", "BIND: \\?x"),
        ("SELECT * { { BIND(1 AS ?x) } BIND(1 AS ?x) }", "BIND: \\?x"),
        ("SELECT * { BIND(1 AS ?x) BIND(2 AS ?y) BIND(3 AS ?x) }", "BIND: \\?x"),
        ("SELECT (1 AS ?x) { ?x ?p ?o }", "AS \\?x"),
        ("SELECT ?x (1 AS ?x) { }", "AS \\?x"),
        ("SELECT (1 AS ?x) (2 AS ?x) { }", "AS \\?x"),
        ("SELECT (1 AS ?x) { } VALUES ?x { 1 }", "AS \\?x"),
        ("SELECT ?o { ?s ?p ?o } GROUP BY (?s AS ?o)", "AS \\?o"),
        ("SELECT ?p { ?s ?p ?o } GROUP BY ?s", "\\?p is neither"),
        ("SELECT ?p (COUNT(*) AS ?n) { ?s ?p ?o }", "\\?p is neither"),
        ("SELECT (STR(?p) AS ?x) { ?s ?p ?o } GROUP BY ?s", "\\?p is neither"),
        ("SELECT ?p { ?s ?p ?o } ORDER BY COUNT(?s)", "\\?p is neither"),
        ("SELECT * { ?s ?p ?o } GROUP BY ?s", "SELECT \\* cannot be grouped"),
        ("SELECT * { ?s ?p ?o FILTER(COUNT(?s) > 1) }", "aggregate COUNT is not allowed"),
        ("SELECT * { ?s ?p ?o } GROUP BY (COUNT(?s))", "aggregate COUNT is not allowed"),
        ("SELECT (SUM(COUNT(?s)) AS ?x) { ?s ?p ?o }", "aggregate COUNT is not allowed"),
        ("SELECT * { VALUES (?x ?y) { (1) } }", "1 values for 2 variables"),
        ("SELECT * { VALUES (?x) { (1 2) } }", "2 values for 1 variables"),
        ("SELECT * { VALUES (?x ?x) { (1 2) } }", "names \\?x twice"),
        ("ASK { p:a ?p ?o }", "prefix p: is not declared"),
        ("ASK { <a> ?p ?o }", "relative IRI <a> has no BASE"),
        ("ASK { <urn:%zz> ?p ?o }", "not an IRI"),
        ("ASK { ?s ?p 'x'@abcdefghijk }", "not a literal"),
        (r"ASK { ?s ?p '\uD800' }", "a string that does not end"),
        ("PREFIX p:q <urn:a> ASK {}", "not a prefix"),
    ],
)
def test_rule_of_the_specification_is_kept(text: str, reason: str) -> None:
    with pytest.raises(SparqlSyntaxError, match=reason):
        parse_query(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "SELECT",
        "SELECT { }",
        "SELECT ?x, ?y { }",
        "SELECT DISTINCT REDUCED ?x { }",
        "SELECT * { ?s ?p }",
        "SELECT * { ?s ?p ?o . . }",
        "SELECT * { . }",
        "SELECT * { [] . }",
        "SELECT * { () . }",
        "SELECT * { ?s A ?o }",
        "SELECT * { ?s 'p' ?o }",
        "SELECT * { ?s _:p ?o }",
        "SELECT * { ?s ?p - 1 }",
        "SELECT * { ?s <urn:a>** ?o }",
        "SELECT * { ?s ^^<urn:a> ?o }",
        "SELECT * { ?s (<urn:a> ?o }",
        "SELECT * { GRAPH _:a { } }",
        "SELECT * { OPTIONAL ?s ?p ?o }",
        "SELECT * { FILTER ?x }",
        "SELECT * { FILTER <urn:a> }",
        "SELECT * { FILTER 1 }",
        "SELECT * { BIND(1 AS 2) }",
        "SELECT * { BIND(1) }",
        "SELECT * { SELECT * { } ?s ?p ?o }",
        "SELECT * { SELECT * FROM <urn:a> { } }",
        "SELECT * { } LIMIT -1",
        "SELECT * { } LIMIT 1 LIMIT 2",
        "SELECT * { } ORDER BY 1",
        "SELECT * { } ORDER BY ASC ?x",
        "SELECT * { } GROUP ?x",
        "SELECT * { } HAVING ?x",
        "SELECT * { } SELECT * { }",
        "CONSTRUCT { ?s <urn:a>/<urn:b> ?o } { }",
        "CONSTRUCT WHERE { ?s ?p ?o FILTER(?o) }",
        "CONSTRUCT WHERE { ?s <urn:a>* ?o }",
        "DESCRIBE",
        "INSERT DATA { }",
        "VALUES ?x { _:a }",
        "SELECT * { VALUES ?x { ?y } }",
    ],
)
def test_text_that_is_no_query_is_refused(text: str) -> None:
    with pytest.raises(SparqlSyntaxError):
        parse_query(text)


def test_error_names_place_and_expectation() -> None:
    with pytest.raises(SparqlSyntaxError) as caught:
        parse_query("SELECT *\nWHERE {\n  ?s ?p OPTIONAL {}\n}")
    error = caught.value
    assert (error.line, error.column) == (3, 9)
    assert "found 'OPTIONAL', expected a term or a variable at line 3, column 9" in str(error)


def test_error_at_the_end_of_the_text() -> None:
    with pytest.raises(SparqlSyntaxError, match=r"found end of text, expected .*line 2, column 1"):
        parse_query("SELECT * {\n")


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * " + "{" * 10_000,
        "SELECT * " + "{ SELECT * " * 10_000,
        "SELECT * " + "{ FILTER EXISTS " * 10_000,
        "SELECT * { FILTER(" + "(" * 10_000,
        "SELECT * { FILTER(" + "!" * 10_000,
        "SELECT * { FILTER(" + "STR(" * 10_000,
        "SELECT * { FILTER(" + "1 - " * 10_000 + "1) }",
        "SELECT * { ?s " + "(" * 10_000,
        "SELECT * { ?s ?p " + "(" * 10_000,
        "SELECT * { ?s ?p " + "[ ?p " * 10_000,
    ],
)
def test_deep_nesting_is_an_error_and_no_overflow(text: str) -> None:
    with pytest.raises(SparqlSyntaxError, match="nested more than"):
        parse_query(text)


def test_deepest_nesting_can_be_compared_and_hashed() -> None:
    text = "SELECT * " + "{ SELECT * " * 63 + "{ ?s ?p ?o }" + "}" * 63
    query = parse_query(text)
    assert query.variables == ("o", "p", "s")
    assert {query: 1}[parse_query(text)] == 1


@pytest.fixture
def _boundless() -> Iterator[None]:
    set_bounds(FormBounds(patterns=10_000))
    yield
    set_bounds(FormBounds())


@pytest.mark.usefixtures("_boundless")
def test_long_texts_are_not_deep() -> None:
    body = " ".join(f"BIND({n} AS ?v{n})" for n in range(400))
    unions = "{} UNION " * 400 + "{}"
    assert len(elements(body)) == 400
    assert len(elements(unions)) == 1
    assert elements("FILTER(" + "1 || " * 400 + "1)")


def test_base_is_given_by_the_caller() -> None:
    query = parse_query("ASK { <x> ?p <#y> }", base="http://host/dir/doc")
    assert query.where == basic(
        TriplePattern(NamedNode("http://host/dir/x"), P, NamedNode("http://host/dir/doc#y"))
    )
