"""`Activity`: what the demo saw of its gateway from outside, for the terminal view.

Place on the way of the data: the end. Filled by the sinks of the standing subscriptions (in the
scheduler's thread) and by the links' acknowledgements (in theirs), read by the view.
"""

import time
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from threading import Lock

from pyoxigraph import Literal, NamedNode

from gateway.engine import Notification
from gateway.rdf.solutions import Row

LATENCIES_KEPT = 10_000
CHANGES_KEPT = 12


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
    def of(cls, seconds: Sequence[float]) -> "Percentiles":
        """By the nearest rank; O(n log n)."""
        if not seconds:
            return cls()
        ranked = sorted(seconds)
        last = len(ranked) - 1
        return cls(*(round(ranked[round(last * part)] * 1_000, 3) for part in (0.5, 0.99)))


class Activity:
    """Thread-safe counts, latest changes and latencies."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._subscribed: list[Subscribed] = []
        self._changes: deque[Change] = deque(maxlen=CHANGES_KEPT)
        self._acknowledged: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._notified: deque[float] = deque(maxlen=LATENCIES_KEPT)
        self._published = 0

    def sink(self, name: str, *, is_question: bool = False) -> Callable[[Notification], None]:
        """The sink of a new standing subscription called `name`."""
        counts = Subscribed(name, is_question)
        with self._lock:
            self._subscribed.append(counts)

        def notified(notification: Notification) -> None:
            self._notify(counts, notification, time.time_ns() // 1_000)

        return notified

    def acknowledge(self, latency_s: float) -> None:
        """A reading was acknowledged, `latency_s` after it was published."""
        with self._lock:
            self._published += 1
            self._acknowledged.append(latency_s)

    @property
    def published(self) -> int:
        """How many readings were published and acknowledged."""
        return self._published

    @property
    def subscribed(self) -> list[Subscribed]:
        """The standing subscriptions, in the order of their sinks."""
        return list(self._subscribed)

    @property
    def answers(self) -> list[tuple[str, list[str]]]:
        """The questions with their answers now, whose rows are sorted."""
        with self._lock:
            asked = [each for each in self._subscribed if each.is_question]
            return [(each.name, sorted(each.answer.elements())) for each in asked]

    @property
    def changes(self) -> list[Change]:
        """The latest changes, oldest first."""
        with self._lock:
            return list(self._changes)

    @property
    def ingest(self) -> Percentiles:
        """From a device's PUBLISH to its PUBACK."""
        with self._lock:
            latencies = list(self._acknowledged)
        return Percentiles.of(latencies)

    @property
    def notification(self) -> Percentiles:
        """From an UPDATE's time to its notification in the sink."""
        with self._lock:
            latencies = list(self._notified)
        return Percentiles.of(latencies)

    def _notify(self, counts: Subscribed, notification: Notification, now_us: int) -> None:
        results = notification.results
        with self._lock:
            counts.added += len(results.added)
            counts.removed += len(results.removed)
            counts.rows += len(results.added) - len(results.removed)
            if counts.is_question:
                counts.answer.subtract(map(answer_text, results.removed))
                counts.answer.update(map(answer_text, results.added))
                counts.answer = +counts.answer
            if notification.sequence > 0:
                self._notified.append(max(0, now_us - notification.time) / 1e6)
            for added, rows in ((False, results.removed), (True, results.added)):
                for row in rows[-CHANGES_KEPT:]:
                    text = describe(results.variables, row)
                    self._changes.append(Change(counts.name, added, text))


def describe(variables: Sequence[str], row: Row) -> str:
    """A row for people: literals by their lexical form, IRIs by their last segment."""
    pairs = zip(variables, row, strict=True)
    return "  ".join(f"{name}={_short(term)}" for name, term in pairs if term is not None)


def answer_text(row: Row) -> str:
    """The same without the names of the variables."""
    return " ".join(_short(term) for term in row if term is not None)


def _short(term: object) -> str:
    if isinstance(term, NamedNode):
        return term.value.rstrip("/#").rpartition("/")[2].rpartition("#")[2]
    text = term.value if isinstance(term, Literal) else str(term)
    # What a device sent must not steer the terminal.
    return "".join(sign if sign.isprintable() else "\N{REPLACEMENT CHARACTER}" for sign in text)
