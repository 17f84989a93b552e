"""Delta oracle: random UPDATEs through the engine and through pyoxigraph's own `Store.update`.

docs/engine.md, "Exactness", says what a Delta is. Whatever the request, the store is afterwards as
`Store.update` would have left it, blank nodes up to isomorphism; the Delta is the exact difference
between before and after; and what raises in one raises in the other and changes nothing. LOAD and
SERVICE, which the engine refuses by rule, are not drawn.
"""

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import product
from typing import Self
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import (
    BlankNode,
    CanonicalizationAlgorithm,
    Dataset,
    DefaultGraph,
    Literal,
    NamedNode,
    Quad,
    Store,
)

from gateway.engine import Engine, Outcome
from gateway.errors import GatewayError
from gateway.rdf.delta import Delta
from gateway.store import join_where
from gateway.store.quad_store import QuadStore
from tests.gateway.engine.engine_strategies import State, modifies, requests, states
from tests.gateway.engine.update_writer import PROLOGUE

pytestmark = pytest.mark.property

_ALL_CHECKS = list(HealthCheck)
quick = settings(
    max_examples=800, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)
long = settings(max_examples=40_000, deadline=None, suppress_health_check=_ALL_CHECKS)


@dataclass(frozen=True, slots=True)
class Seen:
    """All that can be told of a store: its quads and its named graphs."""

    quads: frozenset[Quad]
    graphs: frozenset[NamedNode | BlankNode]

    @classmethod
    def of(cls, store: Store) -> Self:
        return cls(frozenset(store), frozenset(store.named_graphs()))


def filled(state: State) -> Store:
    store = Store()
    store.extend(state.quads)
    for graph in state.graphs:
        store.add_graph(graph)
    return store


def is_isomorphic(left: Seen, right: Seen) -> bool:
    """Equal up to the names of blank nodes; empty blank graphs are counted."""
    names = [{graph for graph in seen.graphs if _is_named(graph)} for seen in (left, right)]
    return (
        names[0] == names[1]
        and len(left.graphs) == len(right.graphs)
        and (left.quads == right.quads or _are_isomorphic(left, right))
    )


def _are_isomorphic(left: Seen, right: Seen) -> bool:
    """With many blank nodes only what is left of the quads without their names: else it is slow."""
    anonymous = _anonymous(left)
    if anonymous != _anonymous(right):
        return False
    few = sum(count for text, count in anonymous.items() if "_:" in text) <= 12
    return not few or _canonical(left) == _canonical(right)


def _anonymous(seen: Seen) -> Counter[str]:
    return Counter(re.sub(r"_:\w+", "_:", str(quad)) for quad in seen.quads)


def _is_named(graph: NamedNode | BlankNode) -> bool:
    return isinstance(graph, NamedNode)


def _canonical(seen: Seen) -> Dataset:
    dataset = Dataset(seen.quads)
    dataset.canonicalize(CanonicalizationAlgorithm.UNSTABLE)
    return dataset


def assert_exact(delta: Delta, before: Seen, after: Seen) -> None:
    assert set(delta.added) == after.quads - before.quads
    assert set(delta.removed) == before.quads - after.quads
    assert set(delta.graphs_created) == after.graphs - before.graphs
    assert set(delta.graphs_dropped) == before.graphs - after.graphs
    for part in (delta.added, delta.removed, delta.graphs_created, delta.graphs_dropped):
        assert len(part) == len(set(part))


def _run(state: State, run: Callable[[Engine], Outcome]) -> tuple[Seen | None, Seen]:
    """What the engine's store holds after the request, None if it failed, and held before."""
    store = filled(state)
    before = Seen.of(store)
    try:
        engine = Engine(QuadStore(store))
        outcome = run(engine)
        engine.flush()
    except GatewayError:
        assert Seen.of(store) == before
        return None, before
    after = Seen.of(store)
    assert_exact(outcome.delta, before, after)
    return after, before


def _expected(state: State, text: str) -> Seen | None:
    """What pyoxigraph's own update makes of the state, None if it fails."""
    store = filled(state)
    before = Seen.of(store)
    try:
        store.update(text)
    except (SyntaxError, RuntimeError, ValueError):
        assert Seen.of(store) == before
        return None
    return Seen.of(store)


def check(state: State, oracle: str, run: Callable[[Engine], Outcome]) -> None:
    after, _ = _run(state, run)
    expected = _expected(state, oracle)
    assert (after is None) == (expected is None), "one raised and the other did not"
    if after is not None and expected is not None:
        assert is_isomorphic(after, expected)


def check_request(state: State, text: str) -> None:
    check(state, text, lambda engine: engine.update(text))


@quick
@given(states, requests(most=4))
def test_request_does_what_the_store_does(state: State, text: str) -> None:
    check_request(state, text)


@settings(quick, max_examples=300)
@given(states, requests(most=3))
def test_join_that_is_too_large_for_look_ups_is_the_same_by_sparql(state: State, text: str) -> None:
    with patch.object(join_where, "MOST_ROWS", 0):
        check_request(state, text)


@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(states, requests(most=6))
def test_request_does_what_the_store_does_in_the_long_run(state: State, text: str) -> None:
    check_request(state, text)


