"""`Counting`: how many quads members have of what a query looks at, before any of them travels.

    entries -> a count asked of each member -> numbers, by member

Place: beside `Asking`, for one thread: what `explain` tells of a federated query.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import count

from gateway.engine.lutt import LuttEntry
from gateway.federation.entries import written
from gateway.federation.wire import Part, WireError

Numbers = Sequence[int]
"""Quads of each entry, in order."""


class Counting:
    """What was asked for, and what has come; for one thread."""

    def __init__(self) -> None:
        self._asks = count(1)
        self._entries: dict[int, int] = {}
        self._told: dict[int, dict[str, Numbers]] = {}

    def ask(self, entries: Sequence[LuttEntry]) -> tuple[int, Part]:
        """The number of a question, and the question."""
        ask = next(self._asks)
        self._entries[ask], self._told[ask] = len(entries), {}
        return ask, Part("count", {"ask": ask, "entries": [written(each) for each in entries]})

    def told(self, ask: int) -> Mapping[str, Numbers]:
        """What has come so far."""
        return self._told[ask]

    def forget(self, ask: int) -> None:
        """Want no more answers."""
        del self._entries[ask], self._told[ask]

    def take(self, member: str, part: Part) -> None:
        """An answer of a member. Raises WireError."""
        ask = part.number("ask")
        if ask not in self._entries:
            return
        value = part.members.get("counts")
        if not isinstance(value, list) or len(value) != self._entries[ask]:
            raise WireError("as many counts as were not asked for")
        if not all(isinstance(each, int) and each >= 0 for each in value):
            raise WireError("counts that are none")
        self._told[ask][member] = value


def counts(ask: int, numbers: Iterable[int]) -> Part:
    """The answer to a question."""
    return Part("counts", {"ask": ask, "counts": list(numbers)})
