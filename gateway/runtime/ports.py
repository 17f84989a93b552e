"""Why this machine does not listen at a port, told so that a person can mend it.

Place: behind the errors of every server at its start, and `sosa-gateway check` before it.
"""

import errno
import socket

from gateway.errors import ConfigurationError
from gateway.runtime.holders import Holder, port_holder

_FIRST_OF_USERS = 1024
_SETTINGS = "[http] port, [websocket] port, [mqtt] port, those of [tls]; in gateway.example.toml"


def not_listening(what: str, host: str, port: int, error: OSError) -> ConfigurationError:
    """The error for `what` (a server), by its cause."""
    reason, hint = _cause(host, port, error)
    return ConfigurationError(f"{what} cannot listen on {host} port {port}: {reason}", hint)


def _cause(host: str, port: int, error: OSError) -> tuple[str, str]:
    if isinstance(error, socket.gaierror):
        return f"there is no host {host}", "correct the name, or bind 127.0.0.1"
    if error.errno == errno.EADDRINUSE:
        holder = port_holder(port) or Holder(0)
        return f"{holder} uses the port", f"end it, or set another port: {_SETTINGS}"
    if error.errno == errno.EADDRNOTAVAIL:
        return f"this machine has no address {host}", "bind one that it has, or 127.0.0.1"
    if error.errno == errno.EACCES and port < _FIRST_OF_USERS:
        return (
            f"ports below {_FIRST_OF_USERS} are for those who may",
            "configure a higher port, or give the service CAP_NET_BIND_SERVICE",
        )
    return error.strerror or str(error), "configure another host or port"
