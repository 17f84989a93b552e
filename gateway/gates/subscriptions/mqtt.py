"""The MQTT transport: SPARQL 1.1 SE over topics, for devices that speak nothing else.

Place on the way of the data: a client publishes its requests to `PREFIX/CLIENT/request`; answers
go to `PREFIX/CLIENT/answer`, what a subscription has to tell to `PREFIX/CLIENT/notification/ID`,
never retained. A `TopicSender` is the broker, embedded or external (docs/subscribing.md, "MQTT").

A subscription ends when its client says so (by its MQTT will, too), and when nobody has listened
to its topic for `patience_s`. Sources: SPARQL 1.1 SE protocol; MQTT 3.1.1, section 3.1.2.5 (will);
MQTT 5.0, section 3.4.2.1 (no matching subscribers).
"""

import asyncio
import logging
from collections.abc import Coroutine
from contextlib import ExitStack, suppress
from types import TracebackType
from typing import Protocol, Self

from gateway.errors import (
    GatewayError,
    NotFoundError,
    OverloadedError,
    TooLargeError,
    TooManyRequestsError,
)
from gateway.gates.protocol.wire import encode_error
from gateway.gates.subscriptions.kept import Addressed
from gateway.gates.subscriptions.subscriber import Client, Subscriber
from gateway.gates.subscriptions.subscribers import Subscribers
from gateway.gates.subscriptions.subscription import Outgoing

log = logging.getLogger(__name__)

TRANSPORT = "mqtt"

_LOOK_AGAIN_S = 0.25


class TopicSender(Protocol):
    """A broker, as this transport uses it."""

    async def send(self, topic: str, payload: bytes) -> bool:
        """Publish with QoS 1; return once there is room for the next one. False: nobody listens.

        Raises TooLargeError for what the broker does not take.
        """


def request_topic(prefix: str, topic: str) -> str | None:
    """The client that a topic is the request topic of.

    >>> request_topic("sparql", "sparql/hall/request"), request_topic("sparql", "hall/request")
    ('hall', None)
    """
    first, _, rest = topic.partition("/")
    name, _, last = rest.partition("/")
    return name if first == prefix and name and last == "request" else None


class MqttGate:
    """All clients that subscribe over MQTT; an async context manager."""

    def __init__(
        self,
        subscribers: Subscribers,
        sender: TopicSender,
        prefix: str,
        patience_s: float = 10.0,
    ) -> None:
        self.subscribers = subscribers
        self.sender = sender
        self.prefix = prefix
        self.patience_s = patience_s
        self._clients: dict[str, _MqttClient] = {}
        self._tasks: set[asyncio.Task[None]] = set()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def request(self, topic: str, payload: bytes, client: Client) -> None:
        """Do what a message to a request topic asks for; returns when it is done.

        It is finished even where the caller does not wait for it: a subscription must not get lost
        half way.
        """
        name = request_topic(self.prefix, topic)
        if name is None:
            return
        try:
            known = self._clients.get(name) or self._open(name, client)
        except (OverloadedError, TooManyRequestsError) as error:
            await self.sender.send(f"{self.prefix}/{name}/answer", encode_error(error).encode())
            return
        await asyncio.shield(self._task(known.request(payload), f"mqtt request {name}"))

    def forget(self, name: str) -> None:
        """A client that has nothing any more; its next request makes a new one."""
        self._clients.pop(name, None)

    def _open(self, name: str, client: Client) -> "_MqttClient":
        opened = _MqttClient(self, name, client)
        self._clients[name] = opened
        self._task(opened.run(), f"mqtt subscriber {name}")
        return opened

    def _task(self, work: Coroutine[object, object, None], name: str) -> "asyncio.Task[None]":
        task = asyncio.create_task(work, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("mqtt_subscriber_failed", extra={"task": task.get_name()}, exc_info=error)


class _MqttClient:
    """One client, as long as it has a request or a subscription."""

    def __init__(self, gate: MqttGate, name: str, client: Client) -> None:
        self._gate = gate
        self._name = name
        self._topics = f"{gate.prefix}/{name}"
        self._counted = ExitStack()
        self._counted.enter_context(gate.subscribers.connected(TRANSPORT, client.address))
        self._subscriber = Subscriber(gate.subscribers, client)
        self._asking = asyncio.Lock()
        self._requests = 0

    def request(self, payload: bytes) -> Coroutine[object, object, None]:
        """Requests of one client are answered one after another; it stays until that is done."""
        self._requests += 1
        return self._do(payload)

    async def _do(self, payload: bytes) -> None:
        try:
            async with self._asking:
                answer = await self._subscriber.answer(_text(payload))
                if answer is not None:
                    await self._answer(answer)
        finally:
            self._requests -= 1
            self._subscriber.wake()

    async def run(self) -> None:
        """Send what there is to tell, until nobody is there any more."""
        subscriber = self._subscriber
        try:
            while self._requests or subscriber.subscriptions:
                await subscriber.wait()
                while (message := subscriber.take()) is not None:
                    await self._tell(message)
                if subscriber.overflowed:
                    await self._give_up()
                    return
        finally:
            self._gate.forget(self._name)
            subscriber.close()
            self._counted.close()

    async def _tell(self, message: Outgoing) -> None:
        text = self._subscriber.encode(message)
        if not isinstance(message, Addressed):
            await self._answer(text)
            return
        spuid = message.notification.spuid
        topic = f"{self._topics}/notification/{spuid.rpartition('/')[2]}"
        try:
            if await self._is_heard(topic, text, spuid):
                return
            error: GatewayError = NotFoundError(f"nobody listens to {topic}", "listen to it first")
        except TooLargeError as too_large:
            error = too_large
        async with self._asking:  # a first answer comes before its subscription is known here
            subscription = self._subscriber.subscriptions.get(spuid)
        if subscription is not None:
            self._gate.subscribers.end(subscription, error)

    async def _is_heard(self, topic: str, text: str, spuid: str) -> bool:
        """Send it to somebody who listens, or will soon; also True where it has ended meanwhile."""
        end = asyncio.get_running_loop().time() + self._gate.patience_s
        while not await self._gate.sender.send(topic, text.encode()):
            if asyncio.get_running_loop().time() > end:
                return False
            await asyncio.sleep(min(_LOOK_AGAIN_S, self._gate.patience_s))
            if spuid not in self._subscriber.subscriptions:
                break
        return True

    async def _give_up(self) -> None:
        subscriber = self._subscriber
        self._gate.subscribers.statistics.overflows += 1
        log.warning("subscriber_overflow", extra={"count": len(subscriber.subscriptions)})
        error = TooManyRequestsError("the subscriber reads too slowly")
        for subscription in list(subscriber.subscriptions.values()):
            await self._answer(encode_error(error, subscription.alias, subscription.spuid))

    async def _answer(self, text: str) -> None:
        """Whoever asks without listening does not want to know."""
        with suppress(TooLargeError):
            await self._gate.sender.send(f"{self._topics}/answer", text.encode())


def _text(payload: bytes) -> str | None:
    try:
        return payload.decode()
    except UnicodeDecodeError:
        return None
