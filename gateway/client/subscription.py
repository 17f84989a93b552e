"""`Subscription`: notifications one after another, over as many connections as it takes.

Place: between a broker's WebSocket and a consumer, driven by whoever asks for the next one: no task
of ours runs in between, so no exception can get lost. A connection that breaks is made again after
a while; the broker is asked to resume, and where it cannot, its new first answer is compared with
what the consumer has. Source: SPARQL 1.1 SE protocol; docs/subscribing.md, Resume.
"""

import asyncio
from collections import deque
from contextlib import suppress
from dataclasses import replace

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidStatus, WebSocketException

from gateway.client.connection import Connection, unreachable
from gateway.client.errors import (
    AgentError,
    BusyError,
    SubscriptionEndedError,
    UnauthorizedError,
    UnreachableError,
    refusal,
)
from gateway.client.messages import (
    Message,
    Refusal,
    Resumed,
    Unsubscribed,
    Wanted,
    decode_message,
    encode_subscribe,
    encode_unsubscribe,
)
from gateway.client.notification import Answer, Notification
from gateway.client.requests import refused
from gateway.rdf.solutions import Solution
from jsap.endpoints import SubscribeEndpoint

_CANNOT_RESUME = 410
_LEAVE_S = 2.0
"""How long a broker may take to confirm an unsubscribe."""


class _Connect(connect):
    """No redirect is followed: the token would go where the profile does not say."""

    def process_redirect(self, exc: Exception) -> Exception | str:
        return exc


