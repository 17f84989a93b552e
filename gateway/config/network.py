"""The settings of who reaches the gateway, and whom it reaches: MQTT, HTTP, TLS, identities.

Place: sections of `gateway.config.settings`, of which they know nothing.
"""

import ipaddress
import ssl
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, field_validator, model_validator

from gateway.config.values import (
    ONE_AS_LIST,
    Count,
    Host,
    OptionalToken,
    Origin,
    Port,
    Seconds,
    Section,
    Token,
)
from gateway.errors import ConfigurationError
from gateway.security.identity import TOKEN_S, Kind
from gateway.security.mosquitto_hash import is_mosquitto_hash
from gateway.security.throttle import ThrottleLimits


def is_loopback(host: str) -> bool:
    """Whether a server bound to `host` is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


class MqttSettings(Section):
    """The broker: our own (`host` and `port` are bound), one elsewhere (they are dialled), or a
    Mosquitto beside the gateway, which binds them by the files that we write into `mosquitto_dir`.

    `username`, `password_file`, `client_id`, `tls` and `ca_file` are for the external broker; an
    empty client id means sosa-gateway-<gateway.id>, without `ca_file` the system's CAs are trusted.
    `users` (name to hash) are for the other two without [security]. Limits of the embedded one are
    in all and, as `client_...`, of one client: an identity or user, an address where there are none
    (docs/brokers.md); `own_...` is what the gateway itself has retained. With `websocket` it speaks
    MQTT over WebSocket too. Passwords leave this machine in clear text only where
    `allow_clear_text` says so. Subscribers over MQTT use the topics `<sparql_topic>/CLIENT/...`.
    """

    mode: Literal["embedded", "external", "mosquitto"] = "embedded"
    host: str = "127.0.0.1"
    port: Port = 1883
    username: str = ""
    password_file: str = ""
    client_id: str = ""
    tls: bool = False
    ca_file: str = ""
    allow_clear_text: bool = False
    mosquitto_dir: Path = Path("mosquitto")
    sparql_topic: Token = "sparql"
    connections: Count = 400
    client_connections: Count = 200
    client_connecting: Count = 20
    websocket: bool = False
    websocket_port: Port = 8083
    sessions: Count = 1_000
    client_sessions: Count = 500
    session_s: Count = 86_400
    retained_messages: Count = 4_000
    client_retained_messages: Count = 2_000
    retained_bytes: Count = 16_777_216
    client_retained_bytes: Count = 8_388_608
    own_retained_messages: Count = 10_000
    own_retained_bytes: Count = 16_777_216
    status_interval_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 10.0
    users: dict[str, str] = Field(default_factory=dict)

    @field_validator("users")
    @classmethod
    def _hashed(cls, users: dict[str, str]) -> dict[str, str]:
        for name, password in users.items():
            if not (password.startswith("$argon2") or is_mosquitto_hash(password)):
                hint = f"run: sosa-gateway mqtt-user {name}"
                raise ValueError(f"the password of user {name!r} is not a hash of ours; {hint}")
        return users

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        if self.mode != "embedded" and self.port == 0:
            raise ValueError("port 0 (any free port) cannot be dialled; name the broker's port")
        if self.mode == "external":
            if self.users:
                raise ValueError("users are for our own broker; an external one has its own")
            if self.websocket:
                raise ValueError("websocket is that of an external broker itself; remove it")
            return self
        if self.username or self.password_file:
            raise ValueError('username and password_file are for mode = "external"; remove them')
        if self.tls or self.ca_file:
            raise ValueError(
                'tls and ca_file are for mode = "external"; here say [tls] mode = "own"'
            )
        return self

    def require_safe(self, *, has_identities: bool, has_tls: bool) -> None:
        """Raise ValueError where anyone may publish, or passwords can be read on the way."""
        if has_identities and self.users:
            raise ValueError(
                "[security] is enabled, so users are clients: remove [mqtt.users] and run "
                "sosa-gateway client add NAME --publish FILTER"
            )
        if is_loopback(self.host):
            return
        if self.mode != "external" and not (self.users or has_identities):
            raise ValueError(
                f"the broker would let anyone on {self.host} publish; enable [security], "
                "add [mqtt.users] (sosa-gateway mqtt-user NAME) or bind 127.0.0.1"
            )
        is_dialled = self.mode == "external"
        is_clear = bool(self.username) and not self.tls if is_dialled else not has_tls
        if is_clear and not self.allow_clear_text:
            instead = "tls = true" if is_dialled else '[tls] mode = "own" or bind 127.0.0.1'
            raise ValueError(
                f"passwords would cross the network to {self.host} in clear text; say {instead}, "
                "or allow_clear_text = true"
            )

    def client_context(self) -> ssl.SSLContext | None:
        """For TLS to the external broker; None where it is dialled in clear text."""
        if not self.tls:
            return None
        try:
            return ssl.create_default_context(cafile=self.ca_file or None)
        except (OSError, ssl.SSLError) as error:
            raise ConfigurationError(
                f"mqtt.ca_file: cannot use {self.ca_file}: {error}",
                "name the certificate of the CA that has signed the broker's, as PEM",
            ) from error

    def read_password(self) -> str | None:
        """The first line of `password_file`, or None when there is none."""
        if not self.password_file:
            return None
        try:
            return Path(self.password_file).read_text(encoding="utf-8").partition("\n")[0]
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"mqtt.password_file: cannot read {self.password_file}: {error}",
                "write the password into this file, readable by the gateway's user only",
            ) from error


class SparkplugSettings(Section):
    """The gateway as a host application of Sparkplug B; an empty `host_id` publishes no STATE."""

    host_id: OptionalToken = ""


class HttpSettings(Section):
    """The SPARQL endpoint. Without [security] anyone who reaches it may UPDATE.

    `allow_remote` says that this is meant also where others than this machine reach it. `hosts` are
    names by which it is called besides those of this machine; `origins` are those of web
    pages elsewhere that may call it.
    """

    host: str = "127.0.0.1"
    port: Port = 8000
    allow_remote: bool = False
    hosts: Annotated[tuple[Host, ...], ONE_AS_LIST] = ()
    origins: Annotated[tuple[Origin, ...], ONE_AS_LIST] = ()

    def require_safe(self, *, has_identities: bool, has_tls: bool) -> None:
        """Raise ValueError where anyone may UPDATE, or tokens can be read on the way."""
        if is_loopback(self.host):
            return
        if not has_identities and not self.allow_remote:
            raise ValueError(
                f"everyone who reaches {self.host} could read and change the store; enable "
                "[security], bind 127.0.0.1 or say allow_remote = true"
            )
        if has_identities and not has_tls:
            raise ValueError(
                f"secrets and tokens would cross the network to {self.host} in clear text; "
                'say [tls] mode = "own" or bind 127.0.0.1'
            )


class WebSocketSettings(Section):
    """SUBSCRIBE over WebSocket, at [http] host; port 0 or the HTTP port shares that port.

    A peer is dead that has not answered a ping, sent each `ping_interval_s`, in `ping_timeout_s`.
    With `bare_token`, a token beside the request is taken, as sepy sends it.
    """

    port: Port = 9000
    ping_interval_s: Seconds = 20.0
    ping_timeout_s: Seconds = 20.0
    compression: bool = False
    bare_token: bool = False


class TlsSettings(Section):
    """TLS of HTTP, WebSocket and the embedded broker, at ports of their own.

    "own" makes a CA and a certificate below data_dir; "files" takes those in `certificate` (with
    its chain) and `key`, PEM.
    """

    mode: Literal["off", "own", "files"] = "off"
    certificate: str = ""
    key: str = ""
    http_port: Port = 8443
    websocket_port: Port = 9443
    mqtt_port: Port = 8883
    mqtt_websocket_port: Port = 8084

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        given = [bool(self.certificate), bool(self.key)]
        if given != [self.mode == "files"] * 2:
            raise ValueError('mode = "files" needs certificate and key, the others need none')
        return self


_THROTTLE = ThrottleLimits()


class SecuritySettings(Section):
    """Whether clients must say who they are; identities are made by `sosa-gateway client`.

    Tokens live `..._token_s` seconds by the kind of their identity. Of the failed logins of a
    minute one address has `address_failures` and one identity `identity_failures`. `sepatest` lets
    in SEPA's test identity, whose secret everybody knows: on loopback only.
    """

    enabled: bool = False
    application_token_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] = TOKEN_S[
        Kind.APPLICATION
    ]
    device_token_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] = TOKEN_S[Kind.DEVICE]
    user_token_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] = TOKEN_S[Kind.USER]
    address_failures: Count = _THROTTLE.address_failures
    identity_failures: Count = _THROTTLE.identity_failures
    sepatest: bool = False
