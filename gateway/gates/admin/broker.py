"""`GET /broker`: where devices connect, for who is about to set one up; docs/http.md.

Beside the way of the data. Who looks after mappings is told; no secret is in it.
"""

import socket
from dataclasses import dataclass
from typing import Annotated, Literal

from fastapi import Depends

from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.security.policy import Capability

PATH = "/broker"

_ELSEWHERE = ("192.0.2.1", 9)
"""An address of RFC 5737 that nobody has: to find our own no packet goes there."""


class BrokerTold(Answer):
    """Where devices connect.

    `host` is empty where the broker listens on every address of the machine; `address` is then that
    by which its network knows it, empty where it has none. `local` says that only this machine
    reaches it, `users` that a device needs a login, `security` that the login is a client of
    /clients. `websocket_port` is null where MQTT over WebSocket is off.
    """

    mode: Literal["embedded", "external", "mosquitto"]
    host: str
    address: str
    local: bool
    port: int
    tls: bool
    websocket_port: int | None
    users: bool
    security: bool


@dataclass(frozen=True, slots=True)
class BrokerGate:
    """Tells where the broker is."""

    told: BrokerTold


def own_address() -> str:
    """The address by which the network knows this machine; "" where it is in none."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as unsent:
        try:
            unsent.connect(_ELSEWHERE)
        except OSError:
            return ""
        return str(unsent.getsockname()[0])


router = JsonRouter(Requires(Capability.MAPPINGS))


@router.get(PATH, "where devices connect", "the broker")
async def broker(gate: Annotated[BrokerGate, Depends(GateOf(BrokerGate))]) -> BrokerTold:
    """As it is reached now."""
    return gate.told
