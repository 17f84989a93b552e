"""What the connection to an external broker counts, and what is wrong with it."""

from collections.abc import Iterator

from gateway.gates.mqtt.external.broker import ExternalBroker
from gateway.runtime.alarms import AlarmKind, Condition, Source
from gateway.runtime.measures import Measure


def external_measures(broker: ExternalBroker) -> tuple[Measure, ...]:
    """The connection, messages passed over, and commands that found the queue full."""
    return (
        Measure("echoes", "our own messages, not ingested", lambda: broker.echoes),
        Measure("copies", "of one message, under several topic filters", lambda: broker.copies),
        Measure("broker_connections", "connections made so far", lambda: broker.connections),
        Measure(
            "broker_connected", "1 while connected", lambda: broker.is_connected, is_counter=False
        ),
        Measure("commands_dropped", "commands beyond the queue", lambda: broker.dropped),
    )


def external_alarms(broker: ExternalBroker, address: str) -> Source:
    """Not connected, and why."""

    def look() -> Iterator[Condition]:
        if broker.fault:
            hint = "correct [mqtt] host, port, username, password_file and tls, or start the broker"
            yield Condition(AlarmKind.BROKER, address, broker.fault, hint)

    return look
