"""Configuration: every setting as a frozen value, checked when it is made.

Place on the way of the data: before it; the command line loads a `Config` (`gateway.config_file`)
and hands it on, no other part reads a file or the environment by itself.
"""

import ipaddress
import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError

import jsap
from gateway.actuation.limits import ActuationLimits
from gateway.config_discovery import DiscoverySettings
from gateway.config_journal import JournalSettings, ShippingSettings
from gateway.config_values import (
    ONE_AS_LIST,
    Count,
    Host,
    IriPrefix,
    OptionalToken,
    Origin,
    Port,
    Seconds,
    Token,
    TopicPrefix,
)
from gateway.errors import ConfigurationError
from gateway.quarantine import QuarantineLimits
from gateway.raw_messages import RawLimits

SHIPPED_PROFILES = Path(jsap.__path__[0]) / "profiles"


def _profile_path(path: Path) -> Path:
    """A bare word names a profile that ships; everything else is the path of a file."""
    bare = len(path.parts) == 1 and not path.suffix
    return SHIPPED_PROFILES / f"{path}.jsap" if bare else path


def is_loopback(host: str) -> bool:
    """Whether a server bound to `host` is reached from this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


ProfilePath = Annotated[Path, AfterValidator(_profile_path)]


class Section(BaseModel):
    """A table of gateway.toml."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class GatewaySettings(Section):
    """Who this gateway is and where it keeps its data; `id` is part of the IRIs it mints."""

    id: Token = "gateway"
    base_iri: IriPrefix = "https://sosa-gateway.example/id/"
    data_dir: Path = Path("data")


class StoreSettings(Section):
    """The quad store; `latest` is how many observations of one stream stay in it."""

    kind: Literal["disk", "memory"] = "disk"
    latest: Count = 1


class EngineSettings(Section):
    """The SUB engine: its worker processes, and how many UPDATEs may wait for one (`artq`).

    With `performance` it says in its metrics where the time of UPDATEs goes; that is told of the
    sequential mode only.
    """

    workers: Annotated[int, Field(ge=0)] | Literal["auto"] = 0
    artq: Count = 64
    performance: bool = False

    @model_validator(mode="after")
    def _performance_is_sequential(self) -> Self:
        if self.performance and self.workers != 0:
            raise ValueError("performance is that of the sequential mode; say workers = 0")
        return self


class MqttSettings(Section):
    """The broker: our own (`host` and `port` are bound) or one elsewhere (they are dialled).

    `username`, `password_file`, `client_id`, `tls` and `ca_file` are for the external broker; an
    empty client id means sosa-gateway-<gateway.id>, without `ca_file` the system's CAs are trusted.
    `users` (name to argon2 hash) are for the embedded one without [security]; it takes so many
    `connections` at a time. Passwords leave this
    machine in clear text only where `allow_clear_text` says so. Subscribers over MQTT use the
    topics `<sparql_topic>/CLIENT/...`.
    """

    mode: Literal["embedded", "external"] = "embedded"
    host: str = "127.0.0.1"
    port: Port = 1883
    username: str = ""
    password_file: str = ""
    client_id: str = ""
    tls: bool = False
    ca_file: str = ""
    allow_clear_text: bool = False
    sparql_topic: Token = "sparql"
    connections: Count = 200
    users: dict[str, str] = {}

    @field_validator("users")
    @classmethod
    def _hashed(cls, users: dict[str, str]) -> dict[str, str]:
        for name, password in users.items():
            if not password.startswith("$argon2"):
                hint = f"run: sosa-gateway mqtt-user {name}"
                raise ValueError(f"the password of user {name!r} is not an argon2 hash; {hint}")
        return users

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        if self.mode == "external":
            if self.users:
                raise ValueError('users are for mode = "embedded"; an external broker has its own')
            if self.port == 0:
                raise ValueError("port 0 (any free port) cannot be dialled; name the broker's port")
        elif self.username or self.password_file:
            raise ValueError('username and password_file are for mode = "external"; remove them')
        elif self.tls or self.ca_file:
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
        if self.mode == "embedded" and not (self.users or has_identities):
            raise ValueError(
                f"the embedded broker would let anyone on {self.host} publish; enable [security], "
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

    @model_validator(mode="after")
    def _mode_fits(self) -> Self:
        given = [bool(self.certificate), bool(self.key)]
        if given != [self.mode == "files"] * 2:
            raise ValueError('mode = "files" needs certificate and key, the others need none')
        return self


class SecuritySettings(Section):
    """Whether clients must say who they are; identities are made by `sosa-gateway client`.

    Tokens live `..._token_s` seconds by the kind of their identity. Of the failed logins of a
    minute one address has `address_failures` and one identity `identity_failures`. `sepatest` lets
    in SEPA's test identity, whose secret everybody knows: on loopback only.
    """

    enabled: bool = False
    application_token_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 43_200.0
    device_token_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 3600.0
    user_token_s: Annotated[float, Field(ge=1, allow_inf_nan=False)] = 300.0
    address_failures: Count = 20
    identity_failures: Count = 10
    sepatest: bool = False


class ActuationSettings(Section):
    """Commands to actuators (docs/actuators.md): `topic`/NAME/set takes them by MQTT.

    One that nothing has confirmed in `time_limit_s` has failed, unless its actuator says
    otherwise. Of each actuator the last `keep` that have ended stay in the store.
    """

    topic: TopicPrefix = "actuators"
    time_limit_s: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] = 30.0
    keep: Count = 20

    def limits(self) -> ActuationLimits:
        """The same for the parts."""
        return ActuationLimits(self.topic, self.time_limit_s, self.keep)


