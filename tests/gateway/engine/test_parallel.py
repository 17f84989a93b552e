"""Parallel mode against sequential mode: the same store, the same Deltas, the same answers.

docs/engine.md, "Parallel mode", says what both must do. Random queries are subscribed and given up
while random UPDATEs run; both modes process each Delta, and each subject must be told the same rows
for the same UPDATEs in the same order. Workers die at any of their acts on the pipes.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.engine.compile import TierCompiler
from gateway.engine.processing import Processing
from gateway.engine.spu import Change, Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.engine.workers import placement, worker
from gateway.engine.workers.parallel import ParallelProcessing
from gateway.engine.workers.worker_link import Link, ProcessLink
from gateway.engine.workers.workers import Workers
from gateway.errors import GatewayError
from gateway.rdf.dataset import Dataset
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import SolutionBag
from gateway.store.quad_store import QuadStore
from gateway.store.update import compile_update, evaluate
from tests.gateway.engine.engine_session import Step, Subscribe, Unsubscribe, Update
from tests.gateway.engine.engine_strategies import State, queries, states
from tests.gateway.engine.scripts import written
from tests.gateway.engine.test_subscription_oracle import beginnings, steps
from tests.kit.worker_threads import ThreadLink, mortal

pytestmark = pytest.mark.property

quick = settings(
    max_examples=150,
    derandomize=True,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)

Told = tuple[int, SolutionBag, SolutionBag]
"""The time of an UPDATE, rows added, rows removed."""


@contextmanager
def nothing_is_cheap() -> Iterator[None]:
    """Let workers have joins and single patterns too."""
    with patch.object(placement, "_CHEAP", frozenset()):
        yield


@contextmanager
def nobody_is_to_blame() -> Iterator[None]:
    """Give no SPU up, however often its worker dies."""
    with patch.object(worker, "_DEATHS", 1000):
        yield


class Twins:
    """The two modes on one store."""

    def __init__(self, launch: Callable[[], Link], workers: int, bound: int) -> None:
        self.store = QuadStore.open(None)
        self.time = 0
        self.sequential = Processing(self.store, TierCompiler, EngineStatistics())
        self.workers = Workers(
            self.store, launch, self.take, self.given_up, number=workers, bound=bound
        )
        self.parallel = ParallelProcessing(
            self.store, TierCompiler, EngineStatistics(), self.workers
        )
        self._told: defaultdict[Spu, list[Told]] = defaultdict(list)
        self._live: dict[Subject, tuple[Spu, Spu]] = {}

    def given_up(self, spu: Spu) -> None:
        pytest.fail(f"given up: {spu.subject.text}")

    def take(self, changes: Sequence[Change], time: int) -> None:
        for spu, results in changes:
            self._told[spu].append((time, Counter(results.added), Counter(results.removed)))

    def subscribe(self, subject: Subject) -> None:
        if subject in self._live:
            one, other = self._live[subject]
            results, others = self.sequential.initial(one), self.parallel.initial(other)
        else:
            one, results = self.sequential.add(subject)
            other, others = self.parallel.add(subject)
            self._live[subject] = (one, other)
        assert Counter(others.added) == Counter(results.added)

    def unsubscribe(self, place: int) -> None:
        if self._live:
            subjects = list(self._live)
            one, other = self._live.pop(subjects[place % len(subjects)])
            self.sequential.remove(one)
            self.parallel.remove(other)
            assert self._as_sequential(one, other)

    def update(self, text: str, *, deferred: bool) -> None:
        self.time += 1
        with self.store.writing:
            try:
                delta = evaluate(self.store, [(compile_update(text), {})])
            except GatewayError:
                return
            if delta.is_empty:
                return
            (self.store.defer if deferred else self.store.apply)(delta)
            self.take(self.sequential.process(self.sequential.match(delta)), self.time)
            self.workers.post(delta, self.time)
        self.workers.pump()
        self.take(self.parallel.process(self.parallel.match(delta)), self.time)

    def _as_sequential(self, one: Spu, other: Spu) -> bool:
        """Whether what was told so far is what the sequential mode told first."""
        told = self._told[other]
        return told == self._told[one][: len(told)]

    def check(self) -> None:
        self.workers.drain()
        for one, other in self._live.values():
            assert self._told[other] == self._told[one], one.subject

    def close(self) -> None:
        self.workers.close()


def run(
    launch: Callable[[], Link],
    state: State,
    texts: Sequence[str],
    taken: Sequence[Step],
    *,
    bound: int = 3,
) -> Twins:
    twins = Twins(launch, workers=2, bound=bound)
    twins.store.apply(Delta(added=state.quads, graphs_created=state.graphs))
    try:
        for step in taken:
            match step:
                case Subscribe(query=query, default_graphs=default, named_graphs=named):
                    dataset = Dataset.chosen(default, named)
                    twins.subscribe(Subject(texts[query % len(texts)], dataset))
                case Update(text=text, deferred=deferred):
                    twins.update(text, deferred=deferred)
                case Unsubscribe(place=place):
                    twins.unsubscribe(place)
        twins.check()
    finally:
        twins.close()
    return twins


_PATTERNS = ("?x <urn:p> ?y", "?y <urn:q> ?z", "?x <urn:p> <urn:b>", "?x <urn:q> 1")
_MORE = (
    "",
    "OPTIONAL { ?y <urn:q> ?z }",
    "OPTIONAL { ?y <urn:q> ?z FILTER(?z > 1) }",
    "MINUS { ?y <urn:q> 1 }",
    "FILTER NOT EXISTS { ?x <urn:q> ?y }",
    "?y <urn:p>+ ?w",
    "GRAPH <urn:g> { ?y <urn:q> ?w }",
    "{ ?y <urn:q> ?w } UNION { ?w <urn:p> ?y }",
)
_SELECTS = (
    "SELECT * { %s }",
    "SELECT DISTINCT ?y { %s }",
    "SELECT ?y (COUNT(*) AS ?n) (SUM(?z) AS ?s) { %s } GROUP BY ?y",
    "SELECT ?y (AVG(?z) AS ?a) (MIN(?z) AS ?m) { %s } GROUP BY ?y HAVING(COUNT(?x) > 1)",
    "ASK { %s }",
    "CONSTRUCT { ?x <urn:r> ?y } WHERE { %s }",
)
hit_queries = st.builds(
    lambda select, first, second, more: select % f"{first} . {second} . {more}",
    st.sampled_from(_SELECTS),
    st.sampled_from(_PATTERNS),
    st.sampled_from(_PATTERNS[:1]),
    st.sampled_from(_MORE),
)
_nodes = st.sampled_from(["<urn:a>", "<urn:b>", "<urn:c>"])
_triples = st.one_of(
    st.builds("{} <urn:p> {} .".format, _nodes, _nodes),
    st.builds("{} <urn:q> {} .".format, _nodes, st.integers(1, 3)),
)
_data = st.builds(
    "{} GRAPH <urn:g> {{ {} }}".format,
    st.lists(_triples, max_size=5).map(" ".join),
    st.lists(_triples, max_size=1).map(" ".join),
)
_texts = st.one_of(
    st.builds("DELETE DATA {{ {} }} ; INSERT DATA {{ {} }}".format, _data, _data),
    st.builds("INSERT DATA {{ {} }}".format, _data),
    st.just("DELETE { ?s <urn:q> ?o } INSERT { ?s <urn:q> ?n } "
            "WHERE { ?s <urn:q> ?o BIND(?o + 1 AS ?n) }"),
    st.just("INSERT { [] <urn:p> ?x } WHERE { ?x <urn:q> 2 }"),
    st.just("CLEAR GRAPH <urn:g>"),
)  # fmt: skip
hits = st.builds(Update, _texts, st.booleans())
_subscribes = st.builds(Subscribe, st.integers(0, 5))
hit_steps = st.one_of(*[hits] * 5, _subscribes, st.builds(Unsubscribe, st.integers(0, 9)))
EMPTY = State((), ())


@quick
@given(
    st.lists(hit_queries, min_size=2, max_size=6),
    st.lists(_subscribes, min_size=2, max_size=5),
    st.lists(hit_steps, min_size=4, max_size=16),
)
def test_workers_tell_what_the_sequential_mode_tells(
    texts: list[str], beginning: list[Step], taken: list[Step]
) -> None:
    with nothing_is_cheap():
        run(ThreadLink, EMPTY, texts, [*beginning, *taken])


@settings(quick, max_examples=250)
@given(
    st.lists(hit_queries, min_size=2, max_size=6),
    st.lists(_subscribes, min_size=2, max_size=5),
    st.lists(hit_steps, min_size=4, max_size=16),
    st.lists(st.integers(2, 40), min_size=2, max_size=6),
)
def test_workers_that_die_are_replaced_without_a_trace(
    texts: list[str], beginning: list[Step], taken: list[Step], lives: list[int]
) -> None:
    with nothing_is_cheap(), nobody_is_to_blame():
        run(mortal(lives), EMPTY, texts, [*beginning, *taken])


@settings(quick, max_examples=100)
@given(
    states,
    st.lists(queries(), min_size=2, max_size=6),
    beginnings,
    st.lists(steps, min_size=2, max_size=12),
    st.lists(st.integers(2, 40), max_size=3),
)
def test_any_query_and_any_update_are_as_in_sequential_mode(
    state: State, texts: list[str], beginning: list[Step], taken: list[Step], lives: list[int]
) -> None:
    with nothing_is_cheap(), nobody_is_to_blame():
        run(mortal(lives), state, texts, [*beginning, *taken])


@pytest.mark.parametrize("seed", [127, *range(10)])
def test_dense_script_is_told_as_in_sequential_mode(seed: int) -> None:
    script = written(seed)
    with nothing_is_cheap():
        run(ThreadLink, script.state, script.texts, script.steps)


@settings(quick, max_examples=5)
@given(
    st.lists(hit_queries, min_size=4, max_size=6),
    st.lists(_subscribes, min_size=2, max_size=5),
    st.lists(hits, min_size=10, max_size=20),
)
def test_processes_tell_what_the_sequential_mode_tells(
    texts: list[str], beginning: list[Step], taken: list[Step]
) -> None:
    with nothing_is_cheap():
        run(ProcessLink, EMPTY, texts, [*beginning, *taken])
