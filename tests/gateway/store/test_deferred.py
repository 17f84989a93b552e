"""Deferred changes: everybody sees them at once, and the disk gets the same in the end.

The same requests run on two engines, one of which defers at random; Deltas, look-ups and contents
must be equal at every step, and what a crash leaves of the deferring one is a former state.
"""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, Literal, NamedNode, Quad

from gateway.engine import Engine, Outcome
from gateway.errors import GatewayError
from gateway.rdf.delta import Delta
from gateway.store.quad_store import QuadStore

pytestmark = pytest.mark.property

TERMS = [NamedNode(f"urn:{name}") for name in "abc"]
OBJECTS = [*TERMS, Literal(1), Literal("x")]
GRAPHS = [DefaultGraph(), NamedNode("urn:g")]

quads = st.builds(
    Quad,
    st.sampled_from(TERMS),
    st.sampled_from(TERMS),
    st.sampled_from(OBJECTS),
    st.sampled_from(GRAPHS),
)
texts = st.one_of(
    st.lists(quads, min_size=1, max_size=4).map(
        lambda many: f"INSERT DATA {{ {' '.join(map(_text, many))} }}"
    ),
    st.lists(quads, min_size=1, max_size=4).map(
        lambda many: f"DELETE DATA {{ {' '.join(map(_text, many))} }}"
    ),
    st.sampled_from(TERMS).map(lambda s: f"DELETE WHERE {{ {s} ?p ?o }}"),
    st.sampled_from(TERMS).map(lambda p: f"DELETE WHERE {{ GRAPH ?g {{ ?s {p} ?o }} }}"),
    st.sampled_from(
        [
            "DELETE { ?s ?p ?o } INSERT { ?o ?p ?s } WHERE { ?s ?p ?o . ?o ?q ?z }",
            "INSERT { GRAPH <urn:g> { ?s ?p 1 } } WHERE { ?s ?p ?o }",
            "DELETE DATA { <urn:a> <urn:b> 1 } ; INSERT DATA { <urn:a> <urn:b> 1 }",
            "DROP GRAPH <urn:g>",
            "CLEAR ALL",
        ]
    ),
)
steps = st.lists(st.tuples(texts, st.booleans()), max_size=12)
patterns = st.tuples(
    st.none() | st.sampled_from(TERMS),
    st.none() | st.sampled_from(TERMS),
    st.none() | st.sampled_from(OBJECTS),
    st.none() | st.sampled_from(GRAPHS),
)


def _text(quad: Quad) -> str:
    if isinstance(quad.graph_name, DefaultGraph):
        return f"{quad.triple} ."
    return f"GRAPH {quad.graph_name} {{ {quad.triple} }}"


def run(engine: Engine, text: str, *, deferred: bool) -> Delta | None:
    try:
        outcome: Outcome = engine.update(text, deferred=deferred)
    except GatewayError:
        return None
    return outcome.delta


def content(store: QuadStore) -> set[Quad]:
    return set(store.match(None, None, None, None))


@settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow],
)
@given(steps, st.lists(patterns, max_size=4))
def test_deferred_changes_are_seen_and_written_like_immediate_ones(
    taken: list[tuple[str, bool]],
    wanted: list[tuple[NamedNode | None, NamedNode | None, NamedNode | None, NamedNode | None]],
) -> None:
    plain, deferring = Engine.open(), Engine.open()
    for text, deferred in taken:
        expected = run(plain, text, deferred=False)
        plain.flush()
        found = run(deferring, text, deferred=deferred)
        assert (found is None) == (expected is None)
        if found is not None and expected is not None:
            assert set(found.added) == set(expected.added)
            assert set(found.removed) == set(expected.removed)
        for pattern in wanted:
            assert set(deferring.store.match(*pattern)) == set(plain.store.match(*pattern))
        assert len(deferring.store) == len(plain.store)
    assert content(deferring.store) == content(plain.store)
    deferring.flush()
    assert set(deferring.store._store) == set(plain.store._store)


def test_observation_that_comes_and_goes_never_reaches_the_disk() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:s> <urn:p> 1, 2, 3 }", deferred=True)
    engine.update("DELETE WHERE { <urn:s> ?p ?o }", deferred=True)
    assert len(engine.store._store) == 0
    engine.flush()
    assert len(engine.store._store) == 0


def test_query_sees_what_is_deferred() -> None:
    engine = Engine.open()
    engine.update("INSERT DATA { <urn:s> <urn:p> 1 }", deferred=True)
    assert len(engine.store._store) == 0
    assert bool(engine.query("ASK { <urn:s> <urn:p> 1 }"))
    assert len(engine.store._store) == 1


def test_too_much_to_defer_is_written(monkeypatch: object) -> None:
    engine = Engine.open()
    for number in range(8_000):
        engine.update(f"INSERT DATA {{ <urn:s{number}> <urn:p> 1, 2, 3 }}", deferred=True)
    assert len(engine.store._store) > 0
    assert len(engine.store) == 24_000
