"""Upkeep of the journal beside ingest: sealing, making room, postponed fsyncs, labels.

A thread of low priority on any core does it. zlib and SHA-256 let go of the interpreter, so
compressing does not hold up who appends.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Self

from gateway.errors import GatewayError
from gateway.journal.spool import Journal
from gateway.runtime.process import every_core
from gateway.runtime.pulse import Pulse

log = logging.getLogger(__name__)

_TICK_S = 1.0
_LABELS_S = 60.0
_NICE = 10


class Upkeep:
    """A context in which a journal is looked after."""

    def __init__(self, journal: Journal, tick_s: float = _TICK_S) -> None:
        self._journal = journal
        interval = journal.limits.fsync_interval_s
        self._tick_s = min(tick_s, interval) if interval > 0 else tick_s
        self._stopping = threading.Event()
        self._failed: dict[str, str] = {}
        self._asked_at = -_LABELS_S
        self._threads = [
            threading.Thread(target=run, name=f"journal-{name}", daemon=True)
            for name, run in (("settle", self._settle), ("upkeep", self._tidy))
        ]
        self._pulses = {thread.name: Pulse(thread.name) for thread in self._threads}

    @property
    def pulses(self) -> tuple[Pulse, ...]:
        """One of each of the two threads."""
        return tuple(self._pulses.values())

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """A segment that is being sealed is sealed to its end."""
        self._stopping.set()
        self._journal.attention.set()
        for thread in self._threads:
            thread.join()

    def _settle(self) -> None:
        while not self._stopping.wait(self._tick_s):
            self._try("settle", self._journal.settle)

    def _tidy(self) -> None:
        every_core()
        _step_back()
        attention = self._journal.attention
        while attention.wait(self._tick_s) or not self._stopping.is_set():
            attention.clear()
            if self._stopping.is_set():
                return
            self._try("labels", self._ask_labels)
            is_well = self._try("seal", self._journal.seal)
            if not (self._try("room", self._journal.make_room) and is_well):
                self._stopping.wait(self._tick_s)

    def _ask_labels(self) -> None:
        now = time.monotonic()
        if now - self._asked_at >= _LABELS_S:
            self._asked_at = now
            self._journal.labels.ask()

    def _try(self, name: str, work: Callable[[], object]) -> bool:
        """Whether it was done; a failure is logged once, until it is another one."""
        pulse = self._pulses[threading.current_thread().name]
        pulse.beat()
        try:
            work()
            self._failed.pop(name, None)
            return True
        except GatewayError as error:
            if self._failed.get(name) != str(error):
                log.error("journal_upkeep_failed", extra={"reason": str(error)})
            self._failed[name] = str(error)
        except Exception:  # a defect costs this turn, never the upkeep
            log.exception("journal_upkeep_crashed")
        finally:
            pulse.rest()
        return False


def _step_back() -> None:
    """Lower priority for this thread alone, which only Linux has."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)
