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
from bench.ctp.experiment import experiment
from bench.ctp.point import Point
from bench.processes import python_child
from bench.report import Outcome

EXTENTS = ("quick", "whole", "grid")

_POINT_S = 900.0
_SLOW_TRIPLES = 6_000
"""Timed triples of what is slow: unshared, dense, all of an engine."""
_NAIVE_S = {"quick": 1.0, "whole": 20.0, "grid": 5.0}

_DEFAULT = Point()
_QUICK = (
    *(replace(_DEFAULT, queries=queries) for queries in (100, 1000, 2000)),
    replace(_DEFAULT, patterns=5),
    replace(_DEFAULT, window=500),
)
_WHOLE = (
    *(replace(_DEFAULT, queries=queries) for queries in (100, 500, 1000, 2000)),
    *(replace(_DEFAULT, patterns=most) for most in (1, 2, 4, 5)),
    *(replace(_DEFAULT, window=size) for size in (10, 50, 500)),
)
_OURS = (
    replace(_DEFAULT, output="changes"),
    replace(_DEFAULT, window=0),
    replace(_DEFAULT, workload="dense", triples=_SLOW_TRIPLES),
)
_GRID = tuple(
    replace(_DEFAULT, workload=workload, queries=queries, patterns=most, window=size)
    for workload in ("sparse", "dense")
    for queries in (100, 500, 1000, 2000)
    for most in (1, 2, 3, 4, 5)
    for size in (10, 50, 100, 500)
)
"""Every combination of the paper's parameters."""

POINTS: Mapping[str, Sequence[Point]] = {
    "quick": (*_QUICK, *_OURS),
    "whole": (*_WHOLE, *_OURS),
    "grid": _GRID,
}
"""By extent: some minutes; what the paper varies, one at a time; all of it, some hours."""


def measure(extent: str = "quick") -> Iterator[Outcome]:
    """One experiment a point and way, then those of many queries of one shape."""
    for point in POINTS[extent]:
        yield from _experiments(replace(point, naive_s=_NAIVE_S[extent]))
    yield from shape.measure(is_whole=extent != "quick")


def _experiments(point: Point) -> Iterator[Outcome]:
    """The ways of one point, the slowest first: it is the reference."""
    told = {each: _told(each) for each in _ways(point)}
    naive, unshared = point.by("naive"), point.by("unshared")
    found = {each.way: each for each in told if each.level == "match"}
    for each in reversed(told):
        reference = told[found[naive.way]]
        other = told[found[unshared.way]] if unshared.way in found else None
        yield experiment(each, told[each], reference, other if each.level == "match" else None)


def _ways(point: Point) -> Sequence[Point]:
    """Mixed windows and changes are the automaton's alone, compared with asking again.

    An engine is told one triple at a time, then a reading at a time, then has more subscribers.
    """
    few = replace(point, triples=min(point.triples, _SLOW_TRIPLES))
    if point.output == "changes" or not point.window:
        return (few.by("naive"), point)
    ways = (few.by("naive"), few.by("unshared"), point)
    if replace(point, queries=_DEFAULT.queries, naive_s=_DEFAULT.naive_s) != _DEFAULT:
        return ways
    engine = few.by("shared", "engine")
    more = (replace(engine, copies=11),) if point.queries == _DEFAULT.queries else ()
    return (*ways, engine, replace(engine, element=6), *more)


def _told(point: Point) -> Mapping[str, Any]:
    with python_child(f"{point.way} way", "bench.ctp.child", json.dumps(point.members())) as child:
        return child.result(_POINT_S)
