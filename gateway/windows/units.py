"""`Units`: in which unit the numbers of a stream's keys are, as the store has it.

With the first number of a key (sensor, property, feature) in another unit its earlier numbers leave
all windows; what arrives late in another unit than the present one, older than the newest of its
key, does not enter: the rule of `gateway.store.retention`, by which the store has its observations.
"""

from enum import Enum

from gateway.windows.element import Element, Key


class Verdict(Enum):
    """What becomes of an element that arrives."""

    ENTERS = 0
    CHANGES = 1
    """It enters, and the earlier numbers of its key go."""
    LATE = 2


class _Series:
    """The unit of a key's numbers, and its newest times: devices' own, and the gateway's."""

    __slots__ = ("moving", "steady", "unit")

    def __init__(self) -> None:
        self.unit: str | None = None
        self.steady: int | None = None
        self.moving: int | None = None

    def is_older(self, time: int) -> bool:
        return any(each is not None and time < each for each in (self.steady, self.moving))


class Units:
    """One for a stream that somebody sees."""

    def __init__(self) -> None:
        self._series: dict[Key, _Series] = {}

    def admit(self, key: Key, element: Element, now: int) -> Verdict:
        """An element of a key arrives now."""
        series = self._series.get(key)
        if series is None:
            series = self._series[key] = _Series()
        time = now if element.time is None else element.time
        verdict, unit = Verdict.ENTERS, element.unit
        if unit is not None and unit != series.unit:
            if series.unit is not None:
                if series.is_older(time):
                    return Verdict.LATE
                verdict = Verdict.CHANGES
            series.unit = unit
        if element.is_moving:
            if series.moving is None or time > series.moving:
                series.moving = time
        elif series.steady is None or time > series.steady:
            series.steady = time
        return verdict

    def is_of_another(self, key: Key, unit: str | None) -> bool:
        """Whether a number in this unit is one of before the present unit of its key."""
        series = self._series.get(key)
        present = None if series is None else series.unit
        return None not in (unit, present) and unit != present

    def copy(self) -> "Units":
        """The units as they are now; without times."""
        found = Units()
        for key, each in self._series.items():
            found._series.setdefault(key, _Series()).unit = each.unit
        return found

    def learn(self, past: "Units") -> None:
        """What is known of before, where nothing newer is known."""
        for key, before in past._series.items():
            series = self._series.setdefault(key, before)
            if series is not before:
                series.unit = series.unit or before.unit
                series.steady = _greater(series.steady, before.steady)
                series.moving = _greater(series.moving, before.moving)

    def jump(self, by: int) -> None:
        """The clock was put forward by so much, and the gateway's times with it."""
        for series in self._series.values():
            if series.moving is not None:
                series.moving += by


def _greater(one: int | None, other: int | None) -> int | None:
    if one is None or other is None:
        return other if one is None else one
    return max(one, other)
