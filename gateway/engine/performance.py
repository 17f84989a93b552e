"""Where the time of an UPDATE goes: timing components and KPIs.

    T_ELAPSED = T_OVERHEAD + T_UPDATE (+ T_REASON) + T_LUTT + T_BOOSTER + T_NOTIFY

Around the engine in sequential mode, one clock reading at the end of each stage; an engine
without a `Performance` reads no clock. T_UPDATE is parsing, evaluating and storing; T_LUTT the
look-up in the index of all LUTTs, which is one for all SPUs (of each view); T_REASON, where
reasoning is on, what deriving takes; T_BOOSTER the work of the units that
it reached; T_NOTIFY the addressing of every subscriber; T_OVERHEAD what measuring itself takes.
Source: Roffia et al., "A Semantic Publish-Subscribe Architecture for the Internet of Things", 2016,
section IV and Table 1; docs/engine.md, "Performance model".
"""

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median
from time import perf_counter_ns

from gateway.engine.processing import MakeCompiler, Processing
from gateway.engine.routes import Queues
from gateway.engine.spu import Change, Spu, Subject
from gateway.engine.statistics import EngineStatistics
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta
from gateway.store.readable import Source

Clock = Callable[[], int]
"""ns since whenever."""


@dataclass(slots=True)
class Components:
    """The timing components of one update, or of several together, in ns."""

    update: int = 0
    lutt: int = 0
    booster: int = 0
    notify: int = 0
    overhead: int = 0
    reason: int = 0

    @property
    def elapsed(self) -> int:
        """T_ELAPSED."""
        return self.total + self.overhead

    @property
    def total(self) -> int:
        """T_TOTAL = T_ELAPSED - T_OVERHEAD."""
        return self.update + self.reason + self.lutt + self.booster + self.notify

    def __iadd__(self, other: "Components") -> "Components":
        self.update += other.update
        self.lutt += other.lutt
        self.booster += other.booster
        self.notify += other.notify
        self.overhead += other.overhead
        self.reason += other.reason
        return self


@dataclass(frozen=True, slots=True)
class Kpi:
    """The paper's KPIs: updates, subscriptions and triples per second, latencies, E2E.

    `nl_min_ms` and `nl_max_ms` are 0 as long as nobody has been notified, `e2e` is the time that
    the engine adds to that of the store, as a multiple of it.
    """

    ups: float = 0.0
    sps: float = 0.0
    tps: float = 0.0
    nl_min_ms: float = 0.0
    nl_max_ms: float = 0.0
    e2e: float = 0.0


@dataclass(frozen=True, slots=True)
class LuttColumn:
    """One SPU's column of the LUTT matrix, summed: updates that its LUTT let through, or did not.

    The paper's matrix has a row for each update.
    """

    query: str
    hits: int
    misses: int


