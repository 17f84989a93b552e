"""What a query looks at, which shape it has, and why it cannot be subscribed."""

import pytest
from pyoxigraph import DefaultGraph, Literal, NamedNode

from gateway.rdf.dataset import Dataset
from gateway.rdf.namespaces import CLOCK
from gateway.sparql.parser import parse_query, parse_update
from gateway.sparql.patterns import (
    Lookup,
    contains_service,
    quad_patterns,
    reads_clock,
    unsupported,
)

A, B, C, D = (NamedNode(f"urn:{name}") for name in "abcd")
DEFAULT = DefaultGraph()


def lookups(body: str, *, graphs: str = "") -> set[Lookup]:
    return set(quad_patterns(parse_query(f"SELECT * {graphs} {{ {body} }}")))


def default(*edges: tuple[NamedNode | None, NamedNode | None, NamedNode | None]) -> set[Lookup]:
    return {Lookup(*edge, DEFAULT) for edge in edges}


def test_constants_are_looked_up_and_variables_are_wildcards() -> None:
    assert lookups("?s <urn:b> 'x' . <urn:a> ?p [] . ?s ?p ?o") == {
        Lookup(None, B, Literal("x"), DEFAULT),
        Lookup(A, None, None, DEFAULT),
        Lookup(None, None, None, DEFAULT),
    }


def test_equal_patterns_are_one_look_up() -> None:
    query = parse_query("ASK { ?s <urn:a> ?o . ?o <urn:a> ?s }")
    assert quad_patterns(query) == (Lookup(None, A, None, DEFAULT),)


@pytest.mark.parametrize(
    "body",
    [
        "OPTIONAL { ?s <urn:a> ?o }",
        "{ } UNION { ?s <urn:a> ?o }",
        "MINUS { ?s <urn:a> ?o }",
        "FILTER EXISTS { ?s <urn:a> ?o }",
        "FILTER(1 = 1 && !(NOT EXISTS { { ?s <urn:a> ?o } }))",
        "FILTER EXISTS { FILTER EXISTS { ?s <urn:a> ?o } }",
        "BIND(EXISTS { ?s <urn:a> ?o } AS ?x)",
        "{ SELECT ?s { ?s <urn:a> ?o } }",
        "{ SELECT (EXISTS { ?s <urn:a> ?o } AS ?x) { } }",
    ],
)
def test_pattern_is_found_wherever_it_stands(body: str) -> None:
    assert lookups(body) == default((None, A, None))


@pytest.mark.parametrize(
    "clause",
    [
        "GROUP BY (EXISTS { ?s <urn:b> ?x } AS ?k)",
        "GROUP BY ?s HAVING (EXISTS { ?s <urn:b> ?x })",
        "GROUP BY ?s ORDER BY (EXISTS { ?s <urn:b> ?x })",
    ],
)
def test_pattern_is_found_in_a_solution_modifier(clause: str) -> None:
    query = parse_query("SELECT (COUNT(*) AS ?n) { ?s <urn:a> ?o } " + clause)
    assert set(quad_patterns(query)) == default((None, A, None), (None, B, None))


@pytest.mark.parametrize(
    ("path", "edges"),
    [
        ("^<urn:b>", [(C, B, A)]),
        ("<urn:b>/<urn:d>", [(A, B, None), (None, D, C)]),
        ("<urn:b>/<urn:a>/<urn:d>", [(A, B, None), (None, A, None), (None, D, C)]),
        ("^(<urn:b>/<urn:d>)", [(C, B, None), (None, D, A)]),
        ("<urn:b>|^<urn:d>", [(A, B, C), (C, D, A)]),
        ("<urn:b>+", [(None, B, None)]),
        ("<urn:b>/<urn:d>*", [(A, B, None), (None, D, None)]),
        ("<urn:b>?/<urn:d>", [(A, B, None), (None, D, C)]),
        ("!<urn:b>", [(A, None, C)]),
        ("!^<urn:b>", [(C, None, A)]),
        ("!(<urn:b>|^<urn:d>)", [(A, None, C), (C, None, A)]),
        ("!()", [(A, None, C)]),
        ("<urn:b>*", [(None, None, None)]),
        ("<urn:b>?", [(None, None, None)]),
        ("(<urn:b>?)+", [(None, None, None)]),
        ("<urn:b>?/^(<urn:d>*)", [(None, None, None)]),
        ("<urn:b>|<urn:d>*", [(None, None, None)]),
    ],
)
def test_path_is_looked_up_by_its_edges(
    path: str, edges: list[tuple[NamedNode | None, NamedNode | None, NamedNode | None]]
) -> None:
    assert lookups(f"<urn:a> {path} <urn:c>") == default(*edges)


def test_graphs_of_a_query_without_dataset() -> None:
    assert lookups("GRAPH <urn:d> { ?s <urn:a> ?o } GRAPH ?g { ?s <urn:b> ?o }") == {
        Lookup(None, A, None, D),
        Lookup(None, B, None, None),
    }


