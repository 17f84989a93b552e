"""What the embedded broker counts."""

from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.gates.mqtt.embedded.gate import EmbeddedPublisher
from gateway.runtime.measures import Measure


def embedded_measures(broker: EmbeddedBroker, publisher: EmbeddedPublisher) -> tuple[Measure, ...]:
    """PUBLISH packets by what became of them, what is held and what there was no room for."""
    return (
        Measure(
            "broker_messages",
            "PUBLISH packets of the embedded broker",
            lambda: _named(
                broker, "received", "delivered", "dropped", "denied", "too_large", "failed"
            ),
            label="outcome",
        ),
        Measure(
            "broker_held",
            "what the embedded broker has now",
            lambda: _named(broker, "connections", "sessions", "retained", "queued"),
            is_counter=False,
            label="what",
        ),
        Measure(
            "broker_turned_away",
            "connections refused, sessions forgotten, messages not retained",
            lambda: _named(broker, "refused", "forgotten", "not_retained"),
            label="what",
        ),
        Measure("commands_dropped", "commands beyond the queue", lambda: publisher.dropped),
    )


def _named(broker: EmbeddedBroker, *names: str) -> dict[str, float]:
    statistics = broker.statistics
    return {name: getattr(statistics, name) for name in names}
