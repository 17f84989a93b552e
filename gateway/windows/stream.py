"""`Stream`: one stream, as somebody sees it: which of its elements go to which windows."""

from collections.abc import Iterable, Sequence
from typing import Protocol

from gateway.windows.before.filling import BEFORE, Filling
from gateway.windows.before.past import PastElement, known_since, missing_in, past_of
from gateway.windows.budget import Budget
from gateway.windows.content import Change, Content
from gateway.windows.counted import Counted, counted
from gateway.windows.element import Element, Key
from gateway.windows.jumps import put_forward
from gateway.windows.range_content import RangeContent
from gateway.windows.timeline import Timeline
from gateway.windows.units import Units, Verdict
from gateway.windows.window import Window


class Holder(Protocol):
    """Whoever holds elements for contents: a timeline for some, a counted one for itself.

    In a step: `arrive`, `drop` and `end_series` in the order of the stream; `advance`; `shed`, as
    often as there is not enough room; `finish`. `due`: when it asks for a step without arrivals.
    """

    due: int | None
    scheduled: int | None
    weight: int

    @property
    def elements(self) -> int:
        """How many it holds."""

    @property
    def contents(self) -> Sequence[Content]:
        """Who sees them."""

    def arrive(self, element: Element, now: int, order: int, weight: int | None) -> None:
        """Take an element up, which is in its place in the stream by `order`.

        Without a `weight` it is as the holder has it.
        """

    def drop(self) -> None:
        """Count an element that never enters."""

    def end_series(self, key: Key) -> None:
        """Let the numbers of a key go: its next one is in another unit."""

    def advance(self, now: int) -> None:
        """Let what is over leave, and what is due enter."""

    def shed(self) -> None:
        """Make room: by the oldest, or by a content that is full then."""

    def finish(self) -> list[Change]:
        """What the step did to the contents."""

    def close(self, content: Content, /) -> None:
        """Hold no longer what this one alone sees."""


