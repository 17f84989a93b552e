"""The ways of telling aggregates over windows.

Place on the way of the data: in `child`. All are given the same readings and must tell the same.

- *sliding*: the gateway's engine, with windows.
- *before*: the engine without windows, whose store has the readings of the range in a graph; each
  reading is one UPDATE that adds its quads and removes those of the one that leaves.
- *asked*: a store that has the window as a graph, asked again after each reading: the reference.
"""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from time import process_time
from typing import Protocol

from pyoxigraph import NamedNode, Quad, QuerySolutions, Store, Triple

from bench.windows.case import SECOND_US, Case
from bench.windows.readings import PERIOD_US, SENSORS_A_ROOM, START_US, Reading
from bench.windows.texts import STREAM, WINDOW, looks_at_rooms, occupancy, text, triples
from gateway.engine import Engine, Notification
from gateway.engine.request import SubscribeRequest, UpdateRequest
from gateway.rdf.delta import Delta
from gateway.rdf.solutions import Row
from gateway.rdf.terms import Term
from gateway.store.update import UpdatePlan, compile_update
from gateway.windows.element import Element
from gateway.windows.window import Window

Told = Iterator[tuple[int, str, Row]]
"""Number of a subscription, + or -, a row."""

FLIPPED = 100
"""So many readings after one another, a room is entered or left."""

_GRAPH = NamedNode(WINDOW)


class Way(Protocol):
    """A way, which has the readings that fill the windows and all subscriptions."""

    def told(self, reading: Reading) -> Told:
        """Take one reading, and say what is told."""


class TimedWay(Way, Protocol):
    """A way that is timed too."""

    def run(self, stream: Sequence[Reading]) -> tuple[int, float]:
        """Take these readings; how many notifications there are, and the CPU seconds."""


class Clock:
    """The time of the reading that is taken."""

    def __init__(self) -> None:
        self.time = START_US

    def __call__(self) -> int:
        """µs since the epoch."""
        return self.time


class _Engine:
    """An engine; rooms are entered and left as time goes by."""

    def __init__(self, case: Case) -> None:
        self.clock = Clock()
        self.engine = Engine.open(clock=self.clock)
        self._rooms = case.sensors // SENSORS_A_ROOM if looks_at_rooms(case.query) else 0
        for room in range(self._rooms):
            self.engine.update(occupancy(room, is_occupied=not room % 4))
        self._numbers: dict[str, int] = {}

    def subscribe(self, case: Case, window: Window | None, number: int) -> None:
        """One subscription."""
        windows = () if window is None else ((WINDOW, window),)
        request = SubscribeRequest(text(case.query, number), windows=windows)
        self._numbers[self.engine.subscribe(request).spuid] = len(self._numbers)

    def rows(self, notifications: Sequence[Notification]) -> Told:
        """What they tell."""
        for each in notifications:
            number = self._numbers[each.spuid]
            yield from ((number, "+", row) for row in each.results.added)
            yield from ((number, "-", row) for row in each.results.removed)

    def flip(self, reading: Reading) -> Sequence[Notification]:
        """Let somebody enter or leave a room, now and then."""
        change = flipped(reading, self._rooms)
        return () if change is None else self.engine.update(change).notifications


