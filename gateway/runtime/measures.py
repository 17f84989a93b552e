"""What parts count, as values: read when somebody asks, so nothing on the way of a reading pays.

docs/metrics.md lists the names.
"""

from bisect import bisect_left
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import accumulate

Values = Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Measure:
    """One metric: its name without the prefix, what it counts, and how to read it now.

    With `label`, `read` gives one value for each value of that label.
    """

    name: str
    description: str
    read: Callable[[], float | Values]
    is_counter: bool = True
    label: str = ""


BOUNDS_S = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Distribution:
    """How many times fell between bounds, and their sum; adding one costs a bisection.

    >>> times = Distribution()
    >>> times.add(0.003)
    >>> times.cumulated()[2]
    ('0.005', 1)
    """

    __slots__ = ("_counts", "total_s")

    def __init__(self) -> None:
        self._counts = [0] * (len(BOUNDS_S) + 1)
        self.total_s = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self._counts[bisect_left(BOUNDS_S, seconds)] += 1
        self.total_s += seconds

    def cumulated(self) -> list[tuple[str, int]]:
        """Upper bounds, each with how many were not above it."""
        names = [*map(str, BOUNDS_S), "+Inf"]
        return list(zip(names, accumulate(self._counts), strict=True))


@dataclass(frozen=True, slots=True)
class Histogram:
    """A metric of times by the values of a label."""

    name: str
    description: str
    label: str
    read: Callable[[], Mapping[str, Distribution]]
