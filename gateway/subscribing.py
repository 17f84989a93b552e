"""How the settings make subscribers: their limits, and the servers that they come to.

Place on the way of the data: none; read once, when the gateway starts.
"""

from gateway.config import Config
from gateway.gates.operations import ServerSettings
from gateway.gates.outbox import OutboxLimits
from gateway.gates.subscription import SubscriberLimits


def subscriber_limits(config: Config) -> SubscriberLimits:
    """What clients may hold."""
    limits = config.limits
    return SubscriberLimits(
        connections=limits.connections,
        client_connections=limits.client_connections,
        subscriptions=limits.subscriptions,
        client_subscriptions=limits.client_subscriptions,
        held=limits.connection_subscriptions,
        resume_s=limits.resume_s,
        away=limits.resume_subscriptions,
        stall_s=limits.stall_s,
        bare_token=config.websocket.bare_token,
        outbox=OutboxLimits(
            messages=limits.outbox,
            rows=limits.outbox_rows,
            kept=limits.resume_messages if limits.resume_s else 0,
        ),
    )


def server_settings(config: Config) -> ServerSettings:
    """Of the servers for HTTP and WebSocket."""
    return ServerSettings(
        message_bytes=config.limits.message_bytes,
        compression=config.websocket.compression,
        ping_interval_s=config.websocket.ping_interval_s,
        ping_timeout_s=config.websocket.ping_timeout_s,
    )
