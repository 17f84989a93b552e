"""Queries of the incremental tier that differ in constants: each is told its own, none too little.

The family finds out for all whom a change concerns; here from the second member on, so that small
examples go that way.
"""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.engine.incremental import family
from tests.gateway.engine.test_shapes import IRIS, NODES, Session, steps_with

pytestmark = pytest.mark.property

SHAPES = [
    "SELECT ?x ?y { %s <urn:p> ?x OPTIONAL { ?x <urn:q> ?y } }",
    "SELECT ?x ?z { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z } FILTER(?x = %s) }",
    "SELECT ?x ?z { ?x <urn:p> ?y OPTIONAL { ?y <urn:q> ?z . ?z <urn:p> %s } FILTER(?y = %s) }",
    "SELECT ?w ?z { ?x <urn:p> ?y . ?y <urn:p> ?w OPTIONAL { ?w <urn:q> ?z } FILTER(?x = %s) }",
    "SELECT ?x { ?x <urn:p> %s MINUS { ?x <urn:q> %s } }",
    "SELECT ?x { ?x <urn:p> ?y FILTER(?y = %s) FILTER NOT EXISTS { ?x <urn:q> %s } }",
    "SELECT ?x { ?x <urn:p> %s FILTER EXISTS { ?x <urn:q> ?z . ?z <urn:q> %s } }",
    "SELECT ?y (COUNT(?z) AS ?n) { ?x <urn:p> ?y . ?y <urn:q> ?z FILTER(?x = %s) } GROUP BY ?y",
    "SELECT (SUM(?z) AS ?n) (MAX(?z) AS ?m) { %s <urn:p> ?y . ?y <urn:q> ?z }",
    "SELECT ?x ?y { { ?x <urn:p> ?y FILTER(?y = %s) } UNION { ?x <urn:q> %s . ?x <urn:p> ?y } }",
    "SELECT DISTINCT ?y { %s <urn:p> ?x . ?x <urn:q> ?y FILTER(?y != %s) }",
    "SELECT ?x ?v { ?x <urn:p> %s BIND(STR(?x) AS ?v) FILTER(?x != %s) }",
    "SELECT ?x ?y { %s <urn:p>/<urn:q> ?x OPTIONAL { GRAPH ?g { ?x <urn:p> ?y } } }",
    "SELECT ?x ?y { VALUES ?y { %s <urn:b> } ?x <urn:p> ?y OPTIONAL { ?x <urn:q> %s } }",
    "SELECT ?x ?z { GRAPH ?g { ?x <urn:p> %s } OPTIONAL { ?x <urn:q> ?z FILTER(?z != %s) } }",
    "ASK { ?x <urn:p> %s FILTER NOT EXISTS { ?x <urn:q> %s } }",
    "CONSTRUCT { ?x <urn:r> ?z } { ?x <urn:p> %s OPTIONAL { ?x <urn:q> ?z } }",
]


@st.composite
def queries(draw: st.DrawFn, shape: str | None = None) -> str:
    chosen = shape or draw(st.sampled_from(SHAPES))
    parts = chosen.split("%s")
    text = parts[0]
    for part in parts[1:]:
        is_iri = text.endswith(("{ ", "= "))
        text += draw(st.sampled_from(IRIS if is_iri else NODES)) + part
    return text


@pytest.fixture(autouse=True, scope="module")
def _routed_from_the_second_member_on() -> Iterator[None]:
    patch = pytest.MonkeyPatch()
    patch.setattr(family, "FEWEST_ROUTED", 2)
    yield
    patch.undo()


@settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
@given(st.data())
def test_each_member_of_a_family_is_told_its_own(data: st.DataObject) -> None:
    shape = data.draw(st.sampled_from(SHAPES))
    of_one_shape = queries(shape)
    first = data.draw(st.lists(of_one_shape, min_size=2, max_size=8))
    then = data.draw(st.lists(steps_with(st.one_of(of_one_shape, queries())), max_size=20))
    session = Session()
    for step in (*first, *then):
        session.take(step)
    session.engine.close()
    assert session.engine.statistics.failures == 0
    assert not any(session.engine.statistics.spus.values())
