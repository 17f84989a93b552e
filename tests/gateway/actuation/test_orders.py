"""The state machine: decisions without I/O, by a clock that is told."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from pyoxigraph import Literal

from gateway.actuation.actuator import Actuator
from gateway.actuation.orders import ActuationRequest, Confirmation, Order, Orders
from gateway.actuation.values import Reading, value_of

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
SECOND = timedelta(seconds=1)
LAMP = Actuator.of(
    "urn:lamp",
    {"topic": "lamp/set", "property": "urn:p", "feature": "urn:f", "sensor": "urn:s"},
    ["ON", "OFF"],
)
STREAM = ("urn:s", "urn:p", "urn:f")


def find(iri: str) -> Actuator | None:
    return LAMP if iri == LAMP.iri else None


def request(name: str, value: str = "ON", **members: object) -> ActuationRequest:
    return replace(ActuationRequest(f"urn:{name}", LAMP.iri, value_of(value)), **members)  # type: ignore[arg-type]


def seen(value: str, at: datetime = NOW, **members: object) -> Confirmation:
    return replace(Confirmation("urn:o", STREAM, Reading(value_of(value)), at), **members)  # type: ignore[arg-type]


def sent(orders: Orders, one: ActuationRequest, now: datetime = NOW, time_s: float = 0.0) -> Order:
    _, (order,) = orders.decide([one], find, now)
    orders.sent(order, now, time_s)
    return order


def test_order_has_the_message_of_the_device() -> None:
    order = sent(Orders(30.0), request("a"))
    assert (order.message.topic, order.message.payload, order.message.retain) == (
        "lamp/set",
        b"ON",
        False,
    )


def test_of_several_requests_the_last_is_ordered_and_takes_the_place_of_all() -> None:
    orders = Orders(30.0)
    sent(orders, request("a"))
    refusals, (order,) = orders.decide([request("b"), request("c", "OFF"), request("d")], find, NOW)
    assert (refusals, order.request.iri) == ([], "urn:d")
    assert order.older == ("urn:a", "urn:b", "urn:c")


def test_request_that_is_refused_takes_nobodys_place() -> None:
    orders = Orders(30.0)
    sent(orders, request("a"))
    (refusal,), decided = orders.decide([request("b", "BLUE")], find, NOW)
    assert (refusal.request.iri, decided) == ("urn:b", [])
    assert [each.iri for each in orders.pending] == ["urn:a"]


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (request("a", actuator="urn:other"), "there is no actuator"),
        (replace(request("a"), value=None), "several values"),
        (request("a", is_old=True), "was stopped"),
        (request("a", requested_at=NOW - 31 * SECOND), "longer ago"),
    ],
)
def test_request_that_cannot_be_fulfilled_is_refused(one: ActuationRequest, reason: str) -> None:
    (refusal,), decided = Orders(30.0).decide([one], find, NOW)
    assert reason in refusal.reason
    assert not decided


def test_request_asked_for_in_time_or_later_is_fulfilled() -> None:
    for requested_at in (NOW - 29 * SECOND, NOW + 3600 * SECOND):
        assert Orders(30.0).decide([request("a", requested_at=requested_at)], find, NOW)[1]


@pytest.mark.parametrize(
    ("reading", "is_confirmed"),
    [
        (seen("ON"), True),
        (seen("true"), True),
        (seen("OFF"), False),
        (seen("ON", NOW - SECOND), False),
        (seen("ON", stream=("urn:other", "urn:p", "urn:f")), False),
        (seen("ON", stream=("urn:s", "urn:other", "urn:f")), False),
        (seen("ON", stream=("urn:s", "urn:p", "urn:other")), False),
    ],
)
def test_reading_confirms_what_it_says(reading: Confirmation, is_confirmed: bool) -> None:
    orders = Orders(30.0)
    sent(orders, request("a"))
    assert bool(orders.observed(reading)) is is_confirmed
    assert bool(orders.pending) is not is_confirmed
    assert bool(orders.subjects) is not is_confirmed


def test_nothing_confirms_twice() -> None:
    orders = Orders(30.0)
    sent(orders, request("a"))
    assert [each.iri for each in orders.observed(seen("ON"))] == ["urn:a"]
    assert orders.observed(seen("ON")) == []
    assert orders.due(1e9) == []


def test_time_limit_ends_what_nothing_confirmed() -> None:
    orders = Orders(30.0)
    assert orders.wait_s(0.0) is None
    sent(orders, request("a"), time_s=100.0)
    assert orders.wait_s(110.0) == 20.0
    assert orders.due(129.9) == []
    assert [each.iri for each in orders.due(130.0)] == ["urn:a"]
    assert orders.wait_s(130.0) is None


def test_time_limit_of_the_actuator_goes_first() -> None:
    orders = Orders(30.0)
    quick = replace(LAMP, time_limit_s=2.0)
    _, (order,) = orders.decide([request("a")], lambda _: quick, NOW)
    orders.sent(order, NOW, 0.0)
    assert orders.wait_s(0.0) == 2.0


def test_recalled_one_has_the_rest_of_its_time() -> None:
    orders = Orders(30.0)
    assert orders.recall(request("a"), LAMP, NOW - 10 * SECOND, NOW, 500.0) is None
    assert orders.wait_s(500.0) == 20.0
    assert orders.recall(request("b"), LAMP, NOW - 5 * SECOND, NOW, 500.0) == "urn:a"
    assert orders.recall(request("c"), LAMP, NOW - 9 * SECOND, NOW, 500.0) == "urn:c"
    assert [each.iri for each in orders.pending] == ["urn:b"]


@pytest.mark.parametrize(("age_s", "left_s"), [(3600, 0.0), (-3600, 30.0)])
def test_recalled_one_with_another_clock_has_no_more_than_its_time(
    age_s: int, left_s: float
) -> None:
    orders = Orders(30.0)
    orders.recall(request("a"), LAMP, NOW - age_s * SECOND, NOW, 0.0)
    assert orders.wait_s(0.0) == left_s


def test_any_sensor_confirms_where_none_is_named() -> None:
    anybody = replace(LAMP, sensor="")
    orders = Orders(30.0)
    _, (order,) = orders.decide([request("a")], lambda _: anybody, NOW)
    orders.sent(order, NOW, 0.0)
    assert orders.observed(seen("ON", stream=("urn:other", "urn:p", "urn:f")))


def test_literal_of_a_reading_may_have_a_unit() -> None:
    celsius, kelvin = (f"http://qudt.org/vocab/unit/{name}" for name in ("DEG_C", "K"))
    heater = Actuator.of("urn:h", {"topic": "h", "unit": "°C", "tolerance": "0.1"})
    assert heater.is_confirmed(Literal("20"), Reading(Literal("20.05"), celsius))
    assert heater.is_confirmed(Literal("20"), Reading(Literal("293.15"), kelvin))
    assert not heater.is_confirmed(Literal("20"), Reading(Literal("20"), kelvin))
    assert not heater.is_confirmed(Literal("20"), Reading(Literal("20.2"), celsius))
