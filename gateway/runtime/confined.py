"""`ConfinedProcesses`: work for strangers in processes that may die of it, and nobody else does.

    ask → a process of a module → answer, or an error: it took too long, too much, or crashed

Place: where what comes from outside meets native code that cannot be stopped: documents to be
parsed, queries whose form bounds nothing. A process starts at the first request, does one at a
time, and ends when it has been idle for a minute, when it is killed for its time, or with the
gateway, however that ends. What it may use it sets itself, before the first one (`confinement`).
What is unpickled is what the gateway and its own child have written.
"""

import os
import pickle
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic

from gateway.errors import GatewayError, QueryTimeoutError, TooLargeError
from gateway.runtime.confinement import HEAD, Ending

IDLE_S = 60.0
"""A process that had nothing to do for so long ends."""

_PROGRAM = "import sys; sys.path[:] = {path!r}; import {module} as m; m.main({memory})"
_LOOK_S = 0.05
"""How often it is looked at whether somebody still waits for the answer."""

_CHUNK = 1 << 16


@dataclass(frozen=True, slots=True)
class Confinement:
    """What runs, what it may take, and what its errors say.

    `module` has `main(memory_bytes)`, which calls `serve`. `work` names what it does ("the query"),
    `setting` the one that gives it more memory.
    """

    module: str
    memory_bytes: int
    work: str
    setting: str
    idle_s: float = IDLE_S


class ConfinedProcesses:
    """As many processes as there are threads that ask at once; for any thread.

    `starts` and `deaths` count since the beginning.
    """

    def __init__(self, confinement: Confinement) -> None:
        self._confinement = confinement
        self._lock = threading.Lock()
        self._idle: list[_Process] = []
        self._busy: set[_Process] = set()
        self._reaper: threading.Timer | None = None
        self._is_closed = False
        self.starts = 0
        self.deaths = 0

    def __len__(self) -> int:
        """How many processes there are now."""
        return len(self._idle) + len(self._busy)

    def ask(
        self, request: object, within_s: float, is_wanted: Callable[[], bool] = lambda: True
    ) -> bytes:
        """The answer to a request that can be pickled; waits for it.

        Raises the GatewayError that the work raised; QueryTimeoutError after its time or when
        nobody wants it any more; TooLargeError where it took too much memory or ended its process.
        """
        process = self._take()
        try:
            ending, answer = process.answer(request, monotonic() + within_s, is_wanted)
        except BaseException:
            self._drop(process)
            raise
        if ending is Ending.ANSWERED:
            self._give_back(process)
            return answer
        if ending is Ending.FAILED:
            self._give_back(process)
            raise pickle.loads(answer)  # noqa: S301  # our own child wrote it
        self._drop(process)
        if ending is Ending.ANSWERED_LAST:
            return answer
        if ending is Ending.LATE:
            raise QueryTimeoutError(within_s)
        raise self._too_large(process.exit_code)

    def close(self) -> None:
        """End all of them, those at work too."""
        with self._lock:
            self._is_closed = True
            processes = [*self._idle, *self._busy]
            self._idle.clear()
            if self._reaper is not None:
                self._reaper.cancel()
        for process in processes:
            process.kill()

    def _take(self) -> "_Process":
        with self._lock:
            if self._is_closed:
                raise GatewayError("the gateway is stopping", "try again when it is up")
            while self._idle:
                process = self._idle.pop()
                if process.is_alive:
                    self._busy.add(process)
                    return process
                process.kill()
            self.starts += 1
        process = _Process(self._confinement)
        with self._lock:
            self._busy.add(process)
        return process

    def _give_back(self, process: "_Process") -> None:
        with self._lock:
            self._busy.discard(process)
            if not self._is_closed:
                process.idle_since = monotonic()
                self._idle.append(process)
                self._look_later()
                return
        process.kill()

    def _drop(self, process: "_Process") -> None:
        process.kill()
        with self._lock:
            self.deaths += process.exit_code != 0
            self._busy.discard(process)

    def _look_later(self) -> None:
        """Have idle processes ended in time; the lock is held."""
        if self._reaper is None and self._idle:
            self._reaper = threading.Timer(self._confinement.idle_s, self._reap)
            self._reaper.name, self._reaper.daemon = "confined", True
            self._reaper.start()

    def _reap(self) -> None:
        with self._lock:
            self._reaper = None
            due = monotonic() - self._confinement.idle_s
            ended = [each for each in self._idle if each.idle_since <= due]
            self._idle = [each for each in self._idle if each.idle_since > due]
            if not self._is_closed:
                self._look_later()
        for process in ended:
            process.kill()

    def _too_large(self, exit_code: int) -> TooLargeError:
        limits = self._confinement
        how = ""
        if exit_code < 0:
            how = f", or more than the store can do ({signal.Signals(-exit_code).name})"
        return TooLargeError(
            f"{limits.work} takes more memory than its {limits.memory_bytes >> 20} MiB{how}",
            f"ask for less at once, or raise {limits.setting}",
        )


