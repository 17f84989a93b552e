"""One point in a process of its own: `python -m bench.ctp.child JSON`.

Place on the way of the data: started by `ctp`, one after the other, on one core. Fills the window,
subscribes, checks some steps, then measures; says its members as one JSON object.
"""

import gc
import json
import os
import sys
import tracemalloc
from collections.abc import Mapping, Sequence
from statistics import median
from typing import Any

from pyoxigraph import Triple

from bench.ctp.point import Point
from bench.ctp.subscribed import Subscribed
from bench.ctp.ways import WAYS, Shared, Way
from bench.ctp.workload import TRIPLES_A_READING, WORKLOADS
from bench.report import digest
from gateway.engine.automaton.terms import Terms
from gateway.engine.automaton.window_index import WindowIndex

_SEED_OF_QUERIES, _SEED_OF_STREAM = 1, 2
_PARTS = 5
_SAMPLED = 1200
"""Triples of which rows and deliveries are counted, behind the timed ones."""


def main() -> None:
    """Measure a point and say it."""
    pin()
    point = Point.of(json.loads(sys.argv[1]))
    sys.stdout.write(f"{json.dumps(measured(point))}\n")


def pin() -> None:
    """Stay on one core, where the system has that."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})


def measured(point: Point) -> Mapping[str, Any]:
    """The members of a point that this way can tell."""
    workload = WORKLOADS[point.workload]
    texts = workload.queries(point.queries, point.patterns, _SEED_OF_QUERIES)
    start = point.filled + point.checked
    length = start + point.triples + _SAMPLED
    readings = length // TRIPLES_A_READING + 1
    stream = [*workload.triples(readings, _SEED_OF_STREAM)][:length]
    made = Subscribed if point.level == "engine" else WAYS[point.way]
    way = made(point, texts, stream[: point.filled])
    lines = checked(point, way, stream)
    gc.collect()
    gc.freeze()  # as in a process that has run for long: what stays is not looked at again
    triples, spent = timed(point, way, stream, start)
    rows, delivered = counted(point, way, stream, start + triples)
    is_index_measured = point.level == "match" and point.way == "shared"
    return {
        "digest": digest(lines),
        "distinct_queries": way.distinct,
        "plans": way.plans,
        "construction_ms": way.construction_s * 1000,
        "parsing_ms": way.parsing_s * 1000 if point.level == "match" else None,
        "triples": triples,
        "triples_per_s": triples / spent,
        "rows_per_triple": rows,
        "deliveries_per_triple": delivered,
        "us_per_row": spent / triples / rows * 1e6 if rows else None,
        "us_per_delivery": spent / triples / delivered * 1e6 if delivered else None,
        "bytes_per_triple": index_bytes(stream) if is_index_measured else None,
    }


def timed(point: Point, way: Way, stream: Sequence[Triple], start: int) -> tuple[int, float]:
    """How many triples the window slides on by, and the CPU seconds, from the median of parts.

    Others use the machine too, so that a part now and then takes far longer.
    """
    parts = 1 if point.way == "naive" else _PARTS
    size, before = point.triples // parts, point.filled
    counts, times = [], []
    for first in range(start, start + parts * size, size):
        count, spent = way.run(stream[first - before : first + size], before)
        counts.append(count)
        times.append(spent / count)
    triples = sum(counts)
    return triples, median(times) * triples


def checked(point: Point, way: Way, stream: Sequence[Triple]) -> list[str]:
    """What the steps behind the full window tell, a line each row."""
    return [
        f"{at} {number} {sign} {' '.join(map(str, row))}"
        for at in range(point.filled, point.filled + point.checked)
        for number, sign, row in way.step(leaving(point, stream, at), stream[at])
    ]


def leaving(point: Point, stream: Sequence[Triple], at: int) -> list[Sequence[Triple]]:
    """What leaves each window with this triple; no triple comes twice."""
    return [stream[at - size : at - size + 1] for size in point.windows]


def counted(point: Point, way: Way, stream: Sequence[Triple], start: int) -> tuple[float, float]:
    """Rows won of queries that are not equal, and what is delivered, a triple.

    That is rows of all queries, at the level "engine" notifications to all subscribers.
    """
    steps = range(start, min(start + (_SAMPLED if point.way != "naive" else 0), len(stream)))
    before = matches(way)
    notified = way.delivered if isinstance(way, Subscribed) else 0
    delivered = sum(1 for at in steps for _ in way.step(leaving(point, stream, at), stream[at]))
    if isinstance(way, Subscribed):
        delivered = way.delivered - notified
    many = max(1, len(steps))
    if isinstance(way, Shared | Subscribed):
        return (matches(way) - before) / many, delivered / many
    return delivered / many, delivered / many


def matches(way: Way) -> int:
    """Rows that the automata have found so far."""
    return way.matches if isinstance(way, Shared | Subscribed) else 0


def index_bytes(stream: Sequence[Triple]) -> float:
    """Bytes of the index, a triple; numbers and terms are not counted."""
    terms, index = Terms(), WindowIndex()
    encoded = [terms.ids(triple) for triple in stream]
    tracemalloc.start()
    for ids in encoded:
        index.add(*ids)
    used, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return used / len(encoded)


if __name__ == "__main__":
    main()
