"""`bench ctp`: thousands of conjunctive queries over one window, beside the paper's figures.

Place on the way of the data: each point and each way is a process of its own, one after the other.
The ways must tell the same in the checked steps, else no figure counts. What differs from CQELS
1.x, whose figures are the paper's: it has a window for each pattern, of the triples that match it,
and tells additions only. Source: Qin et al. 2015, section 3.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from bench.ctp import shape
from bench.ctp.point import Point
from bench.processes import python_child
from bench.report import Experiment, Figure, Outcome

_POINT_S = 600.0
_SLOW_TRIPLES = 6_000
"""Timed triples of what is slow: unshared, dense."""

_DEFAULT = Point()
_BY_QUERIES = tuple(replace(_DEFAULT, queries=queries) for queries in (100, 500, 1000, 2000))
_BY_PATTERNS = tuple(replace(_DEFAULT, patterns=most) for most in (1, 2, 4, 5))
_BY_WINDOW = tuple(replace(_DEFAULT, window=size) for size in (10, 50, 500))
_OURS = (
    replace(_DEFAULT, output="changes"),
    replace(_DEFAULT, window=0),
    replace(_DEFAULT, workload="dense", triples=_SLOW_TRIPLES),
)
POINTS = (*_BY_QUERIES, *_BY_PATTERNS, *_BY_WINDOW, *_OURS)

GRID = tuple(
    replace(_DEFAULT, workload=workload, queries=queries, patterns=most, window=size)
    for workload in ("sparse", "dense")
    for queries in (100, 500, 1000, 2000)
    for most in (1, 2, 3, 4, 5)
    for size in (10, 50, 100, 500)
)
"""Every combination of the paper's parameters."""


def measure(*, is_whole_grid: bool = False) -> Iterator[Outcome]:
    """One experiment a point and way, then those of many queries of one shape."""
    for point in GRID if is_whole_grid else POINTS:
        yield from _experiments(point)
    yield from shape.measure()


def _experiments(point: Point) -> Iterator[Outcome]:
    """The ways of one point, the slowest first: it is the reference."""
    told: dict[str, Mapping[str, Any]] = {}
    for each in _ways(point):
        told[each.way] = _told(each)
    reference = next(iter(told.values()))["digest"]
    for each in reversed([*_ways(point)]):
        yield _experiment(each, told, reference)


def _ways(point: Point) -> Sequence[Point]:
    """Mixed windows and changes are the automaton's alone, compared with asking again."""
    few = replace(point, way="naive", triples=min(point.triples, _SLOW_TRIPLES))
    slow = replace(point, way="unshared", triples=min(point.triples, _SLOW_TRIPLES))
    if point.output == "changes" or not point.window:
        return (few, point)
    return (few, slow, point)


def _told(point: Point) -> Mapping[str, Any]:
    specification = json.dumps(point.members())
    with python_child(point.way, "bench.ctp.child", specification) as child:
        return child.result(_POINT_S)


def _experiment(point: Point, told: Mapping[str, Mapping[str, Any]], reference: str) -> Experiment:
    found = dict(told[point.way])
    digest = found.pop("digest")
    paper, cqels = point.paper
    members = {
        **{name: value for name, value in point.members().items() if name != "checked"},
        **found,
        "speedup_unshared": _times(found, told.get("unshared")),
        "speedup_naive": _times(found, told["naive"]),
        "paper_triples_per_s": paper,
        "cqels_triples_per_s": cqels,
    }
    return Experiment(
        "ctp", tuple(_figures(members)), digest, reference, _notes(point), (), members
    )


def _times(found: Mapping[str, Any], other: Mapping[str, Any] | None) -> float | None:
    return None if other is None else found["triples_per_s"] / other["triples_per_s"]


def _figures(members: Mapping[str, Any]) -> Iterator[Figure]:
    units = {
        "triples_per_s": "triples/s",
        "rows_per_triple": "rows a triple",
        "deliveries_per_triple": "rows a triple, to all",
        "us_per_row": "µs",
        "us_per_delivery": "µs",
        "construction_ms": "ms",
        "parsing_ms": "ms",
        "bytes_per_triple": "bytes",
        "distinct_queries": "",
        "plans": "",
        "speedup_unshared": "times",
        "speedup_naive": "times",
        "paper_triples_per_s": "triples/s",
        "cqels_triples_per_s": "triples/s",
    }
    for name, unit in units.items():
        if members[name] is not None:
            yield Figure(name, members[name], unit)


def _notes(point: Point) -> tuple[str, ...]:
    size = f"T = {point.window}" if point.window else "T mixed"
    return (
        f"{point.workload}, {point.level}, {point.way}, {point.output}: "
        f"{point.queries} queries of at most {point.patterns} patterns, {size}",
    )
