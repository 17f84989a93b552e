"""Rights oracle: who may read some graphs only sees the dataset without the others.

Two engines: one with everything and restricted rights, one with the readable graphs alone and no
restriction. Queries, subscriptions and UPDATEs must be the same in both, hidden graphs untouched.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import DefaultGraph, NamedNode, Quad, QueryBoolean, QuerySolutions, Store

from gateway.engine import Engine, Notification, Rights
from gateway.errors import ForbiddenError, GatewayError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import SolutionBag
from gateway.rdf.terms import GraphName
from gateway.sparql.order.tie_break import with_tie_break
from gateway.sparql.parser import parse_query
from gateway.store.quad_store import QuadStore, QueryResults
from tests.gateway.engine.engine_strategies import State, modifies, queries, requests, states
from tests.gateway.engine.test_delta_oracle import Seen, is_isomorphic

pytestmark = pytest.mark.property

quick = settings(
    max_examples=300,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

Graphs = frozenset[GraphName]

_GRAPHS: tuple[GraphName, ...] = (
    DefaultGraph(),
    NamedNode("urn:g"),
    NamedNode("urn:h"),
    NamedNode("urn:a"),
)
_PRELUDE = "INSERT DATA { GRAPH <urn:g> { <urn:a> <urn:p> <urn:b>, 7 } } ; "
"""A change that the WHERE behind it must see."""

graph_sets = st.sets(st.sampled_from(_GRAPHS)).map(frozenset)


def filled(quads: Sequence[Quad], graphs: Sequence[GraphName]) -> Engine:
    store = Store()
    store.extend(quads)
    for graph in graphs:
        if not isinstance(graph, DefaultGraph):
            store.add_graph(graph)
    return Engine(QuadStore(store))


_CHOOSING = ("SAMPLE(", "GROUP_CONCAT(")
"""What goes by the order of solutions: another store with the same quads may answer otherwise."""


def everything(state: State) -> Engine:
    return filled(state.quads, state.graphs)


def visible(engine: Engine, readable: Graphs) -> Engine:
    """The dataset with the hidden graphs removed."""
    quads = list(engine.store.match(None, None, None, None))
    graphs = engine.store.named_graphs()
    return filled(
        [quad for quad in quads if quad.graph_name in readable],
        [graph for graph in graphs if graph in readable],
    )


def bag(results: QueryResults) -> SolutionBag:
    if isinstance(results, QuerySolutions):
        return Counter(tuple(row) for row in results)
    if isinstance(results, QueryBoolean):
        return Counter([()] if results else [])
    return Counter({(t.subject, t.predicate, t.object): 1 for t in results})


def expected(engine: Engine, text: str, readable: Graphs) -> SolutionBag:
    """The answer without the hidden graphs; those that the text names it does not name."""
    dataset = parse_query(text).dataset
    only_visible = visible(engine, readable)
    text = with_tie_break(text)
    if dataset is None:
        return bag(only_visible.query(text))
    seen = Dataset(
        tuple(graph for graph in dataset.default_graphs if graph in readable),
        tuple(graph for graph in dataset.named_graphs if graph in readable),
    )
    return bag(only_visible.store.query(text, seen))


def added_up(rows: SolutionBag, notification: Notification) -> SolutionBag:
    removed = Counter(notification.results.removed)
    assert removed <= rows
    return rows - removed + Counter(notification.results.added)


@quick
@given(states, graph_sets, st.lists(queries(), min_size=2, max_size=5), st.lists(requests(most=2)))
def test_who_may_read_some_graphs_sees_the_dataset_without_the_others(
    state: State, readable: Graphs, texts: list[str], updates: list[str]
) -> None:
    engine = everything(state)
    rights = Rights(read=readable, write=frozenset())
    told: dict[str, tuple[str, Graphs | None, SolutionBag]] = {}
    for text in texts:
        for subscriber, graphs in ((rights, readable), (Rights(), None)):
            first = engine.subscribe(text, rights=subscriber)
            told[first.spuid] = (text, graphs, Counter(first.results.added))
    for update in ["INSERT DATA {}", *updates]:
        try:
            notifications = engine.update(update).notifications
        except GatewayError:
            notifications = ()
        for notification in notifications:
            text, graphs, rows = told[notification.spuid]
            told[notification.spuid] = (text, graphs, added_up(rows, notification))
        for text, graphs, rows in told.values():
            if graphs is None:
                assert rows == bag(engine.query(with_tie_break(text)))
            else:
                if not any(name in text for name in _CHOOSING):
                    assert rows == expected(engine, text, graphs), text
                assert rows == bag(engine.query(with_tie_break(text), rights=rights))
    assert engine.statistics.failures == 0


@quick
@given(states, graph_sets, st.sampled_from(["", _PRELUDE]), modifies(using=""))
def test_where_matches_what_it_matches_without_the_hidden_graphs(
    state: State, readable: Graphs, prelude: str, text: str
) -> None:
    readable |= {_GRAPHS[1]}
    engine = everything(state)
    reduced = visible(engine, readable)
    delta = _run(engine, prelude + text, Rights(read=readable))
    same = _run(reduced, prelude + text, Rights())
    assert type(delta) is type(same)
    assert is_isomorphic(_content(visible(engine, readable)), _content(visible(reduced, readable)))


@quick
@given(states, graph_sets, graph_sets, requests(most=3))
def test_update_does_what_it_does_without_the_hidden_graphs(
    state: State, readable: Graphs, writable: Graphs, text: str
) -> None:
    engine = everything(state)
    rights = Rights(read=readable, write=writable & readable)
    before = _content(engine)
    reduced = visible(engine, readable)
    delta = _run(engine, text, rights)
    same = _run(reduced, text, replace(rights, read=None))
    assert type(delta) is type(same)
    if not isinstance(delta, Delta):
        assert _content(engine) == before
        return
    assert _hidden(_content(engine), readable) == _hidden(before, readable)
    assert is_isomorphic(_content(visible(engine, readable)), _content(reduced))
    assert {quad.graph_name for quad in (*delta.added, *delta.removed)} <= writable
    assert {*delta.graphs_created, *delta.graphs_dropped} <= writable


@quick
@given(states, graph_sets, st.sampled_from(["", _PRELUDE]), requests(most=3))
def test_update_neither_sees_nor_touches_reserved_graphs(
    state: State, reserved: Graphs, prelude: str, text: str
) -> None:
    engine, rights = everything(state), Rights(reserved=reserved)
    before = _content(engine)
    others = frozenset({*_GRAPHS, *before.graphs}) - reserved
    reduced = visible(engine, others)
    delta = _run(engine, prelude + text, rights)
    same = _run(reduced, prelude + text, rights)
    assert type(delta) is type(same)
    if not isinstance(delta, Delta):
        assert _content(engine) == before
        return
    assert _reserved(_content(engine), reserved) == _reserved(before, reserved)
    assert is_isomorphic(_content(visible(engine, _all_but(engine, reserved))), _content(reduced))


@quick
@given(states, graph_sets, requests(most=3))
def test_update_that_would_change_what_may_not_be_written_changes_nothing(
    state: State, writable: Graphs, text: str
) -> None:
    changed = _run(everything(state), text, Rights())
    engine = everything(state)
    before = _content(engine)
    delta = _run(engine, text, Rights(write=writable))
    if isinstance(changed, Delta):
        touched = {quad.graph_name for quad in (*changed.added, *changed.removed)}
        touched |= {*changed.graphs_created, *changed.graphs_dropped}
        if not touched <= writable:
            assert delta is ForbiddenError
    if not isinstance(delta, Delta):
        assert _content(engine) == before


def _run(engine: Engine, text: str, rights: Rights) -> Delta | type[GatewayError]:
    try:
        return engine.update(text, rights=rights).delta
    except GatewayError as error:
        return type(error)


def _content(engine: Engine) -> Seen:
    return Seen(
        frozenset(engine.store.match(None, None, None, None)),
        frozenset(engine.store.named_graphs()),
    )


def _hidden(seen: Seen, readable: Graphs) -> tuple[set[Quad], set[GraphName]]:
    return (
        {quad for quad in seen.quads if quad.graph_name not in readable},
        {graph for graph in seen.graphs if graph not in readable},
    )


def _all_but(engine: Engine, reserved: Graphs) -> Graphs:
    return frozenset({DefaultGraph(), *engine.store.named_graphs()}) - reserved


def _reserved(seen: Seen, reserved: Graphs) -> tuple[set[Quad], set[GraphName]]:
    return (
        {quad for quad in seen.quads if quad.graph_name in reserved},
        {graph for graph in seen.graphs if graph in reserved},
    )
