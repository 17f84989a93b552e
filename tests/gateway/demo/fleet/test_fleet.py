"""A fleet at a gateway: an hour of every dialect with its faults, and what became of it."""

import asyncio

import pytest
from rich.console import Console

from adapters.families import FORMATS
from gateway.demo.fleet.comparison import ASPECTS, Compared, Difference
from gateway.demo.fleet.dialects import DIALECTS
from gateway.demo.fleet.session import FleetOptions, Outcome, run_fleet
from gateway.ingest.duplicates import Duplicates, Novelty
from gateway.ingest.quarantine import Quarantine
from gateway.ingest.silence import Absences
from gateway.ingest.windows.elements import ObservationElements

SMALL = 3 * len(DIALECTS)


def differences(outcome: Outcome) -> list[str]:
    return [str(each) for each in outcome.differences]


def counted(outcome: Outcome, aspect: str) -> dict[str, int]:
    found = next(each for each in outcome.compared if each.aspect == aspect)
    return dict(found.gateway)


def test_every_format_is_spoken_that_comes_by_mqtt() -> None:
    assert {dialect.family for dialect in DIALECTS} == set(FORMATS) - {"modbus"}


async def test_an_hour_of_all_dialects_with_a_restart_is_what_the_truth_says() -> None:
    outcome = await run_fleet(FleetOptions(SMALL, restart=True), Console(quiet=True))
    assert differences(outcome) == []
    assert outcome.elapsed_s == 3600
    assert [each.aspect for each in outcome.compared] == list(ASPECTS)
    dialects = len(DIALECTS)
    assert len(counted(outcome, "observations")) == dialects
    assert len(counted(outcome, "store")) == dialects
    assert len(counted(outcome, "quarantine")) == dialects
    assert sum(counted(outcome, "means").values()) > 2 * dialects
    assert sum(counted(outcome, "absences").values()) > 150
    assert sum(counted(outcome, "requests").values()) > 5
    assert sum(counted(outcome, "series").values()) > 5
    assert sum(counted(outcome, "observations").values()) > 100 * dialects


@pytest.mark.parametrize(
    ("part", "method", "instead", "aspect"),
    [
        (Duplicates, "judge", lambda *_, **__: Novelty.NEW, "observations"),
        (Absences, "due", lambda _: [], "absences"),
        (Quarantine, "add", lambda *_: None, "quarantine"),
        (ObservationElements, "entering", lambda *_: {}, "means"),
    ],
    ids=["duplicates", "absences", "quarantine", "means"],
)
async def test_a_gateway_that_is_wrong_is_seen(
    part: type, method: str, instead: object, aspect: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(part, method, instead)
    outcome = await run_fleet(FleetOptions(len(DIALECTS), minutes=12.0), Console(quiet=True))
    assert aspect in {each.aspect for each in outcome.differences}


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("restart", [False, True])
async def test_a_thousand_devices_for_an_hour(restart: bool) -> None:
    outcome = await run_fleet(FleetOptions(1000, restart=restart), Console(quiet=True))
    assert differences(outcome) == []
    assert outcome.messages.total() > 60_000


async def test_a_fleet_that_is_stopped_is_compared_as_far_as_it_came() -> None:
    stop = asyncio.Event()
    stop.set()
    outcome = await run_fleet(FleetOptions(SMALL), Console(quiet=True), stop)
    assert outcome.elapsed_s == 0
    assert outcome.messages.total() > 0
    assert differences(outcome) == []


def test_a_difference_says_who_has_what() -> None:
    lacking = Difference("senml", "store", True, "this")
    extra = Difference("senml", "store", False, "that")
    compared = Compared("store", {"senml": 1}, {"senml": 1}, (lacking, extra))
    outcome = Outcome((compared,))
    assert differences(outcome) == [
        "senml, store: the gateway lacks this",
        "senml, store: only the gateway has that",
    ]
