"""`Clocks`: the two clocks by which a gateway lives, in one place, so that it can live by others.

Place on the way of the data: given to the gates, which stamp messages with the wall clock, and to
absences, which measure silence by the steady one. The fleet of the demo gives a gateway clocks
that tell simulated time (gateway.demo.fleet).

A small computer without a battery wakes up in 1970; systemd-timesyncd sets it to where it was when
it ran last, which looks right and is not. It says by a file that it has heard the time.
Source: systemd-timesyncd.service(8), "Files".
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic

FIRST = datetime(2025, 1, 1, tzinfo=UTC)
"""No gateway of this version has run before."""


_TIMESYNC = Path("/run/systemd/timesync")
_BATTERIES = Path("/sys/class/rtc")


def is_set(now: datetime) -> bool:
    """Whether a wall clock can be right by what it says."""
    return now >= FIRST


class Timesync:
    """Whether the wall clock can be right by who has set it since the start.

    It cannot where systemd-timesyncd waits for the network and no clock ran on by a battery; from
    the first time that it has heard the time it can.
    """

    def __init__(self, run: Path = _TIMESYNC, batteries: Path = _BATTERIES) -> None:
        self._heard = run / "synchronized"
        self._is_waiting = run.is_dir() and not _runs_on(batteries)

    def is_set(self, now: datetime) -> bool:
        """Asked for each message: costs a look at a file as long as it cannot."""
        if self._is_waiting:
            self._is_waiting = not self._heard.exists()
        return is_set(now) and not self._is_waiting


def _runs_on(batteries: Path) -> bool:
    """Whether a clock of the hardware tells a time that can be."""
    for file in batteries.glob("rtc*/since_epoch"):
        with suppress(OSError, ValueError):
            if int(file.read_text(encoding="ascii")) >= FIRST.timestamp():
                return True
    return False


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clocks:
    """`now` is the wall clock, aware UTC; `steady` are seconds that never jump.

    `is_set` says whether a time of the wall clock can be right.
    """

    now: Callable[[], datetime] = _now
    steady: Callable[[], float] = monotonic
    is_set: Callable[[datetime], bool] = is_set


SYSTEM_CLOCKS = Clocks(is_set=Timesync().is_set)
