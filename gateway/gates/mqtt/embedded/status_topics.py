"""`$SYS`: what the broker says of itself, to whoever may receive it.

Place: statistics → `StatusTopics` → SUBSCRIBE's answer, and every so often the fan-out. Source:
MQTT 3.1.1, section 4.7.2, which leaves topics that begin with $ to servers; the names are those of
Mosquitto (docs/brokers.md).
"""

from collections.abc import Callable
from time import monotonic

from gateway import __version__
from gateway.gates.mqtt.embedded.frames import Publish
from gateway.gates.mqtt.embedded.settings import BrokerStatistics

TREE = "$SYS/"


class StatusTopics:
    """The messages of now; numbers are of PUBLISH packets, sessions and topics, in decimal."""

    def __init__(self, statistics: Callable[[], BrokerStatistics]) -> None:
        self._statistics = statistics
        self._begin_s = monotonic()

    def messages(self) -> list[Publish]:
        """One for each topic, all of QoS 0; linear in the sessions."""
        now = self._statistics()
        values = {
            "version": f"sosa-gateway {__version__}",
            "uptime": f"{int(monotonic() - self._begin_s)} seconds",
            "clients/connected": now.clients,
            "clients/disconnected": now.sessions - now.clients,
            "clients/total": now.sessions,
            "messages/received": now.received,
            "messages/sent": now.delivered,
            "publish/messages/dropped": now.dropped,
            "retained messages/count": now.retained,
            "subscriptions/count": now.subscriptions,
        }
        return [
            Publish(f"{TREE}broker/{name}", str(value).encode()) for name, value in values.items()
        ]
