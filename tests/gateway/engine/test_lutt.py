"""The LUTT index against the paper's way: every table scanned for every changed quad."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, NamedNode, Quad

from gateway.engine.lutt import EVERYTHING, LuttEntry, LuttIndex
from gateway.rdf.delta import Delta
from tests.gateway.engine.engine_strategies import QUADS

pytestmark = pytest.mark.property

_SUBJECTS = [None, *dict.fromkeys(quad.subject for quad in QUADS)]
_PREDICATES = [None, *dict.fromkeys(quad.predicate for quad in QUADS)]
_OBJECTS = [None, *dict.fromkeys(quad.object for quad in QUADS)]
_GRAPHS = (None, DefaultGraph(), NamedNode("urn:g"), NamedNode("urn:h"))

entries = st.builds(
    LuttEntry,
    st.sampled_from(_SUBJECTS),
    st.sampled_from(_PREDICATES),
    st.sampled_from(_OBJECTS),
    st.sampled_from(_GRAPHS),
)
tables = st.lists(st.lists(st.just(EVERYTHING) | entries, max_size=4, unique=True), max_size=8)
quads = st.lists(st.sampled_from(QUADS), max_size=6, unique=True)
graphs = st.lists(st.sampled_from(_GRAPHS[2:]), max_size=2, unique=True)
deltas = st.builds(
    lambda changed, at, created, dropped: Delta(
        tuple(changed[:at]), tuple(changed[at:]), tuple(created), tuple(dropped)
    ),
    *(quads, st.integers(0, 6), graphs, graphs),
)


def _matches(entry: LuttEntry, quad: Quad) -> bool:
    wanted = (entry.subject, entry.predicate, entry.object, entry.graph)
    found = (quad.subject, quad.predicate, quad.object, quad.graph_name)
    return all(want is None or want == have for want, have in zip(wanted, found, strict=True))


def _through(table: list[LuttEntry], changed: tuple[Quad, ...]) -> list[Quad]:
    return [quad for quad in changed if any(_matches(entry, quad) for entry in table)]


def _scanned(kept: dict[int, list[LuttEntry]], delta: Delta) -> dict[int, tuple[list[Quad], ...]]:
    graphs_changed = bool(delta.graphs_created or delta.graphs_dropped)
    found = {
        owner: (_through(table, delta.added), _through(table, delta.removed))
        for owner, table in kept.items()
    }
    return {
        owner: queues
        for owner, queues in found.items()
        if any(queues) or (graphs_changed and EVERYTHING in kept[owner])
    }


@settings(max_examples=600, derandomize=True, deadline=None)
@given(tables, st.sets(st.integers(0, 7)), deltas)
def test_index_lets_through_what_a_scan_lets_through(
    given_tables: list[list[LuttEntry]], gone: set[int], delta: Delta
) -> None:
    index: LuttIndex[int] = LuttIndex()
    for owner, table in enumerate(given_tables):
        for entry in table:
            index.insert(entry, owner)
    for owner, table in enumerate(given_tables):
        for entry in table if owner in gone else ():
            index.remove(entry, owner)
    kept = {owner: table for owner, table in enumerate(given_tables) if owner not in gone}
    matched = {owner: (artq.added, artq.removed) for owner, artq in index.match(delta).items()}
    assert matched == _scanned(kept, delta)
