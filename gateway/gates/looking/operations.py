"""What operators look at by HTTP: the log's end, the settings in force, who is connected.

docs/looking.md shows the answers. All of it takes the capability for operations.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Protocol

from fastapi import Depends, Query
from pydantic import Field

from gateway.admin.looking.log_tail import MOST_LINES, LogLine, LogTail
from gateway.admin.looking.settings_told import SettingsSection
from gateway.gates.http.dependencies import GateOf, Requires
from gateway.gates.http.json_router import Answer, JsonRouter
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.security.policy import Capability

LOG, CONFIGURATION, CONNECTED = "/log", "/configuration", "/connected"

MOST = 1_000
"""Clients of a kind that are told."""


class LogLineTold(Answer):
    """An event of the log."""

    t: str = Field(description="time in UTC")
    level: str
    logger: str
    text: str

    @classmethod
    def of(cls, line: LogLine) -> "LogLineTold":
        """As JSON."""
        at = line.at.isoformat(timespec="milliseconds")
        return cls(t=at, level=line.level, logger=line.logger, text=line.text)


class LogTold(Answer):
    """The last lines, the oldest first."""

    lines: list[LogLineTold]


class SettingTold(Answer):
    """One setting in force; `***` is what is not told."""

    name: str
    value: Any
    default: bool = Field(description="whether it is the default")


class SectionTold(Answer):
    """A section of gateway.toml."""

    name: str
    settings: list[SettingTold]


class ConfigurationTold(Answer):
    """Every setting."""

    sections: list[SectionTold]


class MqttClientTold(Answer):
    """A connection of the broker, or the gateway's own to another broker."""

    client_id: str
    user: str
    address: str
    connected: bool
    subscriptions: int


class AddressTold(Answer):
    """Open connections of an address: WebSockets and streams."""

    address: str
    connections: int


class ClientTold(Answer):
    """Subscriptions of an identity, or of an address without one."""

    client: str
    subscriptions: int


class ConnectedTold(Answer):
    """Who is there, at most 1,000 of a kind; `transports` counts connections by their kind."""

    mqtt: list[MqttClientTold]
    websocket: list[AddressTold]
    clients: list[ClientTold]
    transports: dict[str, int]
    streams: int = Field(description="streams of server-sent events")


class MqttClient(Protocol):
    """A client of a broker, or the link to one; no address while it is away."""

    @property
    def client_id(self) -> str:
        """What it calls itself."""

    @property
    def user(self) -> str:
        """The identity, "" for none."""

    @property
    def address(self) -> str:
        """Where it is."""

    @property
    def is_connected(self) -> bool:
        """Whether it is there now."""

    @property
    def subscriptions(self) -> int:
        """How many topic filters it has."""


@dataclass(frozen=True, slots=True)
class LookingGate:
    """The endpoints /log, /configuration and /connected."""

    log: LogTail
    settings: Sequence[SettingsSection]
    mqtt: Callable[[], Sequence[MqttClient]]
    subscribers: Subscribers

    def connected(self) -> ConnectedTold:
        """Who is there now."""
        subscribers = self.subscribers
        counts: dict[str, int] = {}
        for client in subscribers.clients.values():
            counts[client] = counts.get(client, 0) + 1
        transports = {name: n for name, n in subscribers.statistics.connections.items() if n}
        return ConnectedTold(
            mqtt=[
                MqttClientTold(
                    client_id=each.client_id,
                    user=each.user,
                    address=each.address,
                    connected=each.is_connected,
                    subscriptions=each.subscriptions,
                )
                for each in self.mqtt()[:MOST]
            ],
            websocket=[
                AddressTold(address=address, connections=n)
                for address, n in _most(subscribers.addresses)
            ],
            clients=[ClientTold(client=client, subscriptions=n) for client, n in _most(counts)],
            transports=transports,
            streams=sum(n for name, n in transports.items() if name in _STREAMS),
        )


_STREAMS = frozenset({"events", "flow"})


def _most(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MOST]


router = JsonRouter(Requires(Capability.OPERATIONS))

_Gate = Annotated[LookingGate, Depends(GateOf(LookingGate))]


@router.get(LOG, "the end of the log", "its last lines")
async def log_tail(gate: _Gate, lines: Annotated[int, Query(ge=1, le=MOST_LINES)] = 200) -> LogTold:
    """From memory: what was logged since the start, and is among the last."""
    return LogTold(lines=list(map(LogLineTold.of, gate.log.last(lines))))


@router.get(CONFIGURATION, "the settings in force", "every setting, without secrets")
async def configuration(gate: _Gate) -> ConfigurationTold:
    """As the gateway was started with them."""
    return ConfigurationTold(
        sections=[
            SectionTold(
                name=section.name,
                settings=[
                    SettingTold(name=each.name, value=each.value, default=each.is_default)
                    for each in section.settings
                ],
            )
            for section in gate.settings
        ]
    )


@router.get(CONNECTED, "who is connected", "clients of MQTT, HTTP and WebSocket")
async def connected(gate: _Gate) -> ConnectedTold:
    """As it is now."""
    return gate.connected()
