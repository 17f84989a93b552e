"""`Place`: where a gateway is reached, and how others are told of it."""

import socket
from ipaddress import ip_address
from typing import NamedTuple

ANYWHERE = frozenset({"0.0.0.0", "[::]"})  # noqa: S104  # looked for
ANYWHERE_HOST = "0.0.0.0"  # noqa: S104  # members have certificates
PORT = 7447
JOIN_PORT = 7448


class Place(NamedTuple):
    """A host, and a port of it."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @classmethod
    def parse(cls, text: str, port: int) -> "Place":
        """`HOST` or `HOST:PORT`; `port` where none is said.

        >>> Place.parse("attic.local", 7447), str(Place.parse("[::1]:80", 7447))
        (Place(host='attic.local', port=7447), '[::1]:80')
        """
        host, colon, said = text.rpartition(":")
        if not colon or not said.isdecimal():
            return cls(text.strip("[]"), port)
        return cls(host.strip("[]"), int(said))

    @property
    def is_loopback(self) -> bool:
        """Whether it is reached from this machine alone."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"


def own_places(listen: Place, address: str) -> tuple[str, ...]:
    """Where others reach a gateway that listens there, and has this address towards one of them.

    By its name in the local network first (RFC 6762), which stays when the address changes.

    >>> own_places(Place("127.0.0.1", 7447), "127.0.0.1")
    ('127.0.0.1:7447',)
    """
    if str(listen).rpartition(":")[0] not in ANYWHERE:
        return (str(listen),)
    name = socket.gethostname().partition(".")[0]
    found = [f"{name}.local:{listen.port}"] if name else []
    if not ip_address(address).is_link_local:
        found.append(str(Place(address, listen.port)))
    return tuple(found)
