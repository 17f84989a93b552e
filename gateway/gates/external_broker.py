"""The MQTT gate to an external broker: devices in, commands out, by MQTT 5.

Place on the way of the data: before the inbox. Deliveries wait there and are acknowledged when
ingest has settled them, that is after our commit. The session is persistent: what arrives while
the gateway is down waits at the broker. What we publish is not ingested again: a user property
(MQTT 5.0, 3.3.2.3.7) marks it as ours, also when it is retained.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from adapters.message import Message
from gateway.crossing import Crossing
from gateway.errors import BrokerError
from gateway.gates.mqtt5_commands import Commands
from gateway.gates.mqtt5_connection import Connection
from gateway.gates.mqtt5_packets import (
    AT_LEAST_ONCE,
    NO_LOCAL,
    RETAINED_IF_NEW,
    Answer,
    Connect,
    Kind,
    Publish,
    encode_puback,
    encode_subscribe,
    encode_unsubscribe,
)
from gateway.inbox import Delivery, Inbox

log = logging.getLogger(__name__)

_ORIGIN = "sosa-gateway"
_WEEK_S = 7 * 24 * 3600
_COMMANDS = 1000
_CONNECT_S = 10.0
_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_OPTIONS = AT_LEAST_ONCE | NO_LOCAL | RETAINED_IF_NEW
"""A retained message is sent once, not at each reconnection: it may be without a time."""


@dataclass(frozen=True, slots=True)
class ExternalSettings:
    """How to reach an external broker. MQTT 5 is required."""

    host: str
    port: int = 1883
    client_id: str = "sosa-gateway"
    username: str | None = None
    password: str | None = None
    inflight: int = 1000

    def connect(self) -> Connect:
        """What we say to it first."""
        return Connect(
            self.client_id,
            self.username,
            self.password,
            session_expiry_s=_WEEK_S,
            receive_maximum=self.inflight,
        )


@dataclass(slots=True)
class _Unsettled:
    """A message that the broker waits for."""

    packet_id: int
    settled: bool = False


class Acknowledgements:
    """Acknowledges in the order of arrival, as MQTT asks (5.0, 4.6); of one connection.

    What a connection brought can be acknowledged on no other: the broker sends it again there.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._waiting: deque[_Unsettled] = deque()

    def expect(self, packet_id: int) -> _Unsettled:
        """Note that a message has arrived."""
        unsettled = _Unsettled(packet_id)
        self._waiting.append(unsettled)
        return unsettled

    def settle(self, unsettled: _Unsettled, error: Exception | None) -> None:
        """Acknowledge the message and those that waited for it; after an error do nothing."""
        if error is not None:
            return
        unsettled.settled = True
        while self._waiting and self._waiting[0].settled:
            self._connection.send(encode_puback(self._waiting.popleft().packet_id))


