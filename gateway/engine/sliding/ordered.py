"""`Ordered`: a sorted set of keys that come and go, of which the least and the greatest are asked.

Place: under `aggregates`, for MIN and MAX over a window that slides. Short sorted runs, one after
the other, so that what a key costs hardly grows with their number, and it takes eight bytes.
"""

from bisect import bisect_left, insort
from typing import Any

_MOST = 512
"""Keys of one run; a longer one is cut in two."""


class Ordered:
    """Keys of one type, each once.

    >>> keys = Ordered()
    >>> for each in (5, 3, 9):
    ...     keys.add(each)
    >>> keys.discard(3)
    >>> keys.least, keys.greatest
    (5, 9)
    """

    __slots__ = ("_lasts", "_runs")

    def __init__(self) -> None:
        self._runs: list[list[Any]] = []
        self._lasts: list[Any] = []

    def add(self, key: Any) -> None:
        """A key that is not here."""
        runs = self._runs
        if not runs:
            runs.append([key])
            self._lasts.append(key)
            return
        at = min(bisect_left(self._lasts, key), len(runs) - 1)
        run = runs[at]
        insort(run, key)
        if len(run) > _MOST:
            half = len(run) // 2
            runs.insert(at + 1, run[half:])
            del run[half:]
            self._lasts.insert(at, run[-1])
            self._lasts[at + 1] = runs[at + 1][-1]
        else:
            self._lasts[at] = run[-1]

    def discard(self, key: Any) -> None:
        """A key that is here."""
        at = bisect_left(self._lasts, key)
        run = self._runs[at]
        del run[bisect_left(run, key)]
        if run:
            self._lasts[at] = run[-1]
        else:
            del self._runs[at], self._lasts[at]

    @property
    def least(self) -> Any:
        """The first; there is one."""
        return self._runs[0][0]

    @property
    def greatest(self) -> Any:
        """The last; there is one."""
        return self._lasts[-1]
