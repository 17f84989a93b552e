"""The MQTT gate to the embedded broker: devices in, commands out.

Deliveries wait in the inbox and are acknowledged when ingest has settled them, that is after our
commit. What we publish is not ingested again: the broker never offers it.
"""

import asyncio
import logging
from collections.abc import Callable
from math import inf
from time import monotonic

from adapters.values.message import Message
from gateway.errors import BadRequestError
from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.ingest.inbox import Delivery, Inbox
from gateway.runtime.loop_calls import LoopCalls

log = logging.getLogger(__name__)

_Command = tuple[str, bytes, int, bool, float]
"""Topic, payload, QoS, RETAIN, and when it expires."""

_COMMANDS = 1000
"""How many commands may wait to be sent; the next ones are dropped and counted."""


def nobodys(topic: str) -> bool:
    """Whether it is another gate alone that reads a topic: none is taken."""
    del topic
    return False


class Readings:
    """The way to ingest, for messages of the embedded broker."""

    def __init__(
        self, inbox: Inbox, loop_calls: LoopCalls, is_taken: Callable[[str], bool] = nobodys
    ) -> None:
        """Messages of a topic that `is_taken` are acknowledged, and those of nobody."""
        self._inbox = inbox
        self._is_taken = is_taken
        self._loop_calls = loop_calls

    def takes(self, topic: str) -> bool:
        """Whatever the topic: ingest says whether a mapping knows it."""
        del topic
        return True

    async def accept(self, message: Message) -> None:
        """Returns when it may be acknowledged: at QoS 0 when the inbox has it, else committed.

        Raises what ingest settled it with, or ConnectionError when the gateway stops.
        """
        await self._hand_over(message, 0)

    async def refuse(self, message: Message, payload_bytes: int) -> None:
        """Have a message, of which we have the beginning, go to quarantine; as `accept`."""
        await self._hand_over(message, payload_bytes)

    async def _hand_over(self, message: Message, too_large_bytes: int) -> None:
        if self._is_taken(message.topic):
            return
        settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def settle(error: Exception | None) -> None:
            self._loop_calls.call(_settle, settled, error)

        acknowledged = message.qos > 0
        told = settle if acknowledged else _ignore
        delivery = Delivery(message, told, too_large_bytes=too_large_bytes)
        if not await self._inbox.put_soon(delivery):
            raise ConnectionError("the gateway is stopping")
        if acknowledged:
            await settled


def _ignore(error: Exception | None) -> None:
    """QoS 0 knows no acknowledgement."""


def _settle(settled: "asyncio.Future[None]", error: Exception | None) -> None:
    if settled.done():  # the client is gone
        return
    if error is None:
        settled.set_result(None)
    else:
        settled.set_exception(error)


class EmbeddedPublisher:
    """Commands out by the embedded broker; `run` is a task of the event loop.

    A command that finds `limit` others waiting is dropped and counted: the newest, since those
    before it were promised first.
    """

    def __init__(
        self, broker: EmbeddedBroker, loop_calls: LoopCalls, limit: int = _COMMANDS
    ) -> None:
        self.dropped = 0
        self._broker = broker
        self._loop_calls = loop_calls
        self._commands: asyncio.Queue[_Command] = asyncio.Queue(limit)

    def publish(
        self, topic: str, payload: bytes, qos: int, retain: bool, within_s: float = inf
    ) -> None:
        """Send a message; may be called from any thread, does not wait.

        A client that comes for it later than `within_s` does not get it.
        """
        expires_s = monotonic() + within_s
        self._loop_calls.call(self._enqueue, (topic, payload, qos, retain, expires_s))

    def _enqueue(self, command: _Command) -> None:
        try:
            self._commands.put_nowait(command)
        except asyncio.QueueFull:
            self.dropped += 1
            log.error("command_dropped", extra={"topic": command[0]})

    async def run(self) -> None:
        """Publish what comes, in order, until cancelled."""
        while True:
            command = await self._commands.get()
            try:
                await self._broker.publish(*command)
            except BadRequestError as error:
                log.error("command_refused", extra={"topic": command[0], "reason": str(error)})
