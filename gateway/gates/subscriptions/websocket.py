"""The WebSocket transport: /subscribe, SPARQL 1.1 SE protocol; several subscriptions on one socket.

Place on the way of the data: a client's messages go to its `Subscriber`, what that one has to tell
leaves through the socket's writer. Sources: SPARQL 1.1 Subscribe Language and SE Protocol (SEPA's
drafts); RFC 6455, section 7.4 (close codes; 1013, try again later, is in IANA's registry).

Requests of one socket are answered one after another. A socket that is closed ends its
subscriptions, one that is lost leaves them for a while (docs/subscribing.md, "Resume"). A bad
message costs an error object, never the connection.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress

from starlette.routing import WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from gateway.errors import BadRequestError, OverloadedError, TooManyRequestsError
from gateway.gates.http.responses import error_response
from gateway.gates.http.socket_connection import AT_ONCE
from gateway.gates.subscriptions.subscriber import Client, Subscriber
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.security.principal import Principal

log = logging.getLogger(__name__)

TRANSPORT = "websocket"
PATHS = ("/subscribe", "/secure/subscribe")

_TRY_AGAIN_LATER = 1013
_TOO_SLOW = "the subscriber reads too slowly; subscribe again"
_TURN = 64
"""Messages that a writer sends before it lets others go on."""
_TOGETHER = 16_384
"""Messages leave together, one call of the system for all, until they have so many characters."""
_LONGEST_PAUSE_MS = 10_000


class WebSocketGate:
    """The endpoint /subscribe; an ASGI application."""

    def __init__(self, subscribers: Subscribers) -> None:
        self._subscribers = subscribers

    def routes(self) -> list[WebSocketRoute]:
        """The endpoint, for `operations.application`."""
        return [WebSocketRoute(path, self) for path in PATHS]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket to its end, or refuse it."""
        websocket = WebSocket(scope, receive, send)
        address = _address(websocket)
        try:
            pause_s = _pause_s(websocket)
            with self._subscribers.connected(TRANSPORT, address), suppress(WebSocketDisconnect):
                await websocket.accept()
                await _Socket(self._subscribers, websocket, send, pause_s).run()
        except (BadRequestError, OverloadedError, TooManyRequestsError) as error:
            await websocket.send_denial_response(error_response(error))


