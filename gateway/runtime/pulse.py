"""`Pulse`: whether a thread turns, told by itself, so that somebody else can see when it does not.

Place: beside the threads that the way of the data has; who watches over them asks (the watchdog).
"""

from time import monotonic


class Pulse:
    """When a thread began what it does now; written by that thread alone, read by any.

    Waiting for others, for work or for a disk that has said that it takes nothing is rest: who
    rests can do so for years. `thread` is its name.
    """

    def __init__(self, thread: str) -> None:
        self.thread = thread
        self._since: float | None = None

    @property
    def busy_since(self) -> float | None:
        """By the monotonic clock; None: it rests."""
        return self._since

    def beat(self) -> None:
        """Told when the thread begins the next thing."""
        self._since = monotonic()

    def rest(self) -> None:
        """Told when it has done what there was, or cannot go on without somebody else."""
        self._since = None
