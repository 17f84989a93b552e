"""Bounds on the form of a text: what is planned is planned quickly, what is not is an error."""

from random import Random
from time import process_time

import pytest

from gateway.engine import Engine
from gateway.errors import GatewayError, TooLargeError
from gateway.sparql.bounds.form import FormBounds, set_bounds
from gateway.sparql.bounds.growth import growth
from gateway.sparql.parser import parse_query, parse_update


def joined(number: int, between: str = "") -> str:
    return between.join(f"?v{place} <urn:p> ?v{place + 1} . " for place in range(number))


def doubling(levels: int) -> str:
    return " ".join(
        f"BIND(CONCAT(?s{level}, ?s{level}) AS ?s{level + 1})" for level in range(levels)
    )


def nested(levels: int) -> str:
    """Three of the level below; 3 ** levels."""
    return f"CONCAT({', '.join([nested(levels - 1)] * 3)})" if levels else "?s"


PATH = "/".join
LARGE = {
    "patterns": (f"SELECT * {{ {joined(201)} }}", "query_patterns"),
    "patterns between filters": (f"ASK {{ {joined(201, 'FILTER(true) ')} }}", "query_patterns"),
    "patterns of groups": (
        f"ASK {{ {{ {joined(101)} }} GRAPH ?g {{ {joined(100)} }} }}",
        "query_patterns",
    ),
    "branches": ("ASK { " + " UNION ".join(["{ ?s ?p ?o }"] * 201) + " }", "query_patterns"),
    "options": ("ASK { " + "OPTIONAL { ?s ?p ?o } " * 201 + " }", "query_patterns"),
    "binds": (
        "ASK { " + "".join(f"BIND(1 AS ?b{n}) " for n in range(201)) + " }", "query_patterns"
    ),
    "inner": (f"ASK {{ FILTER EXISTS {{ {joined(201)} }} }}", "query_patterns"),
    "sequence": (f"ASK {{ ?s {PATH(['<urn:p>'] * 101)} ?o }}", "query_steps"),
    "alternative": (f"ASK {{ ?s {'|'.join(['<urn:p>'] * 101)} ?o }}", "query_steps"),
    "operators": (
        "ASK { " + "FILTER(?a + ?b + ?c > 1) " * 3_000 + "}", "query_operators"
    ),
    "branches of branches": (
        "ASK { " + ("OPTIONAL { " + " UNION ".join(["{ ?s ?p ?o }"] * 199) + " } ") * 30 + "}",
        "query_operators",
    ),
}  # fmt: skip
UPDATES = {
    "where": f"INSERT {{ <urn:a> <urn:b> 1 }} WHERE {{ {joined(201)} }}",
    "delete where": f"DELETE WHERE {{ {joined(201)} }}",
    "path": f"DELETE {{ ?s ?p ?o }} WHERE {{ ?s {PATH(['<urn:p>'] * 101)} ?o }}",
}
COLUMNS = " ".join(f"(CONCAT(?s{n}, ?s{n}) AS ?s{n + 1})" for n in range(20))
GROWING = {
    "binds": f"SELECT * {{ ?x <urn:p> ?s0 {doubling(30)} }}",
    "nested": f"SELECT * {{ ?x <urn:p> ?s FILTER(STRLEN({nested(6)}) > 1) }}",
    "columns": f"SELECT ?s0 {COLUMNS} {{ ?x <urn:p> ?s0 }}",
    "sub-query": "SELECT * { { SELECT (CONCAT(?s,?s,?s,?s,?s,?s) AS ?s0) { ?x ?p ?s } } "
    f"{doubling(9)} }}",
    "replacement": "SELECT * { ?x <urn:p> ?s FILTER(STRLEN(REPLACE(?s, '.', ?s)) > 5) }",
    "group": "SELECT (CONCAT(?a, ?a) AS ?b) { { SELECT (GROUP_CONCAT(?s9) AS ?a) "
    f"{{ ?x ?p ?s0 {doubling(9)} }} }} }}",
}


@pytest.mark.parametrize("name", LARGE)
def test_query_beyond_a_bound_is_refused_at_once(name: str) -> None:
    text, setting = LARGE[name]
    begin = process_time()
    engine = Engine.open()
    for ask in (engine.query, engine.subscribe, engine.explain):
        with pytest.raises(TooLargeError, match=setting):
            ask(text)
    assert process_time() - begin < 5
    engine.close()


