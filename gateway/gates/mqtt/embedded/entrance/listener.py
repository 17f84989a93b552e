"""`Listener`: sockets in, streams out; TLS on the way, and nobody unknown for long.

Place: the network → `Listener` → `HardenedBroker`, which gets a stream for each connection. A
socket counts from its first moment, before TLS: a handshake that never ends is as silent as none.
"""

import asyncio
import errno
import logging
import socket
from collections.abc import Awaitable, Callable
from functools import partial

from gateway.gates.mqtt.embedded.entrance.openings import Opening, Openings
from gateway.gates.mqtt.embedded.settings import BrokerSettings
from gateway.runtime.ports import not_listening
from gateway.security.throttle import network_of

log = logging.getLogger(__name__)

Converse = Callable[[asyncio.StreamReader, asyncio.StreamWriter, Opening], Awaitable[None]]
Peer = tuple[str, int] | tuple[str, int, int, int]
Refused = Callable[[Peer, str], None]

STREAM_BYTES = 65_536
BACKLOG = 100
CLOSE_TIMEOUT_S = 1.0
ACCEPT_AGAIN_S = 0.5
_NO_ADDRESS = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}


class Listener:
    """Serves each connection by `converse` in a task of its own, from `start` until `close`.

    `refused(peer, reason)` is told of those that end before they are a stream, or make room. It is
    bound at `port`, else at that of the settings; streams get a `writer` of that kind.
    """

    def __init__(
        self,
        settings: BrokerSettings,
        openings: Openings,
        converse: Converse,
        refused: Refused,
        *,
        port: int | None = None,
        writer: type[asyncio.StreamWriter] = asyncio.StreamWriter,
    ) -> None:
        self.conversations: set[asyncio.Task[None]] = set()
        self._settings = settings
        self._openings = openings
        self._converse = converse
        self._refused = refused
        self._wanted_port = settings.port if port is None else port
        self._writer = writer
        self._sockets: list[socket.socket] = []
        self._accepting: list[asyncio.Task[None]] = []

    @property
    def port(self) -> int:
        """The bound port."""
        port: int = self._sockets[0].getsockname()[1]
        return port

    async def start(self) -> None:
        """Bind. Raises ConfigurationError."""
        self._sockets = await bound(self._settings.host, self._wanted_port)
        self._accepting = [
            asyncio.create_task(self._accept(each), name="mqtt-accept") for each in self._sockets
        ]

    def close(self) -> None:
        """Take nobody from now on."""
        for accepting in self._accepting:
            accepting.cancel()

    async def wait_closed(self) -> None:
        """End every conversation that is left."""
        for task in self.conversations:
            task.cancel()
        await asyncio.gather(*self._accepting, *self.conversations, return_exceptions=True)
        for each in self._sockets:
            each.close()

    async def _accept(self, listening: socket.socket) -> None:
        loop = asyncio.get_running_loop()
        while True:
            try:
                connected, peer = await loop.sock_accept(listening)
            except OSError as error:
                log.error("broker_cannot_accept", extra={"reason": repr(error)})
                await asyncio.sleep(ACCEPT_AGAIN_S)
                continue
            self._arrived(connected, peer)

    def _arrived(self, connected: socket.socket, peer: Peer) -> None:
        opening = Opening(network_of(peer[0]))
        conversation = self._serve(connected, peer, opening)
        task = asyncio.create_task(conversation, name=f"mqtt-client-{peer}")
        self.conversations.add(task)
        task.add_done_callback(partial(self._conversation_ended, connected))
        self._openings.enter(opening, partial(self._give_up, task, peer))

    def _conversation_ended(self, connected: socket.socket, task: asyncio.Task[None]) -> None:
        self.conversations.discard(task)
        connected.close()  # of a task that was cancelled before its first step; else it is closed
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("broker_conversation_failed", exc_info=error)

    async def _serve(self, connected: socket.socket, peer: Peer, opening: Opening) -> None:
        """One connection from its first byte to its close."""
        try:
            streams = await self._streams(connected)
        except OSError as error:
            self._refused(peer, repr(error))
        else:
            try:
                await self._converse(*streams, opening)
            finally:
                await close_stream(streams[1])
        finally:
            self._openings.leave(opening)

    def _give_up(self, task: asyncio.Task[None], peer: Peer) -> None:
        self._refused(peer, "too many connections without CONNECT")
        task.cancel()

    async def _streams(
        self, connected: socket.socket
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Streams over a socket. Raises OSError, for a TLS handshake that fails or takes long."""
        loop = asyncio.get_running_loop()
        reader = asyncio.StreamReader(STREAM_BYTES, loop)
        protocol = asyncio.StreamReaderProtocol(reader, loop=loop)
        tls = self._settings.tls
        transport, _ = await loop.connect_accepted_socket(
            lambda: protocol,
            connected,
            ssl=tls,
            ssl_handshake_timeout=self._settings.connect_timeout_s if tls else None,
        )
        return reader, self._writer(transport, protocol, reader, loop)


async def bound(host: str, port: int) -> list[socket.socket]:
    """A listening socket for each address of the host.

    Raises ConfigurationError with who has the port.
    """
    sockets: list[socket.socket] = []
    try:
        await _bind(host, port, sockets)
    except OSError as error:
        # A name may have an address, as ::1, that this machine has not.
        if error.errno not in _NO_ADDRESS or not sockets:
            for each in sockets:
                each.close()
            raise not_listening("the MQTT broker", host, port, error) from error
    return sockets


async def _bind(host: str, port: int, sockets: list[socket.socket]) -> None:
    found = await asyncio.get_running_loop().getaddrinfo(
        host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
    )
    for family, _, _, _, address in dict.fromkeys(found):
        sockets.append(_listening(family, address))


def _listening(family: int, address: tuple[object, ...]) -> socket.socket:
    listening = socket.socket(family, socket.SOCK_STREAM)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # inherited
        if family == socket.AF_INET6:
            listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        listening.bind(address)
        listening.listen(BACKLOG)
        listening.setblocking(False)
    except OSError:
        listening.close()
        raise
    return listening


def peer_of(writer: asyncio.StreamWriter, opening: Opening) -> Peer:
    """Who is at the other end; one that was reset has no port any more."""
    peer: Peer = writer.get_extra_info("peername") or (opening.address, 0)
    return peer


async def close_stream(writer: asyncio.StreamWriter) -> None:
    """Flush and close; a peer that does not read is cut off."""
    writer.close()
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await writer.wait_closed()
    except OSError:
        writer.transport.abort()
