"""`Boundaries`: the instants at which a stepped window moves.

Without a zone they are the multiples of the step from the epoch (1970-01-01T00:00:00Z). Within a
zone a step of whole days has them at the zone's midnights, of the days whose number since
1970-01-01 is a multiple; such a day may have 23 or 25 hours. A shorter step has them so many
steps, by the clock, after each midnight; where steps do not divide a day, the next midnight cuts
the last one short. A day whose midnight the zone leaves out begins with its first instant
(`datetime.fold` 0).
"""

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from gateway.windows.durations import DAY_US

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_EPOCH_DAY = date(1970, 1, 1).toordinal()
_MICROSECOND = timedelta(microseconds=1)
_FIRST_US = (datetime(2, 1, 1, tzinfo=UTC) - _EPOCH) // _MICROSECOND
_LAST_US = (datetime(9998, 12, 30, tzinfo=UTC) - _EPOCH) // _MICROSECOND


def instant(time: int) -> datetime | None:
    """The instant, in UTC, of so many µs since the epoch; None outside the years 2 to 9998."""
    if not _FIRST_US <= time <= _LAST_US:
        return None
    return _EPOCH + timedelta(microseconds=time)


class Boundaries:
    """The boundaries of one step, µs, in one zone. Zones know the years 2 to 9998; else UTC."""

    def __init__(self, step: int, zone: str | None = None) -> None:
        self._step = step
        self._zone = None if zone is None else ZoneInfo(zone)

    def last(self, time: int) -> int:
        """The last boundary that is not after `time`."""
        if not self._is_zoned(time):
            return time - time % self._step
        days = self._step // DAY_US
        day = self._day(time)
        if days:
            return self._midnight(day - (day - _EPOCH_DAY) % days)
        midnight = self._midnight(day)
        return time - (time - midnight) % self._step

    def next(self, boundary: int) -> int:
        """The first boundary after this one."""
        if not self._is_zoned(boundary):
            return boundary + self._step
        days = max(self._step // DAY_US, 1)
        day = self._day(boundary)
        later = boundary
        while later <= boundary:
            day += days - (day - _EPOCH_DAY) % days
            later = self._midnight(day)
        return later if self._step >= DAY_US else min(boundary + self._step, later)

    def back(self, boundary: int, range_: int) -> int:
        """Where a range begins that ends at a boundary.

        Within a zone a range of some steps begins so many boundaries before; any other so much time
        before. Costs O(days of the range).
        """
        steps, rest = divmod(range_, self._step)
        if rest or not self._is_zoned(boundary) or not self._is_zoned(boundary - range_):
            return boundary - range_
        days = self._step // DAY_US
        if days:
            return self._midnight(self._day(boundary) - days * steps)
        return self._steps_back(boundary, steps)

    def _steps_back(self, boundary: int, steps: int) -> int:
        day = self._day(boundary)
        midnight = self._midnight(day)
        place = (boundary - midnight) // self._step
        while steps > place:
            steps -= place + 1
            day -= 1
            end, midnight = midnight, self._midnight(day)
            place = -((midnight - end) // self._step) - 1
        return midnight + (place - steps) * self._step

    def _is_zoned(self, time: int) -> bool:
        return self._zone is not None and _FIRST_US <= time <= _LAST_US

    def _day(self, time: int) -> int:
        """The ordinal of the day that it is in the zone; the last one that has begun."""
        local = (_EPOCH + timedelta(microseconds=time)).astimezone(self._zone)
        day = local.toordinal()
        while self._midnight(day) > time:
            day -= 1
        while self._midnight(day + 1) <= time:
            day += 1
        return day

    def _midnight(self, day: int) -> int:
        midnight = datetime.fromordinal(day).replace(tzinfo=self._zone)
        return (midnight.astimezone(UTC) - _EPOCH) // _MICROSECOND