@pytest.mark.parametrize("name", UPDATES)
def test_update_beyond_a_bound_is_refused_at_once(name: str) -> None:
    with pytest.raises(TooLargeError, match="query_"):
        Engine.open().update(UPDATES[name])


def test_what_is_at_the_bounds_is_planned_quickly() -> None:
    engine = Engine.open()
    begin = process_time()
    for text in (
        f"SELECT * {{ {joined(200)} }}",
        f"SELECT * {{ ?s {PATH(['<urn:p>'] * 99)} ?o }}",
        f"SELECT * {{ {joined(150)} OPTIONAL {{ {joined(40)} }} FILTER(?v1 != ?v2) }}",
        "SELECT * { " + " UNION ".join(["{ ?s ?p ?o }"] * 200) + " }",
    ):
        engine.subscribe(text)
        engine.update("INSERT DATA { <urn:a> <urn:p> <urn:a> }")
        engine.update("DELETE DATA { <urn:a> <urn:p> <urn:a> }")
    engine.close()
    assert process_time() - begin < 20


def test_data_is_bounded_by_its_length_alone() -> None:
    data = " ".join(f"<urn:{number}> <urn:p> {number} ." for number in range(20_000))
    assert parse_update(f"INSERT DATA {{ {data} }}")
    rows = " ".join(f"(<urn:{number}> {number})" for number in range(20_000))
    assert parse_query(f"ASK {{ VALUES (?a ?b) {{ {rows} }} }}")
    options = ", ".join(f"<urn:{number}>" for number in range(20_000))
    assert parse_query(f"ASK {{ ?s ?p ?o FILTER(?o IN ({options})) }}")


def test_bounds_are_settings() -> None:
    set_bounds(FormBounds(patterns=2))
    try:
        with pytest.raises(TooLargeError, match="3 patterns"):
            parse_query(f"ASK {{ {joined(3)} }}")
    finally:
        set_bounds(FormBounds())
    assert parse_query(f"ASK {{ {joined(3)} }}")


@pytest.mark.parametrize("name", GROWING)
def test_strings_that_grow_are_not_subscribed_or_written(name: str) -> None:
    text = GROWING[name]
    engine = Engine.open()
    with pytest.raises(TooLargeError, match="grow"):
        engine.subscribe(text)
    where = (
        text[text.index("{", text.index("{")) :] if "SELECT *" in text else f"{{ {{ {text} }} }}"
    )
    with pytest.raises(TooLargeError, match="grow"):
        engine.update(f"INSERT {{ <urn:a> <urn:b> 1 }} WHERE {where}")
    engine.close()


def test_formatting_of_strings_is_subscribed() -> None:
    text = (
        "SELECT (CONCAT('room ', STR(?room), ': ', REPLACE(?t, ',', '.'), ' °C') AS ?line) "
        "(GROUP_CONCAT(?name; SEPARATOR=', ') AS ?all) { ?room <urn:t> ?t ; <urn:n> ?name } "
        "GROUP BY ?room ?t"
    )
    assert growth(parse_query(text)) < 20
    Engine.open().subscribe(text)


@pytest.mark.parametrize("seed", range(60))
def test_growth_is_never_less_than_what_happens(seed: int) -> None:
    random = Random(seed)
    names, binds = ["?s"], []
    for number in range(random.randint(1, 6)):
        binds.append(f"BIND({_expression(random, names, 3)} AS ?n{number})")
        names.append(f"?n{number}")
    text = f"SELECT * {{ ?x <urn:p> ?s {' '.join(binds)} }}"
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:x> <urn:p> 'abcdefghij' }")
    try:
        found = engine.query(text)
    except GatewayError:
        return
    lengths = [len(term.value) for row in found for term in row if hasattr(term, "value")]  # type: ignore[union-attr]
    assert max(lengths) <= 10 * max(growth(parse_query(text)), 1.0)


def _expression(random: Random, names: list[str], depth: int) -> str:
    if not depth:
        return random.choice([*names, "'klmno'"])
    one, other = (_expression(random, names, depth - 1) for _ in range(2))
    return random.choice(
        [
            f"CONCAT({one}, {other})",
            f"CONCAT({one}, {other}, {one})",
            f"REPLACE({one}, '[a-e]', 'xyz')",
            f"ENCODE_FOR_URI({one})",
            f"IF(STRLEN({one}) > 12, {one}, {other})",
            f"COALESCE({one} + 1, {other})",
            f"SUBSTR({one}, 2)",
            f"UCASE({one})",
            f"STR({one})",
        ]
    )