class Performance:
    """Counts since the start or the last `reset`; `recent` are the last updates one by one.

    >>> ticks = iter(range(0, 1000, 10))
    >>> performance = Performance(lambda: next(ticks), reading=0)
    >>> performance.begin()
    >>> performance.stored()
    >>> performance.matched(hits=1, misses=9)
    >>> performance.end(Delta(), notifications=0)
    >>> performance.totals
    Components(update=10, lutt=10, booster=0, notify=10, overhead=0, reason=0)
    """

    def __init__(
        self, clock: Clock = perf_counter_ns, *, keep: int = 1000, reading: int | None = None
    ) -> None:
        """`reading` is what reading the clock takes, in ns; without it, it is measured now."""
        self._clock = clock
        self._reading = _reading(clock) if reading is None else reading
        self._processings: list[MeasuredProcessing] = []
        self.recent: deque[Components] = deque(maxlen=keep)
        self.reset()

    def reset(self) -> None:
        """Begin anew."""
        self.totals = Components()
        self.updates = 0
        self.triples = 0
        self.lutt_hits = 0
        self.lutt_misses = 0
        self.recent.clear()
        self._current = Components()
        self._notifying: list[int] = []
        self._matched = False
        self._nl_min = self._nl_max = 0
        for each in self._processings:
            each.reset_hits()

    def kpi(self, subscriptions: int) -> Kpi:
        """The KPIs, with so many subscriptions."""
        total = self.totals.total
        if not total:
            return Kpi()
        ups = self.updates * 1e9 / total
        sps = subscriptions * ups
        return Kpi(
            ups,
            sps,
            sps * self.triples / self.updates,
            self._nl_min / 1e6,
            self._nl_max / 1e6,
            (total - self.totals.update) / max(self.totals.update, 1),
        )

    @property
    def lutt_hit_rate(self) -> float:
        """The part of all pairs of update and SPU in which a LUTT let something through."""
        return self.lutt_hits / max(self.lutt_hits + self.lutt_misses, 1)

    def watch(self, processing: "MeasuredProcessing") -> None:
        """This is measured too: the processing of one view."""
        self._processings.append(processing)

    def lutt_columns(self) -> Sequence[LuttColumn]:
        """The LUTT matrix by SPU, in the order of their first subscription; linear in the SPUs."""
        return [column for each in self._processings for column in each.lutt_columns()]

    def begin(self) -> None:
        """An UPDATE begins."""
        self._current = Components()
        self._notifying.clear()
        self._matched = False
        self._last = self._clock()

    def evaluated(self) -> None:
        """What is to be changed is known."""
        self._current.update += self._lap()

    def reasoned(self) -> None:
        """What follows is known."""
        self._current.reason += self._lap()

    def stored(self) -> None:
        """The store has the change."""
        self._current.update += self._lap()

    def matched(self, hits: int, misses: int) -> None:
        """The ARTQs are filled; so many LUTTs let something through, so many did not."""
        self._current.lutt += self._lap()
        self._matched = True
        self.lutt_hits += hits
        self.lutt_misses += misses

    def processed(self, *, changed: bool) -> None:
        """A unit has emptied its ARTQ, and has found something to tell, or not."""
        taken = self._lap()
        self._current.booster += taken
        if changed:
            self._notifying.append(taken)

    def end(self, delta: Delta, notifications: int) -> None:
        """The UPDATE is done."""
        taken = self._lap()
        if self._matched:
            self._current.notify += taken
        else:
            self._current.update += taken
        self.updates += 1
        self.triples += max(len(delta.added), len(delta.removed))
        self.totals += self._current
        self.recent.append(self._current)
        if notifications:
            self._latency(self._current, notifications)

    def _latency(self, spent: Components, notifications: int) -> None:
        """Table 1: the quickest SPU alone, and the slowest update with all of its SPUs."""
        quickest = spent.lutt + min(self._notifying) + spent.notify // notifications
        self._nl_min = min(quickest, self._nl_min or quickest)
        self._nl_max = max(self._nl_max, spent.lutt + spent.booster + spent.notify)

    def _lap(self) -> int:
        """Time since the last reading, without what the reading takes."""
        now = self._clock()
        elapsed, self._last = now - self._last, now
        overhead = min(self._reading, elapsed)
        self._current.overhead += overhead
        return elapsed - overhead


class MeasuredProcessing(Processing):
    """A `Processing` that says what its stages take."""

    def __init__(
        self,
        store: Source,
        compiler: MakeCompiler,
        statistics: EngineStatistics,
        performance: Performance,
    ) -> None:
        super().__init__(store, compiler, statistics)
        self._performance = performance
        self._matched = 0
        self._since: dict[Spu, tuple[int, int]] = {}
        performance.watch(self)

    def add(self, subject: Subject) -> tuple[Spu, ResultsDelta]:
        """A new SPU, whose hits are counted from now on; as Processing."""
        spu, results = super().add(subject)
        self._since[spu] = (self._matched, 0)
        return spu, results

    def remove(self, spu: Spu) -> None:
        """The reverse of `add`."""
        super().remove(spu)
        self._since.pop(spu, None)

    def reset_hits(self) -> None:
        """Count the hits of every SPU from now on."""
        self._since = {spu: (self._matched, self._hits(spu)) for spu in self._since}

    def lutt_columns(self) -> Sequence[LuttColumn]:
        """The LUTT matrix by SPU, in the order of their first subscription."""
        return [self._column(spu, *since) for spu, since in self._since.items()]

    def _column(self, spu: Spu, matched: int, had: int) -> LuttColumn:
        hits = self._hits(spu) - had
        return LuttColumn(spu.subject.text, hits, self._matched - matched - hits)

    def _hits(self, spu: Spu) -> int:
        return self._units[spu].hits(spu)

    def match(self, delta: Delta) -> Queues:
        """As Processing, with the time that it takes."""
        self._performance.stored()
        self._matched += 1
        seen = self._statistics
        hits, misses = seen.lutt_hits, seen.lutt_misses
        queues = super().match(delta)
        self._performance.matched(seen.lutt_hits - hits, seen.lutt_misses - misses)
        return queues

    def process(self, queues: Queues) -> list[Change]:
        """The answers that changed; one unit after the other, each with its time."""
        changes: list[Change] = []
        for unit, artq in queues.items():
            found = super().process({unit: artq})
            changes += found
            self._performance.processed(changed=bool(found))
        return changes


def _reading(clock: Clock) -> int:
    """What one reading of the clock takes."""
    readings = [clock() for _ in range(1000)]
    return round(median(later - former for former, later in pairwise(readings)))
