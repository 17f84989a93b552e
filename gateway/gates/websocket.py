"""The WebSocket gate: /subscribe, SPARQL 1.1 SE protocol; several subscriptions on one socket.

Place on the way of the data: SUBSCRIBE and UNSUBSCRIBE go to the scheduler's SRQ; notifications
come from its thread into the socket's outbox and leave through the socket's writer. Sources:
SPARQL 1.1 Subscribe Language and SE Protocol (SEPA's drafts); RFC 6455, section 7.4 (close codes;
1013, try again later, is in IANA's registry).

Requests of one socket are answered one after another. Whatever ends the socket ends its
subscriptions. A bad message costs an error object, never the connection.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Protocol

from pyoxigraph import NamedNode
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from gateway.crossing import Crossing
from gateway.engine import Notification
from gateway.errors import GatewayError, NotFoundError, TooManyRequestsError
from gateway.gates.outbox import Outbox, OutboxLimits
from gateway.gates.wire import (
    BadMessageError,
    NotificationEncoder,
    Subscribe,
    Unsubscribe,
    decode_message,
    encode_error,
    encode_unsubscribed,
)

log = logging.getLogger(__name__)

_TRY_AGAIN_LATER = 1013
_TOO_SLOW = "the subscriber reads too slowly; subscribe again"
_TURN = 64
"""Messages that a writer sends before it lets others go on."""


class Subscriptions(Protocol):
    """Keeps subscriptions; raises a GatewayError."""

    async def subscribe(
        self,
        text: str,
        /,
        *,
        default_graphs: Sequence[NamedNode],
        named_graphs: Sequence[NamedNode],
        alias: str | None,
        sink: Callable[[Notification], None],
    ) -> str:
        """The spuid; the sink gets sequence 0 first, and is called in any one thread."""
        ...

    async def unsubscribe(self, spuid: str) -> None:
        """End a subscription."""
        ...


@dataclass(frozen=True, slots=True)
class SocketLimits:
    """Bounds of one socket; in `stall_s` a peer has to take what is sent, or is given up."""

    subscriptions: int = 1000
    stall_s: float = 30.0
    outbox: OutboxLimits = field(default_factory=OutboxLimits)


@dataclass(slots=True)
class SocketStatistics:
    """What is open now (`sockets`, `subscriptions`), and counters since the start.

    `merged` counts notifications that were added to a waiting one, `overflows` the sockets
    closed with 1013, `stalls` those that were given up.
    """

    sockets: int = 0
    subscriptions: int = 0
    messages: int = 0
    merged: int = 0
    errors: int = 0
    overflows: int = 0
    stalls: int = 0


class WebSocketGate:
    """The endpoint /subscribe."""

    def __init__(
        self,
        subscriptions: Subscriptions,
        crossing: Crossing,
        limits: SocketLimits | None = None,
    ) -> None:
        self.subscriptions = subscriptions
        self.crossing = crossing
        self.limits = limits or SocketLimits()
        self.encoder = NotificationEncoder()
        self.statistics = SocketStatistics()

    def routes(self) -> list[WebSocketRoute]:
        """The endpoint, for `operations.application`."""
        return [WebSocketRoute("/subscribe", self._open)]

    async def _open(self, websocket: WebSocket) -> None:
        self.statistics.sockets += 1
        try:
            with suppress(WebSocketDisconnect):
                await websocket.accept()
                await _Session(self, websocket).run()
        finally:
            self.statistics.sockets -= 1


class _Session:
    """One socket, from its acceptance to the end of its last subscription."""

    def __init__(self, gate: WebSocketGate, websocket: WebSocket) -> None:
        self._gate = gate
        self._limits = gate.limits
        self._statistics = gate.statistics
        self._websocket = websocket
        self._ready = asyncio.Event()
        self._sending = asyncio.Lock()
        self._gone = False
        self._spuids: set[str] = set()
        wake = self._ready.set
        self._outbox = Outbox(lambda: gate.crossing.call(wake), gate.limits.outbox)

    async def run(self) -> None:
        """Read and write until one of both ends; then end the subscriptions."""
        try:
            async with asyncio.TaskGroup() as tasks:
                reader = tasks.create_task(self._read(tasks), name="websocket reader")
                writer = tasks.create_task(self._write(), name="websocket writer")
                reader.add_done_callback(lambda _: writer.cancel())
                writer.add_done_callback(lambda _: reader.cancel())
        finally:
            self._outbox.close()
            await self._end_subscriptions()

    async def _read(self, tasks: asyncio.TaskGroup) -> None:
        with suppress(WebSocketDisconnect):
            async for text in self._messages():
                # Finished even when the socket closes: a subscription must not get lost half way.
                answering = tasks.create_task(self._answer(text), name="websocket answer")
                answer = await asyncio.shield(answering)
                if answer is not None:
                    await self._send(answer)

    async def _messages(self) -> AsyncIterator[str | None]:
        """The client's messages; None for one that is not text."""
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                return
            yield message.get("text")

    async def _answer(self, text: str | None) -> str | None:
        """Do what a message asks for; the answer, or None when a notification is the answer."""
        alias = None
        try:
            if text is None:
                raise BadMessageError("the message is binary", "send JSON in text messages")
            message = decode_message(text)
            alias = message.alias
            if isinstance(message, Subscribe):
                await self._subscribe(message)
                return None
            return await self._unsubscribe(message)
        except BadMessageError as error:
            self._statistics.errors += 1
            return encode_error(error, error.alias)
        except GatewayError as error:
            self._statistics.errors += 1
            return encode_error(error, alias)

    async def _subscribe(self, message: Subscribe) -> None:
        if len(self._spuids) >= self._limits.subscriptions:
            raise TooManyRequestsError(f"the socket has {len(self._spuids)} subscriptions already")
        spuid = await self._gate.subscriptions.subscribe(
            message.sparql,
            default_graphs=message.default_graphs,
            named_graphs=message.named_graphs,
            alias=message.alias,
            sink=self._outbox.put,
        )
        self._spuids.add(spuid)
        self._statistics.subscriptions += 1

    async def _unsubscribe(self, message: Unsubscribe) -> str:
        spuid = message.spuid
        if spuid not in self._spuids:
            raise NotFoundError(f"this socket has no subscription {spuid}")
        await self._gate.subscriptions.unsubscribe(spuid)
        self._forget(spuid)
        return encode_unsubscribed(spuid)

    def _forget(self, spuid: str) -> None:
        self._outbox.forget(spuid)
        self._spuids.discard(spuid)
        self._statistics.subscriptions -= 1

    async def _write(self) -> None:
        with suppress(WebSocketDisconnect):
            while not self._outbox.overflowed:
                await self._ready.wait()
                self._ready.clear()
                await self._send_waiting()
            self._statistics.overflows += 1
            log.warning("subscriber_overflow", extra={"subscriptions": len(self._spuids)})
            await self._close(_TRY_AGAIN_LATER, _TOO_SLOW)

    async def _send_waiting(self) -> None:
        sent = 0
        while (message := self._outbox.take()) is not None:
            await self._send(self._gate.encoder.encode(message.notification, message.merged))
            self._statistics.messages += 1
            self._statistics.merged += message.merged - 1
            sent += 1
            if sent % _TURN == 0:
                await asyncio.sleep(0)

    async def _send(self, text: str) -> None:
        """Send, in whole messages. Raises WebSocketDisconnect once nothing can be sent."""
        async with self._sending:
            if self._gone:
                raise WebSocketDisconnect
            try:
                async with asyncio.timeout(self._limits.stall_s):
                    await self._websocket.send_text(text)
            except TimeoutError as error:
                self._gone = True
                self._statistics.stalls += 1
                log.warning("subscriber_stalled", extra={"seconds": self._limits.stall_s})
                raise WebSocketDisconnect from error
            except WebSocketDisconnect:
                self._gone = True
                raise

    async def _close(self, code: int, reason: str) -> None:
        async with self._sending:
            if not self._gone:
                self._gone = True
                with suppress(TimeoutError):
                    async with asyncio.timeout(self._limits.stall_s):
                        await self._websocket.close(code, reason)

    async def _end_subscriptions(self) -> None:
        for spuid in list(self._spuids):
            with suppress(GatewayError):
                await self._unsubscribe_surely(spuid)
            self._forget(spuid)

    async def _unsubscribe_surely(self, spuid: str) -> None:
        """Nobody else would end it: where the SRQ is full, wait for it."""
        while True:
            try:
                return await self._gate.subscriptions.unsubscribe(spuid)
            except TooManyRequestsError as error:
                await asyncio.sleep(error.retry_after_s)
