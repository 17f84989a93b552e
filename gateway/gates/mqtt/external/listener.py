"""Hearing announcements and unknown topics at an external broker, over a connection of its own.

Place on the way of the data: beside the connection of ingest (broker.py), between the
broker and `gateway.admin.onboarding`. The topics overlap with those of mappings, and a broker may
send a message once for each of a connection's subscriptions (MQTT 5.0, 3.3.4): over one connection
a reading would come twice. Nothing is kept while we are away; what is retained comes each time.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from types import TracebackType
from typing import Self

from paho.mqtt.client import MQTTMessage
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from adapters.values.message import Message
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.external.side_connection import SideConnection

log = logging.getLogger(__name__)


class ExternalListener:
    """Tells `on_message` of each message of the filters; an async context manager.

    It is called in paho's thread and must neither wait nor raise. What we have published
    ourselves is passed over.
    """

    def __init__(
        self,
        settings: ExternalSettings,
        filters: Iterable[str],
        on_message: Callable[[Message], None],
        now: Callable[[], datetime],
    ) -> None:
        self._client_id = settings.client_id
        self._filters = sorted(filters)
        self._on_message = on_message
        self._now = now
        self._connection = SideConnection(
            settings,
            "discovery",
            self._filters,
            options=SubscribeOptions(qos=1),
            on_message=self._received,
            on_refused=_refused,
        )

    async def __aenter__(self) -> Self:
        if self._filters:
            self._connection.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._connection.close()

    def _received(self, received: MQTTMessage) -> None:
        if self._connection.is_ours(received):
            return
        self._on_message(
            Message(
                received.topic,
                bytes(received.payload),
                self._now(),
                self._client_id,
                received.mid,
                received.dup,
                received.retain,
                received.qos,
            )
        )


def _refused(reason: ReasonCode) -> None:
    log.error("discovery_refused", extra={"reason": str(reason)})
