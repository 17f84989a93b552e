"""What the process may use: which cores its threads run on, how many files it may have open.

The gateway's threads share one interpreter lock, so at any time one of them runs Python. Where they
are spread over cores, each handing over wakes another core and moves what is in its caches:
measured on two cores, 772 µs CPU a reading and 1,335 readings/s, and on one 478 µs and 2,038.
Queries, the store's own threads and worker processes, which run beside the lock, keep every core.

Each WebSocket, event stream and MQTT client is an open file, and Debian starts programs with a soft
limit of 1,024, far below `[limits] connections`. The hard limit is the administrator's.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

if sys.platform != "win32":
    import resource

_HAS_AFFINITY = hasattr(os, "sched_setaffinity")
_ALLOWED = frozenset(os.sched_getaffinity(0)) if _HAS_AFFINITY else frozenset[int]()


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
