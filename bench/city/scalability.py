"""`scalability`: N subscribers of one query, each told of every update.

Place on the way of the data: the engine alone, in memory, updates as text. All subscribe to the
same lamp and one lamp is updated, or to the same road of 100 lamps and all of these are; every
LUTT is hit. Subscribers of one text share an SPU; without sharing, no two write the same text. The
paper's road 300 has 50 lamps by its own Table 2, so it is road 301 here. Source: Roffia et al., "A
Semantic Publish-Subscribe Architecture for the Internet of Things", 2016, appendix B.F.
"""

import gc
from collections.abc import Iterator, Sequence
from itertools import count
from time import process_time, process_time_ns

from bench.city.profile import Lamps, Model, Profile, Update
from bench.city.ways import loaded, notified_rows
from bench.report import Experiment, Outcome, TableRow, digest
from gateway.engine import Engine, Notification
from gateway.engine.options import EngineOptions
from gateway.engine.performance import Performance
from gateway.store.quad_store import QuadStore

SUBSCRIBERS = 10_000
SHARED_ROAD = 1_000
"""The first answer of every further subscriber of a shared SPU is asked of the store: 20 ms."""

UPDATES = {"lamp": 20, "road": 3}
_ROAD = 301
_LAMPS = {"lamp": Lamps(_ROAD, 1), "road": Lamps(_ROAD)}


class _Crowd:
    """An engine, and how its subscribers grow in number."""

    def __init__(self, lamps: Lamps, *, shared: bool, roads: int) -> None:
        self.lamps = lamps
        self.shared = shared
        self.told: list[str] = []
        self.expected: list[str] = []
        self._performance = Performance(process_time_ns)
        store = QuadStore(loaded(Profile("road", roads)))
        self._engine = Engine(store, options=EngineOptions(performance=self._performance))
        self._model = Model([lamps])
        self._values = count(100)
        self._first = ""

    def grow(self, subscribers: int) -> None:
        """Until there are so many; the first update of each number is not timed."""
        for number in range(self._engine.statistics.subscriptions, subscribers):
            text = self.lamps.select if self.shared else f"{self.lamps.select} # {number}"
            spuid = self._engine.subscribe(text).spuid
            self._first = self._first or spuid
        self._update()
        self._performance.reset()
        gc.collect()
        gc.freeze()  # as in a process that has run for long

    def line(self) -> TableRow:
        """Run the updates and say what they cost."""
        subscribers = self._engine.statistics.subscriptions
        updated = "lamp" if self.lamps.post else "road"
        updates = UPDATES[updated]
        spent = sum(self._update() for _ in range(updates))
        own = self._performance
        return {
            "updated": updated,
            "SPUs": "shared" if self.shared else "own",
            "subscribers": subscribers,
            "notifications/s": subscribers * updates / spent,
            "updates/s": updates / spent,
            "T_UPDATE": own.totals.update / own.updates / 1e6,
            "T_LUTT": own.totals.lutt / own.updates / 1e6,
            "T_BOOSTER": own.totals.booster / own.updates / 1e6,
            "T_NOTIFY": own.totals.notify / own.updates / 1e6,
        }

    def _update(self) -> float:
        """One update; its CPU time in s."""
        update = Update(0, self.lamps, f"{next(self._values)}")
        text = update.text
        started = process_time()
        notifications = self._engine.update(text).notifications
        spent = process_time() - started
        self.told += self._rows(update, notifications)
        self.expected += self._model.rows([update])
        self.expected.append(f"{update.value}: {self._engine.statistics.subscriptions} alike")
        return spent

    def _rows(self, update: Update, notifications: Sequence[Notification]) -> Iterator[str]:
        """The rows of the first subscriber, and how many others were told the same."""
        first = next(each for each in notifications if each.spuid == self._first)
        yield from notified_rows(update, 0, first.results)
        answer = (frozenset(first.results.added), frozenset(first.results.removed))
        alike = sum(
            each.results is first.results
            or (frozenset(each.results.added), frozenset(each.results.removed)) == answer
            for each in notifications
        )
        yield f"{update.value}: {alike} alike"


def measure(subscribers: int = SUBSCRIBERS, roads: int = 310) -> Iterator[Outcome]:
    """1, 10, 100 … subscribers, up to so many."""
    table: list[TableRow] = []
    told: list[str] = []
    expected: list[str] = []
    for name, lamps in _LAMPS.items():
        for shared in (True, False):
            crowd = _Crowd(lamps, shared=shared, roads=roads)
            is_slow = shared and name == "road"
            for number in _tenfold(min(subscribers, SHARED_ROAD) if is_slow else subscribers):
                crowd.grow(number)
                table.append(crowd.line())
            gc.unfreeze()
            told += (f"{name} {shared} {row}" for row in crowd.told)
            expected += (f"{name} {shared} {row}" for row in crowd.expected)
    notes = (
        "CPU time, ms; sequential. own: every subscriber writes its text in a way of its own",
        f"shared SPU of the road: up to {SHARED_ROAD:,} subscribers",
    )
    yield Experiment("scalability", (), digest(told), digest(expected), notes, table=table)


def _tenfold(most: int) -> Iterator[int]:
    number = 1
    while number < most:
        yield number
        number *= 10
    yield most
