"""The BOOSTER against the oracle: joins of triple patterns, random updates, equal bags."""

from collections import Counter
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from pyoxigraph import NamedNode, Quad

from gateway.engine import Engine, cts
from gateway.engine.compile import TierCompiler
from gateway.engine.join import star
from gateway.engine.join.join import JoinUnit
from gateway.engine.spu import Subject, evaluate
from gateway.errors import UnsupportedQueryError
from gateway.rdf.namespaces import RDF
from gateway.rdf.solutions import SolutionBag

pytestmark = pytest.mark.property

TYPE = NamedNode(f"{RDF}type")
NODES = ["<urn:a>", "<urn:b>", "<urn:c>", "1", "1.50"]
nodes = st.sampled_from(["?x", "?y", "?z", "_:n", *NODES[:3]])
objects = st.sampled_from(["?x", "?y", "?z", "_:n", *NODES])
predicates = st.sampled_from(["<urn:p>", "<urn:q>", "?p", "<urn:p>"])
patterns = st.tuples(nodes, predicates, objects).map(" ".join)
groups = st.tuples(
    st.lists(patterns, min_size=2, max_size=4).map(" . ".join),
    st.sampled_from(
        [
            "",
            "",
            "FILTER(?x = <urn:a>)",
            "FILTER(<urn:b> = ?y)",
            "GRAPH <urn:g> { ?x <urn:p> ?y }",
            "GRAPH ?z { ?x <urn:p> ?y }",
            "GRAPH ?g { ?x <urn:p> ?y . ?y ?p ?z }",
            "FILTER(?p = <urn:q>)",
            "FILTER(?z = <urn:g>)",
        ]
    ),
).map(lambda parts: f"{{ {parts[0]} . {parts[1]} }}")
queries = st.tuples(
    st.sampled_from(["SELECT *", "SELECT ?x", "SELECT DISTINCT ?x ?y", "SELECT ?y ?x ?y2"]), groups
).map(" WHERE ".join)
triples = st.tuples(
    st.sampled_from(NODES[:3]), st.sampled_from(["<urn:p>", "<urn:q>"]), st.sampled_from(NODES)
).map(lambda parts: " ".join(parts) + " .")
data = st.tuples(
    st.lists(triples, max_size=5).map(" ".join), st.lists(triples, max_size=2).map(" ".join)
).map(lambda parts: f"{parts[0]} GRAPH <urn:g> {{ {parts[1]} }}")
updates = st.tuples(data, data).map(
    lambda both: f"DELETE DATA {{ {both[0]} }} ; INSERT DATA {{ {both[1]} }}"
)


@settings(
    max_examples=500,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)
@given(queries, st.lists(updates, min_size=1, max_size=6))
def test_joins_add_up_to_what_the_query_answers(query: str, steps: list[str]) -> None:
    engine = Engine.open()
    first = engine.subscribe(query)
    rows: SolutionBag = Counter(first.results.added)
    for step in steps:
        for notification in engine.update(step, deferred=True).notifications:
            rows.update(notification.results.added)
            rows.subtract(notification.results.removed)
        assert +rows == evaluate(engine.store, Subject(query))
        assert all(count >= 0 for count in rows.values())


def test_joins_of_patterns_are_the_boosters() -> None:
    store = Engine.open().store
    for query in (
        "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> 1 }",
        "SELECT DISTINCT ?x { ?x <urn:p> _:b . _:b <urn:q> ?z }",
        "SELECT * { ?x <urn:p> ?y GRAPH <urn:g> { ?y <urn:q> ?z } FILTER(?z = <urn:a>) }",
        "SELECT ?x { ?x <urn:p> ?y . GRAPH ?g { ?y <urn:q> ?z } }",
        "SELECT ?x FROM <urn:g> { ?x <urn:p> ?y . ?y <urn:q> ?z }",
        "SELECT ?g { GRAPH ?g { { ?x <urn:p> ?g } } FILTER(?x = <urn:a>) }",
    ):
        assert isinstance(TierCompiler(store).place(Subject(query)).unit, JoinUnit), query


def test_queries_that_are_more_than_joins_are_not() -> None:
    store = Engine.open().store
    for query in (
        "SELECT ?x { ?x <urn:p> ?y . ?z <urn:q> 1 }",
        "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q>+ ?z }",
        "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(?z > 1) }",
        "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(?z = 1) }",
        "SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z } LIMIT 1",
        "SELECT ?x { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } }",
        "SELECT ?x { ?x <urn:p> ?y . GRAPH ?g { ?y <urn:q> ?z . GRAPH ?h { ?x <urn:p> ?y } } }",
        "SELECT ?x { ?x <urn:p> ?y . GRAPH ?g { ?y <urn:q> ?z FILTER(?z = <urn:a>) } }",
        "SELECT ?x { ?x <urn:p> ?y . GRAPH ?g { { } } }",
        "SELECT ?x FROM <urn:g> FROM <urn:h> { ?x <urn:p> ?y . ?y <urn:q> ?z }",
        "SELECT ?x FROM <urn:g> FROM NAMED <urn:h> { GRAPH ?g { ?x <urn:p> ?y . ?y <urn:q> ?z } }",
    ):
        assert not isinstance(TierCompiler(store).place(Subject(query)).unit, JoinUnit), query


