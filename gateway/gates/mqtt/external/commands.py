"""Commands that come over an external broker: a connection of its own, by paho and MQTT 5.

Place on the way of the data: between the external broker and the topics of commands
(gateway/actuation/command_topics.py), beside the connection of ingest (broker.py). Its
session ends with the connection, so nothing waits at the broker while the gateway is away: a
command that nobody was there to execute is not executed later. What the broker had kept it is asked
not to send, and what we publish ourselves carries our mark.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from paho.mqtt.client import MQTTMessage
from paho.mqtt.reasoncodes import ReasonCode

from adapters.values.message import Message
from gateway.errors import GatewayError
from gateway.gates.mqtt.embedded.settings import Clock
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.external.side_connection import LIVE, SideConnection
from gateway.runtime.clocks import SYSTEM_CLOCKS

log = logging.getLogger(__name__)

_IN_FLIGHT = 100

Accept = Callable[[Message], Awaitable[None]]


class ExternalCommands:
    """Hands what comes on `topic_filter` to `accept`; an async context manager.

    A message is acknowledged when it is accepted, or refused for good: it is not asked for again.
    """

    def __init__(
        self,
        settings: ExternalSettings,
        topic_filter: str,
        accept: Accept,
        now: Clock = SYSTEM_CLOCKS.now,
    ) -> None:
        self._client_id = settings.client_id
        self._accept = accept
        self._now = now
        self._connection = SideConnection(
            settings,
            "commands",
            [topic_filter],
            options=LIVE,
            on_message=self._received,
            on_refused=_refused,
            window=_IN_FLIGHT,
        )
        self._accepting: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Self:
        self._connection.open(clean_start=True)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._connection.close()
        for task in self._accepting:
            task.cancel()
        await asyncio.gather(*self._accepting, return_exceptions=True)

    def _received(self, received: MQTTMessage) -> None:
        """In paho's thread."""
        if self._connection.is_ours(received):
            self._connection.acknowledge(received)
            return
        # Packet ids are the broker's and begin anew with each connection: they identify nothing.
        message = Message(
            received.topic,
            bytes(received.payload),
            self._now(),
            self._client_id,
            retained=received.retain,
            qos=received.qos,
        )
        self._loop.call_soon_threadsafe(self._begin, message, received)

    def _begin(self, message: Message, received: MQTTMessage) -> None:
        accepting = asyncio.create_task(self._accepted(message, received), name="mqtt command")
        self._accepting.add(accepting)
        accepting.add_done_callback(self._accepting.discard)

    async def _accepted(self, message: Message, received: MQTTMessage) -> None:
        try:
            await self._accept(message)
        except GatewayError as error:
            extra = {"topic": message.topic, "reason": str(error)}
            log.error("command_not_accepted", extra=extra)
        self._connection.acknowledge(received)


def _refused(reason: ReasonCode) -> None:
    log.error("broker_refused", extra={"what": "commands", "reasons": [str(reason)]})
