"""Commands that come over an external broker: a connection of its own, by paho and MQTT 5.

Place on the way of the data: between the external broker and the topics of commands
(gateway/actuation/command_topics.py), beside the connection of ingest (broker.py). Its
session ends with the connection, so nothing waits at the broker while the gateway is away: a
command that nobody was there to execute is not executed later. What the broker had kept it is asked
not to send, and what we publish ourselves carries our mark. Source: MQTT 5.0, 3.1.2.11.2 (session
expiry), 3.8.3.1 (retain handling, no local).
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from adapters.values.message import Message
from gateway.errors import GatewayError
from gateway.gates.mqtt.embedded.settings import Clock
from gateway.gates.mqtt.external.settings import ORIGIN, ExternalSettings
from gateway.gates.mqtt.external.tls_client import TlsClient
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
        self._settings = settings
        self._filter = topic_filter
        self._accept = accept
        self._now = now
        self._mark = (ORIGIN, settings.client_id)
        self._client = self._make_client()
        self._accepting: set[asyncio.Task[None]] = set()
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Self:
        settings = self._settings
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.ReceiveMaximum = _IN_FLIGHT
        self._client.connect_async(
            settings.host, settings.port, clean_start=True, properties=properties
        )
        self._client.loop_start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        client = self._client
        client.disconnect()
        await asyncio.to_thread(client.loop_stop)
        client.on_connect = client.on_message = None
        for task in self._accepting:
            task.cancel()
        await asyncio.gather(*self._accepting, return_exceptions=True)

    def _make_client(self) -> TlsClient:
        client = self._settings.client("commands", manual_ack=True)
        client.on_connect = self._on_connect
        client.on_message = self._on_message
        return client

    # The next two are called in paho's thread.

    def _on_connect(
        self,
        client: Client,
        _userdata: object,
        _flags: object,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        if reason.is_failure:
            log.error("broker_refused", extra={"what": "commands", "reasons": [str(reason)]})
            return
        options = SubscribeOptions(
            qos=1, noLocal=True, retainHandling=SubscribeOptions.RETAIN_DO_NOT_SEND
        )
        client.subscribe(self._filter, options=options)

    def _on_message(self, client: Client, _userdata: object, received: MQTTMessage) -> None:
        if self._mark in getattr(received.properties, "UserProperty", ()):
            client.ack(received.mid, received.qos)
            return
        # Packet ids are the broker's and begin anew with each connection: they identify nothing.
        message = Message(
            received.topic,
            bytes(received.payload),
            self._now(),
            self._settings.client_id,
            retained=received.retain,
            qos=received.qos,
        )
        self._loop.call_soon_threadsafe(self._received, message, received.mid)

    def _received(self, message: Message, packet_id: int) -> None:
        accepting = asyncio.create_task(self._accepted(message, packet_id), name="mqtt command")
        self._accepting.add(accepting)
        accepting.add_done_callback(self._accepting.discard)

    async def _accepted(self, message: Message, packet_id: int) -> None:
        try:
            await self._accept(message)
        except GatewayError as error:
            extra = {"topic": message.topic, "reason": str(error)}
            log.error("command_not_accepted", extra=extra)
        self._client.ack(packet_id, message.qos)
