"""Subscriptions of one shape share a unit: each is told its own, however they come and go."""

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.engine import Engine
from gateway.engine.spu import Subject, evaluate
from gateway.rdf.solutions import SolutionBag

pytestmark = pytest.mark.property

NODES = ["<urn:a>", "<urn:b>", "<urn:c>", '"1"', "1.50"]
SHAPES = [
    "SELECT ?x { %s <urn:p> ?x }",
    "SELECT ?x ?y { ?x ?y %s }",
    "SELECT * { %s <urn:p> ?x . ?x <urn:q> %s }",
    "SELECT ?x { ?x <urn:p> ?y . ?y <urn:p> ?z . ?z <urn:q> %s . ?x <urn:q> %s }",
    "SELECT DISTINCT ?x { ?x <urn:p> ?y . ?y <urn:q> %s }",
    "SELECT ?x ?y { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(?y = %s) FILTER(%s = ?z) }",
    "SELECT DISTINCT * { ?x ?p %s . ?x <urn:q> ?y GRAPH ?g { ?y <urn:p> %s } }",
]
IRIS = NODES[:3]


@st.composite
def queries(draw: st.DrawFn) -> str:
    shape = draw(st.sampled_from(SHAPES))
    nodes = (
        IRIS if "FILTER" in shape or shape.startswith(("SELECT ?x { %", "SELECT * {")) else NODES
    )
    return shape % tuple(draw(st.sampled_from(nodes)) for _ in range(shape.count("%s")))


triples = st.tuples(
    st.sampled_from(IRIS), st.sampled_from(["<urn:p>", "<urn:q>"]), st.sampled_from(NODES)
).map(lambda parts: " ".join(parts) + " .")
data = st.tuples(
    st.lists(triples, max_size=6).map(" ".join), st.lists(triples, max_size=3).map(" ".join)
).map(lambda parts: f"{parts[0]} GRAPH <urn:g> {{ {parts[1]} }}")
updates = st.tuples(data, data).map(
    lambda both: f"DELETE DATA {{ {both[0]} }} ; INSERT DATA {{ {both[1]} }}"
)


def steps_with(subscribed: st.SearchStrategy[str]) -> st.SearchStrategy[str | int]:
    """An update, a query to subscribe to, or whose subscription ends."""
    return st.one_of(updates, updates, subscribed, st.integers(0, 20))


class Session:
    """Subscribers of an engine, and the rows that they were told."""

    def __init__(self) -> None:
        self.engine = Engine.open()
        self._told: dict[str, tuple[str, SolutionBag]] = {}

    def take(self, step: str | int) -> None:
        if isinstance(step, int):
            self._unsubscribe(step)
        elif not step.startswith("DELETE"):
            first = self.engine.subscribe(step)
            self._told[first.spuid] = (step, Counter(first.results.added))
        else:
            for each in self.engine.update(step, deferred=True).notifications:
                _, rows = self._told[each.spuid]
                rows.update(each.results.added)
                rows.subtract(each.results.removed)
                assert all(count >= 0 for count in rows.values())
        for query, rows in self._told.values():
            assert +rows == evaluate(self.engine.store, Subject(query)), query

    def _unsubscribe(self, place: int) -> None:
        if self._told:
            spuid = list(self._told)[place % len(self._told)]
            del self._told[spuid]
            self.engine.unsubscribe(spuid)


@settings(
    max_examples=120,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.lists(queries(), max_size=12), st.lists(steps_with(queries()), min_size=1, max_size=20))
def test_each_member_of_a_shape_is_told_its_own(first: list[str], then: list[str | int]) -> None:
    session = Session()
    for step in (*first, *then):
        session.take(step)
    session.engine.close()
    statistics = session.engine.statistics
    assert not any(statistics.spus.values())
    assert statistics.failures == 0
