"""The truth of the fleet by itself: it must see a gateway that is wrong."""

from datetime import timedelta

import pytest

from gateway.demo.fleet.acts import Expected, Sent, StreamKey
from gateway.demo.fleet.channel import fixed
from gateway.demo.fleet.comparison import canonical, compare, observations
from gateway.demo.fleet.device import FAULT_EVERY, STEP_S
from gateway.demo.fleet.dialects import DIALECTS, devices
from gateway.demo.fleet.simulated import START
from gateway.demo.fleet.truth import OFFLINE, SILENCE, Cleared, Raised, Truth

STREAM: StreamKey = ("urn:fleet:x-0:t", "urn:p", "urn:fleet:x-0")


def sent(reading: str, value: str = "1", **members: object) -> Sent:
    seen = Expected(STREAM, reading, value, "integer")
    return Sent("c", "t", b"", (seen,), **members)  # type: ignore[arg-type]


def test_a_reading_is_observed_once_when_it_first_comes() -> None:
    truth = Truth()
    for seconds, reading in enumerate("aab"):
        truth.take(sent(reading), START + timedelta(seconds=seconds), "x")
    assert [each.ingested_at.second for each in truth.observed.values()] == [0, 2]


def test_silence_is_raised_after_the_promise_and_cleared_by_the_next_sign_of_life() -> None:
    truth = Truth()
    promise = {STREAM: 60.0}
    truth.take(sent("a", promises=promise), START, "x")
    for seconds in (55, 60, 65):
        truth.advance(START + timedelta(seconds=seconds))
    back = START + timedelta(seconds=70)
    truth.take(sent("b", promises=promise), back, "x")
    assert truth.raised == [Raised(STREAM, START, SILENCE, START + timedelta(seconds=60))]
    assert truth.cleared == [Cleared(STREAM, back)]


def test_who_is_offline_is_not_silent_too() -> None:
    truth = Truth()
    truth.take(sent("a", promises={STREAM: 60.0}), START, "x")
    truth.take(Sent("c", "lwt", b"", gone=(STREAM,)), START, "x")
    truth.advance(START + timedelta(hours=1))
    assert truth.raised == [Raised(STREAM, START, OFFLINE, START)]


@pytest.mark.parametrize("field", ["value", "time", "missing", "extra"])
def test_each_field_that_differs_is_found(field: str) -> None:
    truth, gateway = Truth(), Truth()
    truth.take(sent("a"), START, "x")
    if field != "missing":
        late = timedelta(microseconds=field == "time")
        gateway.take(sent("a", "2" if field == "value" else "1"), START + late, "x")
    if field == "extra":
        gateway.take(sent("b", "3"), START, "x")
    found = compare("observations", observations(truth), observations(gateway), lambda _: "x")
    assert len(found.differences) == {"missing": 1, "extra": 1}.get(field, 2)


def test_equal_seeds_make_equal_fleets() -> None:
    def played(seed: int) -> list[str]:
        return [
            repr(act)
            for device in devices(len(DIALECTS), seed)
            for seconds in range(0, 600, STEP_S)
            for act in device.act(START + timedelta(seconds=seconds), seconds)
        ]

    assert played(1) == played(1)
    assert played(1) != played(2)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda each: each.__name__)
def test_three_devices_show_each_fault_within_an_hour(dialect: type) -> None:
    turns = 3600 // dialect.period_s - 5 * FAULT_EVERY  # type: ignore[attr-defined]
    assert 3 * (turns // FAULT_EVERY) >= len(dialect.faults)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("raw", "places", "text"), [(-5, 1, "-0.5"), (0, 2, "0.00"), (7, 0, "7"), (-2137, 2, "-21.37")]
)
def test_fixed_point(raw: int, places: int, text: str) -> None:
    assert fixed(raw, places) == text


def test_canonical_numbers() -> None:
    assert [canonical(each) for each in ("0.00", "-2.50", "100", "1e3")] == [
        "0",
        "-2.5",
        "100",
        "1000",
    ]