class Stream:
    """Who sees a stream, and the units of its numbers since somebody does."""

    def __init__(self, budget: Budget) -> None:
        self.holders: dict[Holder, Window] = {}
        self._budget = budget
        self._units = Units()
        self._order = 0
        self._fillings: dict[Holder, Filling] = {}
        self._clocked: list[Timeline] = []
        self._shared: dict[object, list[Timeline]] = {}
        self._matching: dict[Key | None, tuple[Holder, ...]] = {}

    def open(
        self, window: Window, now: int, past: Iterable[Element], since: int | None
    ) -> RangeContent | Counted:
        """A new content; the next `finish` of its holder says whether it is full."""
        elements = self._past(window, past, now)
        content: RangeContent | Counted
        if window.range is None:
            content = self._count(window, elements, since)
        else:
            content = self._place(window, elements, now, since)
        if content.holder not in self.holders:
            self.holders[content.holder] = window
            self._look_up()
        return content

    def open_filling(self, filling: Filling, now: int) -> RangeContent | Counted:
        """A new content, empty as yet, that shares with nobody before it is filled."""
        window = filling.window
        self._units.learn(filling.units)
        filling.present = self._units.copy()
        content: RangeContent | Counted
        if window.range is None:
            content = counted(window, self._budget, filling.since)
            content.wait(filling.behind)
        else:
            timeline = Timeline(filling.watermark.clone(), self._budget)
            since = known_since(filling.since, timeline.watermark, now)
            content = RangeContent(window, timeline, since)
            timeline.place(content, (), now)
        self.holders[content.holder] = window
        self._fillings[content.holder] = filling
        self._look_up()
        if filling.is_done:
            self._filled(content)
        return content

    def fill(self, content: RangeContent | Counted, filling: Filling, most: int) -> None:
        """Let the next of its past in, unless it is filled; told by the next `finish`."""
        holder = content.holder
        if self._fillings.get(holder) is not filling:
            return
        if isinstance(holder, Timeline):
            holder.fill(holder.record(*each) for each in filling.take(most))
        elif filling.has_past:
            holder.fill(filling.take(most))
        else:
            holder.catch_up(most)
        if filling.is_done:
            self._filled(content)

    def _filled(self, content: RangeContent | Counted) -> None:
        del self._fillings[content.holder]
        if isinstance(content, RangeContent):
            self._shared.setdefault(_sharing(content.window), []).append(content.holder)
        else:
            content.wait(None)

    def remove(self, holder: Holder) -> None:
        """Nobody sees it by this holder any more."""
        window = self.holders.pop(holder, None)
        self._fillings.pop(holder, None)
        holder.scheduled = None
        if window is not None and isinstance(holder, Timeline):
            alike = self._shared.get(_sharing(window), [])
            if holder in alike:  # not before it is filled
                alike.remove(holder)
        self._look_up()

    def arrive(self, elements: Sequence[Element], now: int, touched: dict[Holder, None]) -> None:
        """Elements arrive, in this order; whom they concern is `touched`."""
        for element in elements:
            self._order += 1
            for timeline in self._clocked:
                timeline.watermark.hear(element, now)
                touched[timeline] = None
            key = element.key
            holders = self._matching.get(key)
            if holders is None:
                holders = self._match(key)
            if key is not None and not self._is_admitted(key, element, now, holders, touched):
                continue
            if holders:
                weight = element.weight() if type(element.triples) is tuple else None
                for holder in holders:
                    holder.arrive(element, now, self._order, weight)
                    touched[holder] = None

    def jump(self, by: int) -> list[Timeline]:
        """The clock was put forward by so much; the timelines, to be looked at at once."""
        self._units.jump(by)
        timelines = []
        for holder, window in list(self.holders.items()):
            if isinstance(holder, Timeline):
                filling = self._fillings.get(holder)
                self.remove(holder)
                for timeline in put_forward(holder, by):
                    self.holders[timeline] = window
                    if filling is not None:
                        filling.jump(by)
                        self._fillings[timeline] = filling
                    else:
                        self._shared.setdefault(_sharing(window), []).append(timeline)
                    timelines.append(timeline)
        self._look_up()
        return timelines

    def _is_admitted(
        self,
        key: Key,
        element: Element,
        now: int,
        holders: tuple[Holder, ...],
        touched: dict[Holder, None],
    ) -> bool:
        verdict = self._units.admit(key, element, now)
        if verdict is Verdict.ENTERS:
            return True
        for holder in holders:
            if verdict is Verdict.LATE:
                holder.drop()
                continue
            holder.end_series(key)
            touched[holder] = None
            filling = self._fillings.get(holder) if self._fillings else None
            if filling is not None and isinstance(holder, Timeline):
                filling.end_series(key)
        return verdict is Verdict.CHANGES

    def _past(self, window: Window, past: Iterable[Element], now: int) -> list[PastElement]:
        """What arrived before, without the numbers of which the unit has changed since."""
        units = Units()
        changed: dict[Key, int] = {}
        arrived: list[tuple[Element, int, bool]] = []
        for order, element in enumerate(past):
            key, arrival = element.key, element.arrival
            if arrival is None:
                arrival = now if element.time is None else element.time
            verdict = Verdict.ENTERS if key is None else units.admit(key, element, arrival)
            if key is not None and verdict is Verdict.CHANGES:
                changed[key] = order
            arrived.append((element, arrival, verdict is not Verdict.LATE))
        self._units.learn(units)
        return [
            PastElement(
                element,
                arrival,
                BEFORE + order,
                is_admitted
                and window.sees(element.key)
                and self._is_of_now(element, order, changed),
            )
            for order, (element, arrival, is_admitted) in enumerate(arrived)
        ]

    def _is_of_now(self, element: Element, order: int, changed: dict[Key, int]) -> bool:
        if element.key is None or element.unit is None:
            return True
        return order >= changed.get(element.key, order) and not self._units.is_of_another(
            element.key, element.unit
        )

    def _count(self, window: Window, past: list[PastElement], since: int | None) -> Counted:
        content = counted(window, self._budget, since)
        for element, arrival, order, is_seen in past:
            if is_seen:
                content.arrive(element, arrival, order, element.weight())
        return content

    def _place(
        self, window: Window, elements: list[PastElement], now: int, since: int | None
    ) -> RangeContent:
        past = past_of(window, elements, now, since)
        alike = self._shared.setdefault(_sharing(window), [])
        for timeline in alike if _is_sharing(window) else ():
            missing = missing_in(timeline, past, window, now)
            if missing is not None:
                break
        else:
            timeline, missing = Timeline(past.watermark, self._budget), past.records
            alike.append(timeline)
        content = RangeContent(window, timeline, past.since)
        timeline.place(content, missing, now)
        return content

    def _match(self, key: Key | None) -> tuple[Holder, ...]:
        found = [holder for holder, window in self.holders.items() if window.sees(key)]
        holders = self._matching[key] = tuple(found)
        return holders

    def _look_up(self) -> None:
        self._matching.clear()
        self._clocked = [
            holder
            for holder in self.holders
            if isinstance(holder, Timeline) and holder.watermark.is_of_stream
        ]


def _sharing(window: Window) -> object:
    """What windows that share a timeline have in common: all but how far back they go."""
    narrowed = (window.sensor, window.property, window.feature)
    clock = (window.lateness, window.late, window.time, window.clock)
    return narrowed, clock, window.step, window.zone, _is_sharing(window)


def _is_sharing(window: Window) -> bool:
    """One that lets its oldest go, or counts, knows less than others do."""
    return window.limit is None and window.overflow == "end"
