"""SUBSCRIBE over an external broker: a connection of its own, by paho and MQTT 5.

Place on the way of the data: between the external broker and `MqttGate`, beside the connection of
ingest (broker.py). The broker does not tell who publishes: the token in a message decides
who asks. What is sent carries the same mark as commands, so that it is not ingested.

The broker acknowledges what we publish and says whether anybody listens (MQTT 5.0, 3.4.2.1, reason
0x10); what it sends us is acknowledged when it has been answered, so that its window bounds us.
"""

import asyncio
import logging
from types import TracebackType
from typing import Self

from paho.mqtt.client import Client as PahoClient
from paho.mqtt.client import MQTTMessage
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway.errors import TooLargeError
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.external.side_connection import LIVE, SideConnection
from gateway.gates.subscriptions.mqtt import MqttGate, request_topic
from gateway.gates.subscriptions.subscriber import Authenticate, Client

log = logging.getLogger(__name__)

_NO_MATCHING_SUBSCRIBERS = 0x10
_FAILURE = 0x80
_IN_FLIGHT = 100
_ENVELOPE = 128
"""More than the header of a PUBLISH and our mark take."""
_REQUESTS = 1000
"""So many requests may wait to be answered; those of QoS 0 beyond are dropped."""


class ExternalExchange:
    """Sends to clients of an external broker; an async context manager.

    `serve` says whose requests it takes.
    """

    def __init__(self, settings: ExternalSettings, prefix: str) -> None:
        self.dropped = 0
        self._mark = settings.mark
        self._connection = SideConnection(
            settings,
            "subscribe",
            [f"{prefix}/+/request"],
            options=LIVE,
            on_message=self._on_message,
            on_refused=_refused,
            window=_IN_FLIGHT,
        )
        self._connection.client.max_inflight_messages_set(_IN_FLIGHT)
        self._connection.client.on_publish = self._on_publish
        self._window = asyncio.Semaphore(_IN_FLIGHT)
        self._sent: dict[int, asyncio.Future[bool]] = {}
        self._answering: set[asyncio.Task[None]] = set()
        self._gate: MqttGate | None = None
        self._authenticate: Authenticate | None = None
        self._loop = asyncio.get_running_loop()

    def serve(self, gate: MqttGate, authenticate: Authenticate) -> None:
        """Whose requests these are; before the context is entered."""
        self._gate, self._authenticate = gate, authenticate

    async def __aenter__(self) -> Self:
        self._connection.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._connection.close()
        for task in self._answering:
            task.cancel()
        await asyncio.gather(*self._answering, return_exceptions=True)

    async def send(self, topic: str, payload: bytes) -> bool:
        """Publish with QoS 1; False: nobody listens. Raises TooLargeError.

        Over a lost connection it waits, and may send a message a second time.
        """
        size, largest = len(topic.encode()) + len(payload) + _ENVELOPE, self._connection.largest
        if largest and size > largest:
            raise TooLargeError(f"a message of {size} bytes is more than the broker takes")
        async with self._window:
            sent: asyncio.Future[bool] = self._loop.create_future()
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            properties.UserProperty = self._mark
            packet_id = self._connection.client.publish(topic, payload, 1, False, properties).mid
            self._sent[packet_id] = sent
            try:
                return await sent
            finally:
                self._sent.pop(packet_id, None)

    # The next two are called in paho's thread.

    def _on_message(self, received: MQTTMessage) -> None:
        self._loop.call_soon_threadsafe(self._received, received)

    def _on_publish(
        self,
        _client: PahoClient,
        _userdata: object,
        packet_id: int,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._acknowledged, packet_id, reason)

    def _acknowledged(self, packet_id: int, reason: ReasonCode) -> None:
        sent = self._sent.get(packet_id)
        if sent is not None and not sent.done():
            sent.set_result(reason.value < _FAILURE and reason.value != _NO_MATCHING_SUBSCRIBERS)

    def _received(self, message: MQTTMessage) -> None:
        if message.qos == 0 and len(self._answering) >= _REQUESTS:
            self.dropped += 1
            log.error("request_dropped", extra={"topic": message.topic})
            return
        answering = asyncio.create_task(self._answer(message), name="mqtt request")
        self._answering.add(answering)
        answering.add_done_callback(self._answering.discard)

    async def _answer(self, message: MQTTMessage) -> None:
        if self._gate is not None and self._authenticate is not None:
            name = request_topic(self._gate.prefix, message.topic)
            client = Client(f"mqtt:{name}", self._authenticate, shows_always=True)
            await self._gate.request(message.topic, bytes(message.payload), client)
        self._connection.acknowledge(message)


def _refused(reason: ReasonCode) -> None:
    log.error("broker_refused", extra={"what": "subscribers", "reasons": [str(reason)]})
