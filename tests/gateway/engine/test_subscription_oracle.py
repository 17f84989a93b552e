"""Subscription oracle: what notifications add up to is what the query answers, after every UPDATE.

docs/engine.md, "Exactness", says what is exact. Random queries are subscribed, given up and
subscribed again while random UPDATEs run, some of them deferred; `engine_session` compares after
every step.
"""

import random
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import BlankNode, DefaultGraph, NamedNode, Quad

from gateway.engine import Engine
from gateway.rdf.canonical import canonical_quad
from tests.gateway.engine.engine_session import Step, Subscribe, Unsubscribe, Update, check
from tests.gateway.engine.engine_strategies import QUADS, State, queries, requests, states
from tests.gateway.engine.reduction import failure
from tests.gateway.engine.scripts import written

pytestmark = pytest.mark.property

_ALL_CHECKS = list(HealthCheck)
quick = settings(
    max_examples=200, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)
long = settings(max_examples=20_000, deadline=None, suppress_health_check=_ALL_CHECKS)


_GRAPHS = (NamedNode("urn:g"), NamedNode("urn:h"))
_graph_sets = st.one_of(
    st.just(()), st.just(()), st.sampled_from([_GRAPHS[:1], _GRAPHS[1:], _GRAPHS])
)
subscribes = st.builds(Subscribe, st.integers(0, 5), _graph_sets, _graph_sets)
plain_subscribes = st.builds(Subscribe, st.integers(0, 5))
steps = st.one_of(
    *[st.builds(Update, requests(most=2))] * 4,
    st.builds(Update, requests(most=2), st.just(True)),
    plain_subscribes,
    subscribes,
    st.builds(Unsubscribe, st.integers(0, 9)),
)
query_lists = st.lists(queries(), min_size=2, max_size=6)
beginnings = st.lists(plain_subscribes | subscribes, min_size=1, max_size=6)


@quick
@given(states, query_lists, beginnings, st.lists(steps, min_size=3, max_size=10))
def test_notifications_add_up_to_the_answer(
    state: State, texts: list[str], beginning: list[Step], taken: list[Step]
) -> None:
    check(Engine.open(), state, texts, [*beginning, *taken])


@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(states, query_lists, beginnings, st.lists(steps, min_size=4, max_size=12))
def test_notifications_add_up_to_the_answer_in_the_long_run(
    state: State, texts: list[str], beginning: list[Step], taken: list[Step]
) -> None:
    check(Engine.open(), state, texts, [*beginning, *taken])


@settings(quick, max_examples=25)
@given(states, query_lists, beginnings, st.lists(steps, min_size=1, max_size=5))
def test_notifications_add_up_to_the_answer_on_disk(
    state: State, texts: list[str], beginning: list[Step], taken: list[Step]
) -> None:
    with TemporaryDirectory() as folder:
        check(Engine.open(Path(folder) / "store"), state, texts, [*beginning, *taken])


@settings(quick, max_examples=15)
@given(
    states,
    st.lists(queries(), min_size=40, max_size=60, unique=True),
    st.lists(requests(most=3), min_size=4, max_size=8),
)
def test_many_queries_at_once_are_each_told_their_own(
    state: State, texts: list[str], updates: list[str]
) -> None:
    taken: list[Step] = [
        *(Subscribe(number) for number in range(len(texts))),
        *(Subscribe(number, _GRAPHS[:1], _GRAPHS[1:]) for number in range(len(texts))),
    ]
    check(Engine.open(), state, texts, [*taken, *map(Update, updates)])


_SEEDS = range(60)


@pytest.mark.parametrize("seed", _SEEDS)
def test_script_adds_up_to_the_answers(seed: int) -> None:
    """Which fails is reduced by `python -m tests.gateway.engine.reduction SEED`."""
    written(seed).play(Engine.open())


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_many_scripts_add_up_to_the_answers() -> None:
    failed = [seed for seed in range(1000, 6000) if failure(written(seed))]
    assert not failed


_NAMED_QUADS = tuple(
    quad
    for quad in QUADS
    if isinstance(quad.subject, NamedNode) and not isinstance(quad.object, BlankNode)
)


def toggle(quad: Quad, present: bool) -> str:
    """The UPDATE that takes the quad out, or puts it in."""
    graph = quad.graph_name
    triple = f"{quad.subject} {quad.predicate} {quad.object}"
    data = triple if isinstance(graph, DefaultGraph) else f"GRAPH {graph} {{ {triple} }}"
    return f"{'DELETE' if present else 'INSERT'} DATA {{ {data} }}"


@settings(quick, max_examples=60)
@given(states, st.lists(queries(), min_size=6, max_size=10, unique=True), st.integers(0, 2**32))
def test_single_quads_that_come_and_go_miss_no_answer(
    state: State, texts: list[str], seed: int
) -> None:
    engine = Engine.open()
    chosen = random.Random(seed).choices(_NAMED_QUADS, k=40)
    present = {canonical_quad(quad) for quad in state.quads}
    steps_taken: list[Step] = [Subscribe(number) for number in range(len(texts))]
    for quad in map(canonical_quad, chosen):
        steps_taken.append(Update(toggle(quad, quad in present)))
        present ^= {quad}
    check(engine, state, texts, steps_taken)
