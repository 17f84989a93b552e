"""What the embedded broker counts, and which of its limits bite."""

from collections.abc import Iterator

from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.gates.mqtt.embedded.gate import EmbeddedPublisher
from gateway.runtime.alarms import AlarmKind, Condition, Growth, Source
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


def embedded_alarms(broker: EmbeddedBroker, most: int) -> Source:
    """Messages not retained, sessions forgotten, as many connections as may be."""
    seen = broker.statistics
    not_retained = Growth(lambda: seen.not_retained)
    forgotten = Growth(lambda: seen.forgotten)

    def look() -> Iterator[Condition]:
        nonlocal seen
        seen = broker.statistics
        if not_retained.is_recent:
            yield Condition(
                AlarmKind.RETAINED,
                "[mqtt] retained_messages, retained_bytes",
                "retained messages have no more room: some are not kept",
                "clear those that nobody needs, or raise these; the log names the client",
            )
        if forgotten.is_recent:
            yield Condition(
                AlarmKind.LIMIT,
                "[mqtt] sessions, client_sessions",
                "sessions of devices that are away are forgotten",
                "let devices keep their client id, or raise these; the log names the client",
            )
        if seen.connections >= most:
            yield Condition(
                AlarmKind.LIMIT,
                "[mqtt] connections",
                f"{most} devices are connected, and others are refused",
                "look who connects so often, or raise this",
            )

    return look
