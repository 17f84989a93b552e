"""Configuration: every setting as a frozen value, checked when it is made.

Place on the way of the data: before it; the command line loads a `Config` (`gateway.config.file`)
and hands it on, no other part reads a file or the environment by itself.
"""

import os
from collections.abc import Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator
from pydantic_core import PydanticCustomError

import jsap
import ontologies
from gateway.actuation.limits import ActuationLimits
from gateway.config.archive import ArchiveSettings
from gateway.config.discovery import DiscoverySettings
from gateway.config.events import EventsSettings
from gateway.config.federation import FederationSettings
from gateway.config.homeassistant import HomeAssistantSettings
from gateway.config.journal import JournalSettings, ShippingSettings
from gateway.config.limits import LimitsSettings
from gateway.config.modbus import ModbusSettings
from gateway.config.network import (
    HttpSettings,
    MqttSettings,
    SecuritySettings,
    SparkplugSettings,
    TlsSettings,
    WebSocketSettings,
    is_loopback,
)
from gateway.config.reasoning import ReasoningSettings
from gateway.config.sensorthings import SensorThingsSettings
from gateway.config.upgrade import UpgradeSettings
from gateway.config.values import (
    ONE_AS_LIST,
    Count,
    Host,
    IriPrefix,
    Section,
    Token,
    TopicPrefix,
)
from gateway.config.windows import WindowsSettings
from gateway.journal import Origin

__all__ = [
    "SHIPPED_PROFILES",
    "ActuationSettings",
    "ArchiveSettings",
    "Config",
    "DiscoverySettings",
    "EngineSettings",
    "EventsSettings",
    "FederationSettings",
    "GatewaySettings",
    "HomeAssistantSettings",
    "HttpSettings",
    "JournalSettings",
    "JsapSettings",
    "LimitsSettings",
    "LogSettings",
    "ModbusSettings",
    "MqttSettings",
    "ReasoningSettings",
    "RemoteSettings",
    "Section",
    "SecuritySettings",
    "SensorThingsSettings",
    "ShippingSettings",
    "SparkplugSettings",
    "StoreSettings",
    "TlsSettings",
    "UpgradeSettings",
    "WebSocketSettings",
    "WindowsSettings",
    "is_loopback",
]

SHIPPED_PROFILES = Path(jsap.__path__[0]) / "profiles"

_SHIPPED = {SHIPPED_PROFILES, Path(ontologies.__path__[0])}

_ACTUATION, _ORIGIN = ActuationLimits(), Origin()


def _profile_path(path: Path) -> Path:
    """A bare word names a profile that ships; everything else is the path of a file."""
    if len(path.parts) != 1 or path.suffix:
        return path
    ships = sorted(each.stem for each in SHIPPED_PROFILES.glob("*.jsap"))
    if path.name not in ships:
        near = get_close_matches(path.name, ships, n=1)
        known = f"did you mean '{near[0]}'?" if near else f"those are {', '.join(ships)};"
        raise ValueError(f"no profile '{path}' ships; {known} The name of a file ends in .jsap")
    return SHIPPED_PROFILES / f"{path}.jsap"


ProfilePath = Annotated[Path, AfterValidator(_profile_path)]


class GatewaySettings(Section):
    """Who this gateway is and where it keeps its data; `id` is part of the IRIs it mints."""

    id: Token = _ORIGIN.gateway
    base_iri: IriPrefix = _ORIGIN.base_iri
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


class ActuationSettings(Section):
    """Commands to actuators (docs/actuators.md): `topic`/NAME/set takes them by MQTT.

    One that nothing has confirmed in `time_limit_s` has failed, unless its actuator says
    otherwise. Of each actuator the last `keep` that have ended stay in the store.
    """

    topic: TopicPrefix = _ACTUATION.prefix
    time_limit_s: Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)] = (
        _ACTUATION.time_limit_s
    )
    keep: Count = _ACTUATION.keep

    def limits(self) -> ActuationLimits:
        """The limits in the form that actuation takes."""
        return ActuationLimits(self.topic, self.time_limit_s, self.keep)


