"""Shapes: a plan bound to the constants of a text says what the text says.

Texts are drawn from small pools of constants, so that they come in families. Whatever `SharedPlans`
makes of them: its plan's syntax tree, parameters replaced by their terms, is that of the text; what
it does not know, or what is wrong, it leaves to the parser.
"""

import random
from dataclasses import fields, is_dataclass, replace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import Variable

from gateway.errors import SparqlSyntaxError
from gateway.rdf.terms import Term
from gateway.sparql.algebra import Query, Update
from gateway.sparql.parameters import Parameters
from gateway.sparql.parser import parse_query, parse_update
from gateway.sparql.shape import SharedPlans, divide
from tests.gateway.engine.engine_strategies import queries, requests
from tests.gateway.engine.update_writer import PROLOGUE
from tests.paths import SHARED

pytestmark = pytest.mark.property

SUITES = SHARED / "data" / "rdf-tests" / "sparql"

POOLS = {
    "<": ("<urn:a>", "<urn:b>", "<http://host/x#y>", "<relative>", "<>"),
    ":": (":a", ":b-1", r":a\-b", ":", ":1.2", ":a:b%20"),
    '"': (
        *(
            '"a"',
            "'b'@en",
            '"""c"d"""',
            "''",
            r'"e\"\n"',
            "1",
            "01",
            "-2",
            "+3",
            "4.5",
            ".5",
            "6e7",
        ),
        *("-.8e-9", '"2.50"^^<http://www.w3.org/2001/XMLSchema#decimal>', '"x"^^u:type', '"y"@'),
    ),
    "#": ("# a comment: <x> 'y' \"", "#"),
}
"""Constants by kind; some make a text wrong, wherever they stand or at some places."""

TEXTS = (
    "SELECT ?x{?x<urn:p>5.?y<urn:q>-5,+1.5}",
    "PREFIX :<urn:n:> SELECT * { ?x1 :b ?y.?z:a ?x FILTER(?x1<5&&?y > -5||?x1-1=?y-1) }",
    f"{PROLOGUE}ASK {{ u:a u:b u:c. u:d a u:e;u:p/u:q*|^u:r ?x }}",
    "SELECT ?x { ?x <urn:p> 1 # it's <a> comment\n ; <urn:q> 'a' ^^ <urn:t>, \"b\" @en }",
    "SELECT (GROUP_CONCAT(?x; separator=', ') AS ?s) { ?x <urn:p> 1 } GROUP BY ?x LIMIT 5 OFFSET 1",
    "SELECT (?x + 5 AS ?y) (COUNT(*) AS ?n) { ?x <urn:p> <urn:o> } GROUP BY ?x",
    "SELECT ?x FROM <urn:g> FROM NAMED <urn:h> { GRAPH <urn:h> { ?x <urn:p> (1 -2 'a'@en) } }",
    "SELECT ?x { VALUES ?x { <urn:a> 1 'b' } FILTER(<urn:f>(?x, 1) IN (<urn:a>, 2, ?y)) }",
    "BASE <http://host/> SELECT ?x { ?x <p> <o> . _:b1 <q> _:b2.5 }",
    "INSERT DATA { <urn:a> <urn:p> 'a'@en-gb, 1.5, <urn:b> . GRAPH <urn:g> { _:x <urn:p> -1 } }",
    "WITH <urn:g> DELETE { ?x <urn:p> 1 } INSERT { ?x <urn:p> 2 } USING <urn:h> WHERE { ?x ?y 1 }",
    f"{PROLOGUE}CLEAR GRAPH <urn:g> ; PREFIX u: <urn:other:> INSERT DATA {{ u:a u:b 5 }}",
    "LOAD <urn:x> INTO GRAPH <urn:g> ; COPY <urn:a> TO <urn:b> ; DELETE WHERE { <urn:a> ?p 1 }",
)

settings.register_profile("shape", suppress_health_check=list(HealthCheck), deadline=None)


def varied(text: str, chance: random.Random) -> str:
    """The text with some constants replaced by others of their kind."""
    divided = divide(text)
    if divided is None:
        return text
    between, constants = divided
    odds = chance.choice((0.1, 0.5, 1.0))
    spared = text.count("PREFIX") * 2 + text.count("BASE") if chance.random() < 0.8 else 0
    other = (
        chance.choice(POOLS[constant[0] if constant[0] in "<:#" else '"'])
        if place >= spared and chance.random() < odds
        else constant
        for place, constant in enumerate(constants)
    )
    return "".join(piece + new for piece, new in zip(between, (*other, ""), strict=True))


def bound(node: Any, bindings: dict[str, Term]) -> Any:
    """A syntax tree with parameters replaced by their terms."""
    if isinstance(node, Variable):
        return bindings.get(node.value, node)
    if isinstance(node, tuple):
        return tuple(bound(each, bindings) for each in node)
    if is_dataclass(node) and not isinstance(node, type):
        names = [each.name for each in fields(node) if each.name not in {"prefixes", "base"}]
        return replace(node, **{name: bound(getattr(node, name), bindings) for name in names})
    return node


def tree(text: str, parameters: Parameters | None = None) -> Query | Update:
    try:
        return parse_update(text, parameters=parameters)
    except SparqlSyntaxError:
        return parse_query(text, parameters=parameters)


def check(texts: list[str]) -> int:
    """Send the texts through one `SharedPlans`; how many it knew the shape of."""
    shapes = SharedPlans(tree)
    known = 0
    for text in texts:
        try:
            expected = tree(text)
        except SparqlSyntaxError:
            expected = None
        try:
            found = shapes.find(text)
        except SparqlSyntaxError:
            assert expected is None
            continue
        if found is not None:
            known += 1
            assert bound(found.plan, found.bindings) == expected
    return known


@settings(settings.get_profile("shape"), max_examples=600, derandomize=True)
@given(st.one_of(requests(most=3), queries()), st.randoms(use_true_random=False))
def test_plan_of_a_shape_bound_to_its_constants_is_the_text(
    text: str, chance: random.Random
) -> None:
    check([text, *(varied(text, chance) for _ in range(12))])


@pytest.mark.parametrize("text", TEXTS)
def test_constants_at_odd_places_mean_what_they_mean_in_the_text(text: str) -> None:
    chance = random.Random(1)
    assert check([text, *(varied(text, chance) for _ in range(1000))]) > 5


@pytest.mark.skipif(not SUITES.is_dir(), reason="the W3C suites are not in SOSA_GATEWAY_SHARED")
def test_texts_of_the_w3c_suites_mean_the_same_in_families() -> None:
    chance = random.Random(2)
    known = 0
    for path in sorted([*SUITES.glob("*/*/*.r[qu]")]):
        text = path.read_text(encoding="utf-8")
        known += check([text, *(varied(text, chance) for _ in range(6))])
    assert known > 100
