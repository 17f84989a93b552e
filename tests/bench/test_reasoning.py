"""`bench reasoning`: its parts say the members of the experiment, and a wrong closure is found."""

import json
from typing import Any

import pytest

from bench.command import run
from bench.reasoning import reasoning
from bench.reasoning.part import closure, memory, ontology, yardstick
from bench.reasoning.reading_cost import reading_cpu_us
from bench.report import Experiment

SPREAD = {"p50", "p99"}
KIND = {"triples", "add_us", "delete_us", "store_add_us", "store_remove_us"}


def test_closure_is_that_of_reasonable_and_the_same_after_a_round_trip() -> None:
    found = closure(1)
    assert (found["asserted"], found["closure"]) == (100_543, 137_931)
    assert found["round_trip_exact"]
    assert found["digest"] == yardstick(1)["digest"]
    assert found["axiom_change"]["individuals"] == 93
    assert found["axiom_change"]["cpu_ms"] > 0
    for each in found["kinds"].values():
        assert each.keys() == KIND
        assert each["add_us"].keys() == SPREAD
        assert 0 < each["add_us"]["p50"] <= each["add_us"]["p99"]


def test_brick_is_read_whole() -> None:
    found = ontology(1)
    assert found["triples"] == 62_083
    assert found["cpu_s"] > 0


def test_a_reading_costs_something_in_each_circumstance() -> None:
    found = reading_cpu_us(60)
    assert list(found) == ["off", "unread", "sosa", "heard", "all_heard"]
    assert all(us > 0 for us in found.values())


def _told(**changes: Any) -> dict[str, Any]:
    spread = {"p50": 1.0, "p99": 2.0}
    kind = dict.fromkeys(KIND - {"triples"}, spread)
    closure_ = {
        "asserted": 100_543,
        "closure": 137_931,
        "closure_cpu_s": 0.5,
        "kinds": {"Course": {"triples": 2.0, **kind}},
        "round_trip_exact": True,
        "axiom_change": {"individuals": 93, "cpu_ms": 2.0, "closure_share": 0.005},
        "digest": "same",
    }
    parts: dict[str, Any] = {
        "closure": closure_ | changes,
        "reasonable": {"cpu_s": 2.0, "digest": "same"},
        "memory": {"per_derived": 500.0, "per_mirrored": 300.0},
        "ontology": {"triples": None, "cpu_s": None, "memory_bytes": None},
        "readings": {"off": 1.0, "unread": 1.0, "sosa": 1.0, "heard": 1.0, "all_heard": 1.0},
    }
    return parts


MEMBERS = {
    "universities",
    "asserted",
    "closure",
    "closure_cpu_s",
    "kinds",
    "round_trip_exact",
    "axiom_change",
    "ontology",
    "reading_cpu_us",
    "memory_bytes",
}


def test_command_writes_the_members_of_the_experiment(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = _told()
    monkeypatch.setattr(reasoning, "_part", lambda name, _: parts[name])
    assert run(["reasoning", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["experiment"] == "reasoning"
    assert found.keys() >= MEMBERS
    assert found["closure_cpu_s"] == {"engine": 0.5, "reasonable": 2.0}
    assert found["ontology"] == {"triples": None, "cpu_s": None, "memory_bytes": None}


@pytest.mark.parametrize(
    "changes",
    [{"closure": 137_930}, {"round_trip_exact": False}, {"digest": "other"}],
    ids=["size", "round-trip", "other-quads"],
)
def test_a_wrong_closure_is_a_failure(
    changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = _told(**changes)
    monkeypatch.setattr(reasoning, "_part", lambda name, _: parts[name])
    (found,) = reasoning.measure(1)
    assert isinstance(found, Experiment)
    assert not found.matches


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_memory_of_derived_and_mirrored_quads_is_found() -> None:
    found = memory(1)
    assert 0 < found["per_mirrored"] < 2000
    assert 0 < found["per_derived"] < 2000
