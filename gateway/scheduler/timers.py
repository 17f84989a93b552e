"""`Timers`: when the scheduler has to look after delayed UPDATEs.

Asked by the scheduler whenever it waits. An UPDATE that has fallen due gets its place in the URQ,
behind what is there already (docs/engine.md, "Delayed UPDATEs").
"""

import logging
from time import monotonic

from gateway.engine.engine import Engine
from gateway.errors import StorageError

log = logging.getLogger(__name__)

_LONGEST_S = 1.0
"""The engine's clock may jump, when a board without a battery learns the time: look this often."""

_RETRY_S = 1.0
"""A disk that did not take a delayed UPDATE is tried again after this."""


class Timers:
    """Nothing is due until `start`: what notifications lead to is not there before."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._started = False
        self._not_before = 0.0

    def start(self) -> None:
        """From now on what is due is due, what fell due before it included."""
        self._started = True

    @property
    def left_s(self) -> float | None:
        """How long to wait at most before asking again, 0 when something is due; None: for ever."""
        due = self._engine.next_due if self._started else None
        if due is None:
            return None
        left_s = max((due - self._engine.time()) / 1e6, self._not_before - monotonic(), 0.0)
        return min(left_s, _LONGEST_S)

    def run(self) -> None:
        """Execute all that is due, in order."""
        try:
            while self._engine.run_due() is not None:
                pass
        except StorageError as error:
            self._not_before = monotonic() + _RETRY_S
            log.error("delayed_not_executed", extra={"reason": str(error)})