class JsapSettings(Section):
    """JSAP profiles, in order; a bare word names one that ships."""

    profiles: Annotated[tuple[ProfilePath, ...], ONE_AS_LIST] = Field(
        default=(SHIPPED_PROFILES / "observations.jsap",), min_length=1
    )


class LimitsSettings(Section):
    """Bounds of the queues and of one message; what happens at each is in the README."""

    inbox: Count = 10_000
    urq: Count = 1_000
    srq: Count = 1_000
    outbox: Count = 1_000
    outbox_rows: Count = 100_000
    resume_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 10.0
    resume_messages: Annotated[int, Field(ge=0)] = 100
    resume_subscriptions: Count = 1_000
    connections: Count = 5_000
    client_connections: Count = 2_000
    subscriptions: Count = 100_000
    client_subscriptions: Count = 50_000
    connection_subscriptions: Count = 1_000
    message_bytes: Count = 1_048_576
    stall_s: Seconds = 30.0
    payload_bytes: Annotated[int, Field(ge=1, le=268_435_455)] = 65_536
    future_s: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 86_400.0
    quarantine_messages: Count = 10_000
    quarantine_bytes: Count = 4_194_304
    quarantine_payload_bytes: Count = 65_536
    raw_messages: Annotated[int, Field(ge=0)] = 2_000
    raw_bytes: Annotated[int, Field(ge=0)] = 4_194_304
    query_solutions: Count = 100_000
    query_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 30.0
    queries: Count = 2
    queries_waiting: Annotated[int, Field(ge=0)] = 16
    client_queries: Count = 12
    requests: Count = 1000
    client_requests: Count = 250
    http_connections: Count = 2000
    client_http_connections: Count = 1200
    head_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 10.0
    request_bytes: Count = 4_194_304
    request_s: Annotated[float, Field(gt=0, allow_inf_nan=False)] = 30.0

    def of_quarantine(self) -> QuarantineLimits:
        """Those of the quarantine."""
        return QuarantineLimits(
            self.quarantine_messages, self.quarantine_bytes, self.quarantine_payload_bytes
        )

    def of_raw_messages(self) -> RawLimits:
        """Those of the ring of raw messages."""
        return RawLimits(self.raw_messages, self.raw_bytes)


class RemoteSettings(Section):
    """Hosts, `name` or `name:port`, for SERVICE, LOAD and includes of profiles; none by default.

    `load_bytes` and `load_s` bound one document of LOAD. There is no time limit for a SERVICE.
    """

    hosts: Annotated[tuple[Host, ...], ONE_AS_LIST] = ()
    load_bytes: Count = 16_777_216
    load_s: Annotated[float, Field(gt=0, le=600, allow_inf_nan=False)] = 10.0


