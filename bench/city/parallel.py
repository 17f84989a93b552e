"""`parallel`: sequential mode against worker processes, whole roads updated.

Place on the way of the data: the engine alone, in memory, updates as text. `coarse` has
subscriptions with OPTIONAL and with aggregates on each of the ten roads of 100 lamps; `fig7` is the
paper's experiment with profiles that overlap: UROAD(301…310) against SROAD(301…304). Both modes
run the same updates and must tell the same rows for the same updates.

Wall time says what it should only where the cores are free; `bound` is what it comes to then: the
CPU time of the process that has more to do, of that of the sequential mode. Source: Roffia et al.,
"A Semantic Publish-Subscribe Architecture for the Internet of Things", 2016, Figure 7.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from os import sysconf
from pathlib import Path
from threading import Lock
from time import perf_counter, process_time

from pyoxigraph import Store

from bench.city.streets import CITY, city, road_iri, sroad, uroad
from bench.report import Experiment, Outcome, TableRow, digest
from gateway.engine import Engine, Notification
from gateway.engine.options import EngineOptions
from gateway.engine.performance import Performance
from gateway.engine.workers.worker_link import ProcessLink
from gateway.engine.workers.workers import worker_count
from gateway.store.quad_store import QuadStore

COARSE = 200
"""Subscriptions of the coarse workload, spread over the ten roads."""

FEW = 3
"""So many that the BOOSTER has a little more than half of the time: one worker is enough."""

ROUNDS = 3
_ROADS = tuple(range(301, 311))
_TICKS = sysconf("SC_CLK_TCK")
_LAMPS = f"?road <{CITY}isConnectedTo> ?post . ?post <{CITY}hasLamp> ?lamp"


def with_optional(road: int) -> str:
    """Lamps of a road with their values, and where they are."""
    return (
        f"SELECT ?lamp ?dimming ?type WHERE {{ {_LAMPS} . ?lamp <{CITY}hasDimmingValue> ?dimming "
        f"OPTIONAL {{ ?lamp <{CITY}hasLampType> ?type }} FILTER(?road = <{road_iri(road)}>) }}"
    )


def with_aggregate(road: int) -> str:
    """How many lamps of a road there are of each type, and the greatest value."""
    return (
        f"SELECT ?road ?type (COUNT(?lamp) AS ?lamps) (MAX(?dimming) AS ?most) WHERE {{ {_LAMPS} . "
        f"?lamp <{CITY}hasDimmingValue> ?dimming ; <{CITY}hasLampType> ?type "
        f"FILTER(?road = <{road_iri(road)}>) }} GROUP BY ?road ?type"
    )


@dataclass(frozen=True, slots=True)
class Workload:
    """Subscriptions, and the roads that are updated again and again."""

    name: str
    queries: tuple[str, ...]
    updated: tuple[int, ...] = _ROADS


def coarse(subscriptions: int) -> Workload:
    """Subscriptions of a road, half with OPTIONAL, half with an aggregate, an SPU for each."""
    kinds = (with_optional, with_aggregate)
    return Workload(
        "coarse",
        tuple(
            f"{kinds[number // len(_ROADS) % 2](_ROADS[number % len(_ROADS)])} # {number}"
            for number in range(subscriptions)
        ),
    )


FIG7 = Workload("fig7", tuple(map(sroad, range(301, 305))))


@dataclass(slots=True)
class Mode:
    """What one mode took for all updates, in s; `reply_s` is how long the updates' callers waited.

    `moved` are the SPUs in workers.
    """

    rows: list[str]
    wall_s: float = 0.0
    reply_s: float = 0.0
    cpu_s: float = 0.0
    workers_cpu_s: float = 0.0
    moved: int = 0
    booster: float = 0.0


class _Listener:
    """Writes down what it is told, outside the time that is measured."""

    def __init__(self) -> None:
        self.told: list[Notification] = []
        self._lock = Lock()

    def __call__(self, notification: Notification) -> None:
        with self._lock:
            self.told.append(notification)

    def rows(self, names: dict[str, int]) -> Iterator[str]:
        for each in self.told:
            place = f"{names[each.spuid]} {each.sequence}"
            for sign, rows in (("+", each.results.added), ("-", each.results.removed)):
                for row in rows:
                    yield f"{place} {sign} {' '.join(map(str, row))}"


def run(workload: Workload, workers: int, rounds: int, roads: int) -> Mode:
    """Run the updates in one mode; the first round is not timed."""
    listener = _Listener()
    store = Store()
    store.bulk_extend(city({*range(1, roads + 1), *_ROADS}))
    performance = None if workers else Performance()
    engine = Engine(
        QuadStore(store),
        workers=workers,
        options=EngineOptions(performance=performance),
        on_notification=listener,
    )
    names = {engine.subscribe(text).spuid: number for number, text in enumerate(workload.queries)}
    _updates(engine, workload, range(1))
    if performance is not None:
        performance.reset()
    mode = Mode([])
    before = process_time(), _workers_cpu_s(engine)
    started = perf_counter()
    mode.reply_s = _updates(engine, workload, range(1, 1 + rounds))
    mode.wall_s = perf_counter() - started
    mode.cpu_s = process_time() - before[0]
    mode.workers_cpu_s = _workers_cpu_s(engine) - before[1]
    mode.moved = 0 if engine.workers is None else engine.workers.statistics.spus
    if performance is not None:
        mode.booster = performance.totals.booster / performance.totals.total
    engine.close()
    mode.rows = list(listener.rows(names))
    return mode


def _updates(engine: Engine, workload: Workload, rounds: range) -> float:
    """All updates of these rounds and their notifications; how long callers waited."""
    waited = 0.0
    for round_ in rounds:
        for road in workload.updated:
            text = uroad(road, f"{100 + round_}")
            started = perf_counter()
            engine.update(text)
            waited += perf_counter() - started
    engine.drain()
    return waited


def _workers_cpu_s(engine: Engine) -> float:
    """The CPU time of the worker processes so far."""
    links = () if engine.workers is None else [worker.link for worker in engine.workers]
    return sum(_cpu_s(link.pid) for link in links if isinstance(link, ProcessLink))


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def measure(
    subscriptions: int = COARSE, rounds: int = ROUNDS, roads: int = 310
) -> Iterator[Outcome]:
    """Both workloads, first in sequential mode, then with a worker for each further core."""
    cores = 1 + worker_count("auto")
    table: list[TableRow] = []
    told: list[str] = []
    expected: list[str] = []
    for workload in (coarse(FEW), coarse(subscriptions), FIG7):
        updates = rounds * len(workload.updated)
        sequential = run(workload, 0, rounds, roads)
        table.append(_line(workload, 0, sequential, sequential, updates))
        for workers in sorted({max(1, cores - 1), max(2, cores)}):
            parallel = run(workload, workers, rounds, roads)
            table.append(_line(workload, workers, parallel, sequential, updates))
            told += (f"{workload.name} {workers} {row}" for row in parallel.rows)
            expected += (f"{workload.name} {workers} {row}" for row in sequential.rows)
    notes = (
        "ms an update; wall: until everybody is told; reply: until the update returns",
        "ratio: of the sequential mode's wall time; bound: what it is where the cores are free",
        "booster: part of the sequential mode's T_TOTAL",
    )
    yield Experiment("parallel", (), digest(told), digest(expected), notes, table=table)


def _line(workload: Workload, workers: int, mode: Mode, sequential: Mode, updates: int) -> TableRow:
    each = 1000 / updates
    return {
        "workload": workload.name,
        "workers": workers,
        "SPUs": len(workload.queries),
        "in workers": mode.moved,
        "wall": mode.wall_s * each,
        "reply": mode.reply_s * each,
        "CPU": mode.cpu_s * each,
        "workers' CPU": mode.workers_cpu_s * each,
        "ratio": mode.wall_s / sequential.wall_s,
        "bound": max(mode.cpu_s, mode.workers_cpu_s / max(workers, 1)) / sequential.cpu_s,
        "booster": sequential.booster,
    }
