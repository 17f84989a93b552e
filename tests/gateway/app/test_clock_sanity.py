"""A clock that cannot be right, and one that jumps."""

from datetime import UTC, datetime, timedelta

from gateway.app.alarms import ClockSanity
from gateway.runtime.clocks import Clocks


class _Clocks:
    def __init__(self, now: datetime) -> None:
        self.now, self.steady = now, 0.0

    def __call__(self) -> Clocks:
        return Clocks(lambda: self.now, lambda: self.steady)

    def pass_(self, seconds: float) -> None:
        self.now += timedelta(seconds=seconds)
        self.steady += seconds


def test_a_clock_of_the_year_2000_is_told_until_it_is_set() -> None:
    time = _Clocks(datetime(2000, 1, 1, 0, 5, tzinfo=UTC))
    clock = ClockSanity(time())
    (wrong,) = clock.conditions()
    assert wrong.what == "it says 2000-01-01 00:05, which is long ago"
    time.now = datetime(2026, 6, 1, tzinfo=UTC)
    (jumped,) = clock.conditions()
    assert jumped.what.startswith("it jumped by +833586900 s to 2026-06-01 00:00")
    time.pass_(901.0)
    assert list(clock.conditions()) == []


def test_time_that_passes_is_no_jump_but_an_hour_at_once_is() -> None:
    time = _Clocks(datetime(2026, 6, 1, tzinfo=UTC))
    clock = ClockSanity(time())
    for _ in range(100):
        time.pass_(1.0)
        time.now += timedelta(milliseconds=1)  # as NTP slews it
        assert list(clock.conditions()) == []
    time.now -= timedelta(hours=1)
    assert [each.where for each in clock.conditions()] == ["clock"]


def test_a_time_that_nobody_has_set_is_told_as_that() -> None:
    now, heard = datetime(2026, 6, 1, tzinfo=UTC), [False]
    clock = ClockSanity(Clocks(lambda: now, lambda: 0.0, lambda _: heard[0]))
    (told,) = clock.conditions()
    assert told.what == "it says 2026-06-01 00:00, which nobody has set since the start"
    heard[0] = True
    assert list(clock.conditions()) == []
