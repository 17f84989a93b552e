"""Expressions: precedence, associativity, and the arguments of functions."""

import pytest
from pyoxigraph import Literal, NamedNode, Variable

from gateway.errors import SparqlSyntaxError
from gateway.rdf.namespaces import XSD
from gateway.sparql.algebra import (
    Aggregate,
    BasicPattern,
    Bind,
    Call,
    Exists,
    Expression,
    Group,
    In,
    Operation,
    Projection,
    TriplePattern,
)
from gateway.sparql.parser import parse_query

A, B, C, D = (Variable(name) for name in "abcd")
F = NamedNode("urn:f")


def parse(text: str) -> Expression:
    (bind,) = parse_query("SELECT * { BIND(" + text + " AS ?result) }").where.elements
    assert isinstance(bind, Bind)
    return bind.expression


def column(text: str) -> Projection:
    (only,) = parse_query("SELECT (" + text + " AS ?n) { ?a ?b ?c }").projection or ()
    return only


def number(text: str) -> Literal:
    return Literal(text, datatype=NamedNode(XSD + "integer"))


def op(name: str, *args: Expression) -> Operation:
    return Operation(name, args)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?a || ?b && ?c", op("||", A, op("&&", B, C))),
        ("?a && ?b || ?c", op("||", op("&&", A, B), C)),
        ("?a || ?b || ?c", op("||", A, B, C)),
        ("(?a || ?b) && ?c && ?d", op("&&", op("||", A, B), C, D)),
        ("?a = ?b && ?c != ?d", op("&&", op("=", A, B), op("!=", C, D))),
        ("?a + ?b * ?c", op("+", A, op("*", B, C))),
        ("?a * ?b + ?c", op("+", op("*", A, B), C)),
        ("?a - ?b - ?c", op("-", op("-", A, B), C)),
        ("?a / ?b / ?c", op("/", op("/", A, B), C)),
        ("?a - (?b - ?c)", op("-", A, op("-", B, C))),
        ("?a + ?b < ?c * ?d", op("<", op("+", A, B), op("*", C, D))),
        ("!?a && ?b", op("&&", op("!", A), B)),
        ("!?a = ?b", op("=", op("!", A), B)),
        ("-?a * ?b", op("*", op("-", A), B)),
        ("+?a", op("+", A)),
        ("?a -1", op("-", A, number("1"))),
        ("?a+1*2", op("+", A, op("*", number("1"), number("2")))),
        ("-1", number("-1")),
        ("- 1", op("-", number("1"))),
        ("--1", op("-", number("-1"))),
        ("?a <= -1", op("<=", A, number("-1"))),
    ],
)
def test_operators(text: str, expected: Expression) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("?a IN ()", In(A, ())),
        ("?a IN (?b, 1)", In(A, (B, number("1")))),
        ("?a NOT IN (?b)", In(A, (B,), negated=True)),
        ("?a + 1 IN (?b) && ?c", op("&&", In(op("+", A, number("1")), (B,)), C)),
    ],
)
def test_membership(text: str, expected: Expression) -> None:
    assert parse(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("str(?a)", op("STR", A)),
        ("BOUND(?a)", op("BOUND", A)),
        ("NOW()", op("NOW")),
        ("BNODE()", op("BNODE")),
        ("BNODE(?a)", op("BNODE", A)),
        ("IF(?a, ?b, ?c)", op("IF", A, B, C)),
        ("COALESCE()", op("COALESCE")),
        ("CONCAT(?a, ?b, ?c)", op("CONCAT", A, B, C)),
        ("REGEX(?a, ?b)", op("REGEX", A, B)),
        ("REGEX(?a, ?b, ?c)", op("REGEX", A, B, C)),
        ("REPLACE(?a, ?b, ?c, ?d)", op("REPLACE", A, B, C, D)),
        ("isNumeric(?a)", op("ISNUMERIC", A)),
        ("sameTerm(?a, ?b)", op("SAMETERM", A, B)),
        ("<urn:f>", F),
        ("<urn:f>()", Call(F, ())),
        ("<urn:f>(?a, 1)", Call(F, (A, number("1")))),
        ("<urn:f>(DISTINCT ?a)", Call(F, (A,), distinct=True)),
    ],
)
def test_functions(text: str, expected: Expression) -> None:
    assert parse(text) == expected


def test_exists_in_an_expression() -> None:
    group = Group((BasicPattern((TriplePattern(A, B, C),)),))
    assert parse("EXISTS { ?a ?b ?c } && ?d") == op("&&", Exists(group), D)
    assert parse("NOT EXISTS { ?a ?b ?c }") == Exists(group, negated=True)
    assert parse("! EXISTS { ?a ?b ?c }") == op("!", Exists(group))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("COUNT(*)", Aggregate("COUNT", None)),
        ("COUNT(DISTINCT *)", Aggregate("COUNT", None, distinct=True)),
        ("sum(?a + 1)", Aggregate("SUM", op("+", A, number("1")))),
        ("MIN(DISTINCT ?a)", Aggregate("MIN", A, distinct=True)),
        ("GROUP_CONCAT(?a)", Aggregate("GROUP_CONCAT", A)),
        (
            "GROUP_CONCAT(DISTINCT ?a ; SEPARATOR = ', ')",
            Aggregate("GROUP_CONCAT", A, distinct=True, separator=", "),
        ),
        ("SAMPLE(?a)", Aggregate("SAMPLE", A)),
        ("1 + AVG(?a)", op("+", number("1"), Aggregate("AVG", A))),
        ("MAX(?a) * -MIN(?b)", op("*", Aggregate("MAX", A), op("-", Aggregate("MIN", B)))),
    ],
)
def test_aggregates(text: str, expected: Expression) -> None:
    assert column(text) == Projection(Variable("n"), expected)


@pytest.mark.parametrize(
    "text",
    [
        "?a = ?b = ?c",
        "?a < ?b IN (?c)",
        "?a NOT ?b",
        "?a IN ?b",
        "?a IN (DISTINCT ?b)",
        "STR()",
        "STR(?a, ?b)",
        "STR(DISTINCT ?a)",
        "IF(?a, ?b)",
        "REGEX(?a)",
        "SUBSTR(?a, 1, 2, 3)",
        "NOW(1)",
        "BOUND(1)",
        "UNKNOWN(?a)",
        "<urn:f>(DISTINCT)",
        "<urn:f>(?a,)",
        "_:a",
        "?a ?b",
        "NOT { }",
        "COUNT(*)",
    ],
)
def test_text_that_is_no_expression_is_refused(text: str) -> None:
    with pytest.raises(SparqlSyntaxError):
        parse(text)


@pytest.mark.parametrize(
    "text", ["SUM(*)", "SUM(?a, ?b)", "COUNT()", "MIN(?a; SEPARATOR='x')", "GROUP_CONCAT(?a; 'x')"]
)
def test_text_that_is_no_aggregate_is_refused(text: str) -> None:
    with pytest.raises(SparqlSyntaxError):
        column(text)
