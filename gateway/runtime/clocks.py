"""`Clocks`: the two clocks by which a gateway lives, in one place, so that it can live by others.

Place on the way of the data: given to the gates, which stamp messages with the wall clock, and to
absences, which measure silence by the steady one. The fleet of the demo gives a gateway clocks
that tell simulated time (gateway.demo.fleet).
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from time import monotonic

FIRST = datetime(2025, 1, 1, tzinfo=UTC)
"""No gateway of this version has run before."""


def is_set(now: datetime) -> bool:
    """Whether a wall clock can be right: a small computer without a battery wakes up in 1970."""
    return now >= FIRST


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clocks:
    """`now` is the wall clock, aware UTC; `steady` are seconds that never jump."""

    now: Callable[[], datetime] = _now
    steady: Callable[[], float] = monotonic


SYSTEM_CLOCKS = Clocks()
