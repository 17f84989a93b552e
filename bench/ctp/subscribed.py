"""The way of a user: an `Engine` with windows, terms in, every subscription told by its callback.

Place on the way of the data: in `child`, at the level "engine". Beside what the other ways do, each
triple or element is a step of the engine, rows are terms again, and all subscribers are told.
"""

from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import ClassVar

from pyoxigraph import Triple

from bench.ctp.point import Point
from bench.ctp.workload import STREAM, WINDOW
from gateway.engine.engine import Engine
from gateway.engine.notification import SharedNotification
from gateway.rdf.solutions import Row
from gateway.windows.window import Window


class _Subscriber:
    """Whoever is told: counts and, while answers are checked, keeps the last notification."""

    __slots__ = ("last", "number", "told")
    keeps: ClassVar[bool] = False

    def __init__(self, number: int) -> None:
        self.number = number
        self.told = 0
        self.last: SharedNotification | None = None

    def take(self, notification: SharedNotification) -> None:
        """The callback."""
        self.told += 1
        if self.keeps:
            self.last = notification


class Subscribed:
    """Every text subscribed `copies` times, each with a callback of its own."""

    def __init__(self, point: Point, texts: Sequence[str], window: Sequence[Triple]) -> None:
        self.parsing_s = 0.0
        self._element = point.element
        self._subscribers: list[_Subscriber] = []
        self._checked: list[_Subscriber] = []
        self._engine = engine = Engine.open()
        started = process_time()
        for number, text in enumerate(texts):
            size = point.windows[number % len(point.windows)]
            windows: Mapping[str, Window] = {WINDOW: Window(stream=STREAM, triples=size)}
            for _ in range(point.copies):
                subscriber = _Subscriber(number)
                self._subscribers.append(subscriber)
                engine.subscribe(
                    text, windows=windows, output=point.output, listener=subscriber.take
                )
            self._checked.append(subscriber)  # the last one: whoever comes later is told the same
        self.construction_s = process_time() - started
        for triple in window:
            engine.push(STREAM, [triple])

    @property
    def delivered(self) -> int:
        """Notifications that subscribers were told so far."""
        return sum(each.told for each in self._subscribers)

    @property
    def distinct(self) -> int | None:
        """SPUs: queries that differ by more than names."""
        return len(self._engine.standing)

    @property
    def plans(self) -> int | None:
        """In all automata."""
        return sum(each.plans for each in self._engine.windowed.statuses())

    @property
    def matches(self) -> int:
        """Rows that the automata have found so far."""
        return sum(each.matches for each in self._engine.windowed.statuses())

    def step(
        self, gone: Sequence[Sequence[Triple]], come: Triple
    ) -> Iterator[tuple[int, str, Row]]:
        """What leaves, the engine knows by itself."""
        del gone
        for subscriber in self._checked:
            subscriber.last = None
        _Subscriber.keeps = True
        self._engine.push(STREAM, [come])
        _Subscriber.keeps = False
        for subscriber in self._checked:
            if subscriber.last is not None:
                results = subscriber.last.results
                yield from ((subscriber.number, "+", row) for row in results.added)
                yield from ((subscriber.number, "-", row) for row in results.removed)

    def run(self, stream: Sequence[Triple], start: int) -> tuple[int, float]:
        """Terms in, in elements of so many triples; callbacks called."""
        push, size = self._engine.push, self._element
        elements = [stream[at : at + size] for at in range(start, len(stream), size)]
        started = process_time()
        for element in elements:
            push(STREAM, element)
        return len(stream) - start, process_time() - started
