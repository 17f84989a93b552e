"""`Activity`: what the demo saw of its gateway from outside, for the terminal view.

Place on the way of the data: the end. Filled by what the standing subscriptions are told and by the
links' acknowledgements, read by the view.
"""

from collections import Counter, deque
from collections.abc import Collection
from dataclasses import dataclass, field

from gateway.client import Notification
from gateway.demo.wording import word
from gateway.rdf.solutions import Solution

LATENCIES_KEPT = 10_000
CHANGES_KEPT = 60


@dataclass(frozen=True, slots=True)
class Change:
    """One row that a standing subscription gained (`added`) or lost."""

    subscription: str
    added: bool
    text: str


@dataclass(slots=True)
class Subscribed:
    """The counts of one standing subscription; `rows` is the size of its answer now.

    The `answer` itself, as texts for people, is kept of a question alone.
    """

    name: str
    is_question: bool = False
    answer: Counter[str] = field(default_factory=Counter)
    rows: int = 0
    added: int = 0
    removed: int = 0


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Median and 99th percentile in ms; 0 before the first value.

    >>> Percentiles.of([0.003, 0.001, 0.002])
    Percentiles(p50_ms=2.0, p99_ms=3.0)
    """

    p50_ms: float = 0.0
    p99_ms: float = 0.0

    @classmethod
    def of(cls, seconds: Collection[float]) -> "Percentiles":
        """By the nearest rank; O(n log n)."""
        if not seconds:
            return cls()
        ranked = sorted(seconds)
        last = len(ranked) - 1
        return cls(*(round(ranked[round(last * part)] * 1_000, 3) for part in (0.5, 0.99)))


class Activity:
    """Counts, latest changes and latencies. Not thread-safe."""

    def __init__(self) -> None:
        self._subscribed: dict[str, Subscribed] = {}
        self._changes: deque[Change] = deque(maxlen=CHANGES_KEPT)
        self._acknowledged: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._notified: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self.published = 0

    def subscribe(self, name: str, *, is_question: bool = False) -> None:
        """A new standing subscription is called `name`."""
        self._subscribed[name] = Subscribed(name, is_question)

    def told(self, name: str, notification: Notification, now_us: int) -> None:
        """Take up what a standing subscription says, at `now_us` µs since 1970."""
        counts = self._subscribed[name]
        added, removed = notification.added, notification.removed
        counts.added += len(added)
        counts.removed += len(removed)
        counts.rows += len(added) - len(removed)
        if counts.is_question:
            counts.answer.subtract(map(answer_text, removed))
            counts.answer.update(map(answer_text, added))
            counts.answer = +counts.answer
        if notification.sequence > 0 and notification.time is not None:
            self._notified.append(max(0, now_us - notification.time) / 1e6)
        for is_added, rows in ((False, removed), (True, added)):
            for row in rows[-CHANGES_KEPT:]:
                self._changes.append(Change(counts.name, is_added, describe(row)))

    def acknowledge(self, latency_s: float) -> None:
        """A reading was acknowledged, `latency_s` after it was published."""
        self.published += 1
        self._acknowledged.append(latency_s)

    @property
    def subscribed(self) -> list[Subscribed]:
        """The standing subscriptions, in the order in which they were made."""
        return list(self._subscribed.values())

    @property
    def answers(self) -> list[tuple[str, list[str]]]:
        """The questions with their answers now, whose rows are sorted."""
        asked = [each for each in self.subscribed if each.is_question]
        return [(each.name, sorted(each.answer.elements())) for each in asked]

    @property
    def changes(self) -> list[Change]:
        """The latest changes, oldest first."""
        return list(self._changes)

    @property
    def ingest(self) -> Percentiles:
        """From a device's PUBLISH to its PUBACK."""
        return Percentiles.of(self._acknowledged)

    @property
    def notification(self) -> Percentiles:
        """From an UPDATE's time to its notification in the client."""
        return Percentiles.of(self._notified)


def describe(row: Solution) -> str:
    """A row for people: literals by their lexical form, IRIs by their last segment."""
    return "  ".join(f"{name}={word(term)}" for name, term in row.items())


def answer_text(row: Solution) -> str:
    """The same without the names of the variables."""
    return " ".join(map(word, row.values()))
