"""`Attendance`: which members are up, which are away, and since when.

Place: beside `Member`, which tells it; for one thread. Since when is told by the gateway's clock,
µs since the epoch; for how long is measured by a steady one.
"""

from bisect import bisect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from time import monotonic, time_ns
from typing import NamedTuple


class State(NamedTuple):
    """Whether a member is up, and since when, by both clocks."""

    is_up: bool
    since: int
    steady_s: float


def _now() -> int:
    return time_ns() // 1000


@dataclass(slots=True)
class Attendance:
    """Members that were never seen are away since they became known."""

    steady: Callable[[], float] = monotonic
    now: Callable[[], int] = _now
    _states: dict[str, State] = field(default_factory=dict)

    def expect(self, names: Iterable[str]) -> None:
        """Know that these are members."""
        for name in names:
            self.of(name)

    def forget(self, name: str) -> None:
        """Know that one is none."""
        self._states.pop(name, None)

    def came(self, name: str) -> None:
        """A member is up."""
        if not self.is_up(name):
            self._states[name] = State(True, self.now(), self.steady())

    def went(self, name: str) -> None:
        """A member is away, or not listened to."""
        if self.is_up(name):
            self._states[name] = State(False, self.now(), self.steady())

    def of(self, name: str) -> State:
        """How a member is."""
        found = self._states.get(name)
        if found is None:
            found = self._states[name] = State(False, self.now(), self.steady())
        return found

    def is_up(self, name: str) -> bool:
        """Whether a member is there and listened to."""
        found = self._states.get(name)
        return found is not None and found.is_up

    def away_s(self, name: str) -> float:
        """For how long a member is away, in seconds; 0 for one that is up."""
        found = self.of(name)
        return 0.0 if found.is_up else self.steady() - found.steady_s

    def stale(self, names: Iterable[str]) -> Mapping[str, int]:
        """Which of these are away, each with since when."""
        states = ((name, self.of(name)) for name in names)
        return {name: state.since for name, state in states if not state.is_up}

    @property
    def up(self) -> frozenset[str]:
        """The members that are up."""
        return frozenset(name for name, state in self._states.items() if state.is_up)

    def __len__(self) -> int:
        return len(self._states)

    def near(self, name: str, most: int) -> frozenset[str]:
        """The first members that are up behind a name, in the order of names, which is a ring."""
        up = sorted(self.up)
        place = bisect(up, name)
        return frozenset((*up[place:], *up[:place])[:most])

    @property
    def names(self) -> frozenset[str]:
        """All members."""
        return frozenset(self._states)
