"""`ServiceManager`: what a service tells systemd: that it is ready, lives, stops.

Source: sd_notify(3) and sd_watchdog_enabled(3) of systemd 252; unix(7) for names that begin with @.
"""

import os
import socket
from collections.abc import MutableMapping
from contextlib import suppress
from typing import Self

_MICROSECONDS = 1_000_000


class ServiceManager:
    """Tells whoever started this process; nobody, where nobody asked for it.

    `watchdog_s` is the longest time that may pass between two signs of life, None where none is
    wanted. No call waits or raises.
    """

    def __init__(self, address: str = "", watchdog_s: float | None = None) -> None:
        self._address = f"\0{address[1:]}" if address.startswith("@") else address
        self.watchdog_s = watchdog_s
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) if address else None
        if self._socket is not None:
            self._socket.setblocking(False)

    @classmethod
    def of(cls, environ: MutableMapping[str, str]) -> Self:
        """As the environment says, from which it is taken: processes that we start tell nobody."""
        address = environ.pop("NOTIFY_SOCKET", "")
        microseconds = environ.pop("WATCHDOG_USEC", "")
        process = environ.pop("WATCHDOG_PID", "") or str(os.getpid())
        is_wanted = microseconds.isdigit() and int(microseconds) > 0 and process == str(os.getpid())
        return cls(address, int(microseconds) / _MICROSECONDS if is_wanted else None)

    @property
    def is_there(self) -> bool:
        """Whether anybody asked to be told."""
        return self._socket is not None

    def ready(self, words: str = "serving") -> None:
        """Tell that the start is done, and what it does; at once, for who reads both."""
        self._tell(f"READY=1\nSTATUS={words}")

    def lives(self) -> None:
        """Tell that it turns."""
        self._tell("WATCHDOG=1")

    def stopping(self) -> None:
        """Tell that it is about to end, in order."""
        self._tell("STOPPING=1\nSTATUS=stopping")

    def status(self, words: str) -> None:
        """What `systemctl status` is to show."""
        self._tell(f"STATUS={' '.join(words.split())}")

    def close(self) -> None:
        """Tell nothing more."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _tell(self, text: str) -> None:
        if self._socket is not None:
            # A manager that is gone or busy must not stop the service; silence is what it minds.
            with suppress(OSError):
                self._socket.sendto(text.encode(), self._address)
