"""What the writer writes is the query again: same answers, same columns, same tree."""

import pytest
from hypothesis import HealthCheck, assume, given, settings
from pyoxigraph import Literal, NamedNode, Quad, Store

from gateway.sparql.algebra import Query, QueryForm
from gateway.sparql.parser import parse_query
from gateway.sparql.written import Writer
from tests.gateway.sparql.test_random_patterns import answer, contents, legal, queries

PREFIXES = "PREFIX ex: <urn:ex:> PREFIX xsd: <http://www.w3.org/2001/XMLSchema#> "


@pytest.mark.property
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(queries, contents)
def test_what_is_written_has_the_same_answers(text: str, content: list[Quad]) -> None:
    assume(legal(text))
    query = parse_query(text)
    assume(query.form is QueryForm.SELECT and query.dataset is None and query.variables)
    store = Store()
    store.extend(content)
    assert answer(store, Writer.of(query).select(query)) == answer(store, text)


CASES = (
    "SELECT * { ?s ex:p/ex:q*|^ex:r ?o }",
    "SELECT * { ?s !(ex:p|^ex:q) ?o ; (ex:p?/(ex:q|ex:r))+ 1.5 }",
    "SELECT DISTINCT ?s (SUM(?o) AS ?n) { ?s ex:p ?o } GROUP BY ?s HAVING(?n > 2) ORDER BY DESC(?n)"
    " LIMIT 3 OFFSET 1 VALUES ?s { ex:a UNDEF }",
    "SELECT (GROUP_CONCAT(DISTINCT ?o; SEPARATOR='\\n\"') AS ?all) { ?s ex:p ?o }",
    "SELECT * { ?s ex:p ?o FILTER(-?o + 1 * 2 - 3 / 4 < 5 && !BOUND(?s) || ?o IN (1, 'a'@en)) }",
    "SELECT * { ?s ex:p ?o FILTER(?o NOT IN (1) && REGEX(STR(?o), 'a\\\\.b', 'i')) }",
    "SELECT * { ?s ex:p ?o BIND(IF(?o > 1, xsd:integer(?o), COALESCE(?o, 2)) AS ?x) }",
    "SELECT * { GRAPH ?g { ?s a ?t MINUS { ?s ex:p [] } } FILTER EXISTS { ?s ?p 'x'^^ex:t } }",
    "SELECT REDUCED * { { SELECT ?s { ?s ex:p ?o } LIMIT 2 } UNION { VALUES (?s ?x) { (1 UNDEF) } }"
    " OPTIONAL { ?s ex:q true } }",
    "SELECT * { SERVICE SILENT <https://example.org/sparql> { ?s ?p ?o } }",
    "SELECT (COUNT(*) AS ?n) (COUNT(DISTINCT ?s) AS ?m) { ?s ?p ?o } GROUP BY (STR(?p) AS ?q)",
)


@pytest.mark.parametrize("text", CASES)
def test_what_is_written_is_parsed_to_the_same_tree(text: str) -> None:
    query = parse_query(PREFIXES + text)
    written = Writer.of(query).select(query)
    again = parse_query(written)
    assert Writer.of(again).select(again) == written
    if "[]" not in text:
        assert _bare(again) == _bare(query)


def _bare(query: Query) -> tuple[object, ...]:
    """Without `*`, which is written as the columns that it stands for."""
    return (
        *(query.where, query.projected, query.distinct, query.reduced, query.group_by),
        *(query.having, query.order_by, query.limit, query.offset, query.values),
    )


def test_hidden_variables_get_names_that_nobody_has() -> None:
    query = parse_query("SELECT * { ?blank0 <urn:p> [ <urn:q> ?x ] }")
    text = Writer.of(query).group(query.where.elements)
    assert text.count("?blank0 ") == 1
    assert text.count("?blank1") == 2


def test_people_read_prefixed_names_numbers_and_a() -> None:
    query = parse_query(f"{PREFIXES} SELECT * {{ ?s a ex:Lamp ; ex:on true ; <urn:y/> 'a' , 2.5 }}")
    told = Writer.of(query, dict(query.prefixes))
    assert told.group(query.where.elements) == (
        '{ ?s a ex:Lamp . ?s ex:on true . ?s <urn:y/> "a" . ?s <urn:y/> 2.5 }'
    )
    assert told.term(NamedNode("urn:ex:a.b")) == "<urn:ex:a.b>"
    assert told.term(Literal("1", language="en")) == '"1"@en'


def test_the_deepest_query_that_parses_can_be_written() -> None:
    depth = 1
    while legal(_nested(depth * 2)):
        depth *= 2
    query = parse_query(_nested(depth))
    assert Writer.of(query).select(query).count("EXISTS") == depth


def _nested(depth: int) -> str:
    inner = "{ ?s ?p ?o }"
    for _ in range(depth):
        inner = f"{{ ?s ?p ?o FILTER EXISTS {inner} }}"
    return f"SELECT * {inner}"
