"""`LastResults`: the last result of each stream, for families that repeat what they cached.

Place on the way: in the Memory of such a family. Where the sender gives values no time of their
own, an equal value repeated is a heartbeat and no new observation.
"""

from adapters.fault import Fault
from adapters.memory import Recent
from adapters.observation import StreamKey
from adapters.result import Result

MAX_STREAMS = 50_000


class LastResults:
    """Bounded; a stream that was forgotten starts anew."""

    __slots__ = ("_last",)

    def __init__(self) -> None:
        self._last = Recent[StreamKey, Result](MAX_STREAMS)

    def is_new(self, key: StreamKey, result: Result | Fault) -> bool:
        """Whether `result` differs from the stream's last one; it is the last one from now on.

        A fault is always new: it is told, and what was before it counts no more.
        """
        if isinstance(result, Fault):
            self._last.pop(key)
            return True
        if self._last.get(key) == result:
            return False
        self._last.put(key, result)
        return True
