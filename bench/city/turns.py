"""Ways of running the city that take turns, each a process of its own (child.py).

Place on the way of the data: the parent's side of experiments.py and growth.py. What else the
machine does meanwhile falls on all ways alike, since each gets a tenth of a round at a time; no way
pays for the heap of another, and each one's memory is known.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from math import ceil
from statistics import median
from typing import Any

from bench.city.profile import Model, Profile, Update, row_text
from bench.processes import Child, python_child

SLICES = 10
SAMPLED = {"naive": 6, "lutt_off": 31}
"""How many updates the slow ways are given, in the first round only."""

_READY_S = 400.0
_ROUND_S = 400.0


@dataclass(slots=True)
class Cost:
    """What one round of updates cost."""

    updates: int = 0
    cpu_ms: float = 0.0
    wall_ms: float = 0.0

    def add(self, updates: int, cpu_ms: float, wall_ms: float) -> None:
        """Count a slice of updates."""
        self.updates += updates
        self.cpu_ms += cpu_ms
        self.wall_ms += wall_ms


@dataclass(slots=True)
class Measured:
    """What a way cost and brought, round by round.

    `ready` is what it said before the first: `memory_bytes` of its process, and of these
    `subscribed_bytes` and `subscribed_s` of registering; `performance` the engine's own account.
    """

    ready: Mapping[str, float] = field(default_factory=dict)
    rounds: list[Cost] = field(default_factory=list)
    told: list[str] = field(default_factory=list)
    expected: list[str] = field(default_factory=list)
    performance: Mapping[str, Any] = field(default_factory=dict)

    @property
    def each_ms(self) -> float:
        """CPU ms an update."""
        return median(each.cpu_ms / each.updates for each in self.rounds)

    @property
    def memory(self) -> int:
        """Resident bytes, with the city and all subscriptions."""
        return int(self.ready["memory_bytes"])


class Turn:
    """A way that takes turns: its process, what must come of it, what has."""

    def __init__(self, way: str, profile: Profile, children: ExitStack) -> None:
        """Start its process; `wait` is for it to be ready."""
        self.way = way
        self._profile = profile
        specification = json.dumps({"way": way, "profile": asdict(profile)})
        child = python_child(way, "bench.city.child", specification)
        self._child: Child = children.enter_context(child)
        self._model = Model(profile.subscriptions)
        list(self._model.apply(profile.warm_up))
        self.measured = Measured()

    def wait(self) -> None:
        """Until the city is loaded and everybody has subscribed."""
        self.measured.ready = self._child.result(_READY_S)

    def take(self, value: str, start: int, stop: int) -> None:
        """Run these updates of a round, each setting the value."""
        updates = self._profile.updates(value)[start:stop]
        self._child.say(f"{value} {start} {stop}")
        said = self._child.result(_ROUND_S)
        measured = self.measured
        measured.rounds[-1].add(len(updates), said["cpu_ms"], said["wall_ms"])
        measured.performance = said["performance"]
        measured.told += said["rows"]
        measured.expected += self._expected(updates)

    def _expected(self, updates: Sequence[Update]) -> Iterable[str]:
        return _values(updates) if self.way == "bare_store" else self._model.rows(updates)


def rounds(turns: Sequence[Turn], updates: int, number: int) -> None:
    """So many rounds of so many updates, a slice after the other, once all are ready."""
    for turn in turns:
        turn.wait()
    size = ceil(updates / SLICES)
    for round_ in range(number):
        taking = [turn for turn in turns if round_ == 0 or turn.way not in SAMPLED]
        for turn in taking:
            turn.measured.rounds.append(Cost())
        for start in range(0, updates, size):
            for turn in taking:
                stop = min(start + size, SAMPLED.get(turn.way, updates), updates)
                if start < stop:
                    turn.take(f"{100 + round_}", start, stop)


def _values(updates: Iterable[Update]) -> Iterator[str]:
    """What the bare store must hold afterwards."""
    for update in updates:
        for lamp in update.lamps.names():
            yield row_text(update, -1, "=", *lamp, update.value)
