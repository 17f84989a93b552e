"""`bench federation baselines`, small: every way tells the same, and says it in the form."""

import argparse

import pytest
from pyoxigraph import RdfFormat, Store, serialize

from bench.federation import baselines, options
from bench.federation.baselines import measure_shapes
from bench.federation.eventcloud.space import point
from bench.federation.ways import WAYS, zones
from bench.federation.workload import workload

MEMBERS = {
    "algorithm",
    "peers",
    "patterns",
    "subscriptions",
    "events",
    "events_per_s",
    "delay_ms",
    "messages_per_event",
    "hops_per_event",
    "bytes_per_event",
    "duplicates",
    "reconstructions",
    "load_spread",
    "rows_digest",
    "paper",
}


def test_every_way_tells_the_same_rows() -> None:
    shapes = ((1, 5, 1, 6), (4, 5, 3, 12), (4, 0, 1, 6))
    found = measure_shapes(shapes, hop_s=0.0001, runs=2)
    assert found.matches
    runs = found.members["runs"]
    assert isinstance(runs, list)
    assert [run["algorithm"] for run in runs] == list(WAYS) * len(shapes)
    assert all(set(run) == MEMBERS for run in runs)
    for place in range(0, len(runs), len(WAYS)):
        assert len({run["rows_digest"] for run in runs[place : place + len(WAYS)]}) == 1
    chains = {run["algorithm"]: run for run in runs[len(WAYS) : 2 * len(WAYS)]}
    assert (chains["ours"]["messages_per_event"], chains["ours"]["hops_per_event"]) == (1, 1)
    assert chains["flooding"]["messages_per_event"] == 3
    assert chains["csma"]["reconstructions"] == 12
    assert chains["osma"]["reconstructions"] == chains["osma"]["duplicates"] == 0
    assert chains["csma"]["hops_per_event"] > chains["osma"]["hops_per_event"]
    assert all(run["events_per_s"] > 0 and run["delay_ms"]["p99"] > 0 for run in runs)
    everything = {run["algorithm"]: run for run in runs[2 * len(WAYS) :]}
    assert everything["csma"]["duplicates"] == 6 * 4


def test_the_paper_stands_beside_what_it_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(baselines.GRIDS, "short", ((25, 5, 2, 4), (25, 5, 1, 4)))
    monkeypatch.setattr(baselines, "RUNS", 1)
    found = baselines.measure()
    runs = found.members["runs"]
    assert isinstance(runs, list)
    said = [run["paper"] for run in runs if run["paper"]]
    assert said == [{"events_per_s": 92.0}, {"times_csma": 5.43}]
    assert found.figures[0].name == "OSMA to CSMA, median of one subscription"
    assert found.figures[0].note == "the paper: 5.43"


def test_an_event_has_the_papers_size_and_answers_the_one_query_that_it_is_for() -> None:
    load = workload("seed", zones(9), 5, 6, 18)
    for number, quads in load.events:
        assert len(quads) == 5
        assert 640 <= len(serialize(quads, format=RdfFormat.N_QUADS) or b"") <= 700
        store = Store()
        store.extend(quads)
        answers = [len(list(store.query(each.text))) for each in load.asked]  # type: ignore[arg-type]
        assert answers == [int(place == number) for place in range(6)]
    assert len(set(load.expected())) == 18


def test_terms_are_spread_over_all_peers() -> None:
    many = zones(16)
    load = workload("seed", many, 5, 4, 400)
    counts = [0] * 16
    for _, quads in load.events:
        for each in quads:
            place = next(
                number
                for number, zone in enumerate(many)
                if all(zone.sides[side].has(point(each)[side]) for side in (0, 1, 3))
            )
            counts[place] += 1
    halves = [count for count in counts if count]
    assert len(halves) == 8  # predicates, which are of queries, are not asked here
    assert max(halves) < 1.5 * min(halves)


def test_options_are_those_of_the_command_line() -> None:
    parser = argparse.ArgumentParser()
    options.add_part(parser)
    options.add_events(parser)
    parser.add_argument("--roads", type=int, default=3)
    told = parser.parse_args(["fleet", "--grid", "paper", "--hop-ms", "5", "--gateways", "4", "9"])
    plan = options.plan(told)
    assert (plan.part, plan.grid, plan.hop_s, plan.gateways) == ("fleet", "paper", 0.005, [4, 9])
    everything = options.plan(argparse.Namespace(events=7, roads=2, json=True))
    assert (everything.part, everything.events, everything.grid) == ("all", 7, "short")
