"""`Counted`: a window by `triples` or `elements`: the last so many, as they came.

A window by `triples` sees the stream as one sequence of triples; of a long element perhaps its last
ones. With a step it shows them as they stood at each step-th one since it was opened, its past
included; `per: "stream"` counts, and steps, for each key by itself. No clock moves it.
"""

from collections import deque
from collections.abc import Iterable, Iterator

from pyoxigraph import Triple

from gateway.errors import WindowFullError
from gateway.windows.before.filling import Arrival
from gateway.windows.budget import Budget, limit_error
from gateway.windows.content import Change, Content, change_of, net
from gateway.windows.element import Element, Key
from gateway.windows.info import WindowInfo
from gateway.windows.items import Item, Items
from gateway.windows.parted import Parted
from gateway.windows.window import Window


class _Run:
    """The last ones of one sequence: those in the graph, and those that wait for the boundary.

    `phase`: how many came since the boundary; `told`: how many until then.
    """

    __slots__ = ("held", "phase", "told", "waiting")

    def __init__(self) -> None:
        self.held = Items()
        self.waiting = Items()
        self.phase = 0
        self.told = 0


class Counted(Content):
    """The content, which holds its elements itself.

    A stepped one keeps of what waits no more than it will show.
    """

    due: int | None = None
    scheduled: int | None = None

    def __init__(self, window: Window, budget: Budget, since: int | None) -> None:
        super().__init__(window)
        self.contents = [self]
        self.weight = 0
        self.elements = 0
        self._size = window.triples or window.elements or 0
        self._is_from_beginning = since is not None and since <= 0
        self._runs: dict[Key | None, _Run] = {}
        self._run = self._runs[None] = _Run()
        self._counts: dict[Triple, int] = {}
        self._budget = budget
        self._gained: list[Triple] = []
        self._lost: list[Triple] = []
        self._moves = 0
        self._is_boundary = False
        self._behind: deque[Arrival | Key] | None = None

    @property
    def holder(self) -> "Counted":
        """Who holds its elements: itself."""
        return self

    def __iter__(self) -> Iterator[Triple]:
        return iter(self._counts)

    def __contains__(self, triple: object) -> bool:
        return triple in self._counts

    def __len__(self) -> int:
        return len(self._counts)

    def arrive(self, element: Element, now: int, order: int, weight: int | None) -> None:
        """An element arrives that this window sees."""
        if weight is None:
            weight = element.weight()
        if self._behind is not None:
            self._behind.append((element, now, order, weight))
        elif self.contents:
            self._let_in(element, now, order, weight)

    def wait(self, behind: deque[Arrival | Key] | None) -> None:
        """Put what arrives behind that, until it is filled (None)."""
        self._behind = behind

    def fill(self, taken: Iterable[tuple[Element, int, int]]) -> None:
        """Let in what came before."""
        for element, time, order in taken:
            if self.contents:
                self._let_in(element, time, order, element.weight())

    def catch_up(self, most: int) -> None:
        """Let in the next of what waits behind all that came before."""
        behind = self._behind or deque()
        for _ in range(min(most, len(behind))):
            match behind.popleft():
                case (Element(), _, _, _) as waited if self.contents:
                    self._let_in(*waited)
                case (str(), _, _) as key if self.contents:
                    self._end_series(key)

    def _let_in(self, element: Element, now: int, order: int, weight: int) -> None:
        time = now if element.time is None else element.time
        window = self.window
        triples = element.triples
        if isinstance(triples, Parted):
            triples = tuple(triples)
        if window.triples is None:
            run = self._run if window.per is None else self._run_of(element.key)
            self._push(run, (triples, element, time, weight, order))
            return
        share = weight // (len(triples) or 1)
        if window.step is None and len(triples) > self._size:
            self._run.told += len(triples) - self._size
            triples = triples[-self._size :]
        for triple in triples:
            self._push(self._run, ((triple,), element, time, share, order))

    def weigh_again(self) -> None:
        """Nothing: what it holds is made."""

    def drop(self) -> None:
        """An element arrives that does not enter."""
        self.dropped += 1

    def end_series(self, key: Key) -> None:
        """Let the numbers of a key go, since its next one is in another unit."""
        if self._behind is not None:
            self._behind.append(key)
        else:
            self._end_series(key)

    def _end_series(self, key: Key) -> None:
        run = self._run if self.window.per is None else self._run_of(key)
        for item in run.waiting.end(key):
            self._weigh(item, -1)
        for item in run.held.end(key):
            self._leave(item)
            self._moves += 2

    def advance(self, now: int) -> None:
        """Nothing: what arrives has entered, and time changes nothing."""

    def shed(self) -> None:
        """Make room: let the oldest go, or fail."""
        if self.window.overflow == "oldest" and self.elements:
            self._drop_oldest()
        else:
            self.fail(self._budget.error(self.window))

    def fail(self, error: WindowFullError) -> None:
        """Be empty from now on."""
        self.full = error
        self.close()

    def close(self, _content: Content | None = None) -> None:
        """Hold nothing any more."""
        self._budget.elements -= self.elements
        self._budget.bytes -= self.weight
        self.elements = self.weight = 0
        self._runs, self._counts = {}, {}
        self.contents = []

    def finish(self) -> list[Change]:
        """What the step did."""
        if self.full is not None:
            return [Change(self, (), (), full=self.full)]
        gained, lost, is_boundary = self._gained, self._lost, self._is_boundary
        if gained or lost:
            self._gained, self._lost = [], []
            if self._moves > 1:
                gained, lost = net(gained, lost)
        self._moves, self._is_boundary = 0, False
        if gained or lost or is_boundary:
            return [change_of(Change, (self, gained, lost, is_boundary, None, (), ()))]
        return []

    @property
    def held(self) -> tuple[int, int]:
        """What waits for a boundary is held too."""
        return self.elements, self.weight

    def info(self) -> WindowInfo:
        """What the runs have together."""
        items = [each for run in self._runs.values() for each in run.held]
        times = [each[2] for each in sorted(items, key=lambda item: item[4])]
        told = self._run.told if self.window.per is None else 0
        return WindowInfo(
            from_=times[0] if times else None,
            to=times[-1] if times else None,
            complete=self.full is None and (self._is_from_beginning or told >= self._size),
            elements=len({each[4] for each in items}),
            triples=len(self._counts),
            bytes=self.weight,
            oldest=min(times, default=None),
            watermark=None,
            late=self.late,
            dropped=self.dropped,
            expired=self.expired,
        )

    def _run_of(self, key: Key | None) -> _Run:
        run = self._runs.get(key)
        if run is None:
            run = self._runs[key] = _Run()
        return run

    def _push(self, run: _Run, item: Item) -> None:
        self._moves += 1
        self._weigh(item, 1)
        step = self.window.step
        if step is None:
            run.told += 1
            self._enter(run, item)
        else:
            run.waiting.append(item)
            run.phase += 1
            if len(run.waiting) > self._size:
                self._weigh(run.waiting.popleft(), -1)
            if run.phase == step:
                self._show(run)
        limit = self.window.limit
        if limit is not None and self.elements > limit and self.full is None:
            self._limit()

    def _show(self, run: _Run) -> None:
        """The boundary is reached."""
        run.told += run.phase
        run.phase = 0
        self._is_boundary = True
        self._moves += 1
        waiting, run.waiting = run.waiting, Items()
        for item in waiting:
            self._enter(run, item)

    def _enter(self, run: _Run, item: Item) -> None:
        counts, gained = self._counts, self._gained
        for triple in item[0]:
            times = counts.get(triple, 0)
            counts[triple] = times + 1
            if not times:
                gained.append(triple)
        held = run.held
        held.append(item)
        if len(held) > self._size:
            self._leave(held.popleft())

    def _leave(self, item: Item) -> None:
        counts, lost = self._counts, self._lost
        for triple in item[0]:
            times = counts[triple]
            if times == 1:
                del counts[triple]
                lost.append(triple)
            else:
                counts[triple] = times - 1
        self.expired += 1
        self._weigh(item, -1)

    def _limit(self) -> None:
        if self.window.overflow == "end":
            self.fail(limit_error(self.window))
        else:
            self._drop_oldest()

    def _drop_oldest(self) -> None:
        """Let the oldest by arrival go, whatever its key; linear in keys."""
        runs = [run for run in self._runs.values() if run.held or run.waiting]
        run = min(runs, key=lambda each: (each.held or each.waiting).oldest[4])
        if run.held:
            self._leave(run.held.popleft())
            self._moves += 2
        else:
            self._weigh(run.waiting.popleft(), -1)
        run.told = len(run.held)
        self._is_from_beginning = False

    def _weigh(self, item: Item, times: int) -> None:
        weight = times * item[3]
        self.elements += times
        self.weight += weight
        self._budget.elements += times
        self._budget.bytes += weight


