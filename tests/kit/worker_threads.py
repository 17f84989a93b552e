"""Worker processes that are threads of the test, and die when the test says so.

Place: under the tests of the parallel mode. What a process does is run unchanged; only the pipes
and the death are ours, so hundreds of deaths cost less than one process.
"""

import threading
from collections.abc import Callable, Iterable, Iterator
from queue import SimpleQueue

from gateway.engine.workers.worker_link import LinkBrokenError
from gateway.engine.workers.worker_messages import Reply, Request, pack, unpack
from gateway.engine.workers.worker_process import WorkerProcess


class Killed(BaseException):
    """The worker is gone, in the middle of what it did."""


class ThreadLink:
    """A Link and the Channel at its other end; dies at its `life`-th act on the pipes."""

    def __init__(self, life: int | None = None) -> None:
        self._life = life
        self._requests: SimpleQueue[bytes | None] = SimpleQueue()
        self._replies: SimpleQueue[bytes | None] = SimpleQueue()
        self._is_dead = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        try:
            WorkerProcess(_Channel(self)).run()
        except Killed:
            pass
        finally:
            self._is_dead = True
            self._replies.put(None)

    # the scheduler's end

    def send(self, message: bytes) -> None:
        if self._is_dead:
            raise LinkBrokenError
        self._requests.put(message)

    def receive(self) -> Reply:
        message = self._replies.get()
        if message is None:
            raise LinkBrokenError
        return unpack(message)  # type: ignore[return-value]

    def finish(self) -> None:
        self._requests.put(None)

    def kill(self) -> None:
        self._life = 0
        self._requests.put(None)
        self._thread.join()

    def close(self) -> None:
        assert self._is_dead

    # the worker's end

    def act(self) -> None:
        if self._life is not None:
            self._life -= 1
            if self._life < 0:
                raise Killed

    def take(self) -> Request:
        self.act()
        message = self._requests.get()
        if message is None:
            raise EOFError
        return unpack(message)  # type: ignore[return-value]

    def give(self, reply: Reply) -> None:
        self.act()
        self._replies.put(pack(reply))
        self.act()

    def is_idle(self) -> bool:
        return self._requests.empty()


class _Channel:
    def __init__(self, link: ThreadLink) -> None:
        self._link = link

    def receive(self) -> Request:
        return self._link.take()

    def send(self, reply: Reply) -> None:
        self._link.give(reply)

    def is_empty(self) -> bool:
        return self._link.is_idle()


def mortal(lives: Iterable[int]) -> Callable[[], ThreadLink]:
    """Starts workers with these lives, then some that do not die."""
    left: Iterator[int] = iter(lives)
    return lambda: ThreadLink(next(left, None))
