"""Ports, bound for a moment by the code that a gateway binds them with; nobody is accepted."""

import asyncio
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass

from gateway.admin.profile_checks import Finding
from gateway.cli.checking.folder import Where, holder_of, is_own
from gateway.config.settings import Config
from gateway.errors import ConfigurationError
from gateway.gates.http.operations import bind
from gateway.gates.mqtt.embedded.entrance.listener import bound
from gateway.runtime.holders import port_holder


@dataclass(frozen=True, slots=True)
class _Server:
    """What would listen, by the setting that says where."""

    section: str
    key: str
    host: str
    port: int
    is_broker: bool = False

    def bind(self) -> list[socket.socket]:
        """As a gateway does. Raises ConfigurationError."""
        if self.is_broker:
            return asyncio.run(bound(self.host, self.port))
        return [bind(self.host, self.port)]


def port_findings(config: Config, where: Where) -> Iterator[Finding]:
    """The ports at which a gateway of these settings could not listen now, but for its own."""
    holder = holder_of(config)
    ours = holder if holder is not None and is_own(config, holder) else None
    taken: dict[int, str] = {}
    with ExitStack() as opened:
        for server in _servers(config):
            place = where(server.section, server.key)
            try:
                for each in server.bind():
                    opened.enter_context(each)
            except ConfigurationError as error:
                if server.port in taken:
                    reason = f"port {server.port} is that of {taken[server.port]} too"
                    yield Finding(place, reason, what_to_do="give each its own")
                elif ours is None or port_holder(server.port) != ours:
                    yield Finding.of(place, error)
            taken.setdefault(server.port, f"{server.section}.{server.key}")


def _servers(config: Config) -> Iterator[_Server]:
    """In the order in which they are bound at the start."""
    has_tls = config.tls.mode != "off"
    if config.mqtt.mode == "embedded":
        host = config.mqtt.host
        key = ("tls", "mqtt_port") if has_tls else ("mqtt", "port")
        yield _Server(*key, host, config.mqtt_port, is_broker=True)
        if config.mqtt_websocket_port is not None:
            key = ("tls", "mqtt_websocket_port") if has_tls else ("mqtt", "websocket_port")
            yield _Server(*key, host, config.mqtt_websocket_port, is_broker=True)
    key = ("tls", "http_port") if has_tls else ("http", "port")
    yield _Server(*key, config.http.host, config.http_port)
    if not config.shared_port:
        key = ("tls", "websocket_port") if has_tls else ("websocket", "port")
        yield _Server(*key, config.http.host, config.websocket_port)
