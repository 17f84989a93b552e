"""Announcements for Home Assistant by an external broker: a connection of its own, MQTT 5.

Place on the way of the data: the publisher → `ExternalCarrier` → the broker, beside the connection
of ingest, so that a thousand announcements take no room from commands. Its last will says that the
gateway is away; each connection says that it is there, and has all sent again. What is sent carries
our mark (settings.py): it comes back to nobody here.
"""

import asyncio
import logging
from collections.abc import Callable
from types import TracebackType
from typing import Self

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from gateway.exchange.homeassistant.board import Out
from gateway.exchange.homeassistant.topics import OFFLINE, ONLINE, Topics
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.external.side_connection import LIVE, SideConnection
from gateway.runtime.log_lines import LogLines

log = logging.getLogger(__name__)

_IN_FLIGHT = 100
_FAILURE = 0x80
_FAREWELL_S = 2.0
_LINE_EACH_S = 600.0


class ExternalCarrier:
    """An async context manager; `anew` is called in the event loop at each connection.

    `refused` counts what the broker's rules do not let us publish.
    """

    def __init__(
        self, settings: ExternalSettings, topics: Topics, anew: Callable[[], None]
    ) -> None:
        self.refused = 0
        self._topics = topics
        self._anew = anew
        self._mark = settings.mark
        self._connection = SideConnection(
            settings,
            "homeassistant",
            [topics.birth],
            options=LIVE,
            on_message=self._received,
            on_connected=self._connected,
            on_refused=_refused,
        )
        client = self._connection.client
        client.will_set(topics.status, OFFLINE, 1, retain=True, properties=self._properties(True))
        client.max_inflight_messages_set(_IN_FLIGHT)
        client.on_publish = self._on_publish
        self._window = asyncio.Semaphore(_IN_FLIGHT)
        self._sent: dict[int, asyncio.Future[bool]] = {}
        self._lines = LogLines(_LINE_EACH_S)
        self._loop = asyncio.get_running_loop()

    async def __aenter__(self) -> Self:
        self._connection.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._connection.client.is_connected():
            try:
                async with asyncio.timeout(_FAREWELL_S):
                    await self.send(Out(self._topics.status, OFFLINE))
            except TimeoutError:
                log.warning("farewell_not_acknowledged")
        await self._connection.close()

    async def send(self, message: Out) -> bool:
        """Whether the broker has it; at QoS 1 it waits for that, over a lost connection too.

        What is sent at QoS 0 meanwhile is lost: all is sent again at the next connection.
        """
        client, properties = self._connection.client, self._properties()
        if message.qos == 0:
            client.publish(message.topic, message.payload, 0, message.retain, properties)
            return client.is_connected()
        async with self._window:
            sent: asyncio.Future[bool] = self._loop.create_future()
            id_ = client.publish(*message[:2], 1, message.retain, properties).mid
            self._sent[id_] = sent
            try:
                is_taken = await sent
            finally:
                self._sent.pop(id_, None)
        if not is_taken:
            self._not_taken(message.topic)
        return is_taken

    def _properties(self, is_will: bool = False) -> Properties:
        kind = PacketTypes.WILLMESSAGE if is_will else PacketTypes.PUBLISH
        properties = Properties(kind)  # type: ignore[no-untyped-call]
        properties.UserProperty = self._mark
        return properties

    def _not_taken(self, topic: str) -> None:
        self.refused += 1
        if times := self._lines.due(""):
            hint = "let the gateway write there: docs/homeassistant.md"
            log.error("announcement_refused", extra={"topic": topic, "times": times, "hint": hint})

    # From here on in paho's thread.

    def _connected(self) -> None:
        topic = self._topics.status
        self._connection.client.publish(topic, ONLINE, 1, True, self._properties())
        self._loop.call_soon_threadsafe(self._anew)

    def _received(self, received: MQTTMessage) -> None:
        if not self._connection.is_ours(received):
            payload = bytes(received.payload)
            self._loop.call_soon_threadsafe(self._topics.heard, received.topic, payload)

    def _on_publish(
        self,
        _client: Client,
        _userdata: object,
        packet_id: int,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._acknowledged, packet_id, reason.value < _FAILURE)

    def _acknowledged(self, packet_id: int, is_taken: bool) -> None:
        sent = self._sent.get(packet_id)
        if sent is not None and not sent.done():
            sent.set_result(is_taken)


def _refused(reason: ReasonCode) -> None:
    extra = {"what": "announcements for Home Assistant", "reasons": [str(reason)]}
    log.error("broker_refused", extra=extra)
