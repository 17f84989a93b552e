"""`LoopCalls`: calls from other threads into the event loop, many for one wake-up.

`call_soon_threadsafe` writes to a pipe each time, and each wake-up of the loop takes the
interpreter from the thread that does the work. So the first call wakes the loop at once, and those
that come within `PAUSE_S` after it wait together for the next turn: an idle gateway answers
without delay and without a timer behind it, a busy one in batches.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial
from math import inf

PAUSE_S = 0.004


class LoopCalls:
    """A way into one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: deque[Callable[[], object]] = deque()
        self._scheduled = False
        self._ran_at = -inf

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Have the function called in the loop, after those called before it.

        Raises RuntimeError when the loop is closed.
        """
        self._calls.append(partial(function, *args) if args else function)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon_threadsafe(self._begin)

    def _begin(self) -> None:
        left_s = self._ran_at + PAUSE_S - self._loop.time()
        if left_s > 0:
            self._loop.call_later(left_s, self._run)
        else:
            self._scheduled = False  # what comes from now on wakes the loop
            self._call_all()

    def _run(self) -> None:
        self._loop.call_later(PAUSE_S, self._run_or_rest)
        self._call_all()

    def _call_all(self) -> None:
        self._ran_at = self._loop.time()
        while self._calls:
            self._calls.popleft()()

    def _run_or_rest(self) -> None:
        if not self._calls:
            self._scheduled = False
        if self._calls:  # also one that came before the flag was down, and has woken nobody
            self._scheduled = True
            self._run()
