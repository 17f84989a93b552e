"""`LogLines`: what a log says of clients, seldom enough that none of them can fill it."""

from math import inf
from time import monotonic

_MOST = 1_000


class LogLines:
    """Says of each name when a line is due: the first time, and after `again_s` with how many.

    Bounded: of more than a thousand names the one that came first is forgotten.

    >>> lines = LogLines()
    >>> lines.due("d"), lines.due("d"), lines.due("e")
    (1, 0, 1)
    """

    def __init__(self, again_s: float = inf) -> None:
        self._again_s = again_s
        self._said: dict[str, tuple[float, int]] = {}

    def due(self, name: str) -> int:
        """How often it happened since the last line, this time included; 0: no line now."""
        now_s = monotonic()
        said_s, before = self._said.get(name, (-inf, 0))
        if now_s - said_s < self._again_s:
            self._said[name] = said_s, before + 1
            return 0
        if name not in self._said and len(self._said) >= _MOST:
            del self._said[next(iter(self._said))]
        self._said[name] = now_s, 0
        return before + 1
