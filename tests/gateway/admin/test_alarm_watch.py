"""Alarms are raised once and cleared once, whatever sources do."""

import logging
import random
from datetime import UTC, datetime, timedelta

import pytest

from gateway.admin.alarm_watch import Alarm, AlarmWatch
from gateway.runtime.alarms import AlarmKind, Condition, Growth

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


def _wrong(where: str, what: str = "wrong", kind: AlarmKind = AlarmKind.DISK) -> Condition:
    return Condition(kind, where, what, "mend it")


def test_an_alarm_is_raised_once_and_keeps_its_time(caplog: pytest.LogCaptureFixture) -> None:
    now, wrong = [NOON], [_wrong("a")]
    watch = AlarmWatch([lambda: wrong], lambda: now[0])
    with caplog.at_level(logging.INFO, "gateway.admin.alarm_watch"):
        for _ in range(3):
            watch.look()
            now[0] += timedelta(seconds=1)
        wrong.clear()
        watch.look()
        watch.look()
    assert [each.message for each in caplog.records] == ["alarm_raised", "alarm_cleared"]
    assert (watch.raised, watch.cleared, watch.alarms) == (1, 1, ())
    wrong.append(_wrong("a"))
    assert [alarm.since for alarm in watch.look()] == [now[0]]


def test_texts_that_change_raise_nothing_anew() -> None:
    wrong = [_wrong("a", "10 left")]
    watch = AlarmWatch([lambda: wrong], lambda: NOON)
    told: list[tuple[list[str], list[str]]] = []
    watch.on_change(lambda came, went: told.append((_whats(came), _whats(went))))
    watch.look()
    wrong[0] = _wrong("a", "9 left")
    watch.look()
    assert told == [(["10 left"], []), (["9 left"], ["10 left"])]
    assert (watch.raised, watch.cleared) == (1, 0)


def test_a_source_that_raises_hides_no_other_and_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def broken() -> list[Condition]:
        raise RuntimeError("a defect")

    watch = AlarmWatch([broken, lambda: [_wrong("a")]], lambda: NOON)
    told, wrong = "what is wrong there cannot be told: RuntimeError('a defect')", "wrong"
    for _ in range(3):
        assert _whats(watch.look()) == [told, wrong]
    assert [each.message for each in caplog.records].count("alarm_source_failed") == 1


def test_any_number_of_one_kind_is_bounded_and_told() -> None:
    many = [_wrong(f"urn:{n}", kind=AlarmKind.BROKEN_MAPPING) for n in range(10_000)]
    watch = AlarmWatch([lambda: [*many, _wrong("disk")]], lambda: NOON)
    found = watch.look()
    assert len(found) == 102
    assert found[-1].condition.what == "there are 9900 more of this kind"
    assert watch.counts()["disk"] == 1.0


def test_who_follows_late_is_told_of_what_there_is() -> None:
    watch = AlarmWatch([lambda: [_wrong("a")]], lambda: NOON)
    watch.look()
    told: list[str] = []
    watch.on_change(lambda came, _: told.extend(_whats(came)))
    assert told == ["wrong"]


def test_what_listeners_were_told_adds_up_to_what_there_is() -> None:
    chance = random.Random(7)
    wrong: list[Condition] = []
    watch = AlarmWatch([lambda: wrong], lambda: NOON)
    known: set[Alarm] = set()

    def take(came: object, went: object) -> None:
        known.difference_update(went)  # type: ignore[arg-type]
        known.update(came)  # type: ignore[arg-type]

    watch.on_change(take)
    for _ in range(500):
        wrong[:] = [
            _wrong(f"urn:{chance.randrange(5)}", f"{chance.randrange(2)}", chance.choice(_SOME))
            for _ in range(chance.randrange(8))
        ]
        watch.look()
        assert known == set(watch.alarms)
        assert watch.raised - watch.cleared == len(known)


def test_a_counter_that_grows_now_and_then_is_one_alarm() -> None:
    count, now = [0.0], [0.0]
    growth = Growth(lambda: count[0], 60.0, lambda: now[0])
    seen = []
    for second in range(200):
        now[0] = float(second)
        count[0] += second in {10, 40, 100}
        seen.append(growth.is_recent)
    assert [n for n in range(1, 200) if seen[n] != seen[n - 1]] == [10, 160]


_SOME = (AlarmKind.DISK, AlarmKind.BROKEN_RULE)


def _whats(alarms: object) -> list[str]:
    return [alarm.condition.what for alarm in alarms]  # type: ignore[attr-defined]
