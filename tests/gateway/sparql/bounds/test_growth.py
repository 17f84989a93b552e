"""How strings may grow in what is subscribed or written."""

from random import Random

import pytest

from gateway.engine import Engine
from gateway.errors import GatewayError, TooLargeError
from gateway.sparql.bounds.growth import growth
from gateway.sparql.parser import parse_query


def doubling(levels: int) -> str:
    return " ".join(
        f"BIND(CONCAT(?s{level}, ?s{level}) AS ?s{level + 1})" for level in range(levels)
    )


def nested(levels: int) -> str:
    """Three of the level below; 3 ** levels."""
    return f"CONCAT({', '.join([nested(levels - 1)] * 3)})" if levels else "?s"


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