class JsapSettings(Section):
    """JSAP profiles, in order; a bare word names one that ships."""

    profiles: Annotated[tuple[ProfilePath, ...], ONE_AS_LIST] = Field(
        default=(SHIPPED_PROFILES / "observations.jsap",), min_length=1
    )


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
    modbus: ModbusSettings = ModbusSettings()
    sparkplug: SparkplugSettings = SparkplugSettings()
    discovery: DiscoverySettings = DiscoverySettings()
    http: HttpSettings = HttpSettings()
    websocket: WebSocketSettings = WebSocketSettings()
    tls: TlsSettings = TlsSettings()
    security: SecuritySettings = SecuritySettings()
    jsap: JsapSettings = JsapSettings()
    reasoning: ReasoningSettings = ReasoningSettings()
    windows: WindowsSettings = WindowsSettings()
    events: EventsSettings = EventsSettings()
    federation: FederationSettings = FederationSettings()
    actuation: ActuationSettings = ActuationSettings()
    homeassistant: HomeAssistantSettings = HomeAssistantSettings()
    sensorthings: SensorThingsSettings = SensorThingsSettings()
    limits: LimitsSettings = LimitsSettings()
    remote: RemoteSettings = RemoteSettings()
    journal: JournalSettings = JournalSettings()
    shipping: ShippingSettings = ShippingSettings()
    archive: ArchiveSettings = ArchiveSettings()
    upgrade: UpgradeSettings = UpgradeSettings()
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
        if self.mqtt.mode == "mosquitto" and self._is_mosquitto_inside():
            raise _fault_of(
                "mqtt",
                "mosquitto_dir is below data_dir, where Mosquitto reads nothing: name another",
            )
        if self.security.sepatest and not is_loopback(self.http.host):
            raise _fault_of("security", "sepatest lets everyone in: bind [http] to 127.0.0.1")
        return self

    def _is_mosquitto_inside(self) -> bool:
        data, folder = (
            Path(os.path.abspath(each)) for each in (self.gateway.data_dir, self.mqtt.mosquitto_dir)
        )
        return folder.is_relative_to(data)

    @property
    def keeps_events(self) -> bool:
        """Whether events of requests are kept: as it is said, or where others may miss them."""
        said = self.events.log
        return self.federation.is_on if said == "federation" else said

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
        """Where devices connect: where our broker is bound, or the external one dialled."""
        is_plain = self.mqtt.mode == "external" or self.tls.mode == "off"
        return self.mqtt.port if is_plain else self.tls.mqtt_port

    @property
    def mqtt_websocket_port(self) -> int | None:
        """Where our broker speaks WebSocket; None where it does not."""
        if not self.mqtt.websocket:
            return None
        is_plain = self.tls.mode == "off"
        return self.mqtt.websocket_port if is_plain else self.tls.mqtt_websocket_port

    @property
    def shared_port(self) -> bool:
        """Whether HTTP and WebSocket use one port."""
        return self.websocket_port in {0, self.http_port}

    @property
    def mqtt_client_id(self) -> str:
        """What the gateway calls itself at an external broker."""
        return self.mqtt.client_id or f"sosa-gateway-{self.gateway.id}"

    @property
    def saved_profile(self) -> Path:
        """A JSAP profile behind the listed ones, of what people save; it need not be there."""
        return self.gateway.data_dir / "saved.jsap"

    @property
    def named_files(self) -> tuple[Path, ...]:
        """Files that a start reads besides, but those that come with the gateway."""
        documents = (*self.jsap.profiles, *self.reasoning.ontologies)
        mine = (path for path in documents if path.parent not in _SHIPPED)
        names = (
            self.mqtt.password_file,
            self.mqtt.ca_file,
            self.tls.certificate,
            self.tls.key,
            self.shipping.token_file,
            self.shipping.ca_file,
        )
        return (*mine, *(Path(name) for name in names if name))

    def at(self, folder: Path) -> Self:
        """The same settings, relative paths taken from `folder`."""
        gateway = self.gateway.model_copy(update={"data_dir": folder / self.gateway.data_dir})
        profiles = tuple(folder / path for path in self.jsap.profiles)
        mqtt = {
            "password_file": self.mqtt.password_file and str(folder / self.mqtt.password_file),
            "ca_file": self.mqtt.ca_file and str(folder / self.mqtt.ca_file),
            "mosquitto_dir": folder / self.mqtt.mosquitto_dir,
        }
        tls = {
            name: path and str(folder / path)
            for name, path in (("certificate", self.tls.certificate), ("key", self.tls.key))
        }
        update: Mapping[str, object] = {
            "gateway": gateway,
            "shipping": self.shipping.at(folder),
            "archive": self.archive.at(folder),
            "jsap": self.jsap.model_copy(update={"profiles": profiles}),
            "reasoning": self.reasoning.at(folder),
            "mqtt": self.mqtt.model_copy(update=mqtt),
            "tls": self.tls.model_copy(update=tls),
        }
        return self.model_copy(update=update)


def _fault_of(section: str, text: str) -> PydanticCustomError:
    """What is wrong with a section in the light of the others."""
    return PydanticCustomError("unsafe", "{text}", {"section": section, "text": text})
