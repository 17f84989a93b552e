"""`Notification`: what one UPDATE changed in one subscription's answer."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from gateway.rdf.delta import Delta
from gateway.rdf.solutions import ResultsDelta, Solution, solution


@dataclass(frozen=True, slots=True)
class Notification:
    """Rows added and removed since the previous notification of this subscription.

    `sequence` counts from 0 (the first answer) without a gap; `time` is the engine's clock at
    the UPDATE, µs since the Unix epoch; `form` is SELECT, ASK or CONSTRUCT. An ASK that is true
    has one empty solution, a CONSTRUCT row is `subject`, `predicate`, `object`.
    """

    spuid: str
    sequence: int
    alias: str | None
    time: int
    results: ResultsDelta
    form: str = "SELECT"

    @property
    def added(self) -> Sequence[Solution]:
        """The added solutions, a bag: equal ones are repeated."""
        return [solution(self.results.variables, row) for row in self.results.added]

    @property
    def removed(self) -> Sequence[Solution]:
        """The removed solutions, a bag: equal ones are repeated."""
        return [solution(self.results.variables, row) for row in self.results.removed]

    def addressed(self, spuid: str, sequence: int, alias: str | None) -> "Notification":
        """The same change for another subscriber of the same SPU."""
        return replace(self, spuid=spuid, sequence=sequence, alias=alias)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What an UPDATE did: its net change and whom it concerned. `time` is µs since the epoch.

    `notifications` are those that no listener was told. `id` is that of a delayed UPDATE: the
    change is that of delaying or of executing it. `due` is when one that was delayed just now is
    to be executed, µs since the epoch.
    """

    delta: Delta
    notifications: tuple[Notification, ...]
    time: int
    id: str | None = None
    due: int | None = None
