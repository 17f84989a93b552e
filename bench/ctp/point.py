"""`Point`: one point of the experiments, and what the paper says of it.

Place on the way of the data: made by `ctp`, measured in a process of its own, put beside the
paper's figures. Source: Qin et al. 2015, section 3.2, figures 5 to 7, as far as the text says
numbers: it gives bounds ("more than", "slightly below"), which stand here as numbers.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

MIXED = (10, 50, 100, 500)
"""Sizes of windows that queries have in turn, where they are mixed."""

_DEFAULT = (1000, 3, 100)
_PAPER: Mapping[tuple[int, int, int], tuple[int | None, int | None]] = {
    (100, 3, 100): (64_000, 3_000),
    (2000, 3, 100): (3_000, 50),
    (1000, 1, 100): (30_000, 1_200),
    (1000, 5, 100): (3_000, 300),
    (1000, 3, 10): (9_500, 500),
    (1000, 3, 50): (6_200, None),
    (1000, 3, 500): (4_500, 300),
}
"""Triples a second of CTP-automata with hashes, and of CQELS, by queries, patterns and window."""


@dataclass(frozen=True, slots=True)
class Point:
    """Queries of at most so many patterns over the last `window` triples; 0 is mixed.

    `level`: "match", encoded triples in and rows out, or "engine", an `Engine` with callbacks, of
    which each query has `copies`; there, triples come `element` at a time. `triples` are timed;
    before them, `checked` ones are answered one by one, for the digest. The way "naive" is timed
    for `naive_s` seconds of CPU time at most.
    """

    workload: str = "sparse"
    level: str = "match"
    way: str = "shared"
    output: str = "added"
    queries: int = _DEFAULT[0]
    patterns: int = _DEFAULT[1]
    window: int = _DEFAULT[2]
    triples: int = 60_000
    checked: int = 40
    element: int = 1
    copies: int = 1
    naive_s: float = 3.0

    @classmethod
    def of(cls, members: Mapping[str, Any]) -> "Point":
        """The reverse of `members`."""
        return cls(**members)

    def members(self) -> dict[str, Any]:
        """As JSON has it."""
        return asdict(self)

    def by(self, way: str, level: str = "match") -> "Point":
        """The same, another way."""
        return replace(self, way=way, level=level)

    @property
    def windows(self) -> tuple[int, ...]:
        """The sizes of windows; query n has the n-th of them, in turn."""
        return (self.window,) if self.window else MIXED

    @property
    def filled(self) -> int:
        """Triples before the first step, so that windows are full."""
        return max(self.windows)

    @property
    def paper(self) -> tuple[int | None, int | None]:
        """What the paper measured here, CTP-automata and CQELS; None where it says no number."""
        if self.workload != "sparse" or self.output != "added":
            return None, None
        return _PAPER.get((self.queries, self.patterns, self.window), (None, None))
