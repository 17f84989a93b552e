"""The gates by which people get in: who they are, the clients, the claim of a new gateway."""

import socket

from gateway.app.security import Security
from gateway.gates.admin.access.claim import ClaimGate
from gateway.gates.admin.access.clients import ClientsGate
from gateway.gates.admin.access.me import MeGate


def access_gates(security: Security) -> tuple[object, ...]:
    """The gates of who may get in, where clients are asked who they are and where not."""
    authority, name = security.authority, socket.gethostname()
    if authority is None:
        me = MeGate(is_secured=False, name=name)
    else:
        me = MeGate(is_secured=True, name=name, is_claimable=lambda: not authority.clients)
    return me, ClientsGate(security.clients), ClaimGate(security.claims)
