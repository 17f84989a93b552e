"""Hearing announcements and unknown topics at an external broker, over a connection of its own.

Place on the way of the data: beside the connection of ingest (broker.py), between the
broker and `gateway.admin.onboarding`. The topics overlap with those of mappings, and a broker may
send a message once for each of a connection's subscriptions (MQTT 5.0, 3.3.4): over one connection
a reading would come twice. Nothing is kept while we are away; what is retained comes each time.
"""

import asyncio
import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from types import TracebackType
from typing import Self

from paho.mqtt.client import Client, ConnectFlags, MQTTMessage
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from adapters.values.message import Message
from gateway.gates.mqtt.external.settings import ORIGIN, ExternalSettings
from gateway.gates.mqtt.external.tls_client import TlsClient

log = logging.getLogger(__name__)

_LONGEST_PAUSE_S = 30


class ExternalListener:
    """Tells `hear` of each message of the filters; an async context manager.

    `hear` is called in paho's thread and must neither wait nor raise. What we have published
    ourselves is passed over.
    """

    def __init__(
        self,
        settings: ExternalSettings,
        filters: Iterable[str],
        hear: Callable[[Message], None],
        now: Callable[[], datetime],
    ) -> None:
        self._settings = settings
        self._filters = sorted(filters)
        self._hear = hear
        self._now = now
        self._mark = (ORIGIN, settings.client_id)
        self._client = self._make_client()

    async def __aenter__(self) -> Self:
        if self._filters:
            self._client.connect_async(self._settings.host, self._settings.port)
            self._client.loop_start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._client.disconnect()
        await asyncio.to_thread(self._client.loop_stop)
        self._client.on_connect = self._client.on_message = None

    def _make_client(self) -> TlsClient:
        client = self._settings.client("discovery")
        client.on_connect = self._on_connect
        client.on_message = self._on_message
        return client

    def _on_connect(
        self,
        client: Client,
        _userdata: object,
        _flags: ConnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        if reason.is_failure:
            log.error("discovery_refused", extra={"reason": str(reason)})
            return
        client.subscribe([(each, SubscribeOptions(qos=1)) for each in self._filters])

    def _on_message(self, _client: Client, _userdata: object, received: MQTTMessage) -> None:
        if self._mark in getattr(received.properties, "UserProperty", ()):
            return
        self._hear(
            Message(
                received.topic,
                bytes(received.payload),
                self._now(),
                self._settings.client_id,
                received.mid,
                received.dup,
                received.retain,
                received.qos,
            )
        )
