"""`Link`: a worker process and the two pipes to it; the only module that starts processes.

Place: between the scheduler's `Worker` and `worker_process`. The process is a fresh interpreter,
never a fork: pyoxigraph has threads. Whoever holds one end of a pipe sees when the other end has
gone; besides, the worker watches its standard input and ends at once when that closes, so none
outlives a gateway that was killed.
"""

import fcntl
import subprocess
import sys
from contextlib import suppress
from multiprocessing.connection import Connection, Pipe
from typing import Protocol

from gateway.engine.workers.worker_messages import Reply, unpack

_PIPE_BYTES = 1 << 20
"""What a pipe takes before its writer waits: some ten large updates, where the system allows it."""

_PROGRAM = "import sys; sys.path[:] = {path!r}; import {module} as m; m.main({inlet}, {outlet})"
_MODULE = "gateway.engine.workers.worker_process"


class LinkBrokenError(Exception):
    """The worker is gone."""


class Link(Protocol):
    """The scheduler's end of the way to a worker."""

    def send(self, message: bytes) -> None:
        """Hand over a packed request; waits while the pipe is full. Raises LinkBrokenError."""

    def receive(self) -> Reply:
        """The next reply; waits for it. Raises LinkBrokenError when none will come."""

    def finish(self) -> None:
        """Send nothing more: the worker does what it has and ends."""

    def kill(self) -> None:
        """End it now, if it has not ended, and wait until it has."""

    def close(self) -> None:
        """Give the pipes back, when nobody sends or receives any more."""


class ProcessLink:
    """A worker in a process of its own."""

    def __init__(self) -> None:
        inlet, self._requests = Pipe(duplex=False)
        self._replies, outlet = Pipe(duplex=False)
        for end in (self._requests, self._replies):
            _widen(end)
        program = _PROGRAM.format(
            path=sys.path, module=_MODULE, inlet=inlet.fileno(), outlet=outlet.fileno()
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            pass_fds=(inlet.fileno(), outlet.fileno()),
        )
        inlet.close()
        outlet.close()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def send(self, message: bytes) -> None:
        """Hand over a packed request. Raises LinkBrokenError."""
        try:
            self._requests.send_bytes(message)
        except OSError as error:
            raise LinkBrokenError from error

    def receive(self) -> Reply:
        """The next reply. Raises LinkBrokenError."""
        try:
            message = unpack(self._replies.recv_bytes())
        except (EOFError, OSError) as error:
            raise LinkBrokenError from error
        return message  # type: ignore[return-value]

    def finish(self) -> None:
        """Close the pipe of requests: the worker ends when it is empty."""
        self._requests.close()

    def kill(self) -> None:
        """End the process now and wait until it has ended."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """Give the pipes back."""
        self._requests.close()
        self._replies.close()
        if self._process.stdin is not None:
            self._process.stdin.close()


def _widen(end: "Connection[bytes, bytes]") -> None:
    with suppress(AttributeError, OSError):  # not on Linux, or more than this user may have
        fcntl.fcntl(end.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