def test_filter_on_a_variable_that_is_not_joined_is_not_a_constant() -> None:
    engine = Engine.open()
    first = engine.subscribe("SELECT ?x { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(?w = <urn:a>) }")
    outcome = engine.update("INSERT DATA { <urn:a> <urn:p> <urn:b> . <urn:b> <urn:q> 1 }")
    assert not first.added
    assert not outcome.notifications


arms = st.tuples(
    st.sampled_from(["<urn:p>", "<urn:q>", "<urn:r>"]),
    st.sampled_from(["?a", "?b", "?c", "?d", "?x", "?y", *NODES]),
).map(" ".join)
stars = st.tuples(
    st.lists(arms, min_size=2, max_size=4, unique=True).map(" ; ".join),
    st.sampled_from(
        [
            "",
            "?y <urn:q> ?e ; <urn:r> ?f",
            "?a <urn:p> ?e",
            "<urn:b> <urn:p> ?x",
            "FILTER(?a = <urn:b>)",
        ]
    ),
    st.sampled_from(["", "OPTIONAL { ?x <urn:q> ?g ; <urn:r> ?h }", "FILTER(BOUND(?b))"]),
).map(lambda parts: f"SELECT * {{ ?x {parts[0]} . {parts[1]} {parts[2]} }}")
many = st.tuples(
    st.sampled_from(NODES[:3]),
    st.sampled_from(["<urn:p>", "<urn:q>", "<urn:r>"]),
    st.lists(st.sampled_from(NODES), min_size=1, max_size=4).map(", ".join),
).map(lambda parts: " ".join(parts) + " .")
some = st.lists(many, max_size=4).map(" ".join)


@settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(stars, st.lists(st.tuples(some, some), min_size=1, max_size=5))
@pytest.mark.parametrize(("most_rows", "most_quads"), [(64, 50_000), (2, 50_000), (64, 1)])
def test_stars_add_up_to_what_the_query_answers(
    most_rows: int,
    most_quads: int,
    monkeypatch: pytest.MonkeyPatch,
    query: str,
    steps: list[tuple[str, str]],
) -> None:
    """Also where most subjects are wide: what is left of a star is its patterns'.

    And where tables are too small, so that the store is asked of each subject.
    """
    monkeypatch.setattr(star, "MOST_ROWS", most_rows)
    monkeypatch.setattr(cts, "MOST_QUADS", most_quads)
    engine = Engine.open()
    try:
        first = engine.subscribe(query)
    except UnsupportedQueryError:
        assume(False)
    rows: SolutionBag = Counter(first.results.added)
    for removed, added in steps:
        outcome = engine.update(
            f"DELETE DATA {{ {removed} }} ; INSERT DATA {{ {added} }}", deferred=True
        )
        for notification in outcome.notifications:
            rows.update(notification.results.added)
            rows.subtract(notification.results.removed)
        assert +rows == evaluate(engine.store, Subject(query))
        assert all(count >= 0 for count in rows.values())


def test_a_hub_is_not_read_for_a_change_of_another_arm() -> None:
    """A room of 1,000 things: renaming it makes a row each, a thing more makes one."""
    engine = Engine.open()
    things = ", ".join(f"<urn:thing:{n}>" for n in range(1_000))
    engine.update(
        f"INSERT DATA {{ <urn:room> a <urn:Room> ; <urn:name> 'hall' ; <urn:has> {things} }}"
    )
    engine.subscribe("SELECT * { ?room a <urn:Room> ; <urn:name> ?name ; <urn:has> ?thing }")
    (one,) = engine.update("INSERT DATA { <urn:room> <urn:has> <urn:other> }").notifications
    assert len(one.added) == 1
    (every,) = engine.update(
        "DELETE DATA { <urn:room> <urn:name> 'hall' } ;"
        "INSERT DATA { <urn:room> <urn:name> 'attic' }"
    ).notifications
    assert (len(every.added), len(every.removed)) == (1_001, 1_001)


def test_where_a_table_is_too_big_the_store_is_asked_once_of_each_subject(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cts, "MOST_QUADS", 0)
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:x> a <urn:A> . <urn:y> <urn:p> 1 , 2 ; <urn:q> 1 }")
    for name in "pqr":
        engine.subscribe(f"SELECT * {{ ?x a <urn:A> ; <urn:{name}> ?value }}")
    asked: list[object] = []
    match = engine.store.match

    def counted(*wanted: Any) -> list[Quad]:
        asked.append(wanted[1])
        return match(*wanted)

    monkeypatch.setattr(engine.store, "match", counted)
    told = engine.update("INSERT DATA { <urn:x> <urn:p> 1 ; <urn:q> 1 ; <urn:r> 1 }")
    assert [len(each.added) for each in told.notifications] == [1, 1, 1]
    assert asked.count(TYPE) == 1
    told = engine.update("DELETE DATA { <urn:x> a <urn:A> }")
    assert [len(each.removed) for each in told.notifications] == [1, 1, 1]
    assert not engine.update("INSERT DATA { <urn:x> <urn:p> 2 }").notifications
