"""`LoopCalls`: calls from other threads into the event loop, many for one wake-up.

`call_soon_threadsafe` writes to a pipe each time, and each wake-up of the loop takes the
interpreter from the thread that does the work. So the first call wakes the loop at once, and those
that come within `PAUSE_S` after it wait together for the next turn: an idle gateway answers
without delay, a busy one in batches.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

PAUSE_S = 0.004


class LoopCalls:
    """A way into one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: deque[Callable[[], object]] = deque()
        self._scheduled = False

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Have the function called in the loop, after those called before it.

        Raises RuntimeError when the loop is closed.
        """
        self._calls.append(partial(function, *args) if args else function)
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        self._loop.call_later(PAUSE_S, self._run_or_rest)
        while self._calls:
            self._calls.popleft()()

    def _run_or_rest(self) -> None:
        if not self._calls:
            self._scheduled = False
        if self._calls:  # also one that came before the flag was down, and has woken nobody
            self._scheduled = True
            self._run()
