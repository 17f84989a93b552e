"""The settings of either broker, from those of the gateway."""

import ssl

from adapters.discovery import MAX_ANNOUNCEMENT_BYTES
from gateway.app.names import broker_names
from gateway.app.onboarding import announced
from gateway.config.settings import Config
from gateway.gates.mqtt.embedded.settings import BrokerSettings
from gateway.gates.mqtt.external.settings import ExternalSettings


def external_settings(config: Config) -> ExternalSettings:
    """How another broker is reached. Raises ConfigurationError."""
    mqtt = config.mqtt
    return ExternalSettings(
        mqtt.host,
        mqtt.port,
        config.mqtt_client_id,
        mqtt.username or None,
        mqtt.read_password(),
        tls=mqtt.client_context(),
    )


def broker_settings(config: Config, tls: ssl.SSLContext | None) -> BrokerSettings:
    """With `tls` where that is on."""
    mqtt = config.mqtt
    return BrokerSettings(
        mqtt.host,
        config.mqtt_port,
        tls,
        max_payload_bytes=config.limits.payload_bytes,
        max_announcement_bytes=MAX_ANNOUNCEMENT_BYTES,
        is_announcement=announced(config),
        max_connections=mqtt.connections,
        max_client_connections=mqtt.client_connections,
        max_connecting=mqtt.client_connecting,
        max_sessions=mqtt.sessions,
        max_client_sessions=mqtt.client_sessions,
        session_expiry_s=mqtt.session_s,
        max_retained=mqtt.retained_messages,
        max_client_retained=mqtt.client_retained_messages,
        max_retained_bytes=mqtt.retained_bytes,
        max_client_retained_bytes=mqtt.client_retained_bytes,
        status_interval_s=mqtt.status_interval_s,
        web_socket_port=config.mqtt_websocket_port,
        names=broker_names(config.http, mqtt).with_pages_of(config.http_port),
    )
