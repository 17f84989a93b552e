"""The watchdog's ping: sent by the event loop, after a look at the threads that the data passes.

A loop that is stuck sends none, a thread that does not turn stops them: systemd then ends the
process (SIGABRT, with every thread's traceback in the log) and starts it again. What waits for a
disk is no hang: a start anew would not make room. A full or read-only disk is told by the store and
the journal themselves, who rest then; one that is slow leaves threads in the kernel's disk sleep.
Nothing is read of the store or the disk here, or a slow disk would stop the loop that serves.
Sources: sd_watchdog_enabled(3); proc(5), state D of /proc/PID/stat.
"""

import asyncio
import faulthandler
import logging
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from gateway.runtime.pulse import Pulse
from gateway.runtime.service_manager import ServiceManager

log = logging.getLogger(__name__)

HUNG_S = 180.0
"""A step that takes longer never ends: six times as long as the longest query may (query_s)."""

_SUSPICIOUS_S = 5.0
_THREADS = Path("/proc/self/task")


def disk_is_waited_for() -> bool:
    """Whether any thread of this process is in the kernel's disk sleep now; False off Linux."""
    for stat in _THREADS.glob("*/stat"):
        try:
            fields = stat.read_text(encoding="utf-8", errors="replace")
        except OSError:  # the thread has ended
            continue
        if fields.rpartition(")")[2].split()[:1] == ["D"]:
            return True
    return False


class Watch:
    """Looks at pulses; `hung` names the threads that do not turn, or are gone."""

    def __init__(
        self,
        pulses: Sequence[Pulse],
        hung_s: float = HUNG_S,
        clock: Callable[[], float] = monotonic,
        waits_for_disk: Callable[[], bool] = disk_is_waited_for,
    ) -> None:
        self._pulses = pulses
        self._hung_s = hung_s
        self._clock = clock
        self._waits_for_disk = waits_for_disk
        self._disk_at = -1e9

    def hung(self) -> list[str]:
        """The names; cheap, and the kernel is asked only when something takes long."""
        now = self._clock()
        busy = [each.busy_since for each in self._pulses if each.busy_since is not None]
        if busy and now - min(busy) >= _SUSPICIOUS_S and self._waits_for_disk():
            self._disk_at = now
        alive = {thread.name for thread in threading.enumerate()}
        return [
            each.thread
            for each in self._pulses
            if each.thread not in alive or self._is_stuck(each, now)
        ]

    def _is_stuck(self, pulse: Pulse, now: float) -> bool:
        since = pulse.busy_since
        return since is not None and now - max(since, self._disk_at) >= self._hung_s


class Watchdog:
    """Tells the manager that the gateway is ready, lives and stops; an async context manager.

    To be entered before what is watched and left after it: a stop has to live as well, and is
    bounded by systemd (TimeoutStopSec).
    """

    def __init__(self, manager: ServiceManager) -> None:
        self._manager = manager
        self._watch: Watch | None = None
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._manager.is_there:
            faulthandler.enable()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait({self._task})

    def ready(self, watch: Watch) -> None:
        """Tell that it serves; what stops turning from now on is told by silence."""
        self._watch = watch
        self._manager.ready()
        if self._manager.watchdog_s is not None:
            self._task = asyncio.create_task(self._ping(self._manager.watchdog_s), name="watchdog")

    def stopping(self) -> None:
        """Tell that threads end from now on, as they should."""
        self._watch = None
        self._manager.stopping()

    async def _ping(self, watchdog_s: float) -> None:
        """Three times as often as is needed, until something hangs."""
        while not (hung := self._watch.hung() if self._watch else []):
            self._manager.lives()
            await asyncio.sleep(watchdog_s / 3)
        self._manager.status(f"hangs: {', '.join(hung)}")
        for name in hung:
            log.critical("hangs", extra={"hung": name, "stack": " < ".join(_stack(name))})


def _stack(name: str) -> Iterator[str]:
    """Where a thread is, innermost first; nowhere when it has ended."""
    frames = sys._current_frames()
    for thread in threading.enumerate():
        frame = frames.get(thread.ident or 0)
        if thread.name == name and frame is not None:
            for each in reversed(traceback.extract_stack(frame)):
                yield f"{Path(each.filename).name}:{each.lineno} {each.name}"
