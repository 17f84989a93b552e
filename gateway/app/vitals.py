"""`Vitals`: whether messages come in, triples go into the store and notifications out, right now.

Asked by /health and /ready. A flow that has something waiting and moves nothing for some time is
stalled; a thread that is gone or a folder that cannot be written is an alarm at once.
"""

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

_SAMPLE_S = 1.0
_PROBE_S = 10.0


@dataclass(frozen=True, slots=True)
class Flow:
    """A stage of the way: how much has passed it since the start, and how much waits for it."""

    name: str
    passed: Callable[[], int]
    waiting: Callable[[], int]


def nothing_waits() -> int:
    """Nothing: the stage has no queue of its own."""
    return 0


class Vitals:
    """Samples the flows once a second; `run` is a task."""

    def __init__(
        self,
        flows: Sequence[Flow],
        folder: Path,
        threads: frozenset[str] = frozenset({"scheduler", "ingest"}),
        stall_s: float = 30.0,
    ) -> None:
        self._flows = flows
        self._folder = folder
        self._threads = threads
        self._stall_s = stall_s
        started = monotonic()
        self._seen = {flow.name: (flow.passed(), started) for flow in flows}
        self._busy_since = {flow.name: started for flow in flows}
        self._fault = ""
        self._probed = -_PROBE_S

    async def run(self) -> None:
        """Sample for ever."""
        while True:
            self.sample(monotonic())
            await asyncio.sleep(_SAMPLE_S)

    def sample(self, now: float) -> None:
        """Look what has moved since the last time."""
        for flow in self._flows:
            passed = flow.passed()
            moved = passed != self._seen[flow.name][0]
            if moved:
                self._seen[flow.name] = (passed, now)
            if moved or not flow.waiting():
                self._busy_since[flow.name] = now

    async def alarms(self) -> list[str]:
        """What keeps the gateway from its work; empty when all is well."""
        now = monotonic()
        if now - self._probed >= _PROBE_S:
            self._probed = now
            self._fault = await asyncio.to_thread(_write_fault, self._folder)
        alive = {thread.name for thread in threading.enumerate()}
        gone = [f"the thread {name} has ended" for name in sorted(self._threads - alive)]
        return [*gone, *self._stalled(now), *([self._fault] if self._fault else [])]

    def flow(self) -> Mapping[str, Mapping[str, float]]:
        """By stage: how much has passed, how much waits, and for how long nothing has passed."""
        now = monotonic()
        return {
            flow.name: {
                "passed": flow.passed(),
                "waiting": flow.waiting(),
                "idle_s": round(max(0.0, now - self._seen[flow.name][1]), 1),
            }
            for flow in self._flows
        }

    def _stalled(self, now: float) -> list[str]:
        found = []
        for flow in self._flows:
            waiting, idle_s = flow.waiting(), now - self._busy_since[flow.name]
            if waiting and idle_s >= self._stall_s:
                found.append(f"{flow.name}: {waiting} wait, and none has passed for {idle_s:.0f} s")
        return found


def _write_fault(folder: Path) -> str:
    """Why nothing can be written into the folder, "" where it can; a file that is gone again."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"1")
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return f"{folder} cannot be written: {error.strerror or error}"
    return ""
