"""`WindowInfo` and `WindowLimits`: what a window has, and what all of them may have."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class WindowInfo:
    """What a window has now. Times in µs since the epoch.

    `from_` and `to`: what it speaks of, from what is known on; of a counted window the times of its
    oldest and its newest element; None: of nothing. `complete`: nothing of that is missing.
    `elements`, `triples`: in the graph. `bytes`: an estimate of what is held for it, what waits
    included and what others see too. `oldest`: the time of the oldest element. `watermark`: of
    the clock, less the lateness; None: of no clock, or of a stream's that has not begun.
    Counted since it was opened: `late`, elements told of a time that was over in the step before;
    `dropped`, those that never enter, by `late`, by their unit or by their age; `expired`, those
    that left. `warning`: what will be wrong with it if elements go on to come as they do.
    """

    from_: int | None
    to: int | None
    complete: bool
    elements: int
    triples: int
    bytes: int
    oldest: int | None
    watermark: int | None
    late: int
    dropped: int
    expired: int
    warning: str = ""

    def __str__(self) -> str:
        parts = [
            f"{self.elements} elements, {self.triples} triples, {self.bytes} bytes",
            "complete" if self.complete else "not complete",
            f"from {date_time(self.from_) or 'nothing'} to {date_time(self.to) or 'nothing'}",
        ]
        if self.oldest is not None:
            parts.append(f"oldest {date_time(self.oldest)}")
        if self.watermark is not None:
            parts.append(f"watermark {date_time(self.watermark)}")
        counted = f"{self.late} late, {self.dropped} dropped, {self.expired} expired"
        return ", ".join([*parts, counted, *([self.warning] if self.warning else [])])


def date_time(time: int | None) -> str | None:
    """Microseconds since the epoch as xsd:dateTime; None for none, and for what no year has."""
    if time is None:
        return None
    try:
        return f"{_EPOCH + timedelta(microseconds=time):%Y-%m-%dT%H:%M:%S.%fZ}"
    except OverflowError:
        return None


@dataclass(frozen=True, slots=True)
class WindowLimits:
    """What all windows together may hold: elements, and bytes by estimate.

    What waits to enter counts; windows of one stream that differ in `range` alone share their
    elements, which count once, all others count what they hold.
    """

    elements: int = 1_000_000
    bytes: int = 512 << 20
