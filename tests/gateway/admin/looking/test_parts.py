"""The parts of a query: their counts are those of the store for the query written by hand."""

from itertools import product, starmap

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad, QuerySolutions, Store

from gateway.admin.looking.parts import parts_of
from gateway.sparql.parser import parse_query
from gateway.sparql.written import Writer
from tests.gateway.sparql.test_random_patterns import contents, groups, legal

VARIABLES = ("?a", "?b", "?c")
NODES = (*VARIABLES, "<urn:x>", "<urn:y>", "1", "2", "3")
patterns = st.tuples(
    st.sampled_from((*VARIABLES, "<urn:x>", "<urn:y>")),
    st.sampled_from(("<urn:p>", "<urn:q>", "?p")),
    st.sampled_from(NODES),
).map(" ".join)
filters = st.one_of(
    st.tuples(
        st.sampled_from(VARIABLES), st.sampled_from((">", "<=", "=", "!=")), st.sampled_from("123")
    ).map(" ".join),
    st.sampled_from(("isIRI(?a)", "NOT EXISTS { ?a <urn:q> 2 }", "EXISTS { ?b ?p ?c }")),
)
_SUBJECTS = (NamedNode("urn:x"), NamedNode("urn:y"))
_OBJECTS = (*_SUBJECTS, *(Literal(number) for number in (1, 2, 3)))
_TRIPLES = tuple(
    starmap(
        Quad, product(_SUBJECTS, map(NamedNode, ("urn:p", "urn:q")), _OBJECTS, (DefaultGraph(),))
    )
)
stores = st.lists(st.sampled_from(_TRIPLES), max_size=10, unique=True)


def count(store: Store, text: str) -> int:
    results = store.query(f"SELECT * {text}")
    assert isinstance(results, QuerySolutions)
    return sum(1 for _ in results)


def stored(content: list[Quad]) -> Store:
    store = Store()
    store.extend(content)
    return store


@pytest.mark.property
@settings(max_examples=100, deadline=None)
@given(
    st.lists(patterns, min_size=1, max_size=4, unique=True),
    st.lists(filters, max_size=3, unique=True),
    stores,
)
def test_counts_are_those_of_the_query_written_by_hand(
    wheres: list[str], tests: list[str], content: list[Quad]
) -> None:
    store = stored(content)
    text = " . ".join(wheres) + " ".join(f" FILTER({each})" for each in tests)
    query = parse_query(f"SELECT * {{ {text} }}")
    writer, told = Writer.of(query), Writer.of(query, {"none": "urn:none:"})
    parts = parts_of(query)
    shown = [told.element(each.element) for each in parts]
    order = shown[: len(wheres)]
    assert sorted(order) == sorted(wheres)
    assert len(shown) == len(wheres) + len(tests)
    for index, part in enumerate(parts):
        met = " . ".join(order[: index + 1])
        held = [f" FILTER({each})" for each in tests[: max(0, index + 1 - len(wheres))]]
        by_hand = "{ " + met + " ".join(held) + " }"
        assert count(store, writer.group(part.joined)) == count(store, by_hand)
        if index < len(wheres):
            alone = f"{{ {order[index]} }}"
        else:
            alone = "{ " + " . ".join(order) + held[-1] + " }"
        assert count(store, writer.group(part.alone)) == count(store, alone)


@pytest.mark.property
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.filter_too_much])
@given(groups, contents)
def test_all_parts_joined_have_the_solutions_of_the_query(text: str, content: list[Quad]) -> None:
    assume(legal(f"SELECT * {text}"))
    query = parse_query(f"SELECT * {text}")
    assume("SELECT" not in text)  # of an only sub-query the parts are those of its WHERE
    parts = parts_of(query)
    assume(parts and "OPTIONAL" not in text and "BIND" not in text)  # no parts: may stand behind
    store = stored(content)
    assert count(store, Writer.of(query).group(parts[-1].joined)) == count(store, text)


def test_each_pattern_follows_one_that_it_meets() -> None:
    text = "SELECT * { ?a <urn:p> ?x . ?b <urn:p> ?y . ?a <urn:q> ?b . ?x <urn:q> 1 }"
    shown = _shown(text)
    assert [each.partition(" ")[0] for each in shown] == ["?a", "?a", "?b", "?x"]


def test_graphs_and_conjunctions_are_taken_apart() -> None:
    text = "SELECT * { GRAPH <urn:g> { ?a <urn:p> ?x ; <urn:q> ?y FILTER(?x > 1 && ?y < 2) } }"
    assert _shown(text) == [
        "GRAPH <urn:g> { ?a <urn:p> ?x }",
        "GRAPH <urn:g> { ?a <urn:q> ?y }",
        '(?x > "1"^^<http://www.w3.org/2001/XMLSchema#integer>)',
        '(?y < "2"^^<http://www.w3.org/2001/XMLSchema#integer>)',
    ]


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("SELECT * { { SELECT ?s { ?s ?p ?o . ?s <urn:q> 1 } } }", 2),
        ("SELECT * { { SELECT ?s { ?s ?p ?o . ?s <urn:q> 1 } LIMIT 1 } }", 1),
        ("SELECT * { ?s ?p ?o OPTIONAL { ?s <urn:q> ?x } BIND(1 AS ?y) } VALUES ?s { <urn:x> }", 2),
        ("SELECT * { ?s ?p ?o MINUS { ?s <urn:q> 1 } FILTER(?o > 1) }", 3),
        ("SELECT * { GRAPH ?g { ?s ?p ?o FILTER(?g = <urn:g>) } }", 1),
        ("SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s VALUES ?s { <urn:x> }", 1),
        ("ASK {}", 0),
    ],
)
def test_what_counts_as_a_part(text: str, count: int) -> None:
    assert len(parts_of(parse_query(text))) == count


def _shown(text: str) -> list[str]:
    query = parse_query(text)
    writer = Writer.of(query)
    return [writer.element(each.element).removeprefix("FILTER") for each in parts_of(query)]
