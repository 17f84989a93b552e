"""The gates by which people get in: who they are, the clients, the claim of a new gateway."""

import socket

from gateway.app.security import Security
from gateway.gates.admin.access.me import MeGate


def access_gates(security: Security) -> tuple[object, ...]:
    """The gates of who may get in, where clients are asked who they are and where not."""
    authority = security.authority
    name = socket.gethostname()
    if authority is None:
        return (MeGate(is_secured=False, name=name),)
    return (MeGate(is_secured=True, name=name, is_claimable=lambda: not authority.clients),)
