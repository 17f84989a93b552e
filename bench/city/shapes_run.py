"""`shapes`: every shape of query exact under random updates, its tier and its cost.

Place on the way of the data: the engine alone, in memory, updates as text. Three take the same
updates: our engine, our engine as an oracle, which queries again each time, and a bare store,
which is asked itself after each update; a mismatch is an answer, added up from notifications, that
is not the bare store's.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from time import process_time
from typing import cast

from pyoxigraph import QuerySolutions, Store

from bench.city.shapes import SHAPES, Data, query
from bench.report import Experiment, Outcome, TableRow, digest
from gateway.engine import Engine
from gateway.engine.options import EngineOptions
from gateway.rdf.solutions import ResultsDelta, SolutionBag
from gateway.store.quad_store import QuadStore

NODES = 1000
UPDATES = 80


@dataclass(slots=True)
class _Listener:
    """An engine with one subscription, its answer added up, and the CPU time of its updates."""

    engine: Engine
    answer: SolutionBag = field(default_factory=Counter)
    spent_s: float = 0.0
    notifications: int = 0

    def subscribe(self, text: str) -> None:
        """Subscribe to the one query, and add its first answer up."""
        self._add(self.engine.subscribe(text).results)

    def update(self, text: str) -> None:
        """Take an update and what it brings."""
        started = process_time()
        notifications = self.engine.update(text).notifications
        self.spent_s += process_time() - started
        self.notifications += len(notifications)
        for each in notifications:
            self._add(each.results)

    def _add(self, results: ResultsDelta) -> None:
        self.answer.update(results.added)
        self.answer.subtract(results.removed)


@dataclass(slots=True)
class _Shape:
    """One shape's run."""

    name: str
    nodes: int
    updates: int
    told: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    mismatches: int = 0

    def line(self) -> TableRow:
        """Run the shape; the row of the report."""
        data = Data(self.nodes, self.name)
        bare = _store(data)
        ours, oracle = (
            _Listener(Engine(QuadStore(_store(data)), options=EngineOptions(oracle=oracle)))
            for oracle in (False, True)
        )
        for each in (ours, oracle):
            each.subscribe(query(self.name))
        for number in range(self.updates):
            text = data.update()
            bare.update(text)
            for who, each in enumerate((ours, oracle)):
                each.update(f"{text} # {who}")  # new to both: compiled texts are kept
            self._compare(number, ours, bare)
        return {
            "shape": self.name,
            "tier": self._tier(ours.engine),
            "notifications": ours.notifications,
            "mismatches": self.mismatches,
            "CPU ms/update": ours.spent_s * 1000 / self.updates,
            "re-query": oracle.spent_s * 1000 / self.updates,
            "re-query / ours": oracle.spent_s / ours.spent_s,
        }

    def _compare(self, number: int, ours: _Listener, bare: Store) -> None:
        solutions = cast(QuerySolutions, bare.query(query(self.name)))
        expected = Counter(tuple(row) for row in solutions)
        differs = ours.answer != expected
        self.mismatches += differs
        self.told.append(f"{self.name} {number} {differs}")
        self.expected.append(f"{self.name} {number} {False}")
        if number == self.updates - 1:
            self.told += _rows(self.name, ours.answer)
            self.expected += _rows(self.name, expected)

    def _tier(self, engine: Engine) -> str:
        return " + ".join(tier for tier, spus in engine.statistics.spus.items() if spus)


def _store(data: Data) -> Store:
    store = Store()
    store.extend(data.quads)
    return store


def _rows(label: str, answer: SolutionBag) -> Iterator[str]:
    return (f"{label} {row} {number}" for row, number in answer.items() if number)


def measure(nodes: int = NODES, updates: int = UPDATES) -> Iterator[Outcome]:
    """All shapes."""
    shapes = [_Shape(name, nodes, updates) for name in SHAPES]
    table = [shape.line() for shape in shapes]
    yield Experiment(
        "shapes",
        (),
        digest(row for shape in shapes for row in shape.told),
        digest(row for shape in shapes for row in shape.expected),
        (f"{nodes} nodes, {updates} updates of 1 to 6 quads each; CPU ms include the store's",),
        table=table,
    )
