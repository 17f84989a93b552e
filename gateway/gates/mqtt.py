"""The MQTT gate: devices in, commands out, by the embedded broker or by an external one.

Both put deliveries into the same inbox and acknowledge when ingest has settled them, that is after
our commit. What we publish is not ingested again: the embedded broker never offers it, and on an
external broker a user property (MQTT 5, 3.3.2.3.7) marks it as ours, also when it is retained.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from adapters.message import Message
from gateway.crossing import Crossing
from gateway.errors import BadRequestError
from gateway.gates.embedded_broker import EmbeddedBroker
from gateway.inbox import Delivery, Inbox

log = logging.getLogger(__name__)

_ORIGIN = "sosa-gateway"
_WEEK_S = 7 * 24 * 3600
_COMMANDS = 1000
"""How many commands may wait to be sent; the next ones are dropped and counted."""


async def accept_into(inbox: Inbox, crossing: Crossing, message: Message) -> None:
    """Hand a message of the embedded broker to ingest.

    Returns when it may be acknowledged: at QoS 0 when the inbox has it, else when it is
    committed. Raises what ingest settled it with, or ConnectionError when the gateway stops.
    """
    settled: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def settle(error: Exception | None) -> None:
        crossing.call(_settle, settled, error)

    acknowledged = message.qos > 0
    if not await inbox.put_soon(Delivery(message, settle if acknowledged else _ignore)):
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


@dataclass(slots=True)
class _Unsettled:
    """A message that the external broker waits for."""

    packet_id: int
    qos: int
    settled: bool = False


class Acknowledgements:
    """Acknowledges in the order of arrival, as MQTT asks (5.0, 4.6), from any thread.

    A reconnection starts anew: the broker sends again what it has no acknowledgement for.
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._waiting: deque[_Unsettled] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    def expect(self, packet_id: int, qos: int) -> _Unsettled:
        """Note that a message has arrived."""
        unsettled = _Unsettled(packet_id, qos)
        with self._lock:
            self._waiting.append(unsettled)
        return unsettled

    def settle(self, unsettled: _Unsettled, error: Exception | None) -> None:
        """Acknowledge the message and those that waited for it; after an error do nothing."""
        if error is not None:
            return
        with self._lock:
            unsettled.settled = True
            while self._waiting and self._waiting[0].settled:
                first = self._waiting.popleft()
                self._client.ack(first.packet_id, first.qos)

    def forget(self) -> None:
        """The connection is lost: nothing that arrived on it can be acknowledged any more."""
        with self._lock:
            self._waiting.clear()


@dataclass(frozen=True, slots=True)
class ExternalSettings:
    """How to reach an external broker. MQTT 5 is required."""

    host: str
    port: int = 1883
    client_id: str = "sosa-gateway"
    username: str | None = None
    password: str | None = None
    inflight: int = 1000