def flipped(reading: Reading, rooms: int) -> str | None:
    """The UPDATE behind a reading; each room in turn is entered, and left the next time."""
    turn, rest = divmod(reading.number, FLIPPED)
    if rest or not rooms:
        return None
    room = turn % rooms
    return occupancy(room, is_occupied=bool((turn // rooms + room) % 2))


class Sliding(_Engine):
    """Windows of the engine."""

    def __init__(self, case: Case, filling: Sequence[Reading]) -> None:
        super().__init__(case)
        self.windows = [
            Window(
                STREAM,
                range=seconds * SECOND_US,
                step=None if case.step_s is None else case.step_s * SECOND_US,
            )
            for seconds in case.range_seconds
        ]
        self.clock.time = filling[-1].time
        self._case = case

    def fill(self, elements: Sequence[Element]) -> None:
        """Open the windows, with these in them."""
        streams = self.engine.windowed.streams
        for window in self.windows:
            streams.open(window, self.clock.time, elements, complete_since=0)

    def subscribe_all(self) -> None:
        """Every subscription."""
        for window in self.windows:
            for number in range(self._case.subscriptions):
                self.subscribe(self._case, window, number)

    @property
    def elements(self) -> int:
        """How many the engine holds."""
        return self.engine.windowed.streams.elements

    def told(self, reading: Reading) -> Told:
        """An element enters, behind a change of the store that is of the time before."""
        yield from self.rows(self.flip(reading))
        self.clock.time = reading.time
        yield from self.rows(self.engine.push(STREAM, triples(reading)).notifications)

    def run(self, stream: Sequence[Reading]) -> tuple[int, float]:
        """Terms in, notifications out."""
        elements = [(each, triples(each)) for each in stream]
        flip, push, clock = self.flip, self.engine.push, self.clock
        told = 0
        started = process_time()
        for reading, element in elements:
            told += len(flip(reading))
            clock.time = reading.time
            told += len(push(STREAM, element).notifications)
        return told, process_time() - started


def elements_of(filling: Sequence[Reading]) -> list[Element]:
    """The readings as elements that arrived at their time."""
    return [Element(triples(each), each.time, arrival=each.time) for each in filling]


class Before(_Engine):
    """A graph of the store."""

    def __init__(self, case: Case, filling: Sequence[Reading]) -> None:
        super().__init__(case)
        size = case.range_s * SECOND_US // PERIOD_US * case.sensors
        self._held = deque(filling[-size:])
        quads = [_quad(triple) for each in self._held for triple in triples(each)]
        self.engine.store.apply(Delta(tuple(quads), graphs_created=(_GRAPH,)))
        self.subscribe(case, None, 0)
        self._plan: UpdatePlan = compile_update(_replacing())

    def told(self, reading: Reading) -> Told:
        """One UPDATE."""
        yield from self.rows(self.flip(reading))
        self.clock.time = reading.time
        yield from self.rows(self.engine.update(self._request(reading)).notifications)

    def _request(self, reading: Reading) -> UpdateRequest:
        bindings = {**_bindings("new", reading), **_bindings("old", self._held.popleft())}
        self._held.append(reading)
        return UpdateRequest(self._plan, bindings)

    def run(self, stream: Sequence[Reading]) -> tuple[int, float]:
        """Bound UPDATEs in, notifications out."""
        requests = [(each, self._request(each)) for each in stream]
        told = 0
        started = process_time()
        for reading, request in requests:
            told += len(self.flip(reading))
            self.clock.time = reading.time
            told += len(self.engine.update(request).notifications)
        return told, process_time() - started


def _replacing() -> str:
    def pattern(which: str) -> str:
        sensor, room, result = triples(Reading(0, 0, 0, 0))
        return " . ".join(
            f"?{which}0 {triple.predicate} ?{which}{place}"
            for place, triple in enumerate((sensor, room, result), 1)
        )

    return (
        f"DELETE {{ GRAPH <{WINDOW}> {{ {pattern('old')} }} }} "
        f"INSERT {{ GRAPH <{WINDOW}> {{ {pattern('new')} }} }} WHERE {{ }}"
    )


def _bindings(which: str, reading: Reading) -> Mapping[str, Term]:
    sensor, room, result = triples(reading)
    values = (sensor.subject, sensor.object, room.object, result.object)
    return {f"{which}{place}": value for place, value in enumerate(values)}


class Asked:
    """Evaluating each text again, over what each window has by its definition."""

    def __init__(self, case: Case, filling: Sequence[Reading]) -> None:
        self._case = case
        self._rooms = case.sensors // SENSORS_A_ROOM if looks_at_rooms(case.query) else 0
        self._all = list(filling)
        self._contents: list[set[Reading]] = [set() for _ in case.range_seconds]
        self._stores = [Store() for _ in case.range_seconds]
        for store in self._stores:
            for room in range(self._rooms):
                store.update(occupancy(room, is_occupied=not room % 4))
        self._look(filling[-1].time)
        self._answers: dict[int, Counter[Row]] = {}
        for _ in self._changes():
            pass

    def told(self, reading: Reading) -> Told:
        """The differences of the answers."""
        change = flipped(reading, self._rooms)
        if change is not None:
            for store in self._stores:
                store.update(change)
            yield from self._changes()
        self._all.append(reading)
        self._look(reading.time)
        yield from self._changes()

    def _look(self, now: int) -> None:
        step = None if self._case.step_s is None else self._case.step_s * SECOND_US
        for place, seconds in enumerate(self._case.range_seconds):
            length = seconds * SECOND_US
            if step is None:
                content = {each for each in self._all if now - length < each.time <= now}
            else:
                end = now // step * step
                content = {each for each in self._all if end - length <= each.time < end}
            self._become(place, content)

    def _become(self, place: int, content: set[Reading]) -> None:
        before, store = self._contents[place], self._stores[place]
        for each in before - content:
            for triple in triples(each):
                store.remove(_quad(triple))
        store.extend(_quad(triple) for each in content - before for triple in triples(each))
        self._contents[place] = content

    def _changes(self) -> Told:
        case = self._case
        for number in range(case.ranges * case.subscriptions):
            if number >= COMPARED:
                break
            place, subscription = divmod(number, case.subscriptions)
            answer = _answer(self._stores[place], text(case.query, subscription))
            before = self._answers.get(number, Counter())
            self._answers[number] = answer
            yield from ((number, "+", row) for row in (answer - before).elements())
            yield from ((number, "-", row) for row in (before - answer).elements())


COMPARED = 10
"""The first so many subscriptions are compared."""


def _quad(triple: Triple) -> Quad:
    return Quad(triple.subject, triple.predicate, triple.object, _GRAPH)


def _answer(store: Store, query: str) -> Counter[Row]:
    results = store.query(query)
    if not isinstance(results, QuerySolutions):
        raise TypeError("not a SELECT")
    return Counter(tuple(row) for row in results)
