"""Subscription oracle: what notifications add up to is what the query answers, after every UPDATE.

Source: engine.md, section 2. Random queries are subscribed, given up and subscribed again while
random UPDATEs run; the rows told so far, as a bag, are compared with evaluating the query again.
The LUTT invariant is checked without the engine's index: an SPU is compiled for each query, and a
Delta that no entry of its table matches must have left the answer as it was.
"""

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyoxigraph import (
    BlankNode,
    DefaultGraph,
    NamedNode,
    Quad,
    QueryBoolean,
    QuerySolutions,
)

from gateway.engine import Engine, Notification, Outcome
from gateway.engine.compile import compile_unit
from gateway.engine.lutt import EVERYTHING, LuttEntry
from gateway.engine.spu import Subject
from gateway.errors import GatewayError
from gateway.rdf.canonical import canonical_quad
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import SolutionBag
from gateway.sparql.tie_break import with_tie_break
from tests.property.engine_strategies import QUADS, State, queries, requests, states

_ALL_CHECKS = list(HealthCheck)
quick = settings(
    max_examples=400, derandomize=True, deadline=None, suppress_health_check=_ALL_CHECKS
)
long = settings(max_examples=20_000, deadline=None, suppress_health_check=_ALL_CHECKS)


@dataclass(frozen=True, slots=True)
class Subscribe:
    """Subscribe to the query with this number, with these graphs of the protocol."""

    query: int
    default_graphs: tuple[NamedNode, ...] = ()
    named_graphs: tuple[NamedNode, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsubscribe:
    """Give up the subscription in this place, counted around."""

    place: int


Step = Subscribe | Unsubscribe | str

_GRAPHS = (NamedNode("urn:g"), NamedNode("urn:h"))
_graph_sets = st.one_of(
    st.just(()), st.just(()), st.sampled_from([_GRAPHS[:1], _GRAPHS[1:], _GRAPHS])
)
subscribes = st.builds(Subscribe, st.integers(0, 5), _graph_sets, _graph_sets)
plain_subscribes = st.builds(Subscribe, st.integers(0, 5))
steps = st.one_of(
    *[requests(most=2)] * 5,
    plain_subscribes,
    subscribes,
    st.builds(Unsubscribe, st.integers(0, 9)),
)
query_lists = st.lists(queries(), min_size=2, max_size=6)
beginnings = st.lists(plain_subscribes | subscribes, min_size=1, max_size=6)


def answer(engine: Engine, subject: Subject) -> SolutionBag:
    """The oracle: the query evaluated by the store, ASK and CONSTRUCT as engine.md has them."""
    results = engine.query(
        with_tie_break(subject.text),
        default_graphs=subject.default_graphs,
        named_graphs=subject.named_graphs,
    )
    if isinstance(results, QuerySolutions):
        return Counter(tuple(row) for row in results)
    if isinstance(results, QueryBoolean):
        return Counter([()] if results else [])
    return Counter({(t.subject, t.predicate, t.object): 1 for t in results})


class Subscriber:
    """Adds up what it is told, and refuses what no subscriber may be told."""

    def __init__(self, subject: Subject, first: Notification, lutt: Sequence[LuttEntry]) -> None:
        assert first.sequence == 0
        assert not first.results.removed
        self.subject = subject
        self.spuid = first.spuid
        self.lutt = lutt
        self.rows: SolutionBag = Counter(first.results.added)
        self._sequence = 0

    def tell(self, notification: Notification) -> None:
        added, removed = (
            Counter(rows) for rows in (notification.results.added, notification.results.removed)
        )
        self._sequence += 1
        assert notification.sequence == self._sequence
        assert added or removed, "a notification of nothing"
        assert not added & removed, "a row both added and removed"
        assert removed <= self.rows, "a row removed that was not there"
        self.rows = self.rows - removed + added


def reaches(entry: LuttEntry, delta: Delta) -> bool:
    """Whether the change concerns the entry, found by looking at every quad."""
    if entry == EVERYTHING and (delta.graphs_created or delta.graphs_dropped):
        return True
    return any(_matches(entry, quad) for quad in (*delta.added, *delta.removed))


def _matches(entry: LuttEntry, quad: Quad) -> bool:
    wanted = (entry.subject, entry.predicate, entry.object, entry.graph)
    found = (quad.subject, quad.predicate, quad.object, quad.graph_name)
    return all(want is None or want == have for want, have in zip(wanted, found, strict=True))


class Session:
    """An engine with its subscribers, checked after every step."""

    def __init__(self, engine: Engine, texts: Sequence[str]) -> None:
        self.engine = engine
        self._texts = texts
        self._subscribers: dict[str, Subscriber] = {}

    def take(self, step: Step) -> None:
        if isinstance(step, Subscribe):
            text = self._texts[step.query % len(self._texts)]
            self._subscribe(Subject(text, step.default_graphs, step.named_graphs))
        elif isinstance(step, str):
            self._update(step)
        elif self._subscribers:
            spuids = list(self._subscribers)
            spuid = spuids[step.place % len(spuids)]
            del self._subscribers[spuid]
            self.engine.unsubscribe(spuid)

    def _subscribe(self, subject: Subject) -> None:
        first = self.engine.subscribe(
            subject.text, default_graphs=subject.default_graphs, named_graphs=subject.named_graphs
        )
        lutt = compile_unit(self.engine.store, subject).lutt
        subscriber = Subscriber(subject, first, lutt)
        assert subscriber.rows == answer(self.engine, subject)
        self._subscribers[first.spuid] = subscriber

    def _update(self, text: str) -> None:
        try:
            outcome = self.engine.update(text)
        except GatewayError:
            outcome = Outcome(Delta(), (), 0)
        self._tell(outcome)
        for subscriber in self._subscribers.values():
            assert subscriber.rows == answer(self.engine, subscriber.subject), subscriber.subject
        assert self.engine.statistics.failures == 0

    def _tell(self, outcome: Outcome) -> None:
        told = [notification.spuid for notification in outcome.notifications]
        assert len(told) == len(set(told)), "two notifications of one update"
        assert self._reached(outcome.delta) >= set(told)
        for notification in outcome.notifications:
            self._subscribers[notification.spuid].tell(notification)

    def _reached(self, delta: Delta) -> set[str]:
        """Those whose answer may have changed. As all answers are compared, the others' did not."""
        return {
            subscriber.spuid
            for subscriber in self._subscribers.values()
            if any(reaches(entry, delta) for entry in subscriber.lutt)
        }


def check(engine: Engine, state: State, texts: Sequence[str], taken: Sequence[Step]) -> None:
    engine.store.apply(Delta(added=state.quads, graphs_created=state.graphs))
    session = Session(engine, texts)
    for step in taken:
        session.take(step)
    engine.close()
    assert engine.statistics.subscriptions == 0


@quick
@given(states, query_lists, beginnings, st.lists(steps, min_size=1, max_size=8))
def test_notifications_add_up_to_the_answer(
    state: State, texts: list[str], beginning: list[Step], taken: list[Step]
) -> None:
    check(Engine.open(), state, texts, [*beginning, *taken])


@pytest.mark.slow
@pytest.mark.timeout(3600)
@long
@given(states, query_lists, beginnings, st.lists(steps, min_size=1, max_size=12))
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


@settings(quick, max_examples=30)
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
    check(Engine.open(), state, texts, [*taken, *updates])


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


@settings(quick, max_examples=120)
@given(states, st.lists(queries(), min_size=6, max_size=10, unique=True), st.integers(0, 2**32))
def test_single_quads_that_come_and_go_miss_no_answer(
    state: State, texts: list[str], seed: int
) -> None:
    engine = Engine.open()
    chosen = random.Random(seed).choices(_NAMED_QUADS, k=40)
    present = {canonical_quad(quad) for quad in state.quads}
    steps_taken: list[Step] = [Subscribe(number) for number in range(len(texts))]
    for quad in map(canonical_quad, chosen):
        steps_taken.append(toggle(quad, quad in present))
        present ^= {quad}
    check(engine, state, texts, steps_taken)