class ExternalBroker:
    """paho in its own thread: subscribes what mappings ask for, acknowledges after our commit.

    The session is persistent: what arrives while the gateway is down waits at the broker.
    """

    def __init__(self, settings: ExternalSettings, inbox: Inbox) -> None:
        self._settings = settings
        self._inbox = inbox
        self._lock = threading.Lock()
        self._filters: frozenset[str] = frozenset()
        self._client = Client(
            CallbackAPIVersion.VERSION2,
            settings.client_id,
            protocol=MQTTProtocolVersion.MQTTv5,
            manual_ack=True,
        )
        self._acknowledgements = Acknowledgements(self._client)
        self.connected = threading.Event()
        self.echoes = 0
        self.dropped = 0
        self._was_connected = False
        self._client.max_queued_messages_set(_COMMANDS)
        if settings.username is not None:
            self._client.username_pw_set(settings.username, settings.password)
        self._client.reconnect_delay_set(1, 30)
        self._client.on_connect = self._on_connect
        self._client.on_disconnect = self._on_disconnect
        self._client.on_message = self._on_message

    def start(self) -> None:
        """Connect in the background and keep trying."""
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = _WEEK_S
        properties.ReceiveMaximum = self._settings.inflight
        self._client.connect_async(
            self._settings.host, self._settings.port, clean_start=False, properties=properties
        )
        self._client.loop_start()

    def close(self) -> None:
        """Disconnect; the broker keeps the session. The inbox must be closed before."""
        self._client.disconnect()
        self._client.loop_stop()

    def set_filters(self, filters: Iterable[str]) -> None:
        """Subscribe to these topic filters and no others."""
        with self._lock:
            wanted, had = frozenset(filters), self._filters
            self._filters = wanted
        if self._client.is_connected():
            self._subscribe(wanted - had)
            gone = had - wanted
            if gone:
                self._client.unsubscribe(sorted(gone))

    def publish(self, topic: str, payload: bytes, qos: int, retain: bool) -> None:
        """Send a message marked as ours; QoS 1 and 2 are kept over a lost connection."""
        properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
        properties.UserProperty = (_ORIGIN, self._settings.client_id)
        # What is published before the first connection, by a rule at start, waits for it.
        kept_qos = qos if self._was_connected else max(qos, 1)
        sent = self._client.publish(topic, payload, kept_qos, retain, properties)
        if sent.rc == MQTTErrorCode.MQTT_ERR_QUEUE_SIZE:
            self.dropped += 1
            log.error("command_dropped", extra={"topic": topic})

    def _subscribe(self, filters: Iterable[str]) -> None:
        # A retained message is sent once, not at each reconnection: it may be without a time.
        options = SubscribeOptions(
            qos=1, noLocal=True, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB
        )
        wanted = [(topic_filter, options) for topic_filter in sorted(filters)]
        if wanted:
            self._client.subscribe(wanted)

    def _on_connect(
        self,
        _client: Client,
        _userdata: object,
        _flags: ConnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        if reason.is_failure:
            log.error("broker_refused", extra={"reason": str(reason)})
            return
        log.info("broker_connected", extra={"host": self._settings.host})
        with self._lock:
            filters = self._filters
        self._subscribe(filters)
        self._was_connected = True
        self.connected.set()

    def _on_disconnect(
        self,
        _client: Client,
        _userdata: object,
        _flags: DisconnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        self.connected.clear()
        self._acknowledgements.forget()
        log.info("broker_disconnected", extra={"reason": str(reason)})

    def _on_message(self, _client: Client, _userdata: object, received: MQTTMessage) -> None:
        unsettled = self._acknowledgements.expect(received.mid, received.qos)
        if self._is_ours(received):
            self.echoes += 1
            self._acknowledgements.settle(unsettled, None)
            return
        message = Message(
            received.topic,
            bytes(received.payload),
            datetime.now(UTC),
            client_id=self._settings.client_id,
            packet_id=received.mid,
            duplicate=received.dup,
            retained=received.retain,
            qos=received.qos,
        )
        self._inbox.put(
            Delivery(message, lambda error: self._acknowledgements.settle(unsettled, error))
        )

    def _is_ours(self, received: MQTTMessage) -> bool:
        marks = getattr(received.properties, "UserProperty", ())
        return (_ORIGIN, self._settings.client_id) in marks


class EmbeddedPublisher:
    """Commands out by the embedded broker; `run` is a task of the event loop.

    A command that finds `limit` others waiting is dropped and counted: the newest, since those
    before it were promised first.
    """

    def __init__(self, broker: EmbeddedBroker, crossing: Crossing, limit: int = _COMMANDS) -> None:
        self.dropped = 0
        self._broker = broker
        self._crossing = crossing
        self._commands: asyncio.Queue[tuple[str, bytes, int, bool]] = asyncio.Queue(limit)

    def publish(self, topic: str, payload: bytes, qos: int, retain: bool) -> None:
        """Send a message; may be called from any thread, does not wait."""
        self._crossing.call(self._enqueue, (topic, payload, qos, retain))

    def _enqueue(self, command: tuple[str, bytes, int, bool]) -> None:
        try:
            self._commands.put_nowait(command)
        except asyncio.QueueFull:
            self.dropped += 1
            log.error("command_dropped", extra={"topic": command[0]})

    async def run(self) -> None:
        """Publish what comes, in order, until cancelled."""
        while True:
            topic, payload, qos, retain = await self._commands.get()
            try:
                await self._broker.publish(topic, payload, qos, retain)
            except BadRequestError as error:
                log.error("command_refused", extra={"topic": topic, "reason": str(error)})
