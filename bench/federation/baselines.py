"""`baselines`: CSMA and OSMA, reconstructed, flooding, and ours, on the paper's workload.

Place on the way of the data: a grid of points, each measured by every way on a net in simulated
time (`runs`), beside what the paper says in numbers; its curves are pictures, and are not here.
Source: Pellegrino et al. 2013, section 5.
"""

from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Any

from bench.federation.runs import RUNS, Measured, Point, measured
from bench.federation.ways import WAYS
from bench.report import Experiment, Figure, TableRow, digest

HOP_S = 0.0001
"""A message within a local network of 1 Gbit/s, one way: the paper's peers were in one."""

PAPER_TIMES_CSMA = 5.43
"""OSMA's throughput by that of CSMA, the median over 1 to 25 peers."""

PAPER_CSMA = 92.0
"""CSMA's events a second, whatever the number of subscriptions, 1 to 60."""

CHAIN = 5
Shape = tuple[int, int, int, int]
"""Peers, patterns, subscriptions, events."""

GRIDS: Mapping[str, Sequence[Shape]] = {
    "short": (
        *((peers, CHAIN, 1, 300) for peers in (1, 2, 5, 10, 25)),
        (25, CHAIN, 1, 1_200),
        *((25, CHAIN, subscriptions, 300) for subscriptions in (20, 60)),
        *((peers, 0, 1, 300) for peers in (2, 10, 25)),
    ),
    "paper": (
        *((peers, CHAIN, 1, 3_000) for peers in (1, 2, 5, 10, 15, 20, 25)),
        *((25, CHAIN, 1, events) for events in (9_000, 15_000, 21_000, 30_000)),
        *((25, CHAIN, subscriptions, 3_000) for subscriptions in (10, 20, 30, 40, 50, 60)),
        *((peers, 0, 1, 3_000) for peers in (1, 5, 10, 15, 20, 25)),
    ),
}
"""Its four experiments: more peers, more events, more subscriptions, one that accepts all."""


def measure(grid: str = "short", hop_s: float = HOP_S) -> Experiment:
    """All points of a grid."""
    return measure_shapes(GRIDS[grid], hop_s, RUNS)


def measure_shapes(shapes: Sequence[Shape], hop_s: float, runs: int) -> Experiment:
    """Every way of each shape."""
    found = [
        measured(Point(way, *shape, hop_s=hop_s, runs=runs)) for shape in shapes for way in WAYS
    ]
    return Experiment(
        "federation baselines, CSMA and OSMA reconstructed",
        tuple(_figures(found)),
        digest(each.rows for each in found),
        digest(each.expected for each in found),
        (
            f"in simulated time, a hop takes {hop_s * 1000:g} ms, work the CPU time it takes here",
            "delay, messages, hops and bytes: an event when all else is quiet",
            "patterns 0: a subscription that accepts all events",
        ),
        [_line(each) for each in found],
        {"runs": [_members(each) for each in found]},
    )


def ratios(found: Sequence[Measured]) -> Mapping[Shape, float]:
    """OSMA's events a second by those of CSMA, by shape."""
    rates = {(each.point.algorithm, _shape(each.point)): each.events_per_s for each in found}
    return {
        shape: rate / rates["csma", shape]
        for (algorithm, shape), rate in rates.items()
        if algorithm == "osma"
    }


def _figures(found: Sequence[Measured]) -> Iterator[Figure]:
    by_shape = ratios(found)
    over_peers = [times for shape, times in by_shape.items() if shape[1] and shape[2] == 1]
    if over_peers:
        note = f"the paper: {PAPER_TIMES_CSMA}"
        yield Figure("OSMA to CSMA, median of one subscription", median(over_peers), "times", note)
    for (peers, patterns, subscriptions, events), times in by_shape.items():
        what = f"{subscriptions} of {patterns} patterns" if patterns else "one that accepts all"
        yield Figure(f"OSMA to CSMA, {peers} peers, {what}, {events:,} events", times, "times")


def _shape(point: Point) -> Shape:
    return point.peers, point.patterns, point.subscriptions, point.events


def _members(found: Measured) -> dict[str, Any]:
    """A run as `--json` has it."""
    point, last = found.point, found.fast[-1]
    return {
        "algorithm": point.algorithm,
        "peers": point.peers,
        "patterns": point.patterns,
        "subscriptions": point.subscriptions,
        "events": point.events,
        "events_per_s": found.events_per_s,
        "delay_ms": found.delay_ms,
        "messages_per_event": found.quiet.messages,
        "hops_per_event": found.quiet.hops,
        "bytes_per_event": found.quiet.bytes,
        "duplicates": last.duplicates,
        "reconstructions": last.reconstructions,
        "load_spread": found.load_spread,
        "rows_digest": found.rows,
        "paper": _paper(point),
    }


def _paper(point: Point) -> dict[str, float] | None:
    """What the paper says of such a point in numbers."""
    if not point.patterns:
        return None
    if point.algorithm == "csma" and point.peers == 25 and point.subscriptions > 1:
        return {"events_per_s": PAPER_CSMA}
    if point.algorithm == "osma" and point.subscriptions == 1:
        return {"times_csma": PAPER_TIMES_CSMA}
    return None


def _line(found: Measured) -> TableRow:
    point, delays, last = found.point, found.delay_ms, found.fast[-1]
    return {
        "way": point.algorithm,
        "peers": point.peers,
        "patterns": point.patterns,
        "subs": point.subscriptions,
        "events": point.events,
        "events/s": round(found.events_per_s),
        "p50 ms": round(delays["p50"], 2),
        "p99 ms": round(delays["p99"], 2),
        "messages": round(found.quiet.messages, 1),
        "hops": round(found.quiet.hops, 1),
        "bytes": round(found.quiet.bytes),
        "duplicates": last.duplicates,
        "rebuilt": last.reconstructions,
        "spread": round(found.load_spread, 2),
        "rows": "equal" if found.rows == found.expected else "OTHER",
    }
