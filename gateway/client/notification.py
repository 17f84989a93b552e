"""`Notification`: how an answer changed; `Answer`: what the notifications so far add up to.

Place: between the messages of a broker and whoever consumes them. An answer is a bag of solutions.
When a subscription had to be made anew its first message is the whole answer; the difference to
what was known is what the consumer is told, so that its steps stay exact.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gateway.client.errors import AgentError
from gateway.rdf.solutions import Solution
from gateway.rdf.terms import Term


@dataclass(frozen=True, slots=True)
class Event:
    """A compound event that gave so many `rows`: the name of its graph, whose it is, its place.

    `time` is the gateway's clock, µs since 1970.
    """

    graph: str
    gateway: str
    position: str
    time: int
    rows: int


_Key = frozenset[tuple[str, Term]]


@dataclass(frozen=True, slots=True)
class Notification:
    """Solutions that an answer gained and lost; equal ones are repeated.

    `sequence` is the broker's, of this `spuid`. The first one of a consumer has the whole answer.
    `time` is the broker's clock in µs since 1970 and `merged` the number of its changes in here,
    where it tells them. `again` says that the subscription was lost and made anew in between.
    `windows` are those of a first one: by IRI what each has, as the gateway says it
    (docs/windows.md). In mode `event` the added solutions are those of `events`, one behind another
    (docs/events.md).
    """

    spuid: str
    sequence: int
    added: tuple[Solution, ...] = ()
    removed: tuple[Solution, ...] = ()
    time: int | None = None
    merged: int = 1
    again: bool = False
    windows: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    events: tuple[Event, ...] = ()


class Answer:
    """The solutions now. Cost is linear in what changes.

    Of an `output` (docs/windows.md) that tells what came or went alone, as of events, no answer is
    known, and nothing is kept.
    """

    def __init__(self, output: str = "changes") -> None:
        self._output = output
        self._bag: Counter[_Key] = Counter()

    def solutions(self) -> list[Solution]:
        """The solutions of the answer so far, in no order. Raises AgentError where none is."""
        if self._is_stream:
            reason = f"what is told as {self._output} makes no answer"
            raise AgentError(
                reason, "subscribe with the output changes or whole, or count yourself"
            )
        return [dict(key) for key in self._bag.elements()]

    def change(self, added: Iterable[Solution], removed: Iterable[Solution]) -> None:
        """Take up a notification."""
        if self._is_stream:
            return
        if self._output == "whole":
            self._bag.clear()
        self._bag.update(map(_key, added))
        for key in map(_key, removed):
            self._bag[key] -= 1
            if self._bag[key] <= 0:
                del self._bag[key]

    def replace(
        self, solutions: Iterable[Solution]
    ) -> tuple[tuple[Solution, ...], tuple[Solution, ...]]:
        """Become this answer; what it added and removed, but of `whole` all that there is.

        Where no answer is known, what is told again cannot be told apart from what is new.
        """
        if self._is_stream:
            return tuple(solutions), ()
        new = Counter(map(_key, solutions))
        if self._output == "whole":
            self._bag = new
            return _solutions(new), ()
        added, removed = new - self._bag, self._bag - new
        self._bag = new
        return _solutions(added), _solutions(removed)

    @property
    def _is_stream(self) -> bool:
        return self._output in ("added", "removed")


def _key(solution: Mapping[str, Term]) -> _Key:
    return frozenset(solution.items())


def _solutions(bag: Counter[_Key]) -> tuple[Solution, ...]:
    return tuple(dict(key) for key in bag.elements())
