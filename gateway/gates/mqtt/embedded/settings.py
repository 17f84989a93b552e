"""Limits, rights and counters of the embedded broker: the values its parts share.

Place: configuration → `BrokerSettings` → broker; broker → `BrokerStatistics` → metrics.
"""

import ssl
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum

from adapters.values.message import Message
from gateway.config.limits import DEFAULT_LIMITS
from gateway.config.network import MqttSettings
from gateway.gates.http.origins import Names


class TopicAction(Enum):
    """What a client wants to do with a topic (SUBSCRIBE: with a topic filter)."""

    PUBLISH = "publish"
    SUBSCRIBE = "subscribe"
    RECEIVE = "receive"


def _never(_: Callable[[], None]) -> Callable[[], None]:
    return lambda: None


@dataclass(frozen=True, slots=True)
class Login:
    """An accepted client: `user` is its name from now on, whatever it called itself.

    `watch` tells the function that it is given when the login ends; it returns what stops that.
    """

    user: str
    watch: Callable[[Callable[[], None]], Callable[[], None]] = _never


Accept = Callable[[Message], Awaitable[None]]
Refuse = Callable[[Message, int], Awaitable[None]]
"""Told of a payload that is too long: its beginning, as a message, and how many bytes it had."""

Authenticate = Callable[[str | None, str | None, str], Awaitable[Login | None]]
"""Told user name, password and the address that they come from."""

Authorize = Callable[[str | None, str, TopicAction], bool]
Clock = Callable[[], datetime]


@dataclass(frozen=True, slots=True)
class Rules:
    """Who may do what, and where messages go; see `EmbeddedBroker` for each."""

    accept: Accept
    refuse: Refuse
    authenticate: Authenticate | None
    authorize: Authorize | None
    clock: Clock


def _no_topic(_: str) -> bool:
    return False


_MQTT = MqttSettings()


@dataclass(frozen=True, slots=True)
class BrokerSettings:
    """Every limit of the broker; each bounds memory or time for each client or in all.

    `port` 0 is any free port. `tls` makes every listener an MQTT-over-TLS one. With a
    `web_socket_port` MQTT over WebSocket is spoken there, with whom `names` admit.
    A connection has `connect_timeout_s` from its first byte to CONNACK, authentication included.
    `max_inflight` bounds, for each connection and direction, messages that wait for an answer: of
    the gateway's store (inbound) or of the subscriber (outbound). `max_queued` messages and
    `max_queued_bytes` of payload wait behind that window, connected or not; what passes either
    bound is dropped, newest first, and counted. Retained messages beyond `max_retained` topics or
    `max_retained_bytes`, in all and `..._client_...` of one client, are passed on but not retained,
    and so are the gateway's own beyond `max_own_...`. A persistent session is forgotten
    `session_expiry_s` after its client left; of those whose clients are away, beyond
    `max_sessions`, or `max_client_sessions` of a client, the one goes that is away longest. Beyond
    the connections a new CONNECT is refused. `max_connecting` bounds, for each address, connections
    without an accepted CONNECT. `$SYS` is told at SUBSCRIBE and each `status_interval_s`; 0: never.
    `drain_timeout_s` is what a closing connection has to see its messages accepted,
    `stop_timeout_s` what it has when the gateway stops.
    """

    host: str = _MQTT.host
    port: int = _MQTT.port
    tls: ssl.SSLContext | None = None
    connect_timeout_s: float = 10.0
    drain_timeout_s: float = 5.0
    stop_timeout_s: float = 1.5
    max_payload_bytes: int = DEFAULT_LIMITS.payload_bytes
    max_announcement_bytes: int = 0
    is_announcement: Callable[[str], bool] = _no_topic
    max_connections: int = _MQTT.connections
    max_client_connections: int = _MQTT.client_connections
    max_connecting: int = _MQTT.client_connecting
    max_sessions: int = _MQTT.sessions
    max_client_sessions: int = _MQTT.client_sessions
    session_expiry_s: int = _MQTT.session_s
    max_subscriptions: int = 200
    max_inflight: int = 20
    max_queued: int = 2000
    max_queued_bytes: int = 8_388_608
    max_retained: int = _MQTT.retained_messages
    max_client_retained: int = _MQTT.client_retained_messages
    max_retained_bytes: int = _MQTT.retained_bytes
    max_client_retained_bytes: int = _MQTT.client_retained_bytes
    max_own_retained: int = _MQTT.own_retained_messages
    max_own_retained_bytes: int = _MQTT.own_retained_bytes
    status_interval_s: float = _MQTT.status_interval_s
    web_socket_port: int | None = None
    names: Names = field(default_factory=Names)

    def longest_payload(self, topic: str) -> int:
        """In bytes: a bridge's list of its devices is longer than any reading."""
        if self.max_announcement_bytes > self.max_payload_bytes and self.is_announcement(topic):
            return self.max_announcement_bytes
        return self.max_payload_bytes


@dataclass(frozen=True, slots=True)
class BrokerStatistics:
    """Counts since the start, and gauges of now (from `connections` to `queued`).

    `connections` are all that are open, `clients` those of them whose CONNECT was accepted.

    `received` and `delivered` count PUBLISH packets from and to clients. `dropped`: not queued
    for a slow or absent subscriber. `denied`: PUBLISH without the right to, or to a `$` topic.
    `too_large`: acknowledged, and told to the gateway alone. `refused`: connections turned away
    (limits, credentials). `forgotten`: sessions that made room. `not_retained`: messages that the
    limits keep from being retained, or longer. `failed`: `accept` raised.
    """

    connections: int
    clients: int
    sessions: int
    subscriptions: int
    retained: int
    queued: int
    received: int
    delivered: int
    dropped: int
    denied: int
    too_large: int
    refused: int
    forgotten: int
    not_retained: int
    failed: int


@dataclass(slots=True)
class BrokerCounters:
    """The counting half of `BrokerStatistics`, written where things happen."""

    received: int = 0
    delivered: int = 0
    dropped: int = 0
    denied: int = 0
    too_large: int = 0
    refused: int = 0
    failed: int = 0
