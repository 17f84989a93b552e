"""Links of who is no member: closed, as the carrier itself does not.

    link, certificate's name -> a member's: stays; another's: its connection is shut down

Place: beside `ZenohCarrier`. A certificate of the federation's CA opens a link even if its gateway
was removed since; the access control lets nothing through on it, but it would stay open. Zenoh 1.10
tells of links, and offers no way to close one, so the operating system's connection is shut down,
which both ends see as its end. Source: proc(5), "/proc/pid/fd"; shutdown(2).
"""

import os
import socket
from collections.abc import Iterator
from pathlib import Path

_OPEN = Path("/proc/self/fd")

End = tuple[str, int]
"""Address and port."""


def shut(here: str, there: str) -> bool:
    """Shut down the connection between two ends, `tls/ADDRESS:PORT` each; whether there was one."""
    wanted = _end(here), _end(there)
    for connection in _connections():
        with connection:
            if _ends(connection) == wanted:
                connection.shutdown(socket.SHUT_RDWR)
                return True
    return False


def _connections() -> Iterator[socket.socket]:
    """Every socket of this process, each by a descriptor of its own that the taker closes."""
    for name in os.listdir(_OPEN) if _OPEN.is_dir() else ():
        try:
            own = os.dup(int(name))
        except OSError:  # closed meanwhile
            continue
        try:
            yield socket.socket(fileno=own)
        except OSError:  # a file
            os.close(own)


def _ends(connection: socket.socket) -> tuple[End, End] | None:
    try:
        return connection.getsockname()[:2], connection.getpeername()[:2]
    except OSError:  # not connected
        return None


def _end(locator: str) -> End:
    address, _, port = locator.partition("/")[2].partition("?")[0].rpartition(":")
    return address.strip("[]"), int(port)
