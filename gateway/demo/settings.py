"""The demo's configuration: the defaults of a gateway, in a temporary folder, on free ports."""

import json
import socket
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.config.journal import JournalSettings, ShippingSettings
from gateway.config.settings import (
    SHIPPED_PROFILES,
    Config,
    GatewaySettings,
    HttpSettings,
    JsapSettings,
    LogSettings,
    MqttSettings,
    WebSocketSettings,
)
from gateway.demo.recording import Recording

SHIPPED_EVERY_S = 5.0
HOUSE_PROFILE = Path(__file__).with_name("demo.jsap")


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

    The answer to a question is shown as it is now, of others only how it changes.
    """

    name: str
    query_id: str
    is_question: bool = False


def choose_ports(wanted: Config) -> Ports:
    """The default ports where they are free, else any free ones."""
    asked = {"MQTT": wanted.mqtt.port, "HTTP": wanted.http.port, "WebSocket": wanted.websocket.port}
    got = {name: port if _is_free(port) else _free_port() for name, port in asked.items()}
    moved = tuple(
        f"{name} port {asked[name]} is taken, using {port}"
        for name, port in got.items()
        if port != asked[name]
    )
    return Ports(got["MQTT"], got["HTTP"], got["WebSocket"], moved)


def demo_config(folder: Path, ports: Ports, profile: Path, landing: Path | None = None) -> Config:
    """A gateway for one demo: `profile` has the mappings, the store is on the disk as ever.

    With a `landing` zone, which must exist, it ships what it has journalled every few seconds.
    """
    return Config(
        gateway=GatewaySettings(id="demo", data_dir=folder / "data"),
        mqtt=MqttSettings(port=ports.mqtt),
        http=HttpSettings(port=ports.http),
        websocket=WebSocketSettings(port=ports.websocket),
        jsap=JsapSettings(profiles=(SHIPPED_PROFILES / "observations.jsap", profile)),
        **({} if landing is None else _shipped_to(landing)),
        log=LogSettings(level="error"),
    )


def _shipped_to(landing: Path) -> dict[str, Any]:
    return {
        "journal": JournalSettings(segment_s=SHIPPED_EVERY_S),
        "shipping": ShippingSettings(to=str(landing.absolute())),
    }


def profile_of(recording: Recording | None, folder: Path) -> Path:
    """The profile that understands what will be published: the house's or the recording's own."""
    if recording is None:
        return HOUSE_PROFILE
    path = folder / "replay.jsap"
    path.write_text(json.dumps(recording.profile(), indent=2), encoding="utf-8")
    return path


def standing_queries(recording: Recording | None) -> Sequence[Standing]:
    """What the demo subscribes."""
    if recording is not None:
        return (Standing("latest results", "LATEST"),)
    return (
        Standing("which windows are open", "WINDOWS_OPEN", is_question=True),
        Standing("what uses more than 100 W", "MORE_THAN_100_W", is_question=True),
        Standing("which batteries are low", "BATTERIES_LOW", is_question=True),
        Standing("too warm and nobody in", "WARM_AND_EMPTY"),
        Standing("the fan is wanted", "FAN_WANTED"),
    )


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port
