"""`Filling`: what came before a window was opened, put into it bit by bit.

    past elements, in any thread -> Filling -> Streams.open_filling -> Streams.fill, repeated

Place: beside `Streams.open`, whose `past` enters at once, which for many elements holds up whoever
waits for the thread. What arrives meanwhile enters a window by range as ever, and one by triples or
elements behind its past; the content is what it would be with all of its past once `is_done`.
"""

from collections import deque
from collections.abc import Iterable

from gateway.windows.element import Element, Key
from gateway.windows.units import Units, Verdict
from gateway.windows.watermark import Watermark
from gateway.windows.window import Window

BEFORE = -(1 << 62)
"""The first of past elements is numbered so: all are before those that arrive, from 1 on."""

Arrival = tuple[Element, int, int, int]
"""An element that arrived meanwhile: its clock, order and weight."""


class Filling:
    """The elements of one window, oldest arrival first; `since`: from when on that is everything.

    `units` are those of its stream's keys at the end of it, `watermark` is how far a stream's clock
    came by it. `present`: units as the window is opened. `behind`: what arrived meanwhile, or whose
    numbers ended, and has to wait.
    """

    def __init__(
        self, window: Window, past: Iterable[Element] = (), since: int | None = None
    ) -> None:
        self.window = window
        self.since = since
        self.units = self.present = Units()
        self.watermark = Watermark(window)
        self.behind: deque[Arrival | Key] = deque()
        self._changed: dict[Key, int] = {}
        self._waiting: deque[tuple[Element, int, int]] = deque()
        self._order = BEFORE
        self.add(past)

    def __len__(self) -> int:
        """How many are still to be put into it."""
        return len(self._waiting) + len(self.behind)

    @property
    def is_done(self) -> bool:
        """Whether all have been."""
        return not self._waiting and not self.behind

    @property
    def has_past(self) -> bool:
        """Whether some of what came before is still to be put in."""
        return bool(self._waiting)

    def add(self, past: Iterable[Element]) -> None:
        """Further elements, behind those that are there."""
        watermark, sees = self.watermark, self.window.sees
        for element in past:
            self._order += 1
            key, arrival = element.key, element.arrival
            if arrival is None:
                arrival = element.time or 0
            verdict = Verdict.ENTERS
            if key is not None:
                verdict = self.units.admit(key, element, arrival)
                if verdict is Verdict.CHANGES:
                    self._changed[key] = self._order
            if watermark.is_of_stream:
                watermark.hear(element, arrival)
            if verdict is not Verdict.LATE and sees(key):
                time = watermark.time(element, arrival)
                if not watermark.drops or not watermark.is_dropped(time, arrival):
                    self._waiting.append((element, time, self._order))

    def end_series(self, key: Key) -> None:
        """Without the numbers of a key that still wait: its next one is in another unit."""
        self._changed[key] = self._order + 1

    def take(self, most: int) -> list[tuple[Element, int, int]]:
        """The next elements with time and order, without numbers of before a change of unit."""
        taken = [self._waiting.popleft() for _ in range(min(most, len(self._waiting)))]
        return [each for each in taken if self._is_of_now(each[0], each[2])]

    def jump(self, by: int) -> None:
        """The clock was put forward by so much, and the gateway's times with it."""
        is_arrival = self.watermark.is_arrival
        self._waiting = deque(
            (element, time + by if is_arrival or element.is_moving else time, order)
            for element, time, order in self._waiting
        )

    def _is_of_now(self, element: Element, order: int) -> bool:
        key, unit = element.key, element.unit
        if key is None or unit is None:
            return True
        is_newest = order >= self._changed.get(key, order)
        return is_newest and not self.present.is_of_another(key, unit)
