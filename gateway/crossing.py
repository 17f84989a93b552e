"""`Crossing`: calls from other threads into the event loop, many for one wake-up.

`call_soon_threadsafe` writes to a pipe each time; under load hundreds of calls arrive before the
loop turns once, and one wake-up serves them all, in order.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial


class Crossing:
    """A way into one event loop."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._calls: deque[Callable[[], object]] = deque()
        self._scheduled = False

    def call(self, function: Callable[..., object], *args: object) -> None:
        """Have the function called in the loop, after those called before it.

        Raises RuntimeError when the loop is closed.
        """
        self._calls.append(partial(function, *args))
        if not self._scheduled:
            self._scheduled = True
            self._loop.call_soon_threadsafe(self._run)

    def _run(self) -> None:
        self._scheduled = False  # before draining: a call that comes now schedules another run
        while self._calls:
            self._calls.popleft()()
