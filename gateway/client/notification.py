"""`Notification`: how an answer changed; `Answer`: what the notifications so far add up to.

Place: between the messages of a broker and whoever consumes them. An answer is a bag of solutions.
When a subscription had to be made anew its first message is the whole answer; the difference to
what was known is what the consumer is told, so that its steps stay exact.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gateway.rdf.solutions import Solution
from gateway.rdf.terms import Term

_Key = frozenset[tuple[str, Term]]


@dataclass(frozen=True, slots=True)
class Notification:
    """Solutions that an answer gained and lost; equal ones are repeated.

    `sequence` is the broker's, of this `spuid`. The first one of a consumer has the whole answer.
    `time` is the broker's clock in µs since 1970 and `merged` the number of its changes in here,
    where it tells them. `again` says that the subscription was lost and made anew in between.
    """

    spuid: str
    sequence: int
    added: tuple[Solution, ...] = ()
    removed: tuple[Solution, ...] = ()
    time: int | None = None
    merged: int = 1
    again: bool = False


class Answer:
    """The solutions now. Cost is linear in what changes."""

    def __init__(self) -> None:
        self._bag: Counter[_Key] = Counter()

    def solutions(self) -> list[Solution]:
        """The solutions of the answer so far, in no order."""
        return [dict(key) for key in self._bag.elements()]

    def change(self, added: Iterable[Solution], removed: Iterable[Solution]) -> None:
        """Take up a notification."""
        self._bag.update(map(_key, added))
        for key in map(_key, removed):
            self._bag[key] -= 1
            if self._bag[key] <= 0:
                del self._bag[key]

    def replace(
        self, solutions: Iterable[Solution]
    ) -> tuple[tuple[Solution, ...], tuple[Solution, ...]]:
        """Become this answer; what it added and removed."""
        new = Counter(map(_key, solutions))
        added, removed = new - self._bag, self._bag - new
        self._bag = new
        return _solutions(added), _solutions(removed)


def _key(solution: Mapping[str, Term]) -> _Key:
    return frozenset(solution.items())


def _solutions(bag: Counter[_Key]) -> tuple[Solution, ...]:
    return tuple(dict(key) for key in bag.elements())
