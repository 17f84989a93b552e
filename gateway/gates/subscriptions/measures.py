"""What is counted of subscribers."""

from functools import partial

from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import SubscriberStatistics
from gateway.runtime.measures import Measure

_TRANSPORTS = (
    ("websocket", "sockets", "WebSockets open"),
    ("events", "event_streams", "streams of server-sent events open"),
    ("mqtt", "mqtt_subscribers", "MQTT clients that subscribe"),
)


def subscriber_measures(subscribers: Subscribers) -> tuple[Measure, ...]:
    """Connections by transport, and what became of subscriptions."""
    seen, kept = subscribers.statistics, subscribers.kept
    return (
        *(
            Measure(name, what, partial(_now, seen, transport), is_counter=False)
            for transport, name, what in _TRANSPORTS
        ),
        Measure("subscriptions_away", "whose client was lost", lambda: seen.away, is_counter=False),
        Measure("subscriptions_resumed", "gone on with", lambda: seen.resumed),
        Measure("resume_bytes", "kept to send again", lambda: kept.total, is_counter=False),
        Measure("resume_given_way", "buffers emptied for others", lambda: kept.given_way),
        Measure("subscriptions_ended", "ended from our side", lambda: seen.ended),
        Measure("subscriber_messages", "messages sent to subscribers", lambda: seen.messages),
        Measure("subscriber_merged", "notifications merged", lambda: seen.merged),
        Measure("subscriber_errors", "requests answered with an error", lambda: seen.errors),
        Measure("subscriber_overflows", "closed, too slow a reader", lambda: seen.overflows),
        Measure("subscriber_stalls", "given up, no reader at all", lambda: seen.stalls),
    )


def _now(seen: SubscriberStatistics, transport: str) -> int:
    return seen.connections[transport]