class Subscription:
    """What one query is subscribed to. `receive` may be cancelled without losing anything."""

    def __init__(
        self,
        connection: Connection,
        endpoint: SubscribeEndpoint,
        wanted: Wanted,
    ) -> None:
        self._connection = connection
        self._settings = connection.settings
        self._endpoint = endpoint
        self._wanted = wanted
        self._socket: ClientConnection | None = None
        self._answer = Answer(wanted.output)
        self._last: Notification | None = None
        self._spuid = ""
        """That of the running subscription; empty until its first message is there."""
        self._early: list[Notification] = []
        self._ready: deque[Notification] = deque()
        self._attempt = 0
        self._renewed = False

    @property
    def solutions(self) -> list[Solution]:
        """The answer, as far as it was received."""
        return self._answer.solutions()

    async def receive(self) -> Notification:
        """The next notification. Raises AgentError; after that the subscription is over."""
        while not self._ready:
            try:
                socket = self._socket or await self._open()
                await self._take(decode_message(self._endpoint.url, await socket.recv()))
            except (ConnectionClosed, UnreachableError, BusyError) as error:
                await self._wait_for_another_try(error)
        return self._ready.popleft()

    async def close(self) -> None:
        """Unsubscribe and close; a broker that does not answer is left alone."""
        socket, self._socket = self._socket, None
        if socket is None:
            return
        with suppress(WebSocketException, TimeoutError, OSError, AgentError):
            async with asyncio.timeout(_LEAVE_S):
                await self._unsubscribe(socket)
        await socket.close()

    async def _unsubscribe(self, socket: ClientConnection) -> None:
        if not self._spuid:
            return
        await socket.send(encode_unsubscribe(self._spuid, await self._connection.authorization()))
        message: Message | None = None
        while not isinstance(message, Unsubscribed | Refusal):
            message = decode_message(self._endpoint.url, await socket.recv())

    async def _open(self) -> ClientConnection:
        """A new socket on which the subscription was asked for."""
        bearer = await self._connection.authorization()
        socket = await self._connected()
        try:
            resumable = self._last if self._last is not None and self._last.spuid else None
            await socket.send(encode_subscribe(self._wanted, bearer, resumable))
        except BaseException:
            await socket.close()
            raise
        self._socket = socket
        return socket

    async def _connected(self) -> ClientConnection:
        url = self._endpoint.url
        try:
            return await _Connect(
                url,
                ssl=self._connection.tls if url.startswith("wss:") else None,
                open_timeout=self._settings.timeout_s,
                ping_interval=self._settings.ping_s,
                ping_timeout=self._settings.ping_s,
                close_timeout=_LEAVE_S,
                max_size=None,
                proxy=None,
            )
        except InvalidStatus as error:
            answer = error.response
            retry_after = answer.headers.get("Retry-After")
            raise refused(url, answer.status_code, answer.body or b"", retry_after) from error
        except TimeoutError as error:
            reason = f"no connection within {self._settings.timeout_s:g} s"
            raise UnreachableError(url, reason) from error
        except (OSError, WebSocketException) as error:
            raise unreachable(url, error) from error

    async def _take(self, message: Message | None) -> None:
        match message:
            case Notification():
                self._take_notification(message)
            case Resumed():
                self._spuid, self._attempt, self._renewed = message.spuid, 0, False
            case Refusal():
                await self._take_refusal(message)
            case Unsubscribed():
                raise SubscriptionEndedError(message.spuid, "the broker says so")

    def _take_notification(self, message: Notification) -> None:
        if not self._spuid and message.sequence != 0:
            self._early.append(message)  # some brokers tell the first change before the answer
        elif message.sequence == 0:
            self._begin(message)
            early, self._early = sorted(self._early, key=lambda each: each.sequence), []
            for each in early:
                self._go_on(each)
        elif message.spuid == self._spuid:
            self._go_on(message)

    def _begin(self, message: Notification) -> None:
        again = self._last is not None
        added, removed = self._answer.replace(message.added)
        self._spuid, self._attempt, self._renewed = message.spuid, 0, False
        self._last = message
        if added or removed or not again or self._wanted.output == "whole":
            self._ready.append(replace(message, added=added, removed=removed, again=again))

    def _go_on(self, message: Notification) -> None:
        """Raises UnreachableError where a message is missing: the steps would not be exact."""
        if self._last is not None and message.sequence != self._last.sequence + 1:
            reason = f"sequence {message.sequence} after {self._last.sequence}"
            raise UnreachableError(self._endpoint.url, reason)
        self._answer.change(message.added, message.removed)
        self._last = message
        self._ready.append(message)

    async def _take_refusal(self, message: Refusal) -> None:
        if message.status == _CANNOT_RESUME and self._last is not None and not self._spuid:
            self._last = replace(self._last, spuid="")
            await self._drop()
            return
        error = refusal(self._endpoint.url, message.code, message.status, message.description)
        if isinstance(error, UnauthorizedError) and self._may_renew(error):
            await self._drop()
            return
        raise error

    def _may_renew(self, error: UnauthorizedError) -> bool:
        """Once after each answer of the broker that was none of these."""
        if self._renewed or not self._connection.renew(error):
            return False
        self._renewed = True
        return True

    async def _drop(self) -> None:
        socket, self._socket, self._spuid = self._socket, None, ""
        self._early.clear()
        if socket is not None:
            await socket.close()

    async def _wait_for_another_try(self, error: Exception) -> None:
        """Raises where there is to be none: before the first answer, or by profile or settings."""
        await self._drop()
        if self._last is None:
            raise self._lost(error) if isinstance(error, ConnectionClosed) else error
        self._attempt += 1
        tries = self._settings.backoff.tries
        if not self._endpoint.reconnect or (tries is not None and self._attempt > tries):
            spuid, hint = self._last.spuid, "subscribe again, or allow `reconnect`"
            raise SubscriptionEndedError(spuid, str(self._lost(error)), hint) from error
        wait_s = self._settings.backoff.wait_s(self._attempt)
        if isinstance(error, BusyError):
            wait_s = max(wait_s, error.retry_after_s)
        await asyncio.sleep(wait_s)

    def _lost(self, error: Exception) -> Exception:
        if isinstance(error, ConnectionClosed):
            return UnreachableError(self._endpoint.url, f"the connection was closed: {error}")
        return error
