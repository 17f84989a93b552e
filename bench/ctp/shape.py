"""Queries that differ in constants alone, and what one query more costs among thousands.

Place on the way of the data: the part of `ctp` that has no paper beside it; each point is a
process of its own: `python -m bench.ctp.shape JSON`.
"""

import gc
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Any

from pyoxigraph import Triple

from bench.city.child import resident_bytes
from bench.ctp.child import pin
from bench.ctp.ways import parsed
from bench.ctp.workload import BASE, SPARSE, WINDOW
from bench.processes import python_child
from bench.report import Experiment, Figure, Outcome, digest, percentile
from gateway.engine.automaton import Automaton
from gateway.rdf.namespaces import SOSA
from gateway.rdf.terms import Term

FEW, MANY = 1_000, 100_000
_ROOMS = 50
_WINDOW = 100
_CHECKED = 3_000
_READINGS = 10_000
_AMONG, _MORE = 2_000, 300
_POINT_S = 600.0
_SEED = 2


def measure() -> Iterator[Outcome]:
    """Many of one shape beside few; one more."""
    few, many = _told({"queries": FEW}), _told({"queries": MANY})
    figures = (
        Figure(f"{FEW:,} queries", few["triples_per_s"], "triples/s"),
        Figure(f"{MANY:,} queries", many["triples_per_s"], "triples/s"),
        Figure("many / few", many["triples_per_s"] / few["triples_per_s"]),
        Figure("bytes a query", many["bytes_per_query"], "bytes"),
        Figure("construction", many["construction_ms"], "ms"),
    )
    members = {"few": few, "many": many}
    yield Experiment("ctp shape", figures, many["digest"], many["reference"], members=members)
    more = _told({"queries": _AMONG, "more": _MORE})
    figures_of_more = (
        Figure(f"one more among {_AMONG:,}, p50", more["p50_ms"], "ms"),
        Figure(f"one more among {_AMONG:,}, p99", more["p99_ms"], "ms"),
    )
    yield Experiment(
        "ctp one more", figures_of_more, more["digest"], more["reference"], members=more
    )


def _told(wanted: Mapping[str, int]) -> Mapping[str, Any]:
    with python_child("shape", "bench.ctp.shape", json.dumps(wanted)) as child:
        return child.result(_POINT_S)


def main() -> None:
    """Measure a point and say it."""
    pin()
    wanted = json.loads(sys.argv[1])
    found = one_more(**wanted) if "more" in wanted else one_shape(**wanted)
    sys.stdout.write(f"{json.dumps(found)}\n")


def one_shape(queries: int) -> Mapping[str, Any]:
    """The values of a sensor in a room: query n is of the n-th pair; most sensors say nothing."""
    stream = [*SPARSE.triples(_READINGS, _SEED)]
    parsed([_of_shape(0)])  # what is loaded once is no query's
    gc.collect()
    memory, started = resident_bytes(), process_time()
    automaton = Automaton()
    numbers = {}
    for number in range(queries):
        (query,) = parsed([_of_shape(number)])
        numbers[automaton.add(query, removals=False)] = number
    automaton.build()
    spent = process_time() - started
    gc.collect()
    used = resident_bytes() - memory
    gc.freeze()
    checked = stream[:_CHECKED]
    return {
        "queries": queries,
        "construction_ms": spent * 1000,
        "bytes_per_query": used / queries,
        "digest": digest(_answered(automaton, numbers, checked)),
        "reference": digest(_expected(checked, queries)),
        "triples_per_s": _rate(automaton, stream[_CHECKED:]),
    }


def one_more(queries: int, more: int) -> Mapping[str, Any]:
    """CPU time until one query more is ready, among those of the sparse workload."""
    asked = parsed(SPARSE.queries(queries + more, 3, _SEED))
    automaton, times = Automaton(), []
    for query in asked[:queries]:
        automaton.add(query, removals=True)
    automaton.build()
    gc.collect()
    gc.freeze()
    for query in asked[queries:]:
        started = process_time()
        automaton.add(query, removals=True)
        automaton.build()
        times.append((process_time() - started) * 1000)
    together = Automaton()
    for query in asked:
        together.add(query, removals=True)
    stream = [*SPARSE.triples(_WINDOW, _SEED)]
    times.sort()
    return {
        "queries": queries,
        "more": more,
        "p50_ms": percentile(times, 0.5),
        "p99_ms": percentile(times, 0.99),
        "digest": digest(_answered(automaton, range(queries + more), stream)),
        "reference": digest(_answered(together, range(queries + more), stream)),
    }


def _of_shape(number: int) -> str:
    sensor, room = f"<{BASE}sensor/{number // _ROOMS}>", f"<{BASE}room/{number % _ROOMS}>"
    return (
        f"SELECT ?reading ?value {{ GRAPH <{WINDOW}> {{ ?reading <{SOSA}madeBySensor> {sensor} ; "
        f"<{SOSA}hasFeatureOfInterest> {room} ; <{SOSA}hasSimpleResult> ?value }} }}"
    )


def _answered(
    automaton: Automaton, numbers: Mapping[int, int] | Sequence[int], stream: Sequence[Triple]
) -> Iterator[str]:
    """Rows added, by query."""
    for at, come in enumerate(stream):
        leaving = stream[at - _WINDOW : at - _WINDOW + 1] if at >= _WINDOW else ()
        for number, added, _ in automaton.step(leaving, [come]):
            yield from (f"{numbers[number]} {' '.join(map(str, row))}" for row in added)


def _expected(stream: Sequence[Triple], queries: int) -> Iterator[str]:
    """What the readings themselves say."""
    readings: dict[object, dict[str, Term]] = {}
    for triple in stream:
        known = readings.setdefault(triple.subject, {})
        known[triple.predicate.value.removeprefix(SOSA)] = triple.object
        if "hasSimpleResult" in known and triple.object == known["hasSimpleResult"]:
            sensor, room = (
                int(str(known[name]).rpartition("/")[2].rstrip(">"))
                for name in ("madeBySensor", "hasFeatureOfInterest")
            )
            if sensor * _ROOMS + room < queries:
                yield f"{sensor * _ROOMS + room} {triple.subject} {triple.object}"


def _rate(automaton: Automaton, stream: Sequence[Triple]) -> float:
    """Triples a second."""
    encoded = [automaton.ids(triple) for triple in stream]
    change = automaton.change
    started = process_time()
    for at in range(_WINDOW, len(encoded)):
        change((encoded[at - _WINDOW],) if at >= 2 * _WINDOW else (), (encoded[at],))
    return (len(encoded) - _WINDOW) / (process_time() - started)


if __name__ == "__main__":
    main()
