"""`Engine.explain`: the tier of a query, why no cheaper one, whom it shares with, what it costs."""

import ast
import inspect
import re
from collections.abc import Iterator
from types import ModuleType

import pytest
from pyoxigraph import NamedNode

from gateway.engine import Engine, explain
from gateway.engine.lutt import EVERYTHING, LuttEntry
from gateway.errors import SparqlSyntaxError
from gateway.rdf.terms import DEFAULT_GRAPH
from tests.paths import ROOT

SPARQL_WORDS = frozenset(
    [
        "ASK",
        "CONSTRUCT",
        "DEFAULT",
        "DISTINCT",
        "EXISTS",
        "FILTER",
        "FROM",
        "GRAPH",
        "IRI",
        "LIMIT",
        "NAMED",
        "OFFSET",
        "OPTIONAL",
        "REDUCED",
        "SELECT",
        "UNION",
    ]
)
"""Words of the query language, which who asks has written."""

P, Q = NamedNode("urn:p"), NamedNode("urn:q")


def road(name: str) -> str:
    return f"SELECT ?x ?y {{ ?x <urn:p> ?y . ?z <urn:q> ?x FILTER(?z = <urn:{name}>) }}"


@pytest.mark.parametrize(
    ("query", "tier", "refused"),
    [
        ("SELECT ?o { <urn:s> <urn:p> ?o }", "single pattern", {}),
        (road("a"), "booster", {}),
        ("SELECT * { ?s <urn:p> ?o OPTIONAL { ?s <urn:q> ?x } }", "incremental", {"booster"}),
        ("SELECT * { ?s <urn:p>* ?o }", "requery", {"booster", "incremental"}),
    ],
)
def test_tier_and_reasons_of_a_query_that_nobody_subscribed(
    query: str, tier: str, refused: set[str]
) -> None:
    engine = Engine.open()
    found = engine.explain(query)
    assert (found.tier, set(found.refused), found.is_subscribed) == (tier, set(refused), False)
    assert f"would be served by the tier: {tier}" in str(found)
    assert all(reason in str(found) for reason in found.refused.values())
    assert engine.statistics.subscriptions == 0
    assert not engine.update("INSERT DATA { <urn:s> <urn:p> 1 }").notifications


def test_members_of_a_shape_share_unit_and_costs_and_have_their_own_hits() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:a> <urn:q> <urn:x> . <urn:b> <urn:q> <urn:y> }")
    for name in "abc":
        engine.subscribe(road(name))
    engine.update("INSERT DATA { <urn:x> <urn:p> 1, 2 }")
    engine.update("INSERT DATA { <urn:c> <urn:q> <urn:z> }")
    found = [engine.explain(road(name)) for name in "abc"]
    assert [each.hits for each in found] == [1, 1, 2]
    assert {(each.members, each.parameters) for each in found} == {(3, 1)}
    assert {(each.costs.updates, each.costs.rows) for each in found} == {(2, 2)}
    assert found[0].costs.time_ns > 0
    assert found[0].lutt == (
        LuttEntry(None, P, None, DEFAULT_GRAPH),
        LuttEntry(None, Q, None, DEFAULT_GRAPH),
    )
    assert list(found[0].cts.values()) == [2, 3]
    assert "shared by 3 SPUs (SPARQL processing units) that differ in 1 constant" in str(found[0])


def test_words_are_spelled_out_where_they_come_first() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:a> <urn:q> <urn:x> . <urn:x> <urn:p> <urn:b> }")
    engine.subscribe(road("a"))
    assert str(engine.explain(road("a"))).splitlines()[2:5] == [
        "  LUTT (look-up triples table) * <urn:p> * DEFAULT  (CTS, context triple store: 1 quad)",
        "  LUTT <urn:a> <urn:q> * DEFAULT  (CTS: 1 quad)",
        "  of 1 SPU (SPARQL processing unit), shared with no other",
    ]


def test_every_abbreviation_is_in_the_glossary() -> None:
    """In what is printed around the query, and in every reason that a tier gives."""
    glossary = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    told = " ".join([*_texts(explain), *_reasons()])
    abbreviations = set(re.findall(r"\b[A-Z]{3,}", told))
    assert {"CTS", "LUTT", "SPU"} <= abbreviations
    assert {"EXISTS", "OFFSET"} <= abbreviations
    explained = set(re.findall(r"\b[A-Z]{3,}", glossary))
    assert abbreviations - explained - SPARQL_WORDS == set()


def _texts(module: ModuleType) -> Iterator[str]:
    """All texts in those functions of a module that nobody else calls."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if isinstance(node, ast.FunctionDef) and node.name.startswith("_"):
            yield from _constants(node)


def _reasons() -> Iterator[str]:
    for path in (ROOT / "gateway" / "engine").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Raise) and node.exc and "Not" in ast.unparse(node.exc):
                yield from _constants(node.exc)


def _constants(node: ast.AST) -> Iterator[str]:
    for each in ast.walk(node):
        if isinstance(each, ast.Constant) and isinstance(each.value, str):
            yield each.value


def test_oracle_looks_at_everything() -> None:
    assert Engine.open(oracle=True).explain(road("a")).lutt == (EVERYTHING,)


def test_wrong_query_is_refused() -> None:
    with pytest.raises(SparqlSyntaxError):
        Engine.open().explain("SELECT ?o { ?s ?p }")
