"""`SideConnection`: a further connection to an external broker, beside that of ingest.

Place on the way of the data: between the broker and what takes commands, serves subscribers or
looks at announcements (commands.py, subscriptions.py, listener.py). paho has a thread for each. The
session ends with the connection, so nothing waits at the broker while the gateway is away. Source:
MQTT 5.0, 3.1.2.11.2 (session expiry), 3.8.3.1 (retain handling, no local).
"""

import asyncio
from collections.abc import Callable, Sequence
from typing import Literal

from paho.mqtt.client import MQTT_CLEAN_START_FIRST_ONLY, Client, MQTTMessage
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from gateway.gates.mqtt.external.settings import ExternalSettings

LIVE = SubscribeOptions(qos=1, noLocal=True, retainHandling=SubscribeOptions.RETAIN_DO_NOT_SEND)
"""Nothing that the broker had kept, nothing that came over the same connection."""


def _nothing() -> None:
    """Nobody wants to know."""


class SideConnection:
    """Subscribes to `filters`, again at each connection.

    In paho's thread `on_message` is called with each message, `on_connected` when the broker has
    let us in, `on_refused` where it does not, once until it says otherwise. With a `window` that
    many messages of QoS 1 or 2 may be on their way to us, and `acknowledge` says that one is done
    with; without one they are acknowledged at once.
    """

    def __init__(
        self,
        settings: ExternalSettings,
        purpose: str,
        filters: Sequence[str],
        *,
        options: SubscribeOptions,
        on_message: Callable[[MQTTMessage], None],
        on_refused: Callable[[ReasonCode], None],
        on_connected: Callable[[], None] = _nothing,
        window: int = 0,
    ) -> None:
        self.largest = 0
        self.client = settings.client(purpose, manual_ack=window > 0)
        self.client.on_connect = self._on_connect
        self.client.on_message = lambda _client, _userdata, received: on_message(received)
        self._settings = settings
        self._mark = settings.mark
        self._filters = [(each, options) for each in filters]
        self._on_refused = on_refused
        self._on_connected = on_connected
        self._refused_for = ""
        self._window = window

    def open(self, *, clean_start: bool | Literal[3] = MQTT_CLEAN_START_FIRST_ONLY) -> None:
        """Connect in the background and keep trying."""
        properties = None
        if self._window:
            properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
            properties.ReceiveMaximum = self._window
        self.client.connect_async(
            self._settings.host,
            self._settings.port,
            clean_start=clean_start,
            properties=properties,
        )
        self.client.loop_start()

    async def close(self) -> None:
        """Disconnect; nothing is called any more."""
        client = self.client
        client.disconnect()
        await asyncio.to_thread(client.loop_stop)
        client.on_connect = client.on_message = client.on_publish = None

    def is_ours(self, received: MQTTMessage) -> bool:
        """Whether the gateway has published the message itself, over whichever connection."""
        return self._mark in getattr(received.properties, "UserProperty", ())

    def acknowledge(self, received: MQTTMessage) -> None:
        """Have the broker forget a message."""
        self.client.ack(received.mid, received.qos)

    def _on_connect(
        self,
        client: Client,
        _userdata: object,
        _flags: object,
        reason: ReasonCode,
        properties: Properties | None,
    ) -> None:
        before, self._refused_for = self._refused_for, str(reason) if reason.is_failure else ""
        if reason.is_failure:
            if self._refused_for != before:
                self._on_refused(reason)
            return
        self.largest = getattr(properties, "MaximumPacketSize", 0)
        client.subscribe(self._filters)
        self._on_connected()
