"""One point of `baselines`: a way, so many peers, subscriptions and events; and what it measured.

    six runs, the first dropped: events as fast as they go -> events/s, duplicates, load
    one more, each event when all is quiet -> delay, hops, messages and bytes of an event

Place: between the ways and the report. Work takes the CPU time that it takes here, on a machine of
each peer's own; a hop takes `hop_s`. Events a second are those between the first and the last
notification, as the paper has it (section 5).
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from statistics import fmean, pstdev
from time import thread_time

from pyoxigraph import Quad

from bench.federation.simulated.net import TimedNet
from bench.federation.ways import PUBLISHER, WAYS, Way, zones
from bench.federation.workload import Workload, workload
from bench.report import digest, percentile

RUNS = 6
QUIET = 100
"""Events that are published one at a time."""


@dataclass(frozen=True, slots=True)
class Point:
    """What is measured; no `patterns` are one query that accepts all."""

    algorithm: str
    peers: int
    patterns: int
    subscriptions: int
    events: int
    hop_s: float = 0.0005
    runs: int = RUNS

    @property
    def workload(self) -> Workload:
        """The same for each algorithm."""
        seed = f"{self.peers} {self.patterns} {self.subscriptions} {self.events}"
        return workload(seed, zones(self.peers), self.patterns, self.subscriptions, self.events)


@dataclass(frozen=True, slots=True)
class Fast:
    """A run at full speed."""

    events_per_s: float
    duplicates: int
    reconstructions: int
    load_spread: float
    rows: str


@dataclass(frozen=True, slots=True)
class Quiet:
    """Means of an event that has the net for itself; `delays_ms` of all, sorted."""

    delays_ms: Sequence[float]
    messages: float
    hops: float
    bytes: float


@dataclass(frozen=True, slots=True)
class Measured:
    """A point with what was measured, and the digests of its rows and of the expected ones."""

    point: Point
    fast: Sequence[Fast]
    quiet: Quiet
    expected: str

    @property
    def rows(self) -> str:
        """The digest of all runs, or nothing where they differ."""
        found = {each.rows for each in self.fast}
        return found.pop() if len(found) == 1 else ""

    @property
    def events_per_s(self) -> float:
        """The mean of all runs but the first."""
        return fmean(each.events_per_s for each in self._kept)

    @property
    def load_spread(self) -> float:
        """The standard deviation of the peers' work, over its mean."""
        return fmean(each.load_spread for each in self._kept)

    @property
    def delay_ms(self) -> dict[str, float]:
        """Percentiles."""
        delays = self.quiet.delays_ms
        parts = {"p50": 0.5, "p95": 0.95, "p99": 0.99}
        return {name: percentile(delays, part) for name, part in parts.items()}

    @property
    def _kept(self) -> Sequence[Fast]:
        return self.fast[1:] or self.fast


def measured(point: Point) -> Measured:
    """Measure a point."""
    load = point.workload
    with _no_collection():
        fast = [_fast(point, load) for _ in range(point.runs)]
        quiet = _quiet(point, load)
    return Measured(point, fast, quiet, digest(load.expected()))


def _asked(point: Point, load: Workload) -> Way:
    """A way whose subscriptions are known wherever they have to be."""
    way = WAYS[point.algorithm](TimedNet(point.hop_s, thread_time), point.peers)
    for each in load.asked:
        way.subscribe(each)
    way.net.run()
    return way


def _fast(point: Point, load: Workload) -> Fast:
    way = _asked(point, load)
    warm = _warmed(way, load)

    def publish(number: int) -> None:
        if not way.publish(number, load.events[number][1]):
            way.net.post(PUBLISHER, partial(publish, number), point.hop_s / 10)
        elif number + 1 < len(load.events):
            way.net.post(PUBLISHER, partial(publish, number + 1))

    way.net.post(PUBLISHER, partial(publish, warm))
    way.net.run()
    times = [each.at_s for each in way.net.marks]
    spent = max(times) - min(times)
    work = [way.net.work_s[peer] for peer in way.peers]
    duplicates, reconstructions = way.dropped
    found = Fast(
        len(times) / spent if spent else 0.0,
        duplicates,
        reconstructions,
        pstdev(work) / fmean(work),
        digest(way.rows),
    )
    way.close()
    return found


def _warmed(way: Way, load: Workload) -> int:
    """Have each query answered once, as long as no more than half of the events are for that."""
    warm = min(len(load.asked), len(load.events) // 2)
    for number, (_, quads) in enumerate(load.events[:warm]):
        _published(way, number, quads)
        way.net.run()
    way.net.marks.clear()
    way.net.work_s.clear()
    return warm


def _quiet(point: Point, load: Workload) -> Quiet:
    way = _asked(point, load)
    delays, hops = [], []
    warm = _warmed(way, load)
    messages, size = way.sent
    some = load.events[warm : warm + QUIET]
    for number, (_, quads) in enumerate(some, start=warm):
        begun = _published(way, number, quads)
        way.net.run()
        mark = way.net.marks[0]
        delays.append((mark.at_s - begun) * 1000)
        hops.append(mark.hops)
        way.net.marks.clear()
    more_messages, more_size = way.sent
    way.close()
    count = len(some)
    return Quiet(
        sorted(delays),
        (more_messages - messages) / count,
        fmean(hops),
        (more_size - size) / count,
    )


def _published(way: Way, number: int, quads: Sequence[Quad]) -> float:
    """Publish an event; when its publisher began with it."""
    begun = way.net.now
    way.net.act(PUBLISHER, partial(way.publish, number, quads))
    return max(begun, way.net.begun)


@contextmanager
def _no_collection() -> Iterator[None]:
    """Have the collector of garbage not run within somebody's step."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
