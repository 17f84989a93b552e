"""The child's end of a confined process: what it may use, and its loop of requests.

Place: called by the `main` of a module that `ConfinedProcesses` runs. Imports nothing that takes
time: the process starts when somebody waits for it.
"""

import os
import pickle
import resource
import select
import sys
import threading
from collections.abc import Callable
from enum import IntEnum
from struct import Struct
from typing import Any, BinaryIO

HEAD = Struct(">BQ")
"""Before each message: how it ended, and its length in bytes."""

_PAGES = "/proc/self/statm"
_CPU_S = 3600
"""So much CPU a process has in all: one that nobody can end any more ends by itself."""

_MAPPED_BYTES = 128 * 1024 * 1024
"""Address space beside: opening a store takes 71 MiB of it for stacks that nobody touches."""

_NICE = 5


class Ending(IntEnum):
    """How a request ended. After ANSWERED_LAST the process ends, since it has grown."""

    ANSWERED = 0
    ANSWERED_LAST = 1
    FAILED = 2
    CRASHED = 3
    LATE = 4


def serve(handle: Callable[[Any], bytes], memory_bytes: int) -> None:
    """Answer requests until there are no more; `handle` raises a GatewayError.

    A request may take so much memory beyond what the process has now.
    """
    threading.Thread(target=_end_with_parent, name="parent", daemon=True).start()
    requests, answers = _pipes()
    os.nice(_NICE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_CPU, (_CPU_S, _CPU_S))
    before = _size(0)
    if before:
        most = before + memory_bytes + _MAPPED_BYTES
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resident = _size(1)
    while head := requests.read(HEAD.size):
        _, length = HEAD.unpack(head)
        ending, answer = _handled(handle, requests, length)
        has_grown = _size(1) > resident + memory_bytes // 4
        if ending is Ending.ANSWERED and has_grown:
            ending = Ending.ANSWERED_LAST
        answers.write(HEAD.pack(ending, len(answer)))
        answers.write(answer)
        answers.flush()
        del answer
        if ending in {Ending.ANSWERED_LAST, Ending.CRASHED}:
            return


def _handled(
    handle: Callable[[Any], bytes], requests: BinaryIO, length: int
) -> tuple[Ending, bytes]:
    try:
        return Ending.ANSWERED, handle(pickle.loads(requests.read(length)))  # noqa: S301  # as said
    except MemoryError:
        return Ending.CRASHED, b""
    except Exception as error:  # whatever it is, it is the asker's
        error.__traceback__ = error.__cause__ = error.__context__ = None
        return Ending.FAILED, pickle.dumps(error)


def _pipes() -> tuple[BinaryIO, BinaryIO]:
    """Requests and answers; what native code prints goes elsewhere."""
    answers = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
    return sys.stdin.buffer, answers


def _size(column: int) -> int:
    """Bytes of address space (0) or resident (1); 0 where the system does not say."""
    try:
        with open(_PAGES, encoding="ascii") as file:
            return int(file.read().split()[column]) * resource.getpagesize()
    except OSError:
        return 0


def _end_with_parent() -> None:
    """The pipe of requests hangs up when the gateway has ended, however it did."""
    hung_up = select.poll()
    hung_up.register(0, select.POLLHUP)
    while not any(event & (select.POLLHUP | select.POLLERR) for _, event in hung_up.poll()):
        pass
    os._exit(1)
