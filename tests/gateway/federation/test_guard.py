"""What one member may do: how much waits, what it costs, how often it may be wrong."""

import pytest

from gateway.federation.guard import Guard
from gateway.federation.limits import GuardLimits
from gateway.federation.wire import WireError
from gateway.runtime.alarms import AlarmKind

LIMITS = GuardLimits(messages=3, bytes=100, work_s=2.0, misses=4, hold_s=10.0, longest_hold_s=40.0)


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def guard(clock: Clock) -> Guard:
    return Guard(LIMITS, clock)


def test_messages_without_end_close_the_link_of_their_sender_alone(guard: Guard) -> None:
    assert [guard.admit("evil", 1) for _ in range(5)] == [True, True, True, False, False]
    assert "without end" in guard.closed["evil"]
    assert guard.admit("good", 100)
    assert not guard.is_closed("good")


def test_bytes_without_end_close_the_link(guard: Guard) -> None:
    assert guard.admit("evil", 60)
    assert not guard.admit("evil", 60)
    assert guard.is_closed("evil")


def test_what_was_taken_waits_no_longer(guard: Guard) -> None:
    for _ in range(100):
        assert guard.admit("good", 90)
        guard.taken("good", 90)


def test_work_comes_back_with_time(guard: Guard, clock: Clock) -> None:
    guard.spent("busy", 1.9)
    clock.now = 30.0
    guard.spent("busy", 0.9)
    with pytest.raises(WireError, match="2 s of work"):
        guard.spent("busy", 0.5)


def test_misses_are_counted_by_member(guard: Guard) -> None:
    for _ in range(4):
        guard.missed("evil")
        guard.missed("good")
    with pytest.raises(WireError, match="jumped"):
        guard.missed("evil")


def test_a_link_opens_again_after_twice_the_time(guard: Guard, clock: Clock) -> None:
    holds = []
    for _ in range(4):
        guard.close("evil", "why")
        begun = clock.now
        while not guard.reopened():
            clock.now += 1.0
        holds.append(clock.now - begun)
    assert holds == [10.0, 20.0, 40.0, 40.0]
    clock.now += 500.0
    guard.close("evil", "why")
    clock.now += 10.0
    assert guard.reopened() == ["evil"]


def test_two_lives_that_speak_in_turns_are_two_gateways(guard: Guard) -> None:
    for life in ("a", "a", "b", "b", "c"):
        guard.lived("cellar", life)
    guard.lived("hall", "b")
    with pytest.raises(WireError, match="copied"):
        guard.lived("cellar", "b")


def test_who_is_a_member_no_longer_is_forgotten(guard: Guard) -> None:
    guard.close("evil", "why")
    guard.forget("evil")
    assert not guard.closed
    assert not list(guard.conditions())


def test_a_closed_link_is_an_alarm_whose_text_stays(guard: Guard, clock: Clock) -> None:
    guard.close("evil", "quads that nobody asked for")
    (told,) = guard.conditions()
    assert (told.kind, told.where) == (AlarmKind.FEDERATION, "evil")
    assert "quads that nobody asked for" in told.what
    assert "federation remove evil" in told.what_to_do
    clock.now = 5.0
    assert list(guard.conditions()) == [told]
