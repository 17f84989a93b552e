"""The form of a text is counted while it is parsed, and bounded (docs/limits.md)."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from gateway.errors import SparqlSyntaxError, TooComplexError
from gateway.sparql.bounds.form import UNBOUNDED, FormBounds, set_bounds
from gateway.sparql.cursor import MAX_DEPTH
from gateway.sparql.parser import parse_query, parse_update
from tests.gateway.sparql.bounds.forms import (
    DATA,
    DEEP,
    JOINS,
    NESTED,
    ORDERED,
    PATHS,
    Form,
    largest,
)

BOUNDS = FormBounds()


def _is_admitted(text: str) -> bool:
    try:
        parse_query(text)
    except TooComplexError:
        return False
    return True


@pytest.mark.parametrize("form", JOINS.values(), ids=JOINS)
def test_joined_patterns_are_bounded(form: Form) -> None:
    size = largest(lambda size: _is_admitted(form(size)))
    assert BOUNDS.steps - 20 <= size <= BOUNDS.patterns
    with pytest.raises(TooComplexError, match=r"more than \d+ .*raise \[limits\] query_"):
        parse_query(form(size + 1))


def test_patterns_that_are_connected_in_a_row_are_bounded_by_their_number() -> None:
    parse_query(JOINS["chain"](BOUNDS.patterns))
    with pytest.raises(TooComplexError, match=r"more than 200 patterns .*query_patterns"):
        parse_query(JOINS["chain"](BOUNDS.patterns + 1))


@pytest.mark.parametrize("form", PATHS.values(), ids=PATHS)
def test_steps_of_a_path_are_bounded(form: Form) -> None:
    parse_query(f"ASK {{ ?s {form(BOUNDS.steps)} ?o }}")
    with pytest.raises(TooComplexError, match=r"more than 100 steps .*query_steps"):
        parse_query(f"ASK {{ ?s {form(BOUNDS.steps + 1)} ?o }}")


@pytest.mark.parametrize("form", DEEP.values(), ids=DEEP)
def test_operators_one_in_another_are_bounded(form: Form) -> None:
    size = largest(lambda size: _is_admitted(form(size)))
    assert BOUNDS.depth - 5 <= size <= BOUNDS.depth
    with pytest.raises(TooComplexError, match=r"more than 500 deep .*query_depth"):
        parse_query(form(size + 1))


@pytest.mark.parametrize("form", ORDERED.values(), ids=ORDERED)
def test_keys_of_an_order_count_as_what_they_become(form: Form) -> None:
    size = largest(lambda size: _is_admitted(form(size)))
    assert BOUNDS.depth // 8 <= size <= BOUNDS.depth // 6
    with pytest.raises(TooComplexError, match=r"more than 500 deep .*query_depth"):
        parse_query(form(size + 1))


def test_depths_of_groups_one_in_another_add_up() -> None:
    binds = " ".join(f"BIND({n} AS ?v{n})" for n in range(100))
    inner = ""
    for level in range(4):
        inner = f"OPTIONAL {{ {inner} {binds.replace('?v', f'?v{level}x')} }}"
    parse_query(f"ASK {{ {inner} }}")
    with pytest.raises(TooComplexError, match="more than 500 deep"):
        parse_query(f"ASK {{ OPTIONAL {{ {inner} {binds} }} }}")


def test_operators_of_the_whole_are_bounded() -> None:
    def form(size: int) -> str:
        branches = " UNION ".join("{ BIND(1" + " + 1" * 40 + " AS ?x) }" for _ in range(size))
        return f"SELECT * {{ {branches} }}"

    size = BOUNDS.operators // 43
    parse_query(form(size))
    with pytest.raises(TooComplexError, match=r"more than 10000 operators .*query_operators"):
        parse_query(form(size + 1))


def test_joined_patterns_count_for_each_pair_that_shares_a_variable() -> None:
    group = "{ " + " . ".join(f"?s <urn:p{n}> ?o{n}" for n in range(100)) + " }"
    parse_query(f"ASK {{ {group} }}")
    with pytest.raises(TooComplexError, match="operators"):
        parse_query(f"ASK {{ {group} UNION {group} }}")
    apart = "{ " + " . ".join(f"?s{n} <urn:p{n}> ?o{n}" for n in range(100)) + " }"
    parse_query(f"ASK {{ {group} UNION {apart} }}")


@pytest.mark.parametrize("form", NESTED.values(), ids=NESTED)
def test_nesting_is_bounded_whatever_the_settings(form: Form) -> None:
    parse_query(form(MAX_DEPTH // 2 - 2))
    with pytest.raises(SparqlSyntaxError, match="nested more than 64 deep"):
        parse_query(form(MAX_DEPTH + 2))


@pytest.mark.parametrize("form", DATA.values(), ids=DATA)
def test_data_are_no_form(form: Form) -> None:
    parse_query(form(5_000))


def test_operands_stand_side_by_side_not_one_in_another() -> None:
    options = " || ".join(f"?o = {number} + 1" for number in range(200))
    parse_query(f"ASK {{ ?s ?p ?o FILTER({options}) }}")
    sums = ", ".join(f"?o + {number}" for number in range(200))
    parse_query(f"ASK {{ ?s ?p ?o FILTER(?o IN ({sums})) }}")


@pytest.mark.parametrize("form", JOINS.values(), ids=JOINS)
def test_where_of_an_update_is_bounded_like_a_query(form: Form) -> None:
    def text(size: int) -> str:
        where = form(size).partition("{")[2].rpartition("}")[0]
        return f"INSERT {{ <urn:x> <urn:p> 1 }} WHERE {{ {where} }}"

    parse_update(text(80))
    with pytest.raises(TooComplexError):
        parse_update(text(BOUNDS.patterns + 1))


def test_patterns_of_delete_where_are_bounded() -> None:
    def text(size: int) -> str:
        return "DELETE WHERE { " + " . ".join(f"?s <urn:{n}> ?o{n}" for n in range(size)) + " }"

    parse_update(text(BOUNDS.patterns // 2))
    with pytest.raises(TooComplexError, match="patterns"):
        parse_update(text(BOUNDS.patterns + 1))


def test_variables_of_templates_are_columns() -> None:
    def text(size: int) -> str:
        template = " . ".join(f"?s <urn:p> ?o{n}" for n in range(size))
        return f"INSERT {{ {template} }} WHERE {{ ?s <urn:p> ?o0 }}"

    parse_update(text(450))
    with pytest.raises(TooComplexError, match="deep"):
        parse_update(text(501))


def test_data_of_an_update_are_not_bounded() -> None:
    quads = " . ".join(f"<urn:{n}> <urn:p> {n}" for n in range(20_000))
    parse_update(f"INSERT DATA {{ {quads} }} ; DELETE DATA {{ {quads} }}")


def test_operations_are_bounded_each_by_itself() -> None:
    one = "DELETE { ?s ?p 1 } INSERT { ?s ?p 2 } WHERE { ?s ?p ?o FILTER(?o < 1) }"
    parse_update(" ; ".join([one] * 3_000))


@pytest.fixture
def raise_bounds() -> Iterator[Callable[[FormBounds], None]]:
    yield set_bounds
    set_bounds(FormBounds())


def test_raised_bounds_let_more_through(raise_bounds: Callable[[FormBounds], None]) -> None:
    text = JOINS["star"](300)
    assert not _is_admitted(text)
    raise_bounds(replace(BOUNDS, patterns=1000))
    assert not _is_admitted(text)
    raise_bounds(replace(BOUNDS, patterns=1000, operators=100_000))
    assert _is_admitted(text)
    raise_bounds(UNBOUNDED)
    assert _is_admitted(JOINS["star"](1_000))
