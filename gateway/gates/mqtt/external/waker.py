"""`Waker`: ends the `select` of another thread, by at most one system call for a turn of it."""

import socket
from contextlib import suppress


class Waker:
    """A socket that becomes readable; `wake` from any thread, `rest` in the one that selects."""

    def __init__(self) -> None:
        self._near, self._far = socket.socketpair()
        self._near.setblocking(False)
        self._far.setblocking(False)
        self._awake = False

    def wake(self) -> None:
        """Have the next `select` return at once; nothing once it is closed."""
        if not self._awake:
            self._awake = True
            with suppress(OSError):  # full, or closed: what is settled late tells nobody any more
                self._far.send(b"\0")

    def rest(self) -> None:
        """Be ready for the next call; what was asked for before it must be done after this."""
        self._awake = False
        with suppress(BlockingIOError):
            self._near.recv(4096)

    def fileno(self) -> int:
        """For select."""
        return self._near.fileno()

    def close(self) -> None:
        """Nobody is woken any more."""
        self._near.close()
        self._far.close()
