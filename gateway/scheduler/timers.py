"""`Timers`: when the scheduler has to look after delayed UPDATEs, and after windows.

Asked by the scheduler whenever it waits. An UPDATE that has fallen due gets its place in the URQ,
behind what is there already (docs/engine.md, "Delayed UPDATEs"), and so does what time alone
changes in windows, at most once a tick (docs/windows.md).
"""

import logging
from time import monotonic

from gateway.engine.engine import Engine
from gateway.errors import StorageError
from gateway.scheduler.limits import TICK_MS

log = logging.getLogger(__name__)

_LONGEST_S = 1.0
"""The engine's clock may jump, when a board without a battery learns the time: look this often."""

_RETRY_S = 1.0
"""A disk that did not take a delayed UPDATE is tried again after this."""


class Timers:
    """Nothing is due until `start`: what notifications lead to is not there before.

    Windows are looked at once in `tick_s` at most.
    """

    def __init__(self, engine: Engine, tick_s: float = TICK_MS / 1000) -> None:
        self._engine = engine
        self._tick_s = tick_s
        self._started = False
        self._not_before = 0.0
        self._next_tick = 0.0

    def start(self) -> None:
        """From now on what is due is due, what fell due before it included."""
        self._started = True

    @property
    def left_s(self) -> float | None:
        """How long to wait at most before asking again, 0 when something is due; None: for ever."""
        if not self._started:
            return None
        engine = self._engine
        waits_s = [
            max(self._until(due), not_before - monotonic(), 0.0)
            for due, not_before in (
                (engine.next_delayed, self._not_before),
                (engine.windowed.next_due, self._next_tick),
            )
            if due is not None
        ]
        return min(*waits_s, _LONGEST_S) if waits_s else None

    def run(self) -> None:
        """Do all that is due, in order: delayed UPDATEs, then windows."""
        try:
            while self._engine.run_due() is not None:
                pass
        except StorageError as error:
            self._not_before = monotonic() + _RETRY_S
            log.error("delayed_not_executed", extra={"reason": str(error)})
        due = self._engine.windowed.next_due
        if due is not None and self._until(due) <= 0 and monotonic() >= self._next_tick:
            self._next_tick = monotonic() + self._tick_s
            try:
                self._engine.advance()
            except Exception:  # a defect of ours costs this tick, never the one writer
                log.exception("windows_crashed")

    def _until(self, due: int) -> float:
        return (due - self._engine.time()) / 1e6
