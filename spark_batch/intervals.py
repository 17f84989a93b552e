"""Runs of sequences that an archive has: the algebra that makes ingest exactly-once.

Source: docs/segments.md, "Lines have the sequences first … first + count - 1, each once". So what
was ingested of an epoch is a set of integers, kept as disjoint runs; a segment's new lines are what
its run has beyond them.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

Run = tuple[int, int]
"""First and last sequence, both included."""


class Runs:
    """A set of integers as disjoint runs that do not touch, ascending."""

    def __init__(self, runs: Iterable[Run] = ()) -> None:
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        for first, last in runs:
            self.add(first, last)

    def add(self, first: int, last: int) -> None:
        """Unite with `first` … `last`; logarithmic for one that continues the newest run."""
        low = bisect_left(self._lasts, first - 1)
        high = bisect_right(self._firsts, last + 1)
        if low < high:
            first = min(first, self._firsts[low])
            last = max(last, self._lasts[high - 1])
        self._firsts[low:high] = [first]
        self._lasts[low:high] = [last]

    def missing(self, first: int, last: int) -> list[Run]:
        """The runs of `first` … `last` that are not in the set, ascending."""
        found: list[Run] = []
        index = bisect_left(self._lasts, first)
        while first <= last and index < len(self._firsts) and self._firsts[index] <= last:
            if first < self._firsts[index]:
                found.append((first, self._firsts[index] - 1))
            first = self._lasts[index] + 1
            index += 1
        if first <= last:
            found.append((first, last))
        return found

    def holes(self) -> list[Run]:
        """What lies between the runs."""
        pairs = zip(self._lasts, self._firsts[1:], strict=False)
        return [(last + 1, first - 1) for last, first in pairs]

    def runs(self) -> list[Run]:
        """The runs, ascending."""
        return list(zip(self._firsts, self._lasts, strict=True))


def length(runs: Iterable[Run]) -> int:
    """How many integers the runs have."""
    return sum(last - first + 1 for first, last in runs)
