"""The demo's configuration: a gateway in a temporary folder, on the ports of the settings.

A port that gateway.toml or the environment sets is kept to, or the demo does not start; where
nobody set one and the default is taken, a free one does.
"""

import errno
import json
import os
import socket
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.config.journal import JournalSettings, ShippingSettings
from gateway.config.settings import (
    SHIPPED_PROFILES,
    Config,
    GatewaySettings,
    HomeAssistantSettings,
    HttpSettings,
    JsapSettings,
    LogSettings,
    MqttSettings,
    ReasoningSettings,
    WebSocketSettings,
)
from gateway.demo.recording import Recording
from gateway.errors import ConfigurationError
from jsap.profile import Profile

SHIPPED_EVERY_S = 5.0
HOUSE_PROFILE = Path(__file__).with_name("demo.jsap")
PANE_PROFILE = Path(__file__).with_name("pane.jsap")

_UNTOLD = HomeAssistantSettings()
_JOURNAL = JournalSettings()
_SECTIONS = {"mqtt": "MQTT", "http": "HTTP", "websocket": "WebSocket"}
"""Of gateway.toml, those whose ports a demo binds."""


@dataclass(frozen=True, slots=True)
class Ports:
    """The ports of a demo; `moved` says for people which defaults were taken by others."""

    mqtt: int
    http: int
    websocket: int
    moved: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Standing:
    """A standing query: its name for people, its id in the profile.

    The answer to a question is shown as it is now, of others only how it changes. What rules stand
    on is the cause of commands.
    """

    name: str
    query_id: str
    is_question: bool = False
    is_cause: bool = False


def choose_ports(wanted: Config) -> Ports:
    """Ports that are set; the defaults of others where they are free, else any free ones.

    Raises ConfigurationError that names every port that is set and cannot be had.
    """
    got, moved, wrong = {}, [], []
    for section, name in _SECTIONS.items():
        settings = getattr(wanted, section)
        fault = _fault(settings.port)
        got[section] = _free_port() if fault else settings.port
        setting = f"[{section}] port, or {_variable(section)}"
        if fault and "port" in settings.model_fields_set:
            wrong.append(f"{name} port {settings.port} {fault}: {setting}, changes it")
        elif fault:
            moved.append(
                f"{name} port {settings.port} {fault}, using {got[section]}; {setting}, sets it"
            )
    if wrong:
        raise ConfigurationError(
            "\n".join(wrong), "name another port there, 0 for any free one, or end what has it"
        )
    return Ports(got["mqtt"], got["http"], got["websocket"], tuple(moved))


def demo_config(
    folder: Path,
    ports: Ports,
    profile: Path,
    landing: Path | None = None,
    *,
    journal: JournalSettings = _JOURNAL,
    homeassistant: HomeAssistantSettings = _UNTOLD,
) -> Config:
    """A gateway for one demo: `profile` has the mappings, the store is on the disk as ever.

    The journal is as `journal` says. With a `landing` zone, which must exist, it ships what it has
    journalled every few seconds. The house is reasoned on, and told to Home Assistant as
    `homeassistant` says.
    """
    graphs = ("default",) if profile == HOUSE_PROFILE else ()
    return Config(
        gateway=GatewaySettings(id="demo", data_dir=folder / "data"),
        mqtt=MqttSettings(port=ports.mqtt),
        http=HttpSettings(port=ports.http),
        websocket=WebSocketSettings(port=ports.websocket),
        jsap=JsapSettings(profiles=(SHIPPED_PROFILES / "observations.jsap", profile)),
        reasoning=ReasoningSettings(graphs=graphs),
        homeassistant=homeassistant,
        **({"journal": journal} if landing is None else _shipped_to(landing, journal)),
        log=LogSettings(level="error"),
    )


def _shipped_to(landing: Path, journal: JournalSettings) -> dict[str, Any]:
    return {
        "journal": journal.model_copy(update={"segment_s": SHIPPED_EVERY_S}),
        "shipping": ShippingSettings(to=str(landing.absolute())),
    }


def profile_of(recording: Recording | None, folder: Path) -> Path:
    """The profile that understands what will be published: the house's or the recording's own."""
    if recording is None:
        return HOUSE_PROFILE
    path = folder / "replay.jsap"
    path.write_text(json.dumps(recording.profile(), indent=2), encoding="utf-8")
    return path


def client_profile(profile: Path, http_port: int, websocket_port: int) -> Profile:
    """What a client of the demo asks: the queries of the profile and those of the screen."""
    house, pane = (json.loads(each.read_text(encoding="utf-8")) for each in (profile, PANE_PROFILE))
    channel = {"port": websocket_port, "path": "/subscribe"}
    members: Mapping[str, object] = {
        "host": "127.0.0.1",
        "namespaces": {**pane["namespaces"], **house["namespaces"]},
        "queries": {**pane["queries"], **house["queries"]},
        "sparql11protocol": {"protocol": "http", "port": http_port},
        "sparql11seprotocol": {"protocol": "ws", "availableProtocols": {"ws": channel}},
    }
    return Profile.parse(members, source=str(profile))


def standing_queries(recording: Recording | None) -> Sequence[Standing]:
    """What the demo subscribes."""
    if recording is not None:
        return (Standing("latest results", "LATEST"),)
    return (
        Standing("which windows are open", "WINDOWS_OPEN", is_question=True),
        Standing("what uses more than 100 W", "MORE_THAN_100_W", is_question=True),
        Standing("which batteries are low", "BATTERIES_LOW", is_question=True),
        Standing("too warm and nobody in", "WARM_AND_EMPTY"),
        Standing("warm upstairs", "WARM_UPSTAIRS"),
        Standing("the fan is wanted", "FAN_WANTED", is_cause=True),
    )


def _variable(section: str) -> str:
    return f"SOSA_GATEWAY_{section.upper()}__PORT"


def _fault(port: int) -> str:
    """Why it cannot be listened on, "" where it can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError as error:
            in_use = error.errno == errno.EADDRINUSE
            return "is in use" if in_use else f"cannot be had ({os.strerror(error.errno or 0)})"
    return ""


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
