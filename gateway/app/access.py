"""The gates by which people and devices get in: who they are, clients, the claim, the broker."""

from collections.abc import Collection
from socket import gethostname

from gateway.app.brokers.settings import broker_gate
from gateway.app.security import Security
from gateway.config.settings import Config
from gateway.federation.service import FederationService
from gateway.gates.admin.access.claim import ClaimGate
from gateway.gates.admin.access.clients import ClientsGate
from gateway.gates.admin.access.me import MeGate


def access_gates(
    security: Security, config: Config, mqtt_port: int, federation: FederationService | None
) -> tuple[object, ...]:
    """The gates of who may get in, where clients are asked who they are and where not.

    `mqtt_port` is where the broker listens now.
    """
    authority, name = security.authority, gethostname()

    def gateways() -> Collection[str]:
        return () if federation is None else federation.names

    if authority is None:
        me = MeGate(is_secured=False, name=name, gateways=gateways)
    else:
        me = MeGate(True, name, lambda: not authority.clients, gateways)
    broker = broker_gate(config, mqtt_port)
    return me, broker, ClientsGate(security.clients), ClaimGate(security.claims)
