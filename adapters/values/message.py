"""`Message`: one MQTT PUBLISH as it reached the gateway, transport already taken off."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Message:
    """A payload under a concrete topic (no wildcards).

    `received_at` is the gateway's clock, aware UTC. `client_id` and `packet_id` name the MQTT
    delivery (packet_id 0 for QoS 0); with `duplicate` (the DUP flag) they find redeliveries.
    """

    topic: str
    payload: bytes
    received_at: datetime
    client_id: str = ""
    packet_id: int = 0
    duplicate: bool = False
    retained: bool = False
    qos: int = 0
