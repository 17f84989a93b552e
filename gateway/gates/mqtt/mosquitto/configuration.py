"""The configuration of a Mosquitto beside the gateway, from the settings of the embedded broker.

Place: written beside its users. Devices have the ports that `[mqtt]` and `[tls]` say; the gateway
itself, and nobody outside this machine, has loopback in clear text. Source: mosquitto.conf(5).
"""

import math
from collections.abc import Iterator

from adapters.discovery import MAX_ANNOUNCEMENT_BYTES
from gateway.config.settings import Config
from gateway.errors import ConfigurationError

CONFIGURATION, PASSWORDS, RULES = "mosquitto.conf", "passwords", "acl"
CERTIFICATE, KEY = "server.crt", "server.key"
HEAD = "# Written by sosa-gateway from gateway.toml; what is changed here is lost.\n"
LOOPBACK = "127.0.0.1"

_EVERYWHERE = "0.0.0.0"  # noqa: S104 - recognised
_IN_FLIGHT, _QUEUED = 1_000, 100_000
"""A client that is away or slow has so many, as the gateway while it is updated."""


def is_open(config: Config) -> bool:
    """Whether anybody who reaches the broker may use it."""
    return not (config.security.enabled or config.mqtt.users)


def configuration(config: Config) -> str:
    """The text of mosquitto.conf. File names are absolute. Raises ConfigurationError."""
    lines = list(_lines(config))
    for line in lines:
        if not line.isprintable():  # or it would be two, of which one says something else
            raise ConfigurationError(f"mosquitto.conf cannot say {line!r}", "see [mqtt]")
    return HEAD + "".join(f"{line}\n" for line in lines)


def _lines(config: Config) -> Iterator[str]:
    mqtt, folder = config.mqtt, config.mqtt.mosquitto_dir.absolute()
    yield "per_listener_settings false"
    yield f"allow_anonymous {'true' if is_open(config) else 'false'}"
    yield f"password_file {folder / PASSWORDS}"
    if config.security.enabled:
        yield f"acl_file {folder / RULES}"
    yield "log_dest stderr"
    yield from (f"log_type {kind}" for kind in ("error", "warning", "notice"))
    yield "persistence true"
    yield f"persistent_client_expiration {math.ceil(mqtt.session_s / 3600)}h"
    yield f"max_inflight_messages {_IN_FLIGHT}"
    yield f"max_queued_messages {_QUEUED}"
    yield f"message_size_limit {MAX_ANNOUNCEMENT_BYTES}"
    yield f"sys_interval {math.ceil(mqtt.status_interval_s)}"
    yield "set_tcp_nodelay true"
    yield from _listeners(config)


def _listeners(config: Config) -> Iterator[str]:
    mqtt, has_tls = config.mqtt, config.tls.mode != "off"
    host = LOOPBACK if mqtt.host == "localhost" else mqtt.host.strip("[]")
    if has_tls or host not in {LOOPBACK, _EVERYWHERE}:
        yield f"listener {mqtt.port} {LOOPBACK}"
    yield from _of_devices(config, config.mqtt_port, host)
    if config.mqtt_websocket_port is not None:
        yield from _of_devices(config, config.mqtt_websocket_port, host)
        yield "protocol websockets"


def _of_devices(config: Config, port: int, host: str) -> Iterator[str]:
    yield f"listener {port} {host}"
    yield f"max_connections {config.mqtt.connections}"
    if config.tls.mode != "off":
        folder = config.mqtt.mosquitto_dir.absolute()
        yield f"certfile {folder / CERTIFICATE}"
        yield f"keyfile {folder / KEY}"
