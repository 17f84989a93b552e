"""`bench ctp`: every way tells the same, and what does not has no figures."""

import gc
import json
from collections.abc import Iterator
from dataclasses import replace
from io import StringIO
from typing import Any

import pytest

from bench.ctp import ctp, shape
from bench.ctp.child import measured
from bench.ctp.experiment import experiment
from bench.ctp.point import MIXED, Point
from bench.ctp.workload import TRIPLES_A_READING, WORKLOADS
from bench.report import write_json

SMALL = Point(queries=40, window=30, triples=60, checked=60, naive_s=0.05)
MEMBERS = (
    "experiment workload level way output queries patterns window distinct_queries plans "
    "construction_ms parsing_ms triples triples_per_s rows_per_triple deliveries_per_triple "
    "us_per_row us_per_delivery bytes_per_triple speedup_unshared speedup_naive "
    "paper_triples_per_s cqels_triples_per_s digest reference versions"
)


@pytest.fixture(autouse=True)
def _thawed() -> Iterator[None]:
    """A point's process freezes what there is; this one goes on."""
    yield
    gc.unfreeze()


@pytest.mark.parametrize("workload", WORKLOADS)
def test_every_way_tells_the_same(workload: str) -> None:
    point = replace(SMALL, workload=workload)
    ways = [point.by(way) for way in ("naive", "unshared", "shared")]
    engine = point.by("shared", "engine")
    found = [measured(each) for each in (*ways, engine, replace(engine, copies=3, element=6))]
    assert len({each["digest"] for each in found}) == 1
    assert all(each["triples_per_s"] > 0 for each in found)
    shared, engine_told, more = found[2:]
    assert shared["rows_per_triple"] == engine_told["rows_per_triple"] > 0
    assert more["deliveries_per_triple"] == 3 * engine_told["deliveries_per_triple"] > 0


@pytest.mark.parametrize("level", ["match", "engine"])
@pytest.mark.parametrize("changed", [{"output": "changes"}, {"window": 0, "checked": 10}])
def test_changes_and_mixed_windows_are_told_as_by_asking_again(
    level: str, changed: dict[str, Any]
) -> None:
    point = replace(SMALL, **changed)
    digests = {measured(each)["digest"] for each in (point.by("naive"), point.by("shared", level))}
    assert len(digests) == 1


def test_a_point_has_every_member() -> None:
    found = measured(SMALL)
    out = StringIO()
    write_json(out, experiment(SMALL, found, found))
    assert {*MEMBERS.split()} <= json.loads(out.getvalue()).keys()


def test_a_point_that_tells_something_else_has_no_figures() -> None:
    found = measured(SMALL)
    outcome = experiment(SMALL, found, {**found, "digest": "another"})
    assert not outcome.matches
    assert not outcome.figures
    assert outcome.members["triples_per_s"] is None


def test_one_shape_and_one_more_are_what_readings_and_a_fresh_automaton_say() -> None:
    for found in (shape.one_shape(60), shape.one_more(40, 5)):
        assert found["digest"] == found["reference"]


def test_points_are_those_of_the_paper_and_ours() -> None:
    whole = ctp.POINTS["whole"]
    assert {each.queries for each in whole} == {100, 500, 1000, 2000}
    assert {each.patterns for each in whole} == {1, 2, 3, 4, 5}
    assert {size for each in whole for size in each.windows} >= {*MIXED}
    assert {*ctp.POINTS["quick"]} <= {*whole}
    assert len({*ctp.POINTS["grid"]}) == 160


def test_a_stream_is_the_same_each_time_and_has_readings_of_six_triples() -> None:
    workload = WORKLOADS["sparse"]
    assert [*workload.triples(5, 1)] == [*workload.triples(5, 1)]
    assert len([*workload.triples(5, 1)]) == 5 * TRIPLES_A_READING
    assert workload.queries(9, 3, 1) == workload.queries(9, 3, 1)
