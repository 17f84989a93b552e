"""`WindowClock`: the clock that windows live by: the steady one, anchored to the wall clock.

Someone who sets the wall clock, or a time server that does, would have windows lose or get back
what they have; so time goes on steadily, and only where the wall clock is off by more than a bound
is it put where that is, which is told, since the gateway's own times then move along.
"""

import time
from collections.abc import Callable
from typing import Self

JUMP_S = 2.0
"""A wall clock that is off by no more is followed by nobody, where nobody says otherwise."""


def _wall() -> int:
    return time.time_ns() // 1000


_STEADY = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def steady_microseconds() -> int:
    """Goes on while the machine is suspended, where it can tell: time has passed then."""
    return time.clock_gettime_ns(_STEADY) // 1000


class WindowClock:
    """`wall` and `steady` give µs, the first since the epoch; off by over `jump_s`, it jumps.

    `jumps` were noted, which put it forward by `moved` µs altogether.
    """

    def __init__(
        self, wall: Callable[[], int], steady: Callable[[], int], jump_s: float = 2.0
    ) -> None:
        self._wall = wall
        self._steady = steady
        self._most = int(jump_s * 1_000_000)
        self._offset = wall() - steady()
        self.jumps = self.moved = 0

    @classmethod
    def system(cls, jump_s: float = 2.0) -> Self:
        """By the clocks of the machine."""
        return cls(_wall, steady_microseconds, jump_s)

    @property
    def lead(self) -> int:
        """How far the wall clock is ahead of this one now, µs."""
        return self._wall() - self.now()

    @property
    def is_off(self) -> bool:
        """Whether the wall clock has jumped, which the next reading notes."""
        return abs(self.lead) > self._most

    def now(self) -> int:
        """The time, as no jump is noted, µs since the epoch."""
        return self._steady() + self._offset

    def reading(self, wall: int | None = None) -> tuple[int, int]:
        """The time, µs since the epoch, and by how much it was put forward since the last reading.

        `wall`: what the wall clock says, where it is known.

        >>> wall, steady = iter([100, 150, 7_000_000]), iter([0, 40, 60])
        >>> clock = WindowClock(lambda: next(wall), lambda: next(steady))
        >>> clock.reading(), clock.reading()
        ((140, 0), (7000000, 6999840))
        """
        if wall is None:
            wall = self._wall()
        now = self._steady() + self._offset
        by = wall - now
        if -self._most <= by <= self._most:
            return now, 0
        self._offset += by
        self.jumps += 1
        self.moved += by
        return wall, by
