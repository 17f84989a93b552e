"""`FirstTimes`: what has been said of whom, so that a log says it once."""

_MOST = 1_000


class FirstTimes:
    """A bounded memory of names; full, it forgets the oldest, of whom it is said again.

    >>> seen = FirstTimes()
    >>> seen.is_new("d"), seen.is_new("d")
    (True, False)
    """

    def __init__(self) -> None:
        self._names: dict[str, None] = {}

    def is_new(self, name: str) -> bool:
        """Whether this is the first time for a name."""
        if name in self._names:
            return False
        if len(self._names) >= _MOST:
            del self._names[next(iter(self._names))]
        self._names[name] = None
        return True
