"""Gateways of a demo: each with a folder, an id and ports of its own, in this process.

Place: under the session, which does with them what a person would type.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from gateway.app.federation.federating import Federation
from gateway.app.federation.members import listening, membership_folder, own_entry
from gateway.app.gateway import Gateway
from gateway.config.federation import FederationSettings
from gateway.config.settings import (
    Config,
    GatewaySettings,
    HttpSettings,
    LogSettings,
    MqttSettings,
    WebSocketSettings,
)
from gateway.errors import ConfigurationError, UnreachableError
from gateway.federation.membership.acts import Acts
from gateway.federation.membership.invitations import Code
from gateway.federation.membership.joining import join
from gateway.federation.membership.places import Place

_LOOPBACK = "127.0.0.1"
_NAMES = ("attic", "cellar", "hall", "garage", "garden")
_DOOR_S = 10.0


@dataclass(frozen=True, slots=True)
class Pi:
    """One gateway that runs."""

    config: Config
    gateway: Gateway

    @property
    def name(self) -> str:
        """The id."""
        return self.config.gateway.id

    @property
    def federation(self) -> Federation:
        """With whom it answers."""
        found = self.gateway.stages.subscribing.federation
        if found is None:
            raise ConfigurationError("the demo's gateway has no federation", "report this defect")
        return found

    async def update(self, text: str) -> None:
        """Have it know something."""
        await self.gateway.scheduler.update(text)

    def create(self, codes: int) -> list[Code]:
        """As `sosa-gateway federation create`; not for the event loop."""
        acts = Acts(membership_folder(self.config), self.name, datetime.now(UTC))
        acts.create("home", own_entry(self.config))
        return [acts.invite() for _ in range(codes)]

    def join(self, code: Code) -> None:
        """As `sosa-gateway federation join`; not for the event loop."""
        settings, folder = self.config.federation, membership_folder(self.config)
        join(
            folder,
            self.name,
            code,
            Place(_LOOPBACK, settings.join_port),
            listen=listening(self.config),
            now=datetime.now(UTC),
        )

    async def heard(self, count: int) -> None:
        """Wait until it hears so many others."""
        while len(await self.federation.service.heard()) < count:
            await asyncio.sleep(0.05)


@asynccontextmanager
async def house(folder: Path, count: int) -> AsyncIterator[Sequence[Pi]]:
    """So many gateways that run and are in no federation yet. Raises ConfigurationError."""
    names = [*_NAMES, *(f"pi{number}" for number in range(len(_NAMES) + 1, count + 1))][:count]
    ports = _free_ports(count + 1)
    via = f"{_LOOPBACK}:{ports[0]}"
    async with AsyncExitStack() as stack:
        pis = []
        for name, port in zip(names, ports, strict=False):
            federation = FederationSettings(
                via=via, listen=f"{_LOOPBACK}:{port}", join_port=ports[-1]
            )
            config = Config(
                gateway=GatewaySettings(id=name, data_dir=folder / name / "data"),
                mqtt=MqttSettings(port=0),
                http=HttpSettings(port=0),
                websocket=WebSocketSettings(port=0),
                federation=federation,
                log=LogSettings(level="error"),
            )
            pis.append(Pi(config, await stack.enter_async_context(Gateway(config))))
        yield pis


async def let_in(pi: Pi, code: Code) -> None:
    """Join as soon as the door is open, which the first gateway opens within a second."""
    async with asyncio.timeout(_DOOR_S):
        while True:
            try:
                return await asyncio.to_thread(pi.join, code)
            except UnreachableError:
                await asyncio.sleep(0.1)


def _free_ports(count: int) -> list[int]:
    """Ports that nobody has now, each another one."""
    with ExitStack() as opened:
        servers = [opened.enter_context(socket.create_server((_LOOPBACK, 0))) for _ in range(count)]
        return [server.getsockname()[1] for server in servers]