class ExternalBroker:
    """Subscribes what mappings ask for, acknowledges after our commit; `run` is a task.

    `set_filters` and `publish` may be called from any thread and do not wait; everything else
    happens in the event loop.
    """

    def __init__(self, settings: ExternalSettings, inbox: Inbox, crossing: Crossing) -> None:
        self.echoes = 0
        self.connections = 0
        self._settings = settings
        self._inbox = inbox
        self._crossing = crossing
        self._mark = (_ORIGIN, settings.client_id)
        self._commands = Commands(_COMMANDS)
        self._wanted: frozenset[str] = frozenset()
        self._held: frozenset[str] = frozenset()
        self._asked: dict[int, tuple[str, ...]] = {}
        self._connection: Connection | None = None
        self._acknowledgements: Acknowledgements
        self._held_up: deque[Delivery] = deque()
        self._feeding: asyncio.Task[None] | None = None

    @property
    def dropped(self) -> int:
        """Commands that found too many others waiting."""
        return self._commands.dropped

    @property
    def is_connected(self) -> bool:
        """Whether the broker has accepted us and is still there."""
        return self._connection is not None

    async def run(self) -> None:
        """Connect and keep trying, until cancelled."""
        pause_s = _PAUSE_S
        while True:
            before = self.connections
            try:
                await self._connect()
            except TimeoutError:
                log.warning("broker_unreachable", extra={"reason": f"silent for {_CONNECT_S:g} s"})
            except (OSError, BrokerError) as error:
                log.warning("broker_unreachable", extra={"reason": str(error)})
            if self.connections > before:
                pause_s = _PAUSE_S
            await asyncio.sleep(pause_s)
            pause_s = min(_LONGEST_PAUSE_S, pause_s * 2)

    def set_filters(self, filters: Iterable[str]) -> None:
        """Subscribe to these topic filters and no others."""
        self._crossing.call(self._set_filters, frozenset(filters))

    def publish(self, topic: str, payload: bytes, qos: int, retain: bool) -> None:
        """Send a message marked as ours; QoS 1 and 2 are kept over a lost connection."""
        message = Publish(topic, payload, qos, retain=retain, user=(self._mark,))
        self._crossing.call(self._publish, message)

    def accepted(self, connection: Connection, answer: Answer) -> None:
        """See Receiver: say what waited for the broker, in order."""
        log.info("broker_connected", extra={"host": self._settings.host})
        self.connections += 1
        self._connection = connection
        self._acknowledgements = Acknowledgements(connection)
        self._asked.clear()
        if not answer.session_present:
            self._held = frozenset()
        self._unsubscribe(self._held - self._wanted)
        self._subscribe(self._wanted)
        for packet in self._commands.reconnect(answer.properties):
            connection.send(packet)
        self.writable()

    def received(self, messages: Sequence[Publish]) -> None:
        """See Receiver."""
        now = datetime.now(UTC)
        deliveries = [
            delivery for each in messages if (delivery := self._delivery(each, now)) is not None
        ]
        taken = 0 if self._held_up else self._inbox.offer(deliveries)
        if taken < len(deliveries):
            self._hold_up(deliveries[taken:])

    def answered(self, answer: Answer) -> None:
        """See Receiver."""
        if answer.is_refusal:
            about = self._asked.get(answer.packet_id, ("a command",))
            log.error("broker_refused", extra={"what": " ".join(about), "reasons": answer.reasons})
        if answer.kind in (Kind.SUBACK, Kind.UNSUBACK):
            self._asked.pop(answer.packet_id, None)
        elif answer.kind is not Kind.PINGRESP:
            reply = self._commands.answered(answer)
            if reply is not None and self._connection is not None:
                self._connection.send(reply)
            self.writable()

    def writable(self) -> None:
        """See Receiver."""
        connection = self._connection
        if connection is not None and connection.is_writable:
            for packet in self._commands.sendable():
                connection.send(packet)

    async def _connect(self) -> None:
        """One connection, from its attempt to its loss; raises OSError or BrokerError."""
        settings = self._settings
        loop = asyncio.get_running_loop()
        async with asyncio.timeout(_CONNECT_S):
            _, connection = await loop.create_connection(
                lambda: Connection(settings.connect(), self), settings.host, settings.port
            )
        try:
            async with asyncio.timeout(_CONNECT_S):
                await connection.accepted
            reason = await connection.lost
            log.info("broker_disconnected", extra={"reason": reason})
        finally:
            self._connection = None
            await self._stop_feeding()
            connection.close()

    def _set_filters(self, filters: frozenset[str]) -> None:
        self._wanted = filters
        self._unsubscribe(self._held - filters)
        self._subscribe(filters - self._held)

    def _subscribe(self, filters: frozenset[str]) -> None:
        if self._connection is not None and filters:
            packet_id = self._ask(filters)
            self._held |= filters
            self._connection.send(encode_subscribe(packet_id, sorted(filters), _OPTIONS))

    def _unsubscribe(self, filters: frozenset[str]) -> None:
        if self._connection is not None and filters:
            packet_id = self._ask(filters)
            self._held -= filters
            self._connection.send(encode_unsubscribe(packet_id, sorted(filters)))

    def _ask(self, filters: frozenset[str]) -> int:
        packet_id = self._commands.packet_id()
        self._asked[packet_id] = tuple(sorted(filters))
        return packet_id

    def _publish(self, message: Publish) -> None:
        # What is published before the first connection, by a rule at start, waits for it.
        is_lost = message.qos == 0 and self._connection is None and self.connections > 0
        if is_lost or not self._commands.add(message):
            log.error("command_dropped", extra={"topic": message.topic})
        self.writable()

    def _delivery(self, received: Publish, now: datetime) -> Delivery | None:
        """What ingest has to do with a message; None for our own."""
        is_ours = self._mark in received.user
        self.echoes += is_ours
        settle = _ignore
        if received.qos:
            unsettled = self._acknowledgements.expect(received.packet_id)
            if is_ours:
                self._acknowledgements.settle(unsettled, None)
            settle = partial(self._crossing.call, self._acknowledgements.settle, unsettled)
        if is_ours:
            return None
        message = Message(
            received.topic,
            received.payload,
            now,
            self._settings.client_id,
            received.packet_id,
            received.duplicate,
            received.retain,
            received.qos,
        )
        return Delivery(message, settle)

    def _hold_up(self, deliveries: Sequence[Delivery]) -> None:
        """The inbox is full: read nothing more until it has taken these."""
        self._held_up.extend(deliveries)
        connection = self._connection
        if self._feeding is None and connection is not None:
            connection.pause()
            self._feeding = asyncio.create_task(self._feed(connection), name="feed")

    async def _feed(self, connection: Connection) -> None:
        while self._held_up:
            if not await self._inbox.put_soon(self._held_up[0]):
                return  # the gateway stops; the broker sends it again next time
            self._held_up.popleft()
        self._feeding = None
        connection.resume()

    async def _stop_feeding(self) -> None:
        if self._feeding is not None:
            self._feeding.cancel()
            await asyncio.wait({self._feeding})
            self._feeding = None
        self._held_up.clear()


def _ignore(error: Exception | None) -> None:
    """QoS 0 knows no acknowledgement."""
