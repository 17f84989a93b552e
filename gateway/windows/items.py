"""`Items`: what a counted window holds, oldest first; the numbers of a key leave from anywhere.

Place: under `counted`, one for what is in the graph and one for what waits for a boundary. What
leaves from the middle stays in its place, marked, until what is before it has left, or until there
is more of it than of all else; so it costs what leaves, however much stays.
"""

from collections import deque
from collections.abc import Iterator

from pyoxigraph import Triple

from gateway.windows.element import Element, Key

Item = tuple[tuple[Triple, ...], Element, int, int, int]
"""Triples that come and go together, their element, its time, their weight, their arrival."""

_FEW = 64
"""So many that have left are not worth being cleared away."""


class Items:
    """Items in the order of their arrival; those of one element have one, and follow each other.

    While it `is_plain`, only the oldest can leave, and `queue` is all there is: whoever appends to
    it what has no unit, or pops its first, does as `append` and `popleft` do.
    """

    __slots__ = ("_gone", "_left", "_numbers", "is_plain", "queue")

    def __init__(self) -> None:
        self.queue: deque[Item] = deque()
        self._numbers: dict[Key, deque[Item]] = {}
        self._gone: dict[int, int] = {}
        self._left = 0
        self.is_plain = True

    def __len__(self) -> int:
        return len(self.queue) - self._left

    def __iter__(self) -> Iterator[Item]:
        gone = self._gone
        return (each for each in self.queue if each[4] not in gone) if gone else iter(self.queue)

    @property
    def oldest(self) -> Item:
        """The first one; there is one."""
        return next(iter(self))

    def append(self, item: Item) -> None:
        """One more, the newest."""
        self.queue.append(item)
        element = item[1]
        if element.unit is not None and element.key is not None:
            self._numbers.setdefault(element.key, deque()).append(item)
            self.is_plain = False

    def popleft(self) -> Item:
        """Take out the first one; there is one."""
        item = self.queue.popleft()
        while item[4] in self._gone:
            self._forget(item[4])
            item = self.queue.popleft()
        element = item[1]
        if element.unit is not None and element.key is not None:
            numbers = self._numbers[element.key]
            numbers.popleft()
            if not numbers:
                del self._numbers[element.key]
                self.is_plain = not self._numbers and not self._left
        return item

    def end(self, key: Key) -> deque[Item]:
        """Take out the numbers of a key, and say which; linear in these."""
        ended = self._numbers.pop(key, deque())
        for item in ended:
            self._gone[item[4]] = self._gone.get(item[4], 0) + 1
        self._left += len(ended)
        if self._left > _FEW + len(self):
            self.queue = deque(self)
            self._gone.clear()
            self._left = 0
        return ended

    def _forget(self, order: int) -> None:
        self._left -= 1
        self._gone[order] -= 1
        if not self._gone[order]:
            del self._gone[order]