class _Socket:
    """One socket, from its acceptance to its end.

    Messages go to the server directly, and no timer is started for each: that would be half the
    cost of telling many sockets the same. `_look` finds out what is stuck. Where the peer takes it
    and the writer has nothing to do, not even that one's turn is waited for.
    """

    def __init__(
        self, subscribers: Subscribers, websocket: WebSocket, send: Send, pause_s: float
    ) -> None:
        self._limits = subscribers.limits
        self._statistics = subscribers.statistics
        self._websocket = websocket
        self._send_to_server = send
        self._loop = asyncio.get_running_loop()
        self._sending = 0
        self._sent = 0
        self._is_gone = False
        self._is_closed = False
        handshake = websocket.headers.get("authorization")

        def authenticate(shown: str | None) -> Principal:
            return subscribers.guard.principal(handshake if shown is None else shown)

        client = Client(_address(websocket), authenticate, pause_s=pause_s)
        self._subscriber = Subscriber(subscribers, client)
        self._connection = websocket.scope.get("extensions", {}).get(AT_ONCE, {}).get("connection")
        if self._connection is not None:
            self._subscriber.tells = self._tell_at_once

    async def run(self) -> None:
        """Read and write until one of both ends; then end the subscriptions."""
        try:
            async with asyncio.TaskGroup() as tasks:
                reader = tasks.create_task(self._read(tasks), name="websocket reader")
                writer = tasks.create_task(self._write(), name="websocket writer")
                reader.add_done_callback(lambda _: writer.cancel())
                self._look_later((reader, writer))
        finally:
            self._looking.cancel()
            self._subscriber.close(is_lost=not self._is_closed)

    def _look_later(self, tasks: Sequence["asyncio.Task[None]"]) -> None:
        seen = self._sent if self._sending else None
        self._looking = self._loop.call_later(self._limits.stall_s, self._look, tasks, seen)

    def _look(self, tasks: Sequence["asyncio.Task[None]"], seen: int | None) -> None:
        """Give the peer up where nothing could be sent since the last look."""
        if not self._sending or self._sent != seen:
            self._look_later(tasks)
            return
        self._is_gone = True
        self._statistics.stalls += 1
        log.warning("subscriber_stalled", extra={"seconds": self._limits.stall_s})
        for task in tasks:
            task.cancel()

    async def _read(self, tasks: asyncio.TaskGroup) -> None:
        with suppress(WebSocketDisconnect):
            async for text in self._messages():
                # Finished even when the socket closes: a subscription must not get lost half way.
                answering = tasks.create_task(
                    self._subscriber.answer(text), name="websocket answer"
                )
                answer = await asyncio.shield(answering)
                if answer is not None:
                    await self._send(answer)

    async def _messages(self) -> AsyncIterator[str | None]:
        """The client's messages; None for one that is not text."""
        while True:
            message = await self._websocket.receive()
            if message["type"] == "websocket.disconnect":
                self._is_closed = "reason" in message  # else no close frame came
                return
            yield message.get("text")

    async def _write(self) -> None:
        """Tell what there is; when the socket ends, the reader learns how."""
        subscriber = self._subscriber
        with suppress(WebSocketDisconnect):
            while not subscriber.overflowed:
                await subscriber.wait()
                await self._send_waiting()
            self._statistics.overflows += 1
            log.warning("subscriber_overflow", extra={"count": len(subscriber.subscriptions)})
            await self._close(_TRY_AGAIN_LATER, _TOO_SLOW)

    def _tell_at_once(self) -> bool:
        """Send what there is; False where some of it has to wait."""
        connection, subscriber = self._connection, self._subscriber
        if self._sending or self._is_gone or subscriber.overflowed:
            return False
        left = _TURN
        while left and connection.takes:
            texts: list[str] = []
            room = _TOGETHER
            while left and room > 0 and (message := subscriber.take()) is not None:
                texts.append(subscriber.encode(message))
                room -= len(texts[-1])
                left -= 1
                if not subscriber.has_more:
                    break
            connection.tell(texts)
            if not subscriber.has_more:
                return True
        return False

    async def _send_waiting(self) -> None:
        sent = 0
        while (message := self._subscriber.take()) is not None:
            await self._send(self._subscriber.encode(message))
            sent += 1
            if sent % _TURN == 0:
                await asyncio.sleep(0)

    async def _send(self, text: str) -> None:
        """Send a whole message. Raises WebSocketDisconnect once nothing can be sent."""
        if self._is_gone:
            raise WebSocketDisconnect
        self._sending += 1
        try:
            await self._send_to_server({"type": "websocket.send", "text": text})
        except OSError as error:
            self._is_gone = True
            raise WebSocketDisconnect from error
        finally:
            self._sending -= 1
            self._sent += 1

    async def _close(self, code: int, reason: str) -> None:
        if not self._is_gone:
            self._is_gone = True
            with suppress(TimeoutError):
                async with asyncio.timeout(self._limits.stall_s):
                    await self._websocket.close(code, reason)


def _address(websocket: WebSocket) -> str:
    return websocket.client.host if websocket.client else ""


def _pause_s(websocket: WebSocket) -> float:
    """How long changes may gather before they are told. Raises BadRequestError."""
    text = websocket.query_params.get("pause", "0")
    if not (text.isascii() and text.isdecimal() and len(text) < 6) or int(text) > _LONGEST_PAUSE_MS:
        raise BadRequestError("'pause' is no pause", f"give 0 to {_LONGEST_PAUSE_MS} ms")
    return int(text) / 1000
