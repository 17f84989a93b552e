"""`Case`: one case of the experiments, as JSON says it to a process of its own."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from bench.windows.readings import PERIOD_US

SECOND_US = 1_000_000


@dataclass(frozen=True, slots=True)
class Case:
    """Readings of `sensors` over the last `range_s`, told continuously or each `step_s`.

    `query` names a text of `texts`; `subscriptions` differ in a threshold, or with `ranges` in the
    range: the n-th of so many has n parts of `range_s`. `checked` readings are compared, `readings`
    timed.
    """

    name: str
    query: str = "aggregates"
    way: str = "sliding"
    sensors: int = 200
    range_s: int = 600
    step_s: int | None = None
    subscriptions: int = 1
    ranges: int = 1
    readings: int = 6000
    checked: int = 40

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> "Case":
        """The reverse of `members`."""
        return cls(**members)

    def members(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    @property
    def filled(self) -> int:
        """Readings before the first that is checked: what the longest range has, and a step."""
        spare = self.step_s or 0
        return (self.range_s + spare) * SECOND_US // PERIOD_US * self.sensors

    @property
    def range_seconds(self) -> tuple[int, ...]:
        """The ranges of the windows."""
        return tuple(self.range_s * part // self.ranges for part in range(1, self.ranges + 1))