class LastTriples(Counted):
    """A window by `triples` that moves with each of them, without a limit: the usual one."""

    def arrive(self, element: Element, now: int, order: int, weight: int | None) -> None:
        """As of any, written out for an element of one triple: it comes, perhaps another goes."""
        triples = element.triples
        run = self._run
        is_usual = self._behind is None and self.contents and element.unit is None
        is_usual = is_usual and run.held.is_plain
        if not is_usual or type(triples) is not tuple or len(triples) != 1 or weight is None:
            super().arrive(element, now, order, weight)
            return
        counts, budget = self._counts, self._budget
        held = run.held.queue
        run.told += 1
        self._moves += 1
        (triple,) = triples
        before = len(counts)
        times = counts.setdefault(triple, 1)
        if len(counts) > before:
            self._gained.append(triple)
        else:
            counts[triple] = times + 1
        time = element.time
        held.append((triples, element, now if time is None else time, weight, order))
        if len(held) > self._size:
            (oldest,), _, _, gone, _ = held.popleft()
            times = counts.pop(oldest)
            if times == 1:
                self._lost.append(oldest)
            else:
                counts[oldest] = times - 1
            self.expired += 1
            weight -= gone
        else:
            self.elements += 1
            budget.elements += 1
        self.weight += weight
        budget.bytes += weight


def counted(window: Window, budget: Budget, since: int | None) -> Counted:
    """The content of a window by `triples` or `elements`."""
    is_usual = window.triples and window.step is window.limit is None
    return (LastTriples if is_usual else Counted)(window, budget, since)
