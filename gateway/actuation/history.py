"""`History`: how many ended actuations the store keeps; the journal has all that were sent."""

from collections import deque

_UNKNOWN = ""


class History:
    """The ended actuations in the store: of each actuator the latest `keep`.

    Those of actuators that are not known share one place, for there can be any number of them.
    """

    def __init__(self, keep: int) -> None:
        self._keep = keep
        self._ended: dict[str, deque[str]] = {}

    def add(self, actuator: str, actuation: str, *, is_known: bool = True) -> list[str]:
        """An actuation has ended; which ones have to leave for it."""
        ended = self._ended.setdefault(actuator if is_known else _UNKNOWN, deque())
        if actuation in ended:
            return []
        ended.append(actuation)
        return [ended.popleft() for _ in range(len(ended) - self._keep)]
