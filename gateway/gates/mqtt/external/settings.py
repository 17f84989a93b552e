"""How an external broker is reached, by all connections to it.

Place on the way of the data: under the connections of ingest, rules, discovery and requests.
"""

import ssl
from dataclasses import dataclass

from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from gateway.actuation.host_state import HostState
from gateway.gates.mqtt.external.tls_client import TlsClient

ORIGIN = "sosa-gateway"
"""The user property that marks a message as ours (MQTT 5.0, 3.3.2.3.7)."""
_LONGEST_DELAY_S = 30
"""Between two tries of a connection beside that of ingest."""


@dataclass(frozen=True, slots=True)
class ExternalSettings:
    """How to reach an external broker, with `tls` or in clear text, and what to say of ourselves.

    MQTT 5 is required.
    """

    host: str
    port: int
    client_id: str = "sosa-gateway"
    username: str | None = None
    password: str | None = None
    inflight: int = 1000
    host_state: HostState | None = None
    tls: ssl.SSLContext | None = None

    @property
    def mark(self) -> tuple[str, str]:
        """The user property that marks what we publish."""
        return (ORIGIN, self.client_id)

    def client(self, purpose: str, *, manual_ack: bool = False) -> TlsClient:
        """A further connection, beside that of ingest, with a client id of its own."""
        client = TlsClient(
            CallbackAPIVersion.VERSION2,
            f"{self.client_id}-{purpose}",
            protocol=MQTTProtocolVersion.MQTTv5,
            manual_ack=manual_ack,
        )
        if self.username is not None:
            client.username_pw_set(self.username, self.password)
        if self.tls is not None:
            client.tls_set_context(self.tls)
        client.reconnect_delay_set(1, _LONGEST_DELAY_S)
        return client
