"""The benchmark of the federation, small: it measures the right thing, and says it in the form."""

import pytest

from bench.federation import growth, lamps, pair, resync
from bench.federation.told import federated
from bench.report import Experiment

pytest.importorskip("zenoh", reason="the extra federation is not installed")

MEMBERS = {
    "gateways",
    "subscriptions",
    "events",
    "delivered",
    "lost",
    "doubled",
    "useless",
    "late",
    "events_per_s",
    "cpu_us_per_event",
    "delay_ms",
    "messages",
    "bytes_per_event",
    "carrier",
    "tls",
    "versions",
}


def test_growth_tells_every_event_and_nothing_else() -> None:
    found = list(growth.measure(many=40, entries=500, roads=8, count=60))
    for experiment in found:
        assert isinstance(experiment, Experiment)
        assert experiment.matches, experiment
        runs = experiment.members["runs"]
        assert isinstance(runs, list)
        assert all(set(run) == MEMBERS for run in runs)
    assert "more to few" in {figure.name for figure in found[0].figures}  # type: ignore[union-attr]


def test_lamps_apart_are_told_as_those_of_one_gateway() -> None:
    experiment = lamps.measure(roads=8, rounds=1)
    assert experiment.matches
    assert set(experiment.members) == MEMBERS


def test_a_pair_loses_and_doubles_nothing() -> None:
    experiment = pair.measure(events=300, queries=12, runs=2)
    assert experiment.matches
    members = experiment.members
    assert set(members) == MEMBERS
    assert (members["delivered"], members["lost"], members["useless"]) == (300, 0, 0)
    assert members["tls"] is True


def test_a_resync_is_one_step_and_its_answer_that_of_the_source() -> None:
    one, every = resync.measure(quads=10_100)
    for experiment in (one, every):
        assert experiment.matches, experiment
        assert set(experiment.members) == MEMBERS
    few, all_ = (figure.value for found in (one, every) for figure in found.figures[2:])
    assert 20 * few < all_, "entries that are the same are not sent again"


def test_members_that_no_experiment_has_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="speed"):
        federated(speed=1)
