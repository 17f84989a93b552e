"""One core and so much memory for a process, by what the machine at hand has for that.

A control group (memory controller, version 1 or 2) where one can be made, else a bound on the data
of the process (RLIMIT_DATA), which is stricter: what is allocated counts, touched or not.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from time import monotonic

_V1 = Path("/sys/fs/cgroup/memory")
_V2 = Path("/sys/fs/cgroup")
_ENTER = 'echo $$ > "$0" && exec "$@"'
_REMOVE_S = 5.0


@dataclass(frozen=True, slots=True)
class Confinement:
    """A command that puts what stands behind it into bounds, and how it does that, for people."""

    within: Sequence[str]
    how: str


@contextmanager
def confined(memory_bytes: int) -> Iterator[Confinement]:
    """One core of those that we may use, and so much memory."""
    core = max(os.sched_getaffinity(0))
    pinned = ["taskset", "-c", str(core)]
    group = _made(memory_bytes)
    if group is None:
        within = [*pinned, "prlimit", f"--data={memory_bytes}"]
        yield Confinement(within, "taskset and RLIMIT_DATA")
        return
    folder, tasks = group
    try:
        within = [*pinned, "sh", "-c", _ENTER, str(folder / tasks)]
        yield Confinement(within, "taskset and a control group")
    finally:
        _remove(folder)


def _made(memory_bytes: int) -> tuple[Path, str] | None:
    """The folder of a new group and the file by which it is entered."""
    for root, limit, tasks in (
        (_V1, "memory.limit_in_bytes", "tasks"),
        (_V2, "memory.max", "cgroup.procs"),
    ):
        folder = root / f"sosa-gateway-bench-{os.getpid()}"
        try:
            folder.mkdir()
        except OSError:
            continue
        try:
            (folder / limit).write_text(str(memory_bytes), encoding="ascii")
        except OSError:
            folder.rmdir()
            continue
        return folder, tasks
    return None


def _remove(folder: Path) -> None:
    """The kernel lets go of it when the last process of it is gone."""
    end = monotonic() + _REMOVE_S
    while True:
        try:
            folder.rmdir()
        except OSError:
            if monotonic() > end:
                return
            Event().wait(0.05)
        else:
            return
