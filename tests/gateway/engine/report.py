"""What became of the W3C query cases as subscriptions: passed, not applicable, deviating, failed.

Every test of a case enters its verdict; the table stands at the end of the run of pytest.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import pytest

PASSED = "passed"
NOT_APPLICABLE = "not applicable"
DEVIATES = "the store deviates"
FAILED = "failed"


@dataclass(frozen=True, slots=True, order=True)
class Verdict:
    """On one case; the reason says why it is not simply passed."""

    kind: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """The verdict on each case, by the mode of the engine and the name of the case."""

    verdicts: dict[tuple[str, str], Verdict] = field(default_factory=dict)

    @contextmanager
    def judging(self, mode: str, name: str, verdict: Verdict) -> Iterator[None]:
        """The case has this verdict if the block ends well, and else has failed."""
        self.verdicts[mode, name] = Verdict(FAILED, name)
        yield
        self.verdicts[mode, name] = verdict

    def counted(self, mode: str) -> Counter[Verdict]:
        """How often each verdict was given."""
        return Counter(verdict for (one, _), verdict in self.verdicts.items() if one == mode)

    def lines(self) -> list[str]:
        """The table: one column for each mode, the reasons below each kind."""
        modes = sorted({mode for mode, _ in self.verdicts}, reverse=True)
        counts = [self.counted(mode) for mode in modes]
        lines = [_line("", modes)]
        for kind in (PASSED, NOT_APPLICABLE, DEVIATES, FAILED):
            each = [sum(n for seen, n in one.items() if seen.kind == kind) for one in counts]
            lines.append(_line(kind, each))
            reasoned = {verdict for one in counts for verdict in one if verdict.kind == kind}
            lines += [
                _line(f"  {verdict.reason}", [one[verdict] for one in counts])
                for verdict in sorted(reasoned)
                if verdict.reason
            ]
        return lines


def _line(label: str, columns: Sequence[object]) -> str:
    return f"{label:<68}" + "".join(f"{column!s:>11}" for column in columns)


REPORT = pytest.StashKey[Report]()
