"""`Bits`: how much of a subscription's past enters its windows with one place in the queue.

Place: under `Scheduler.warm`. Whatever waits behind a bit waits no longer than some milliseconds,
however much of the window each element costs.
"""

from time import monotonic

from gateway.engine.serving.warming import Warming

_FIRST = 50
_MOST = 2_000
_BIT_S = 0.005


class Bits:
    """The bits of one `Warming`: the first has 50 elements, further ones what 5 ms were enough for.

    None has twice as many as the one before, none more than 2,000.
    """

    def __init__(self, warming: Warming) -> None:
        self._warming = warming
        self._most = _FIRST

    def fill(self) -> None:
        """Put the next one in; in the scheduler's thread. Raises as `Warming.fill`."""
        began = monotonic()
        self._warming.fill(self._most)
        took_s = max(monotonic() - began, 1e-6)
        self._most = max(1, min(int(self._most * min(_BIT_S / took_s, 2)), _MOST))


def give_up(warming: Warming) -> None:
    """Have it come to nothing; in the scheduler's thread."""
    warming.close()
