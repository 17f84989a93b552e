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
from bench.ctp.experiment import experiment
from bench.ctp.point import Point
from bench.ctp.ways import parsed
from bench.ctp.workload import BASE, SPARSE, WINDOW
from bench.processes import python_child
from bench.report import Experiment, Outcome, digest, percentile
from gateway.engine.automaton import Automaton
from gateway.rdf.namespaces import SOSA
from gateway.rdf.terms import Term

FEW, MANY, WHOLE = 1_000, 10_000, 100_000
_ROOMS = 50
_SILENT = 10_000
"""Added to the numbers of all sensors but those of `FEW` queries: nobody has these numbers."""
_WINDOW = 100
_CHECKED = 3_000
_READINGS = 10_000
_AMONG, _MORE = 2_000, 300
_POINT_S = 600.0
_SEED = 2


def measure(*, is_whole: bool = False) -> Iterator[Outcome]:
    """Few of one shape; many, of which as few match, and of which all do; one more query."""
    many = WHOLE if is_whole else MANY
    yield _experiment("shape", FEW, _told({"queries": FEW}))
    yield _experiment("shape, as many rows", many, _told({"queries": many, "silent": _SILENT}))
    yield _experiment("shape", many, _told({"queries": many}))
    yield _experiment("one more", _AMONG, _told({"queries": _AMONG, "more": _MORE}))


def _experiment(workload: str, queries: int, found: Mapping[str, Any]) -> Experiment:
    point = Point(workload=workload, queries=queries, window=_WINDOW)
    return experiment(point, found, {"digest": found["reference"]})


def _told(wanted: Mapping[str, int]) -> Mapping[str, Any]:
    with python_child("shape", "bench.ctp.shape", json.dumps(wanted)) as child:
        return child.result(_POINT_S)


def main() -> None:
    """Measure a point and say it."""
    pin()
    wanted = json.loads(sys.argv[1])
    found = one_more(**wanted) if "more" in wanted else one_shape(**wanted)
    sys.stdout.write(f"{json.dumps(found)}\n")


def one_shape(queries: int, silent: int = 0) -> Mapping[str, Any]:
    """The values of a sensor in a room: query n is of the n-th pair.

    With `silent` the sensors behind those of the first `FEW` queries say nothing.
    """
    stream = [*SPARSE.triples(_READINGS, _SEED)]
    parsed([_of_shape(0)])  # what is loaded once is no query's
    gc.collect()
    memory, started = resident_bytes(), process_time()
    automaton = Automaton()
    numbers = {}
    for number in range(queries):
        (query,) = parsed([_of_shape(number, silent if number >= FEW else 0)])
        numbers[automaton.add(query, removals=False)] = number
    automaton.build()
    spent = process_time() - started
    gc.collect()
    used = resident_bytes() - memory
    gc.freeze()
    checked = stream[:_CHECKED]
    answered = min(queries, FEW) if silent else queries
    told = [*_answered(automaton, numbers, checked)]
    return {
        "distinct_queries": automaton.queries,
        "plans": automaton.plans,
        "construction_ms": spent * 1000,
        "bytes_per_query": used / queries,
        "rows_per_triple": len(told) / len(checked),
        "digest": digest(told),
        "reference": digest(_expected(checked, answered)),
        "triples_per_s": _rate(automaton, stream[_CHECKED:]),
    }


def one_more(queries: int, more: int) -> Mapping[str, Any]:
    """CPU time until one query more is ready, among those of the sparse workload."""
    asked = parsed(SPARSE.queries(queries + more, 3, _SEED))
    automaton, times = Automaton(), []
    numbers = {automaton.add(query, removals=True): n for n, query in enumerate(asked[:queries])}
    automaton.build()
    gc.collect()
    gc.freeze()
    for at, query in enumerate(asked[queries:], queries):
        started = process_time()
        number = automaton.add(query, removals=True)
        automaton.build()
        numbers[number] = at
        times.append((process_time() - started) * 1000)
    together = Automaton()
    of_all = {together.add(query, removals=True): number for number, query in enumerate(asked)}
    stream = [*SPARSE.triples(_WINDOW, _SEED)]
    times.sort()
    return {
        "distinct_queries": automaton.queries,
        "plans": automaton.plans,
        "one_more_p50_ms": percentile(times, 0.5),
        "one_more_p99_ms": percentile(times, 0.99),
        "digest": digest(_answered(automaton, numbers, stream)),
        "reference": digest(_answered(together, of_all, stream)),
    }


def _of_shape(number: int, silent: int = 0) -> str:
    sensor = f"<{BASE}sensor/{number // _ROOMS + silent}>"
    room = f"<{BASE}room/{number % _ROOMS}>"
    return (
        f"SELECT ?reading ?value {{ GRAPH <{WINDOW}> {{ ?reading <{SOSA}madeBySensor> {sensor} ; "
        f"<{SOSA}hasFeatureOfInterest> {room} ; <{SOSA}hasSimpleResult> ?value }} }}"
    )


def _answered(
    automaton: Automaton, numbers: Mapping[int, int], stream: Sequence[Triple]
) -> Iterator[str]:
    """Rows added, by query."""
    for at, come in enumerate(stream):
        leaving = stream[at - _WINDOW : at - _WINDOW + 1] if at >= _WINDOW else ()
        for number, results in automaton.step(leaving, [come]):
            yield from (f"{numbers[number]} {' '.join(map(str, row))}" for row in results.added)


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