class _Process:
    """One process, and the pipes to it."""

    def __init__(self, confinement: Confinement) -> None:
        program = _PROGRAM.format(
            path=sys.path, module=confinement.module, memory=confinement.memory_bytes
        )
        self.idle_since = 0.0
        self._process = subprocess.Popen(
            [sys.executable, "-c", program],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,  # an interrupt at the terminal is meant for the gateway
            env={**os.environ, "MALLOC_ARENA_MAX": "1", "RUST_BACKTRACE": "0"},
        )
        assert self._process.stdin is not None  # noqa: S101  # as asked for
        assert self._process.stdout is not None  # noqa: S101
        self._requests, self._answers = self._process.stdin, self._process.stdout
        os.set_blocking(self._requests.fileno(), False)

    @property
    def is_alive(self) -> bool:
        """Whether it has not ended."""
        return self._process.poll() is None

    @property
    def exit_code(self) -> int:
        """How it ended, a signal as a negative number; 0 while it runs."""
        return self._process.returncode or 0

    def answer(
        self, request: object, deadline: float, is_wanted: Callable[[], bool]
    ) -> tuple[Ending, bytes]:
        """How the request ended, and its answer or the pickled error."""
        packed = pickle.dumps(request, pickle.HIGHEST_PROTOCOL)
        unsent = memoryview(HEAD.pack(Ending.ANSWERED, len(packed)) + packed)
        got = bytearray()
        while (left_s := deadline - monotonic()) > 0 and is_wanted():
            can_read, can_write = self._ready(min(left_s, _LOOK_S), writes=bool(unsent))
            try:
                if can_write:
                    unsent = unsent[self._requests.write(unsent[:_CHUNK]) or 0 :]
                if can_read:
                    more = os.read(self._answers.fileno(), _CHUNK)
                    got += more
                    if not more:
                        return self._ended()
            except OSError:
                return self._ended()
            if len(got) >= HEAD.size:
                ending, length = HEAD.unpack_from(got)
                if len(got) >= HEAD.size + length:
                    return Ending(ending), bytes(got[HEAD.size :])
        return Ending.LATE, b""

    def _ready(self, timeout_s: float, *, writes: bool) -> tuple[bool, bool]:
        """Whether there is something to read, and room to write; by poll, for any descriptor."""
        waiting = select.poll()
        waiting.register(self._answers, select.POLLIN)
        if writes:
            waiting.register(self._requests, select.POLLOUT)
        ready = {descriptor for descriptor, _ in waiting.poll(timeout_s * 1000)}
        return self._answers.fileno() in ready, self._requests.fileno() in ready

    def _ended(self) -> tuple[Ending, bytes]:
        self._process.wait()
        return Ending.CRASHED, b""

    def kill(self) -> None:
        """End it now, if it has not ended, and wait until it has."""
        self._process.kill()
        self._process.wait()
        self._requests.close()
        self._answers.close()
