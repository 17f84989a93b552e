"""What a command costs: wall time, CPU time and memory of all processes that it starts.

A JVM is a grandchild that nobody waits for, so what the kernel tells of children when they end
leaves it out. The command gets a session of its own, whose processes are looked at in /proc.
"""

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Self

_TICKS = os.sysconf("SC_CLK_TCK")
_EVERY_S = 0.05


@dataclass(frozen=True, slots=True)
class Cost:
    """Seconds of wall and CPU time, greatest resident memory of all processes together."""

    wall_s: float
    cpu_s: float
    peak_bytes: int


@dataclass(slots=True)
class Meter:
    """Adds up what the processes of one session have used so far."""

    session: int
    peak_bytes: int = 0
    ticks: dict[int, int] = field(default_factory=dict)

    def look(self) -> None:
        """Look once more; a process that has ended keeps what it had used when last seen."""
        seen: dict[int, tuple[int, int, int]] = {}
        for folder in Path("/proc").glob("[0-9]*"):
            with suppress(OSError, ValueError):
                fields = (folder / "stat").read_text().rpartition(")")[2].split()
                if int(fields[3]) == self.session:
                    self.ticks[int(folder.name)] = int(fields[11]) + int(fields[12])
                    seen[int(folder.name)] = (int(fields[1]), int(fields[20]), int(fields[21]))
        self.peak_bytes = max(self.peak_bytes, resident_pages(seen) * os.sysconf("SC_PAGESIZE"))

    @property
    def cpu_s(self) -> float:
        """CPU time of all processes that were seen."""
        return sum(self.ticks.values()) / _TICKS


def resident_pages(seen: Mapping[int, tuple[int, int, int]]) -> int:
    """Pages of all processes, by their parent, size of address space and resident pages.

    A child as large as its parent is one that has just been forked, and has the parent's memory,
    not as much again: a JVM makes one for each file whose rights it sets.
    """
    sizes = {process: size for process, (_, size, _) in seen.items()}
    return sum(pages for parent, size, pages in seen.values() if sizes.get(parent) != size)


class Running:
    """A command in a session of its own; leaving the context ends what is left of it."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], output: IO[bytes]
    ) -> None:
        self._started = time.monotonic()
        self._process = subprocess.Popen(
            command, env=environment, stdout=output, stderr=output, start_new_session=True
        )
        self._meter = Meter(self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, 9)
        self._process.wait()

    def until(self, is_done: Callable[[], bool]) -> bool:
        """Wait until something is so; False where the command ended before."""
        while self._process.poll() is None:
            self._meter.look()
            if is_done():
                return True
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_EVERY_S)
        return False

    @property
    def code(self) -> int:
        """How it ended."""
        return self._process.returncode

    @property
    def cost(self) -> Cost:
        """What it cost until now."""
        meter = self._meter
        return Cost(time.monotonic() - self._started, meter.cpu_s, meter.peak_bytes)


def measured(
    command: Sequence[str], environment: Mapping[str, str], output: IO[bytes]
) -> tuple[int, Cost]:
    """Run a command to its end; its exit code and what it cost."""
    with Running(command, environment, output) as running:
        running.until(lambda: False)
        return running.code, running.cost
