"""`Limits`: how many solutions and seconds the first answer of a subscription may take.

Place: around the evaluation of a SUBSCRIBE. The store cannot be interrupted, so rows are counted
and the time is looked at between them; what the store does before the first row, and between two,
cannot be bounded (docs/limits.md).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from time import monotonic
from typing import TypeVar

from gateway.errors import QueryTimeoutError, TooManySolutionsError

Row = TypeVar("Row")


@dataclass(frozen=True, slots=True)
class Limits:
    """None is no limit."""

    solutions: int | None = None
    seconds: float | None = None

    def require(self, solutions: int) -> None:
        """Raise TooManySolutionsError where an answer has more than so many."""
        if self.solutions is not None and solutions > self.solutions:
            raise TooManySolutionsError(self.solutions)


UNLIMITED = Limits()

_limits: ContextVar[tuple[Limits, float]] = ContextVar("limits", default=(UNLIMITED, 0.0))


@contextmanager
def limited(limits: Limits) -> Iterator[None]:
    """Let `bounded` keep to the limits in this block; the time runs from here."""
    before = _limits.set((limits, monotonic()))
    try:
        yield
    finally:
        _limits.reset(before)


def bounded(rows: Iterable[Row]) -> Iterable[Row]:
    """The rows, within the limits in force. Raises TooManySolutionsError, QueryTimeoutError.

    >>> with limited(Limits(solutions=2)):
    ...     list(bounded(range(3)))
    Traceback (most recent call last):
    gateway.errors.TooManySolutionsError: the query has more than 2 solutions (...)
    """
    limits, started = _limits.get()
    return rows if limits == UNLIMITED else _within(rows, limits, started)


def in_time(things: Iterable[Row]) -> Iterable[Row]:
    """What leads to rows, within the time in force. Raises QueryTimeoutError."""
    limits, started = _limits.get()
    return things if limits.seconds is None else _timed(things, limits.seconds, started)


def _timed(things: Iterable[Row], seconds: float, started: float) -> Iterator[Row]:
    for thing in things:
        if monotonic() > started + seconds:
            raise QueryTimeoutError(seconds)
        yield thing


def _within(rows: Iterable[Row], limits: Limits, started: float) -> Iterator[Row]:
    most, seconds = limits.solutions, limits.seconds
    for number, row in enumerate(rows, start=1):
        if most is not None and number > most:
            raise TooManySolutionsError(most)
        if seconds is not None and monotonic() > started + seconds:
            raise QueryTimeoutError(seconds)
        yield row