@settings(quick, max_examples=200)
@given(states, st.lists(requests(most=2), min_size=2, max_size=3))
def test_several_updates_are_one_request(state: State, texts: list[str]) -> None:
    # Within one request a label stands in one operation only.
    texts = [text.replace("_:l", f"_:t{place}l") for place, text in enumerate(texts)]

    def run(engine: Engine) -> Outcome:
        return engine.update([(engine.prepare(text), {}) for text in texts])

    # The store takes a prologue at the beginning only.
    oracle = " ;\n".join(text.removeprefix(PROLOGUE) for text in texts)
    check(state, PROLOGUE + oracle, run)


_DATASETS = {
    "USING <urn:g> ": (("urn:g",), ()),
    "USING <urn:g> USING <urn:h> ": (("urn:g", "urn:h"), ()),
    "USING NAMED <urn:h> ": ((), ("urn:h",)),
    "USING <urn:h> USING NAMED <urn:g> ": (("urn:h",), ("urn:g",)),
}


@pytest.mark.parametrize("clause", _DATASETS)
@settings(quick, max_examples=60)
@given(state=states, data=st.data())
def test_graphs_of_the_protocol_are_those_of_using(
    clause: str, state: State, data: st.DataObject
) -> None:
    text = data.draw(modifies("@USING@"))
    default, named = ([NamedNode(iri) for iri in part] for part in _DATASETS[clause])

    def run(engine: Engine) -> Outcome:
        return engine.update(
            text.replace("@USING@", ""), using_graphs=default, using_named_graphs=named
        )

    check(state, text.replace("@USING@", clause), run)


bound_terms = st.sampled_from(("<urn:a>", "<urn:b>", "<urn:p>", "<urn:g>"))


@settings(quick, max_examples=200)
@given(states, modifies(""), bound_terms)
def test_forced_binding_is_the_term_in_the_text(state: State, text: str, term: str) -> None:
    if "VALUES ?x" in text or "?x, " in text or "SELECT" in text or "BOUND(?x)" in text:
        return

    def run(engine: Engine) -> Outcome:
        return engine.update(engine.prepare(text), {"x": NamedNode(term[1:-1])})

    check(state, text.replace("?x", term), run)


@settings(quick, max_examples=200)
@given(states, st.lists(requests(most=2), max_size=3))
def test_deltas_undone_in_reverse_give_the_state_before(state: State, texts: list[str]) -> None:
    store = filled(state)
    before = Seen.of(store)
    engine = Engine(QuadStore(store))
    deltas: list[Delta] = []
    for text in texts:
        with suppress(GatewayError):
            deltas.append(engine.update(text).delta)
    for delta in reversed(deltas):
        engine.store.apply(delta.negate())
    engine.flush()
    assert Seen.of(store) == before


_NAMES = ("DEFAULT", "<urn:g>", "<urn:h>")
_TARGETS = ("DEFAULT", "NAMED", "ALL", "GRAPH <urn:g>", "GRAPH <urn:h>")
_MANAGEMENT = (
    *(f"CREATE {silent}GRAPH {name}" for silent in ("", "SILENT ") for name in _NAMES[1:]),
    *(
        f"{verb} {silent}{target}"
        for verb, silent, target in product(("CLEAR", "DROP"), ("", "SILENT "), _TARGETS)
    ),
    *(
        f"{verb} {silent}{source} TO {target}"
        for verb, silent, source, target in product(
            ("COPY", "MOVE", "ADD"), ("", "SILENT "), _NAMES, _NAMES
        )
    ),
)
_THREE_GRAPHS: tuple[DefaultGraph | NamedNode, ...] = (
    DefaultGraph(),
    NamedNode("urn:g"),
    NamedNode("urn:h"),
)
_IN_GRAPHS: dict[NamedNode | DefaultGraph, Quad] = {
    graph: Quad(NamedNode("urn:a"), NamedNode("urn:p"), Literal(number), graph)
    for number, graph in enumerate(_THREE_GRAPHS)
}


def _graph_states() -> Iterator[State]:
    """Each of three graphs empty or with a quad; the named ones may be absent, too."""
    graphs = tuple(graph for graph in _IN_GRAPHS if isinstance(graph, NamedNode))
    for holding in product((False, True), repeat=3):
        quads = tuple(quad for quad, held in zip(_IN_GRAPHS.values(), holding, strict=True) if held)
        for existing in product((False, True), repeat=2):
            yield State(quads, tuple(g for g, there in zip(graphs, existing, strict=True) if there))


_GRAPH_STATES = tuple(_graph_states())


@pytest.mark.parametrize("operation", _MANAGEMENT)
def test_graph_management_does_what_the_store_does_in_every_state(operation: str) -> None:
    for state in _GRAPH_STATES:
        check_request(state, operation)


def test_pairs_of_graph_management_do_what_the_store_does() -> None:
    chance = random.Random(7)
    for _ in range(3000):
        first, second = chance.choices(_MANAGEMENT, k=2)
        check_request(chance.choice(_GRAPH_STATES), f"{first} ; {second}")


def test_blank_node_keeps_its_identity_from_request_to_request() -> None:
    store = Store()
    engine = Engine(QuadStore(store))
    (added,) = engine.update("INSERT DATA { _:n <urn:p> 1 }").delta.added
    moved = engine.update(
        "DELETE { ?s <urn:p> ?o } INSERT { ?s <urn:p> 2 . <urn:a> <urn:q> ?s } "
        "WHERE { ?s <urn:p> ?o }"
    ).delta
    assert moved.removed == (added,)
    assert {quad.subject for quad in moved.added} == {added.subject, NamedNode("urn:a")}
    assert Quad(added.subject, NamedNode("urn:p"), Literal(2)) in engine.store
