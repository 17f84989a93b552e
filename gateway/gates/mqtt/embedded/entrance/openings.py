"""`Openings`: connections whose CONNECT is not accepted yet. Few of an address, none for long.

Place: listener → `enter`; the conversation → `heard`, `leave`. Whoever says nothing holds a socket
until its time is up, so silence must not keep those out who have something to say.
"""

import asyncio
from collections.abc import Callable
from time import monotonic

GRACE_S = 1.0
"""Devices that come all at once, as after a power cut, have this time to say who they are."""


class Opening:
    """One of them. Silent until its CONNECT has come whole."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.since_s = monotonic()
        self.silent = True

    def heard(self) -> None:
        """The CONNECT is here and being judged: it will not be long."""
        self.silent = False


class Openings:
    """Beyond `most` in all, the oldest of the address that has most goes, silent ones first.

    Of one address `most_of_address` may be silent longer than GRACE_S; then the oldest go.
    """

    def __init__(self, most: int, most_of_address: int) -> None:
        self._most = most
        self._most_of_address = most_of_address
        self._all: dict[Opening, Callable[[], None]] = {}
        self._by_address: dict[str, dict[Opening, None]] = {}
        self._watched: set[str] = set()

    def __len__(self) -> int:
        return len(self._all)

    def enter(self, opening: Opening, close: Callable[[], None]) -> None:
        """Add one, which `close` ends. Linear in the addresses where there are too many."""
        self._all[opening] = close
        self._by_address.setdefault(opening.address, {})[opening] = None
        if len(self._all) > self._most:
            self._end(_oldest(max(self._by_address.values(), key=len)))
        self._watch(opening.address)

    def leave(self, opening: Opening) -> None:
        """Take one out, as soon as it is accepted or gone; again is nothing."""
        if opening not in self._all:
            return
        del self._all[opening]
        own = self._by_address[opening.address]
        del own[opening]
        if not own:
            del self._by_address[opening.address]

    def _watch(self, address: str) -> None:
        """Look at an address in a while, as long as it has too many."""
        if address in self._watched or len(self._own(address)) <= self._most_of_address:
            return
        self._watched.add(address)
        asyncio.get_running_loop().call_later(GRACE_S / 2, self._thin_out, address)

    def _thin_out(self, address: str) -> None:
        self._watched.discard(address)
        own, late_s = self._own(address), monotonic() - GRACE_S
        late = [each for each in own if each.silent and each.since_s <= late_s]
        for opening in late[: max(0, len(own) - self._most_of_address)]:
            self._end(opening)
        self._watch(address)

    def _own(self, address: str) -> dict[Opening, None]:
        return self._by_address.get(address, {})

    def _end(self, opening: Opening) -> None:
        close = self._all[opening]
        self.leave(opening)
        close()


def _oldest(openings: dict[Opening, None]) -> Opening:
    return next((each for each in openings if each.silent), next(iter(openings)))
