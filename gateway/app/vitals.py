"""`Vitals`: whether messages come in, triples go into the store and notifications out, right now.

Asked by /health and /ready. A flow that has something waiting and moves nothing for some time is
stalled; a thread that is gone or a folder that cannot be written is an alarm at once.
"""

import asyncio
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from gateway.runtime.alarms import AlarmKind, Condition

_SAMPLE_S = 1.0
_PROBE_S = 10.0
_PATIENCE_S = 1.0


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
        self._probing: asyncio.Task[str] | None = None

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

    async def probe(self) -> None:
        """Try whether the folder can be written, unless that was tried a moment ago.

        A disk that hangs holds nobody up: it is a fault until it answers.
        """
        now = monotonic()
        if self._probing is None and now - self._probed >= _PROBE_S:
            self._probed = now
            work = asyncio.to_thread(_write_fault, self._folder)
            self._probing = asyncio.create_task(work, name="disk probe")
        probing = self._probing
        if probing is None:
            return
        await asyncio.wait({probing}, timeout=_PATIENCE_S)
        if self._probing is not probing:
            return  # another who asked has seen its end
        if probing.done():
            self._probing = None
            self._fault = probing.result()
        else:
            self._fault = "it does not answer"

    def conditions(self) -> Iterator[Condition]:
        """What keeps the gateway from its work; as far as the folder goes, at the last probe."""
        alive = {thread.name for thread in threading.enumerate()}
        for name in sorted(self._threads - alive):
            what = f"the thread {name} has ended"
            yield Condition(AlarmKind.ENDED, name, what, "restart the gateway", is_fault=True)
        yield from self._stalled(monotonic())
        if self._fault:
            hint = "make room, or have the disk writable again"
            yield Condition(AlarmKind.DISK, str(self._folder), self._fault, hint, is_fault=True)

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

    def _stalled(self, now: float) -> Iterator[Condition]:
        for flow in self._flows:
            if flow.waiting() and now - self._busy_since[flow.name] >= self._stall_s:
                what = f"something waits, and nothing has passed for {self._stall_s:.0f} s"
                hint = "restart the gateway if it stays so, and report it with its log"
                yield Condition(AlarmKind.STALLED, flow.name, what, hint, is_fault=True)


def _write_fault(folder: Path) -> str:
    """Why nothing can be written into the folder, "" where it can; a file that is gone again."""
    try:
        with tempfile.TemporaryFile(dir=folder) as probe:
            probe.write(b"1")
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        return f"it cannot be written: {error.strerror or error}"
    return ""
