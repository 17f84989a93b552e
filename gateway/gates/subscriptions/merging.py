"""Several notifications of one subscription as one, by what its subscriber wants to be told.

Place on the way of the data: in the outbox of a subscriber that reads more slowly than its answer
changes. `changes`: bag algebra, from R0 to R1 and from R1 to R2 is from R0 to R2. `added` and
`removed`: each row is told, so they stand one behind another. `whole`: the last answer. Meaning of
the four: docs/windows.md. Of events all rows stand one behind another too (docs/events.md). Source:
Arasu et al., "The CQL continuous query language", 2006, section 6.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence

from gateway.engine import Notification
from gateway.rdf.solutions import ResultsDelta, Row
from gateway.windows.window import OUTPUTS


def merge(notifications: Sequence[Notification], output: str = OUTPUTS[0]) -> Notification:
    """Several steps of one subscription as one; takes time linear in their rows.

    The sequence is that of the first, the time that of the last.
    """
    step = step_of(output, notifications[0])
    for notification in notifications[1:]:
        step.add(notification)
    return step.notification()


def step_of(output: str, first: Notification) -> "Step":
    """A step for a subscriber who is told `output`."""
    if first.events is not None:
        return _Events(first)
    match output:
        case "added" | "removed":
            return _Joined(first)
        case "whole":
            return _Last(first)
        case _:
            return _Net(first)


class Step(ABC):
    """Notifications that wait as one; adding takes time linear in what is added.

    `merged` is how many they are, `rows` how many rows the one has.
    """

    __slots__ = ("_first", "_last", "merged", "rows")

    def __init__(self, first: Notification) -> None:
        self._first = first
        self._last = first
        self.merged = 1
        self.rows = _size(first)

    @property
    def is_needless(self) -> bool:
        """Whether the notifications cancelled out; a first answer is sent even when empty."""
        return self.rows == 0 and self._first.sequence > 0

    def add(self, later: Notification) -> None:
        """One more."""
        self._take(later)
        self._last = later
        self.merged += 1

    def notification(self) -> Notification:
        """The one: of a first answer the windows are those of then."""
        if self.merged == 1:
            return self._first
        place = self._last.federation
        return self._first._replace(time=self._last.time, results=self._results(), federation=place)

    @abstractmethod
    def _take(self, later: Notification) -> None: ...

    @abstractmethod
    def _results(self) -> ResultsDelta: ...


class _Net(Step):
    """What is left once what came and went again is no change."""

    __slots__ = ("_net",)

    def __init__(self, first: Notification) -> None:
        super().__init__(first)
        self._net: dict[Row, int] = {}

    def _take(self, later: Notification) -> None:
        if self.merged == 1:
            self.rows = 0
            self._count(self._first.results)
        self._count(later.results)

    def _count(self, results: ResultsDelta) -> None:
        net = self._net
        for rows, sign in ((results.added, 1), (results.removed, -1)):
            for row in rows:
                before = net.get(row, 0)
                after = before + sign
                if after:
                    net[row] = after
                else:
                    del net[row]
                self.rows += abs(after) - abs(before)

    def _results(self) -> ResultsDelta:
        added = tuple(row for row, count in self._net.items() for _ in range(count))
        removed = tuple(row for row, count in self._net.items() for _ in range(-count))
        return ResultsDelta(self._first.results.variables, added, removed)


class _Joined(Step):
    """All rows, in order: of a stream of rows none takes back another."""

    __slots__ = ("_added", "_removed")

    def __init__(self, first: Notification) -> None:
        super().__init__(first)
        self._added: list[Iterable[Row]] = [first.results.added]
        self._removed: list[Iterable[Row]] = [first.results.removed]

    def _take(self, later: Notification) -> None:
        self._added.append(later.results.added)
        self._removed.append(later.results.removed)
        self.rows += _size(later)

    def _results(self) -> ResultsDelta:
        added = tuple(row for rows in self._added for row in rows)
        removed = tuple(row for rows in self._removed for row in rows)
        return ResultsDelta(self._first.results.variables, added, removed)


class _Events(_Joined):
    """The rows of all events, in order, and these events."""

    __slots__ = ("_events", "_place")

    def __init__(self, first: Notification) -> None:
        super().__init__(first)
        self._events = [*(first.events or ())]
        self._place = first.federation

    def _take(self, later: Notification) -> None:
        super()._take(later)
        self._events += later.events or ()
        self._place = later.federation or self._place

    def notification(self) -> Notification:
        """The one, with all events."""
        told = super().notification()
        return told._replace(events=tuple(self._events), federation=self._place)


class _Last(Step):
    """The last answer; an empty one is told too."""

    __slots__ = ()

    @property
    def is_needless(self) -> bool:
        """Never: that the answer is empty now is told too."""
        return False

    def _take(self, later: Notification) -> None:
        self.rows = _size(later)

    def _results(self) -> ResultsDelta:
        return self._last.results


def _size(notification: Notification) -> int:
    return len(notification.results.added) + len(notification.results.removed)