class LogSettings(Section):
    """What is logged to standard error, and how."""

    level: Literal["debug", "info", "warning", "error"] = "info"
    format: Literal["text", "json"] = "text"


class Config(Section):
    """Every setting, checked; equal files and variables give equal values.

    >>> Config().http.port
    8000
    """

    gateway: GatewaySettings = GatewaySettings()
    store: StoreSettings = StoreSettings()
    engine: EngineSettings = EngineSettings()
    mqtt: MqttSettings = MqttSettings()
    sparkplug: SparkplugSettings = SparkplugSettings()
    discovery: DiscoverySettings = DiscoverySettings()
    http: HttpSettings = HttpSettings()
    websocket: WebSocketSettings = WebSocketSettings()
    tls: TlsSettings = TlsSettings()
    security: SecuritySettings = SecuritySettings()
    jsap: JsapSettings = JsapSettings()
    actuation: ActuationSettings = ActuationSettings()
    limits: LimitsSettings = LimitsSettings()
    remote: RemoteSettings = RemoteSettings()
    journal: JournalSettings = JournalSettings()
    shipping: ShippingSettings = ShippingSettings()
    log: LogSettings = LogSettings()

    @model_validator(mode="after")
    def _safe(self) -> Self:
        has_tls, has_identities = self.tls.mode != "off", self.security.enabled
        sections: Mapping[str, MqttSettings | HttpSettings] = {"mqtt": self.mqtt, "http": self.http}
        for name, section in sections.items():
            try:
                section.require_safe(has_identities=has_identities, has_tls=has_tls)
            except ValueError as error:
                raise _fault_of(name, str(error)) from error
        if self.security.sepatest and not is_loopback(self.http.host):
            raise _fault_of("security", "sepatest lets everyone in: bind [http] to 127.0.0.1")
        return self

    @property
    def http_port(self) -> int:
        """Where HTTP is bound: the port with TLS where that is on."""
        return self.http.port if self.tls.mode == "off" else self.tls.http_port

    @property
    def websocket_port(self) -> int:
        """Where WebSocket is bound."""
        return self.websocket.port if self.tls.mode == "off" else self.tls.websocket_port

    @property
    def mqtt_port(self) -> int:
        """Where the embedded broker is bound, or the external one dialled."""
        is_plain = self.mqtt.mode == "external" or self.tls.mode == "off"
        return self.mqtt.port if is_plain else self.tls.mqtt_port

    @property
    def shared_port(self) -> bool:
        """Whether HTTP and WebSocket use one port."""
        return self.websocket_port in {0, self.http_port}

    @property
    def mqtt_client_id(self) -> str:
        """What the gateway calls itself at an external broker."""
        return self.mqtt.client_id or f"sosa-gateway-{self.gateway.id}"

    def at(self, folder: Path) -> Self:
        """The same settings, relative paths taken from `folder`."""
        gateway = self.gateway.model_copy(update={"data_dir": folder / self.gateway.data_dir})
        profiles = tuple(folder / path for path in self.jsap.profiles)
        password = self.mqtt.password_file and str(folder / self.mqtt.password_file)
        ca_file = self.mqtt.ca_file and str(folder / self.mqtt.ca_file)
        tls = {
            name: path and str(folder / path)
            for name, path in (("certificate", self.tls.certificate), ("key", self.tls.key))
        }
        update: Mapping[str, object] = {
            "gateway": gateway,
            "shipping": self.shipping.at(folder),
            "jsap": self.jsap.model_copy(update={"profiles": profiles}),
            "mqtt": self.mqtt.model_copy(update={"password_file": password, "ca_file": ca_file}),
            "tls": self.tls.model_copy(update=tls),
        }
        return self.model_copy(update=update)


def _fault_of(section: str, text: str) -> PydanticCustomError:
    """What is wrong with a section in the light of the others."""
    return PydanticCustomError("unsafe", "{text}", {"section": section, "text": text})
