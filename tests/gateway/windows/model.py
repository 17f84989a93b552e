"""What a window has, by definition: worked out from all that it knows, after each step."""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import count
from zoneinfo import ZoneInfo

from pyoxigraph import Triple

from gateway.windows import Element, Window
from gateway.windows.element import Key

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
QUARTER = 900_000_000


@dataclass(eq=False)
class Known:
    """An element and its times, which may move."""

    element: Element
    event: int
    arrival: int
    order: int

    @property
    def is_moving(self) -> bool:
        return self.element.time is None or self.element.is_gateway_time

    def time(self, window: Window) -> int:
        return self.arrival if window.time == "arrival" else self.event


@cache
def is_midnight(quarter: int, zone: str) -> bool:
    """Whether another day has begun with this quarter of an hour since the epoch."""
    days = [
        (EPOCH + timedelta(microseconds=each * QUARTER)).astimezone(ZoneInfo(zone)).date()
        for each in (quarter - 1, quarter)
    ]
    return days[0] != days[1]


def boundaries_before(window: Window, time: int) -> Iterator[int]:
    """The boundaries that are not after `time`, the last one first; steps of hours or days."""
    step = window.step or 1
    if window.zone is None:
        yield from count(time - time % step, -step)
        return
    later = None
    for quarter in count(time // QUARTER, -1):
        if not is_midnight(quarter, window.zone):
            continue
        midnight = quarter * QUARTER
        if step < 24 * 4 * QUARTER:
            end = time + 1 if later is None else later
            yield from reversed(range(midnight, end, step))
        else:
            local = EPOCH + timedelta(microseconds=midnight)
            day = local.astimezone(ZoneInfo(window.zone)).date().toordinal()
            if (day - EPOCH.date().toordinal()) % (step // (24 * 4 * QUARTER)) == 0:
                yield midnight
        later = midnight


def span(window: Window, watermark: int) -> tuple[int, int]:
    """First time that is in, first time that is not in any more."""
    length = window.range or 0
    if window.step is None:
        return watermark - length + 1, watermark + 1
    before = boundaries_before(window, watermark)
    upper = next(before)
    if window.zone is None or length % window.step:
        return upper - length, upper
    for _ in range(length // window.step):
        low = next(before)
    return low, upper


def sees(window: Window, key: Key | None) -> bool:
    wanted = (window.sensor, window.property, window.feature)
    if key is None:
        return wanted == ((), (), ())
    return all(not few or each in few for few, each in zip(wanted, key, strict=True))


@dataclass
class Series:
    """What is known of a key: the unit of its last number, what it admitted."""

    unit: str | None = None
    admitted: list[Known] = field(default_factory=list)

    def admits(self, known: Known) -> bool:
        unit = known.element.unit
        is_other = unit is not None and self.unit is not None and unit != self.unit
        return not (is_other and any(known.event < each.event for each in self.admitted))

    def ends(self, known: Known) -> bool:
        """Take an element that is admitted; whether the earlier numbers go."""
        self.admitted.append(known)
        unit, before = known.element.unit, self.unit
        self.unit = unit or before
        return unit is not None and before is not None and unit != before


class RangeModel:
    """A window by range: what it heard of, and what it keeps."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.heard: list[Known] = []
        self.kept: list[Known] = []
        self.upper: int | None = None
        self.is_full = False

    def watermark(self, now: int) -> int | None:
        if self.window.clock == "wall":
            return now - self.window.lateness
        if not self.heard:
            return None
        return max(each.time(self.window) for each in self.heard) - self.window.lateness

    def hear(self, known: Known) -> None:
        self.heard.append(known)

    def take(self, known: Known, now: int) -> None:
        watermark = self.watermark(now)
        is_over = watermark is not None and known.time(self.window) <= watermark
        if not (self.window.late == "drop" and is_over):
            self.kept.append(known)

    def end_series(self, key: Key) -> None:
        self.kept = [each for each in self.kept if not is_number(each, key)]

    def jump(self, by: int) -> None:
        """Every element has moved; what had left has left."""

    def content(self, now: int) -> list[Known]:
        watermark = self.watermark(now)
        if watermark is None or self.is_full:
            return []
        low, upper = span(self.window, watermark)
        return [each for each in self.kept if low <= each.time(self.window) < upper]

    def settle(self, now: int) -> bool:
        """End a step: forget what is over or too much; whether a boundary was reached."""
        watermark = self.watermark(now)
        if watermark is None:
            return False
        low, upper = span(self.window, watermark)
        self.kept = [each for each in self.kept if each.time(self.window) >= low]
        limit = self.window.limit
        if limit is not None and len(self.kept) > limit:
            if self.window.overflow == "end":
                self.is_full = True
            self.kept.sort(key=lambda each: (each.time(self.window), each.order))
            del self.kept[:-limit]
        is_reached = self.window.step is not None and (self.upper is None or upper > self.upper)
        self.upper = upper
        return is_reached

    def triples(self, now: int) -> set[Triple]:
        return {triple for each in self.content(now) for triple in each.element.triples}

    def count(self, now: int) -> int:
        return len(self.content(now))


class CountModel:
    """A window by triples or elements: what it shows, and what waits for the boundary, by key."""

    def __init__(self, window: Window) -> None:
        self.window = window
        self.size = window.triples or window.elements or 0
        self.shown: dict[object, list[tuple[Known, tuple[Triple, ...]]]] = defaultdict(list)
        self.waiting: dict[object, list[tuple[Known, tuple[Triple, ...]]]] = defaultdict(list)
        self.came: dict[object, int] = defaultdict(int)
        self.is_full = False
        self.is_reached = False

    def hear(self, known: Known) -> None:
        """No clock of a stream moves it."""

    def jump(self, by: int) -> None:
        """Nor does a clock."""

    def take(self, known: Known, now: int) -> None:
        key = known.element.key if self.window.per else None
        triples = tuple(known.element.triples)
        parts = [(each,) for each in triples] if self.window.triples else [triples]
        step = self.window.step or 1
        for part in parts:
            self.waiting[key] = [*self.waiting[key], (known, part)][-self.size :]
            self.came[key] += 1
            if self.came[key] % step == 0:
                self.shown[key] = [*self.shown[key], *self.waiting[key]][-self.size :]
                self.waiting[key] = []
                self.is_reached = self.is_reached or self.window.step is not None
            self.limit()

    def limit(self) -> None:
        limit = self.window.limit
        held = [each for some in (self.shown, self.waiting) for of in some.values() for each in of]
        if limit is not None and len(held) > limit:
            self.is_full = self.is_full or self.window.overflow == "end"
            oldest = min(held, key=lambda pair: pair[0].order)
            for some in (self.shown, self.waiting):
                for key in some:
                    some[key] = [each for each in some[key] if each is not oldest]

    def end_series(self, key: Key) -> None:
        for some in (self.shown, self.waiting):
            for each in some:
                some[each] = [pair for pair in some[each] if not is_number(pair[0], key)]

    def settle(self, now: int) -> bool:
        is_reached, self.is_reached = self.is_reached, False
        return is_reached

    def triples(self, now: int) -> set[Triple]:
        if self.is_full:
            return set()
        parts = [part for shown in self.shown.values() for _, part in shown]
        return {triple for part in parts for triple in part}

    def count(self, now: int) -> int:
        return len({id(known) for shown in self.shown.values() for known, _ in shown})


Model = RangeModel | CountModel


def is_number(known: Known, key: Key) -> bool:
    return known.element.unit is not None and known.element.key == key


class StreamModel:
    """A stream that somebody sees: its windows, and the units of its numbers."""

    def __init__(self) -> None:
        self.models: list[Model] = []
        self.series: dict[Key, Series] = defaultdict(Series)
        self.known: list[Known] = []

    def open(self, window: Window, past: Iterable[Element], now: int) -> Model:
        model = CountModel(window) if window.range is None else RangeModel(window)
        own: dict[Key, Series] = defaultdict(Series)
        come: list[Known] = []
        for order, element in enumerate(past):
            arrival = element.arrival
            if arrival is None:
                arrival = now if element.time is None else element.time
            event = arrival if element.time is None else element.time
            known = Known(element, event, arrival, order - 1_000_000)
            self.known.append(known)
            model.hear(known)
            key = element.key
            if key is not None and not own[key].admits(known):
                continue
            if key is not None and own[key].ends(known):
                come = [each for each in come if not is_number(each, key)]
            come.append(known)
        self.learn(own)
        model = self.filled(window, come, now, model)
        model.settle(now)
        self.models.append(model)
        return model

    def learn(self, own: dict[Key, Series]) -> None:
        for key, series in own.items():
            self.series[key].unit = self.series[key].unit or series.unit
            self.series[key].admitted += series.admitted

    def filled(self, window: Window, come: list[Known], now: int, heard: Model) -> Model:
        """The window after its past, each element at its time."""
        model = CountModel(window) if window.range is None else RangeModel(window)
        waiting = iter(heard.heard if isinstance(heard, RangeModel) else come)
        for known in waiting:
            model.hear(known)
            key, unit = known.element.key, known.element.unit
            is_old = key is not None and unit is not None and unit != self.series[key].unit
            if known in come and sees(window, key) and not is_old:
                model.take(known, known.arrival)
        return model

    def arrive(self, element: Element, now: int, order: int) -> None:
        known = Known(element, now if element.time is None else element.time, now, order)
        self.known.append(known)
        for model in self.models:
            model.hear(known)
        key = element.key
        if key is not None:
            if not self.series[key].admits(known):
                return
            if self.series[key].ends(known):
                for model in self.models:
                    model.end_series(key)
        for model in self.models:
            if sees(model.window, key):
                model.take(known, now)

    def jump(self, by: int) -> None:
        for known in self.known:
            known.arrival += by
            known.event += by * known.is_moving


def as_past(known: Element, arrival: int) -> Element:
    """An element as a journal gives it back."""
    if known.time is None:
        return replace(known, time=arrival, is_gateway_time=True, arrival=arrival)
    return replace(known, arrival=arrival)
