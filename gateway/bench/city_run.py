"""One update profile on the city: the engine, and beside it the bare store and naive re-querying.

Place on the way of the data: `Engine.update`, in this process and in memory, SPARQL text in and
notifications out; no gate, no scheduler. CPU times are this process's own. An experiment on the
city is a module that says which profile it runs and what the paper expects of it.

The reference is the bare store, which executes the same texts: its answers around each of the
first updates say which notifications are right, and its answers after the last one what every
subscription's first answer and notifications must add up to.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter, process_time
from typing import cast

from pyoxigraph import Quad, QuerySolutions, Store

from gateway.bench.city import city
from gateway.bench.report import Experiment, Figure, digest
from gateway.engine import Engine, Notification
from gateway.rdf.solutions import ResultsDelta, SolutionBag, difference
from gateway.store.quad_store import QuadStore

NAIVE_UPDATES = 6

Answers = Mapping[str, SolutionBag]
"""The answers of all subscriptions, by text."""

Quads = Callable[[], Iterable[Quad]]
"""What is loaded before the first subscription."""


@dataclass(frozen=True, slots=True)
class Profile:
    """Distinct subscriptions, updates, and what the paper says comes of them."""

    name: str
    subscriptions: Sequence[str]
    updates: Sequence[str]
    notifications: int
    hit_rate: str


@dataclass(slots=True)
class Cost:
    """CPU and wall time in ms of `count` steps."""

    cpu_ms: float = 0.0
    wall_ms: float = 0.0
    count: int = 0
    _started: tuple[float, float] = field(default=(0.0, 0.0), repr=False)

    def __enter__(self) -> None:
        self._started = process_time(), perf_counter()

    def __exit__(self, *_: object) -> None:
        cpu_s, wall_s = self._started
        self.cpu_ms += (process_time() - cpu_s) * 1000
        self.wall_ms += (perf_counter() - wall_s) * 1000
        self.count += 1

    @property
    def cpu_each_ms(self) -> float:
        """CPU ms of one step."""
        return self.cpu_ms / self.count


@dataclass(frozen=True, slots=True)
class _Way:
    """What one way of running a profile cost and found, as rows for the digest."""

    cost: Cost
    rows: list[str]
    triples: int
    notifications: int = 0
    hit_rate: float = 0.0
    naive: Cost = field(default_factory=Cost)


def run_city(profile: Profile, quads: Quads = city) -> Experiment:
    """Run the profile by the engine and by the bare store; takes about a minute on the city."""
    engine, bare = _run_engine(profile, quads), _run_bare(profile, quads)
    return Experiment(
        profile.name,
        tuple(_figures(profile, engine, bare)),
        digest(engine.rows),
        digest(bare.rows),
        (
            "in memory; CPU of this process, the same update texts for engine and bare store",
            f"naive: all subscriptions asked again after each of the first {NAIVE_UPDATES} updates",
        ),
    )


def _run_engine(profile: Profile, quads: Quads) -> _Way:
    store, cost = _loaded(quads), Cost()
    engine = Engine(QuadStore(store))
    texts: dict[str, str] = {}
    answers: dict[str, SolutionBag] = {}
    for text in profile.subscriptions:
        first = engine.subscribe(text)
        texts[first.spuid] = text
        answers[text] = Counter(first.results.added)
    heard: list[Sequence[Notification]] = []
    for update in profile.updates:
        with cost:
            outcome = engine.update(update)
        heard.append(outcome.notifications)
    told = [(texts[each.spuid], each.results) for each in _flat(heard)]
    for text, results in told:
        answers[text].update(results.added)
        answers[text].subtract(results.removed)
    rows = [*_answer_rows(answers), f"{len(told)} notifications"]
    seen = engine.statistics
    hit_rate = seen.lutt_hits / (seen.lutt_hits + seen.lutt_misses)
    rows.append(f"{hit_rate:.2%}")
    for number, notifications in enumerate(heard[:NAIVE_UPDATES]):
        for each in notifications:
            rows += _change_rows(number, texts[each.spuid], each.results)
    return _Way(cost, rows, len(store), len(told), hit_rate)


def _run_bare(profile: Profile, quads: Quads) -> _Way:
    store, cost, naive = _loaded(quads), Cost(), Cost()
    rows = [f"{profile.notifications} notifications", profile.hit_rate]
    answers = _ask(store, profile.subscriptions)
    for number, update in enumerate(profile.updates):
        with cost:
            store.update(update)
        if number < NAIVE_UPDATES:
            with naive:
                asked = _ask(store, profile.subscriptions)
                changes = _changes(answers, asked)
            answers = asked
            for text, results in changes.items():
                rows += _change_rows(number, text, results)
    rows += _answer_rows(_ask(store, profile.subscriptions))
    return _Way(cost, rows, len(store), naive=naive)


def _loaded(quads: Quads) -> Store:
    store = Store()
    store.bulk_extend(quads())
    return store


def _ask(store: Store, texts: Sequence[str]) -> Answers:
    return {
        text: Counter(tuple(row) for row in cast(QuerySolutions, store.query(text)))
        for text in texts
    }


def _changes(before: Answers, after: Answers) -> Mapping[str, ResultsDelta]:
    changes = {text: difference((), before[text], after[text]) for text in after}
    return {text: each for text, each in changes.items() if not each.is_empty}


def _flat(heard: Sequence[Sequence[Notification]]) -> Iterator[Notification]:
    return (each for notifications in heard for each in notifications)


def _answer_rows(answers: Answers) -> Iterator[str]:
    for text, answer in answers.items():
        yield from (f"{text} {row} {count}" for row, count in answer.items() if count)


def _change_rows(number: int, text: str, results: ResultsDelta) -> Iterator[str]:
    yield from (f"update {number} {text} + {row}" for row in results.added)
    yield from (f"update {number} {text} - {row}" for row in results.removed)


def _figures(profile: Profile, engine: _Way, bare: _Way) -> Iterator[Figure]:
    ours, raw, naive = (each.cpu_each_ms for each in (engine.cost, bare.cost, bare.naive))
    yield Figure("triples", engine.triples)
    yield Figure("subscriptions", len(profile.subscriptions))
    yield Figure("updates", len(profile.updates))
    yield Figure("notifications", engine.notifications, "", f"{profile.notifications} expected")
    yield Figure("LUTT hit rate", engine.hit_rate * 100, "%", f"{profile.hit_rate} expected")
    yield Figure("engine", ours, "CPU ms/update")
    yield Figure("engine, wall", engine.cost.wall_ms / engine.cost.count, "ms/update")
    yield Figure("bare store", raw, "CPU ms/update")
    yield Figure("naive re-query", naive, "CPU ms/update", f"{bare.naive.count} updates sampled")
    yield Figure("engine / bare store", ours / raw, "times")
    yield Figure("naive / engine", naive / ours, "times")
