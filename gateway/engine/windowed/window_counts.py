"""`WindowCounts`: what windows hold and have counted, by the names that subscriptions call them.

Place: beside `WindowedView`, which says what is opened and closed; asked by the measures, in any
thread, at no cost for a step. Counts go on when a window is closed and opened again.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from gateway.windows.content import Content
from gateway.windows.streams import OTHERS

MOST_NAMES = 32
"""Names that are told apart, besides declared ones: clients invent them."""

COUNTED = ("late", "dropped", "expired", "matches", "full")

_Counts = dict[str, int]


class WindowCounts:
    """`count` tells what has been counted of a content: of COUNTED, all but `full`."""

    def __init__(
        self,
        count: Callable[[Content], _Counts],
        is_declared: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._count = count
        self._is_declared = is_declared
        self._names: set[str] = set()
        self._users: Counter[tuple[str, Content]] = Counter()
        self._before: dict[tuple[str, Content], _Counts] = {}
        self._past: dict[str, Counter[str]] = {}

    def opened(self, named: Iterable[tuple[str, Content]]) -> None:
        """One more SPU has these windows, by name."""
        for key in named:
            self._admit(key[0])
            self._users[key] += 1
            if key not in self._before:
                self._before[key] = self._count(key[1])

    def closed(self, named: Iterable[tuple[str, Content]]) -> None:
        """The reverse of `opened`."""
        for key in named:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key]
                self._past_of(key[0]).update(self._since(key))
                del self._before[key]

    def ended(self, content: Content) -> None:
        """A window is full: who has it is told so."""
        for name in {self._label(name) for name, each in self._users if each is content}:
            self._past_of(name)["full"] += 1

    def open(self) -> Iterator[tuple[str, Content]]:
        """Every window that is open, by each of its names."""
        return ((self._label(name), content) for name, content in list(self._users))

    def total(self, counted: str) -> Mapping[str, float]:
        """One of COUNTED, since the start, by name."""
        found: Counter[str] = Counter()
        for name, past in list(self._past.items()):
            found[name] += past[counted]
        for key in list(self._before):
            found[self._label(key[0])] += self._since(key).get(counted, 0)
        return found

    def _since(self, key: tuple[str, Content]) -> _Counts:
        before, now = self._before.get(key, {}), self._count(key[1])
        return {name: max(value - before.get(name, 0), 0) for name, value in now.items()}

    def _past_of(self, name: str) -> "Counter[str]":
        return self._past.setdefault(self._label(name), Counter())

    def _admit(self, name: str) -> None:
        if len(self._names) < MOST_NAMES or self._is_declared(name):
            self._names.add(name)

    def _label(self, name: str) -> str:
        return name if name in self._names else OTHERS
