"""`experiment`: what a point's process measured, beside the other ways and the paper.

Place on the way of the data: at the end of `ctp`. Each has all members, null where unknown.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from bench.ctp.point import Point
from bench.report import Experiment, Figure

_UNITS = {
    "triples_per_s": "triples/s",
    "rows_per_triple": "rows a triple",
    "deliveries_per_triple": "told a triple",
    "us_per_row": "µs",
    "us_per_delivery": "µs",
    "construction_ms": "ms",
    "parsing_ms": "ms",
    "bytes_per_triple": "bytes",
    "bytes_per_query": "bytes",
    "one_more_p50_ms": "ms",
    "one_more_p99_ms": "ms",
    "distinct_queries": "",
    "plans": "",
    "speedup_unshared": "times",
    "speedup_naive": "times",
    "paper_triples_per_s": "triples/s",
    "cqels_triples_per_s": "triples/s",
}
_INTERNAL = ("checked", "naive_s")
"""Members of a point that say how it is measured, not what."""


def experiment(
    point: Point,
    found: Mapping[str, Any],
    naive: Mapping[str, Any],
    unshared: Mapping[str, Any] | None = None,
) -> Experiment:
    """One object of the report. Where digests differ it has no figures: they mean nothing."""
    digest, reference = found["digest"], naive["digest"]
    paper, cqels = point.paper
    measured = {name: found.get(name) for name in (*_UNITS, "triples")} | {
        "speedup_unshared": _times(found, unshared),
        "speedup_naive": _times(found, naive),
        "paper_triples_per_s": paper,
        "cqels_triples_per_s": cqels,
    }
    if digest != reference:
        measured = dict.fromkeys(measured)
    known = {name: value for name, value in point.members().items() if name not in _INTERNAL}
    figures = tuple(_figures(measured))
    return Experiment("ctp", figures, digest, reference, (_note(point),), members=known | measured)


def _times(found: Mapping[str, Any], other: Mapping[str, Any] | None) -> float | None:
    if other is None or "triples_per_s" not in found or "triples_per_s" not in other:
        return None
    return float(found["triples_per_s"] / other["triples_per_s"])


def _figures(members: Mapping[str, Any]) -> Iterator[Figure]:
    for name, unit in _UNITS.items():
        if members[name] is not None:
            yield Figure(name, members[name], unit)


def _note(point: Point) -> str:
    size = f"T = {point.window}" if point.window else "T mixed"
    many = f", {point.copies} subscribers each" if point.copies > 1 else ""
    element = f", {point.element} triples at a time" if point.element > 1 else ""
    return (
        f"{point.workload}, {point.level}, {point.way}, {point.output}: {point.queries:,} queries "
        f"of at most {point.patterns} patterns, {size}{many}{element}"
    )
