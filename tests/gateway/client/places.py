"""Where agents meet brokers: profiles on free ports, a relay that cuts lines, a playing broker."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection, serve

from gateway.app.gateway import Gateway
from gateway.config.settings import SHIPPED_PROFILES
from gateway.rdf.solutions import Solution
from tests.kit.gateways import LOOPBACK, free_port, running, settings, write_profile

JsonObject = dict[str, Any]


def shipped(name: str) -> JsonObject:
    """The members of a profile that ships."""
    members: JsonObject = json.loads((SHIPPED_PROFILES / name).read_text(encoding="utf-8"))
    return members


def on_ports(folder: Path, members: JsonObject, http: int, websocket: int) -> Path:
    """A file of the same profile, for a broker on these ports."""
    members = json.loads(json.dumps(members))
    members["host"] = LOOPBACK
    members.setdefault("sparql11protocol", {})["port"] = http
    members["sparql11seprotocol"] = {
        "protocol": "ws",
        "availableProtocols": {"ws": {"port": websocket, "path": "/subscribe"}},
    }
    path = folder / f"on-{http}-{websocket}.jsap"
    path.write_text(json.dumps(members), encoding="utf-8")
    return path


@asynccontextmanager
async def chatting(folder: Path, **limits: Any) -> AsyncIterator[tuple[Gateway, Path]]:
    """A gateway, and the profile of the chat on its ports."""
    async with running(settings(folder, write_profile(folder), **limits)) as gateway:
        yield (
            gateway,
            on_ports(folder, shipped("chat.jsap"), gateway.http_port, gateway.websocket_port),
        )


class Relay:
    """A TCP port that leads to another one, until the lines are cut; counts the lines."""

    def __init__(self, target: int) -> None:
        self.port = free_port()
        self.lines = 0
        self.refusing = False
        self._target = target
        self._writers: set[asyncio.StreamWriter] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator["Relay"]:
        async with await asyncio.start_server(self._line, LOOPBACK, self.port):
            try:
                yield self
            finally:
                self.cut()

    def cut(self) -> None:
        """Break every line, without a word of WebSocket."""
        for writer in self._writers:
            writer.transport.abort()

    async def _line(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self.refusing:
            writer.transport.abort()
            return
        self.lines += 1
        to_target = await asyncio.open_connection(LOOPBACK, self._target)
        self._writers |= {writer, to_target[1]}
        with suppress(ConnectionError):
            await asyncio.gather(_pump(reader, to_target[1]), _pump(to_target[0], writer))
        for each in (writer, to_target[1]):
            each.transport.abort()
            self._writers.discard(each)


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()
    writer.transport.abort()


Play = Callable[["Player"], Awaitable[None]]


class Player:
    """One socket of a broker that plays: it is told what comes, and says what it is told to."""

    def __init__(self, socket: ServerConnection) -> None:
        self._socket = socket

    async def request(self) -> JsonObject:
        """What the client asks for."""
        message: JsonObject = json.loads(await self._socket.recv())
        return message

    async def say(self, message: object) -> None:
        """Text as it is, anything else as JSON."""
        await self._socket.send(message if isinstance(message, str) else json.dumps(message))

    async def notify(self, sequence: int, added: str = "", removed: str = "", **more: Any) -> None:
        """A notification; letters are solutions of one variable."""
        members = {"spuid": "sepa://subscription/1", "sequence": sequence, **more}
        results = {"addedResults": _results(added), "removedResults": _results(removed)}
        await self.say({"notification": {**results, **members}})

    async def hang_up(self) -> None:
        await self._socket.close()

    async def stay(self) -> None:
        """Until the client leaves."""
        async for _ in self._socket:
            await self.say({"unsubscribed": {"spuid": "sepa://subscription/1"}})


def _results(letters: str) -> JsonObject:
    bindings = [{"x": {"type": "literal", "value": letter}} for letter in letters]
    return {"head": {"vars": ["x"]}, "results": {"bindings": bindings}} if letters else {}


@asynccontextmanager
async def broker(folder: Path, *plays: Play) -> AsyncIterator[Path]:
    """A broker whose sockets play one after another; a profile with a query Q."""
    left = list(plays)

    async def handle(socket: ServerConnection) -> None:
        await left.pop(0)(Player(socket))

    async with serve(handle, LOOPBACK, 0) as server:
        port = next(iter(server.sockets)).getsockname()[1]
        members = {"queries": {"Q": {"sparql": "SELECT ?x { ?s ?p ?x }"}}}
        yield on_ports(folder, members, 1, port)


def letters(solutions: list[Solution] | tuple[Solution, ...]) -> str:
    """The texts of `x`, sorted."""
    return "".join(sorted(str(solution["x"]).strip('"') for solution in solutions))
