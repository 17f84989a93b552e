"""The transport of server-sent events: GET (or POST) /subscribe?query=…, for curl and browsers.

Place on the way of the data: beside the WebSocket, on the HTTP port; one subscription a stream,
which ends with it. Sources: HTML Living Standard, section 9.2 (server-sent events: `id`, `retry`,
Last-Event-ID); SPARQL 1.1 SE protocol for the data; SPARQL 1.1 Protocol for the parameters.

What is wrong with a request is answered before the stream starts, with its status. A stream that
is lost leaves its subscription for a while: a browser comes back by itself with `Last-Event-ID`.
"""

import asyncio
import logging
from contextlib import suppress

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from gateway.errors import CannotResumeError, StorageError, TooManyRequestsError
from gateway.gates.http.request_body import RequestLimits
from gateway.gates.protocol.wire import encode_error
from gateway.gates.subscriptions.kept import Addressed
from gateway.gates.subscriptions.stream_request import StreamRequest, event_id, read_request
from gateway.gates.subscriptions.subscriber import Client, Subscriber
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import Ended, Outgoing

log = logging.getLogger(__name__)

TRANSPORT = "events"
PATHS = ("/subscribe", "/secure/subscribe")
MEDIA_TYPE = "text/event-stream"

_HEADERS = [
    (b"content-type", f"{MEDIA_TYPE}; charset=utf-8".encode()),
    (b"cache-control", b"no-store"),
    (b"x-accel-buffering", b"no"),
]
_FIRST = b"retry: 2000\n\n"
_HEARTBEAT = b":\n\n"
_OTHER_LINE_ENDS = "\x85\u2028\u2029"
_TURN = 64
"""Messages that a writer sends before it lets others go on."""


class EventStreamGate:
    """The endpoint /subscribe for HTTP; an ASGI application.

    A comment is sent where nothing else was for `heartbeat_s`, so that both ends see a dead one.
    """

    def __init__(
        self,
        subscribers: Subscribers,
        limits: RequestLimits | None = None,
        heartbeat_s: float = 15.0,
    ) -> None:
        self._subscribers = subscribers
        self._limits = limits or RequestLimits()
        self._heartbeat_s = heartbeat_s
        self._streams: set[_Stream] = set()

    def routes(self) -> list[Route]:
        """The endpoint, for `operations.application`."""
        return [Route(path, self, methods=["GET", "POST"]) for path in PATHS]

    async def close(self) -> None:
        """Have every stream end, before the server does."""
        for stream in list(self._streams):
            stream.stop()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request; raises a GatewayError before the stream starts."""
        request = Request(scope, receive)
        if request.method == "HEAD":
            await Response(media_type=MEDIA_TYPE)(scope, receive, send)
            return
        wanted = await read_request(request, self._limits)
        address = request.client.host if request.client else ""
        with self._subscribers.connected(TRANSPORT, address):
            stream = _Stream(self._subscribers, address, self._heartbeat_s, send)
            self._streams.add(stream)
            try:
                await stream.run(request, wanted)
            finally:
                self._streams.discard(stream)


class _Stream:
    """One stream, from the request to its end."""

    def __init__(
        self, subscribers: Subscribers, address: str, heartbeat_s: float, send: Send
    ) -> None:
        client = Client(address, subscribers.guard.principal)
        self._limits = subscribers.limits
        self._statistics = subscribers.statistics
        self._subscriber = Subscriber(subscribers, client)
        self._heartbeat_s = heartbeat_s
        self._send_message = send
        self._is_ended = False
        self._is_stopping = False

    def stop(self) -> None:
        """End it: the gateway stops."""
        self._is_stopping = True
        self._subscriber.wake()

    async def run(self, request: Request, wanted: StreamRequest) -> None:
        """Subscribe, then send until one of both ends."""
        try:
            await self._subscribe(wanted)
            await self._send_message(
                {"type": "http.response.start", "status": 200, "headers": _HEADERS}
            )
            async with asyncio.TaskGroup() as tasks:
                leaving = tasks.create_task(_until_left(request), name="event stream reader")
                writing = tasks.create_task(self._write(), name="event stream writer")
                leaving.add_done_callback(lambda _: writing.cancel())
                writing.add_done_callback(lambda _: leaving.cancel())
        finally:
            self._subscriber.close(is_lost=not self._is_ended)

    async def _subscribe(self, wanted: StreamRequest) -> None:
        """Go on with the stream that was lost; where that cannot be, start again."""
        if wanted.resume is not None:
            try:
                await self._subscriber.do(wanted.resume)
            except CannotResumeError:
                if wanted.subscribe is None:
                    raise
            else:
                return
        if wanted.subscribe is not None:
            await self._subscriber.do(wanted.subscribe)

    async def _write(self) -> None:
        with suppress(TimeoutError):
            await self._send(_FIRST)
            while not self._is_ended:
                await self._send_waiting()
                if not self._is_ended:
                    await self._wait()
            await self._send(b"", is_last=True)

    async def _wait(self) -> None:
        """Wait for something to send; when nothing comes, send that."""
        try:
            async with asyncio.timeout(self._heartbeat_s):
                await self._subscriber.wait()
        except TimeoutError:
            await self._send(_HEARTBEAT)

    async def _send_waiting(self) -> None:
        subscriber, sent = self._subscriber, 0
        while (message := subscriber.take()) is not None:
            await self._send(_event(message, subscriber.encode(message)))
            self._is_ended = isinstance(message, Ended)
            sent += 1
            if sent % _TURN == 0:
                await asyncio.sleep(0)
        if subscriber.overflowed:
            self._statistics.overflows += 1
            log.warning("subscriber_overflow", extra={"count": len(subscriber.subscriptions)})
            await self._end(TooManyRequestsError("the subscriber reads too slowly"))
        elif self._is_stopping:
            await self._end(StorageError("the gateway is stopping", "try again when it is up"))
        elif not subscriber.subscriptions:  # another connection goes on with it
            self._is_ended = True

    async def _end(self, error: TooManyRequestsError | StorageError) -> None:
        self._is_ended = True
        await self._send(_framed("end", "", encode_error(error)))

    async def _send(self, body: bytes, *, is_last: bool = False) -> None:
        """Raises TimeoutError once the client takes nothing any more."""
        try:
            async with asyncio.timeout(self._limits.stall_s):
                await self._send_message(
                    {"type": "http.response.body", "body": body, "more_body": not is_last}
                )
        except TimeoutError:
            self._statistics.stalls += 1
            log.warning("subscriber_stalled", extra={"seconds": self._limits.stall_s})
            raise


async def _until_left(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _event(message: Outgoing, data: str) -> bytes:
    """Notifications are plain messages, whose id resumes; all else has a name."""
    if isinstance(message, Addressed):
        notification = message.notification
        return _framed("", event_id(notification.spuid, notification.sequence), data)
    if isinstance(message, Ended):
        return _framed("end", "", data)
    return _framed("resumed", event_id(message.spuid, message.sequence), data)


def _framed(name: str, id_: str, data: str) -> bytes:
    """One event. An empty id makes the client forget the last one.

    JSON has none of the standard's line ends, and those that some libraries take for one as well
    are written as escapes.
    """
    for end in _OTHER_LINE_ENDS:
        data = data.replace(end, f"\\u{ord(end):04x}")
    event = f"event: {name}\n" if name else ""
    return f"{event}id: {id_}\ndata: {data}\n\n".encode()
