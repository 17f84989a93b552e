"""What the embedded broker counts."""

from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.gates.mqtt.embedded.gate import EmbeddedPublisher
from gateway.runtime.measures import Measure


def embedded_measures(broker: EmbeddedBroker, publisher: EmbeddedPublisher) -> tuple[Measure, ...]:
    """PUBLISH packets by what became of them, and commands that found the queue full."""
    return (
        Measure(
            "broker_messages",
            "PUBLISH packets of the embedded broker",
            lambda: {
                name: getattr(broker.statistics, name)
                for name in ("received", "delivered", "dropped", "denied", "too_large", "failed")
            },
            label="outcome",
        ),
        Measure("commands_dropped", "commands beyond the queue", lambda: publisher.dropped),
    )
