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


_CORRECT_IT = "correct [mqtt] host, port, username, password_file and tls, or start the broker"


def external_alarms(broker: ExternalBroker, address: str, hint: str = _CORRECT_IT) -> Source:
    """Not connected, and why."""

    def look() -> Iterator[Condition]:
        if broker.fault:
            yield Condition(AlarmKind.BROKER, address, broker.fault, hint)

    return look
