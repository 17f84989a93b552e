"""What the process may use: cores for its threads, open files, and no memory that is free.

The gateway's threads share one interpreter lock, so at any time one of them runs Python. Where they
are spread over cores, each handing over wakes another core and moves what is in its caches:
measured on two cores, 772 µs CPU a reading and 1,335 readings/s, and on one 478 µs and 2,038.
Queries, the store's own threads and worker processes, which run beside the lock, keep every core.

Each WebSocket, event stream and MQTT client is an open file, and Debian starts programs with a soft
limit of 1,024, far below `[limits] connections`. The hard limit is the administrator's.

Write buffers of the store, large answers and the start leave memory that the C library keeps, in as
many heaps as there are threads: measured with 1,000 streams and 100 subscriptions, 18 MB at rest,
and after 8,000 readings 206 MB where one heap that gives back has 178.
"""

import asyncio
import ctypes
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

if sys.platform != "win32":
    import resource

_HAS_AFFINITY = hasattr(os, "sched_setaffinity")
_ALLOWED = frozenset(os.sched_getaffinity(0)) if _HAS_AFFINITY else frozenset[int]()
_LOOK_S = 60.0
_GROWTH_BYTES = 2**22
_MMAP_THRESHOLD, _ARENA_MAX = -3, -8
"""Parameters of mallopt(3), as glibc numbers them."""

_LARGE_BYTES = 2**17
_HEAPS = 2


@contextmanager
def one_core() -> Iterator[None]:
    """Keep the calling thread, and those that it starts meanwhile, on one core (Linux)."""
    if not _HAS_AFFINITY:
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {max(before)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def every_core() -> None:
    """Let the calling thread run on every core that the process had at its start."""
    if _HAS_AFFINITY:
        os.sched_setaffinity(0, _ALLOWED)


def raise_limit() -> int:
    """Raise the soft limit to the hard one; how many descriptors that allows, 0 for unknown."""
    if sys.platform == "win32":
        return 0
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    return hard


def keep_heaps_together() -> None:
    """Have few heaps, and large blocks in none, so that what is free of them can be given back.

    Without it glibc takes larger and larger blocks from its heaps, once one has been given back.
    """
    set_parameter = _of_glibc("mallopt")
    if set_parameter is not None:
        set_parameter(_MMAP_THRESHOLD, _LARGE_BYTES)
        set_parameter(_ARENA_MAX, _HEAPS)


def give_back_memory() -> None:
    """Let the system have what is free: malloc_trim(3); some milliseconds."""
    trim = _of_glibc("malloc_trim")
    if trim is not None:
        trim(0)


async def keep_memory_small() -> None:
    """Give back what is free, at once and then each minute in which the process has grown."""
    before = 0
    while True:
        if _resident_bytes() >= before + _GROWTH_BYTES:
            await asyncio.to_thread(give_back_memory)
            before = _resident_bytes()
        await asyncio.sleep(_LOOK_S)


def _of_glibc(name: str) -> Callable[..., int] | None:
    """A function of the C library; None where that is another one."""
    return getattr(ctypes.CDLL(None), name, None) if sys.platform == "linux" else None


def _resident_bytes() -> int:
    """The memory of the process that is in RAM (proc_pid_statm(5)); 0 where nobody tells that."""
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[1]
    except OSError:
        return 0
    return int(pages) * os.sysconf("SC_PAGE_SIZE")
