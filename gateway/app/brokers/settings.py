"""The settings of either broker, from those of the gateway."""

import ssl

from adapters.discovery import MAX_ANNOUNCEMENT_BYTES
from gateway.app.names import broker_names
from gateway.app.onboarding import announced
from gateway.app.security import identities_path, own_certificate
from gateway.config.settings import Config, is_loopback
from gateway.gates.admin.broker import BrokerGate, BrokerTold, own_address
from gateway.gates.mqtt.embedded.settings import BrokerSettings
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.mosquitto.beside import Beside, dialled
from gateway.security.identity_store import IdentityStore

_EVERYWHERE = frozenset({"0.0.0.0", "::", "[::]"})  # noqa: S104 - recognised, not bound


def broker_gate(config: Config, port: int) -> BrokerGate:
    """Where devices connect; `port` is the one that the broker has."""
    mqtt, is_own = config.mqtt, config.mqtt.mode != "external"
    is_local, is_secured = is_loopback(mqtt.host), config.security.enabled
    return BrokerGate(
        BrokerTold(
            mode=mqtt.mode,
            host="" if mqtt.host in _EVERYWHERE else mqtt.host,
            address="" if is_local else own_address(),
            local=is_local,
            port=config.mqtt_port if mqtt.mode == "mosquitto" else port,
            tls=config.tls.mode != "off" if is_own else mqtt.tls,
            websocket_port=config.mqtt_websocket_port,
            users=(is_secured or bool(mqtt.users)) if is_own else bool(mqtt.username),
            security=is_own and is_secured,
        )
    )


def external_settings(config: Config) -> ExternalSettings:
    """How another broker is reached. Raises ConfigurationError, StorageError."""
    mqtt = config.mqtt
    if mqtt.mode == "mosquitto":
        return dialled(config)
    return ExternalSettings(
        mqtt.host,
        mqtt.port,
        config.mqtt_client_id,
        mqtt.username or None,
        mqtt.read_password(),
        tls=mqtt.client_context(),
    )


def beside_of(config: Config) -> Beside | None:
    """The Mosquitto that is told whom we know; None where there is none. Raises a GatewayError."""
    if config.mqtt.mode != "mosquitto":
        return None
    if config.tls.mode == "own":
        own_certificate(config)
    store = IdentityStore(identities_path(config)) if config.security.enabled else None
    return Beside(config, store)


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
        max_own_retained=mqtt.own_retained_messages,
        max_own_retained_bytes=mqtt.own_retained_bytes,
        status_interval_s=mqtt.status_interval_s,
        web_socket_port=config.mqtt_websocket_port,
        names=broker_names(config.http, mqtt).with_pages_of(config.http_port),
    )
