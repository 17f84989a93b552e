"""`Watermark`: how far a window by range has come, and where it begins and ends by that.

W is the clock less the lateness, or, with a stream's clock, its greatest time less the lateness.
A continuous window ends behind W, at W + 1 µs; a stepped one at the last boundary that W reached.
Every window is {τ | low ≤ τ < upper}.
"""

from copy import copy

from gateway.windows.boundaries import Boundaries
from gateway.windows.element import Element
from gateway.windows.window import Window


class Watermark:
    """The watermark of windows that differ in their range alone. Times are µs since the epoch.

    `drops`: what comes when its time is over never enters (`is_dropped`).
    """

    def __init__(self, window: Window) -> None:
        self.is_arrival = window.time == "arrival"
        self.is_of_stream = window.clock == "stream"
        self._lateness = window.lateness
        self.drops = window.late == "drop"
        self._boundaries = None if window.step is None else Boundaries(window.step, window.zone)
        self._last = self._next = 0
        self._greatest: int | None = None
        self._greatest_moving: int | None = None

    @property
    def is_stepped(self) -> bool:
        """Whether it moves from boundary to boundary."""
        return self._boundaries is not None

    @property
    def greatest(self) -> int | None:
        """The greatest time of the stream, where its clock is the stream's."""
        known = [each for each in (self._greatest, self._greatest_moving) if each is not None]
        return max(known, default=None)

    def clone(self) -> "Watermark":
        """Another one that has come as far."""
        return copy(self)

    def time(self, element: Element, now: int) -> int:
        """The time by which an element is in a window, that arrives now."""
        if self.is_arrival or element.time is None:
            return now
        return element.time

    def hear(self, element: Element, now: int) -> None:
        """Let the clock of the stream go on to an element, whether a window has that or not."""
        time = self.time(element, now)
        if self.is_arrival or element.is_moving:
            if self._greatest_moving is None or time > self._greatest_moving:
                self._greatest_moving = time
        elif self._greatest is None or time > self._greatest:
            self._greatest = time

    def value(self, now: int) -> int | None:
        """W at this moment of the clock; None: the stream has not begun."""
        if not self.is_of_stream:
            return now - self._lateness
        greatest = self.greatest
        return None if greatest is None else greatest - self._lateness

    def is_dropped(self, time: int, now: int) -> bool:
        """Whether what arrives now, of this time, is not to enter: its time is over."""
        if not self.drops:
            return False
        value = self.value(now)
        return value is not None and time <= value

    def upper(self, now: int) -> int | None:
        """What is before this is in; None: nothing is."""
        return self.upper_at(self.value(now))

    def upper_at(self, value: int | None) -> int | None:
        """The same, W being this."""
        if value is None:
            return None
        if self._boundaries is None:
            return value + 1
        if not self._last <= value < self._next:
            self._last = self._boundaries.last(value)
            self._next = self._boundaries.next(self._last)
        return self._last

    def low(self, upper: int, length: int) -> int:
        """What is before this is not in a window of this range that ends at `upper`."""
        return upper - length if self._boundaries is None else self._boundaries.back(upper, length)

    def due(self, leaving: int | None, entering: int | None) -> int | None:
        """When it is to be looked at again, by the clock; None: when something arrives.

        `leaving`: the earliest low from which on something is not in any more, `entering`: the time
        of the next that waits; of a continuous window.
        """
        if self.is_of_stream:
            return None
        if self._boundaries is not None:
            return self._next + self._lateness
        if leaving is None or (entering is not None and entering < leaving):
            leaving = entering
        return None if leaving is None else leaving + self._lateness

    def jump(self, by: int) -> None:
        """The clock was put forward by so much."""
        if self._greatest_moving is not None:
            self._greatest_moving += by