@pytest.mark.parametrize(
    ("graphs", "expected"),
    [
        ("FROM <urn:c> FROM <urn:d>", {Lookup(None, A, None, C), Lookup(None, A, None, D)}),
        ("FROM NAMED <urn:c>", {Lookup(None, B, None, C), Lookup(None, D, None, C)}),
        (
            "FROM <urn:d> FROM NAMED <urn:c> FROM NAMED <urn:b>",
            {
                Lookup(None, A, None, D),
                Lookup(None, B, None, C),
                Lookup(None, B, None, B),
                Lookup(None, D, None, C),
            },
        ),
    ],
)
def test_graphs_of_a_dataset(graphs: str, expected: set[Lookup]) -> None:
    body = "?s <urn:a> ?o GRAPH ?g { ?s <urn:b> ?o } GRAPH <urn:c> { ?s <urn:d> ?o }"
    assert lookups(body, graphs=graphs) == expected


def test_graphs_of_the_protocol_replace_those_of_the_text() -> None:
    query = parse_query("SELECT * FROM <urn:d> { ?s <urn:a> ?o GRAPH ?g { ?s <urn:b> ?o } }")
    assert quad_patterns(query, Dataset((C,))) == (Lookup(None, A, None, C),)
    assert quad_patterns(query, Dataset((), (C,))) == (Lookup(None, B, None, C),)


def test_exists_and_sub_select_look_at_the_graph_around_them() -> None:
    assert lookups(
        "GRAPH <urn:d> { ?s <urn:a> ?o FILTER EXISTS { ?s <urn:b> ?o } "
        "{ SELECT * { ?s <urn:c> ?o } } }"
    ) == {Lookup(None, A, None, D), Lookup(None, B, None, D), Lookup(None, C, None, D)}


@pytest.mark.parametrize(
    "body",
    [
        "GRAPH ?g { }",
        "GRAPH <urn:d> { }",
        "GRAPH ?g { OPTIONAL { ?s <urn:a> ?o } }",
        "GRAPH ?g { { ?s <urn:a> ?o } UNION { } }",
        "GRAPH ?g { BIND(1 AS ?x) }",
        "GRAPH ?g { ?s <urn:a>* ?o }",
        "GRAPH ?g { GRAPH <urn:d> { ?s <urn:a> ?o } }",
        "GRAPH ?g { { SELECT (COUNT(*) AS ?n) { ?s <urn:a> ?o } } }",
    ],
)
def test_existence_of_a_graph_matters_where_no_triple_is_needed(body: str) -> None:
    assert Lookup() in lookups(body)


@pytest.mark.parametrize(
    "body",
    [
        "GRAPH ?g { ?s <urn:a> ?o OPTIONAL { ?s <urn:b> ?o } }",
        "GRAPH ?g { { ?s <urn:a> ?o } }",
        "GRAPH ?g { { ?s <urn:a> ?o } UNION { ?s <urn:a>+ ?o } }",
    ],
)
def test_existence_of_a_graph_follows_from_a_triple(body: str) -> None:
    assert Lookup() not in lookups(body)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("DESCRIBE <urn:a>", "DESCRIBE"),
        ("SELECT * { SERVICE <urn:a> { } }", "SERVICE"),
        ("SELECT * { { SELECT * { OPTIONAL { SERVICE ?s { } } } } }", "SERVICE"),
        ("SELECT (RAND() AS ?x) { }", "RAND"),
        ("SELECT * { FILTER(STR(UUID()) = '') }", "UUID"),
        ("SELECT * { } ORDER BY STRUUID()", "STRUUID"),
        ("SELECT * { BIND(BNODE() AS ?x) }", "BNODE"),
        ("SELECT (COUNT(BNODE(?s)) AS ?n) { ?s ?p ?o }", "BNODE"),
        ("CONSTRUCT { ?s ?p [] } { ?s ?p ?o }", "blank nodes"),
        ("CONSTRUCT WHERE { ?s ?p _:a }", "blank nodes"),
    ],
)
def test_query_that_cannot_be_subscribed(text: str, reason: str) -> None:
    found = unsupported(parse_query(text))
    assert found is not None
    assert reason in found.reason
    assert found.hint


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * { ?s ?p [] FILTER(NOW() > ?o) }",
        "CONSTRUCT { ?s ?p ?o } { ?s ?p _:a, ?o }",
        "ASK { }",
        "SELECT (SAMPLE(?s) AS ?x) { ?s ?p ?o } LIMIT 1",
    ],
)
def test_query_that_can_be_subscribed(text: str) -> None:
    assert unsupported(parse_query(text)) is None


def test_clock_is_read_by_now_or_by_the_function_of_the_engine() -> None:
    assert reads_clock(parse_query("SELECT * { FILTER EXISTS { BIND(now() AS ?t) } }"))
    assert reads_clock(parse_query("SELECT * { } HAVING (NOW() > 1)"))
    assert reads_clock(parse_query(f"SELECT ({CLOCK}() AS ?t) {{ ?s ?p ?o }}"))
    assert not reads_clock(parse_query("SELECT (<urn:clock>() AS ?t) { ?s ?p ?o }"))


def test_service_is_found_in_queries_and_updates() -> None:
    assert contains_service(parse_query("ASK { FILTER EXISTS { SERVICE <urn:a> { } } }"))
    update = parse_update("CLEAR ALL ; DELETE { ?s ?p ?o } WHERE { SERVICE <urn:a> { } }")
    assert contains_service(update)
    assert not contains_service(parse_query("ASK { GRAPH <urn:a> { } }"))
