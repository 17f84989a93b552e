"""The MQTT gate to an external broker: devices in, commands out, by paho and MQTT 5.

Place on the way of the data: before the inbox. Deliveries wait there and are acknowledged when
ingest has settled them, that is after our commit. The session is persistent: what arrives while
the gateway is down waits at the broker. What we publish is not ingested again: a user property
(MQTT 5.0, 3.3.2.3.7) marks it as ours, also when it is retained.

paho lives in a thread that drives its network loop in turns: what has come goes into the inbox as
one batch, what was settled meanwhile is acknowledged by one write.
"""

import logging
import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil, inf
from select import select
from time import monotonic

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.settings import Clock
from gateway.gates.mqtt.external.acknowledgements import Acknowledgements
from gateway.gates.mqtt.external.buffered_client import BufferedClient, BufferedSocket
from gateway.gates.mqtt.external.message_copies import MessageCopies, identifier_of
from gateway.gates.mqtt.external.overlapping import overlapping
from gateway.gates.mqtt.external.session_filters import SessionFilters
from gateway.gates.mqtt.external.settings import ORIGIN, ExternalSettings
from gateway.gates.mqtt.external.waker import Waker
from gateway.ingest.inbox import Delivery, Inbox
from gateway.runtime.clocks import SYSTEM_CLOCKS

log = logging.getLogger(__name__)

_WEEK_S = 7 * 24 * 3600
_COMMANDS = 1000
_UNSENT = 65_536
"""Bytes that may wait for a broker that reads slowly; commands behind them wait here."""
_CONNECT_S = 10.0
_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_IDLE_S = 1.0
_TURN_S = 0.004
"""The rest after a turn with work: many messages then share one turn."""
_TURN_PACKETS = 1000
"""Read in one turn: a broker that sends faster than we read must not keep us from the rest."""
_FULL_S = 0.02
"""How often a full inbox is asked again."""


@dataclass(frozen=True, slots=True)
class _Command:
    """A message of ours."""

    topic: str
    payload: bytes
    qos: int
    retain: bool
    expires_s: float = inf


_UNNUMBERED = 0
"""Of a subscription without identifier (MQTT 5.0, 3.8.2.1.2: they begin with 1)."""


@dataclass(frozen=True, slots=True)
class _Filters:
    """Topic filters, and those of them that match topics of others."""

    all: frozenset[str] = frozenset()
    overlapping: frozenset[str] = frozenset()


class ExternalBroker:
    """Subscribes what mappings ask for, acknowledges after our commit.

    `set_filters` and `publish` may be called from any thread and do not wait. Commands beyond
    1,000 are dropped and counted; at QoS 1 and 2 they are kept over a lost connection.
    """

    def __init__(
        self,
        settings: ExternalSettings,
        inbox: Inbox,
        session: SessionFilters,
        now: Clock = SYSTEM_CLOCKS.now,
    ) -> None:
        self.echoes = 0
        self.copies = 0
        self.connections = 0
        self.dropped = 0
        self._settings = settings
        self._inbox = inbox
        self._now = now
        self._mark = (ORIGIN, settings.client_id)
        self._waker = Waker()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="mqtt", daemon=True)
        self._commands: deque[_Command] = deque()
        self._listeners: list[Callable[[], None]] = []
        self._in_flight: set[int] = set()
        self._most_qos = 2
        self._largest = 0
        self._reason = ""
        self._wanted = _Filters()
        self._session = session
        self._held: dict[str, int] = dict.fromkeys(session.load(), _UNNUMBERED)
        self._names_subscriptions = True
        self._copies = MessageCopies()
        self._asked: dict[int, Sequence[str]] = {}
        self._arrived: list[Delivery] = []
        self._acknowledgements = Acknowledgements(self._waker.wake)
        self._client = self._make_client()

    @property
    def is_connected(self) -> bool:
        """Whether the broker has accepted us and is still there."""
        return self._client.is_connected()

    def start(self) -> None:
        """Connect in the background and keep trying."""
        self._thread.start()

    def close(self) -> None:
        """Say goodbye; the broker keeps the session. The inbox must be closed before."""
        self._closing.set()
        self._waker.wake()
        self._thread.join()
        self._waker.close()

    def set_filters(self, filters: Iterable[str]) -> None:
        """Subscribe to these topic filters and no others."""
        wanted = frozenset(filters)
        self._wanted = _Filters(wanted, overlapping(wanted))
        self._waker.wake()

    def on_connected(self, listener: Callable[[], None]) -> None:
        """Have `listener` called after each connection, in our thread: messages may be missing."""
        self._listeners.append(listener)

    def publish(
        self, topic: str, payload: bytes, qos: int, retain: bool, within_s: float = inf
    ) -> None:
        """Send a message marked as ours; one that cannot go out `within_s` is dropped.

        The broker is told the same (MQTT 5.0, 3.3.2.3.3).
        """
        # What is published before the first connection, by a rule at start, waits for it.
        is_lost = qos == 0 and self.connections > 0 and not self.is_connected
        if is_lost or len(self._commands) + len(self._in_flight) >= _COMMANDS:
            self._drop(topic)
            return
        self._commands.append(_Command(topic, payload, qos, retain, monotonic() + within_s))
        self._waker.wake()

    def _make_client(self) -> BufferedClient:
        settings = self._settings
        client = BufferedClient(
            CallbackAPIVersion.VERSION2,
            settings.client_id,
            protocol=MQTTProtocolVersion.MQTTv5,
            manual_ack=True,
        )
        if settings.username is not None:
            client.username_pw_set(settings.username, settings.password)
        if settings.presence is not None:
            client.will_set(settings.presence.topic, settings.presence.offline, 1, retain=True)
        if settings.tls is not None:
            client.tls_set_context(settings.tls)
        client.connect_timeout = _CONNECT_S
        client.max_queued_messages_set(_COMMANDS)
        client.on_connect = self._on_connect
        client.on_disconnect = self._on_disconnect
        client.on_message = self._on_message
        client.on_publish = self._on_publish
        client.on_subscribe = self._on_answer
        client.on_unsubscribe = self._on_answer
        client.on_socket_register_write = _ignore  # then paho leaves the writing to us
        return client

    # From here on everything happens in the thread.

    def _work(self) -> None:
        pause_s = _PAUSE_S
        while not self._closing.is_set():
            before = self.connections
            self._reason = "it does not answer as an MQTT 5 broker does"
            if self._connect():
                self._serve()
            if self.connections == before and not self._closing.is_set():
                log.warning("broker_unreachable", extra={"reason": self._reason})
            pause_s = _PAUSE_S if self.connections > before else min(_LONGEST_PAUSE_S, pause_s * 2)
            self._closing.wait(pause_s)

    def _connect(self) -> bool:
        """Open the socket and send CONNECT."""
        properties = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        properties.SessionExpiryInterval = _WEEK_S
        properties.ReceiveMaximum = self._settings.inflight
        try:
            self._client.connect(
                self._settings.host, self._settings.port, clean_start=False, properties=properties
            )
        except OSError as error:
            self._reason = str(error)
            return False
        return True

    def _serve(self) -> None:
        """One connection, until it is lost or the gateway stops."""
        client, deadline = self._client, monotonic() + _CONNECT_S
        self._write()
        while client.socket() is not None:
            if self._closing.is_set() or (monotonic() > deadline and not client.is_connected()):
                client.disconnect(self._farewell())
                client.loop_write()
                break
            if self._turn():
                self._closing.wait(_TURN_S)
        self._arrived.clear()  # the broker sends it again

    def _farewell(self) -> ReasonCode | None:
        """A good-bye after which the broker publishes our will, where we have one."""
        if self._settings.presence is None:
            return None
        return ReasonCode(PacketTypes.DISCONNECT, "Disconnect with will message")

    def _turn(self) -> bool:
        """Wait for work and do it; False when there was none."""
        client, buffered = self._client, self._client.buffered
        reading: list[Waker | BufferedSocket] = [self._waker]
        wait_s, is_behind = _FULL_S, False
        if not self._arrived:
            reading.append(buffered)
            is_behind = buffered.has_arrived  # select knows only what the socket has
            wait_s = 0.0 if is_behind else _IDLE_S
        writing = [buffered] if buffered.unsent else []
        readable, writable, _ = select(reading, writing, [], wait_s)
        self._waker.rest()
        if buffered in readable or is_behind:
            self._read()
        self._offer()
        if client.is_connected():
            self._hold_filters()
            self._acknowledge()
            self._send_commands()
        self._write()
        client.loop_misc()
        return bool(readable or writable or is_behind)

    def _read(self) -> None:
        """Hand paho what one read brings, in a turn that ends however fast the broker sends."""
        client = self._client
        for _ in range(_TURN_PACKETS):
            if client.loop_read() != MQTTErrorCode.MQTT_ERR_SUCCESS:
                return
            if not client.buffered.has_arrived:
                return

    def _offer(self) -> None:
        """What the inbox has no room for waits here; meanwhile nothing more is read."""
        if self._arrived:
            del self._arrived[: self._inbox.offer(self._arrived)]

    def _acknowledge(self) -> None:
        for packet_id in self._acknowledgements.take():
            self._client.ack(packet_id, 1)

    def _send_commands(self) -> None:
        while self._commands and self._client.buffered.unsent < _UNSENT:
            command = self._commands.popleft()
            is_large = self._largest and _size(command, self._mark) > self._largest
            left_s = command.expires_s - monotonic()
            if is_large or left_s <= 0:
                self._drop(command.topic)
                continue
            properties = Properties(PacketTypes.PUBLISH)  # type: ignore[no-untyped-call]
            properties.UserProperty = self._mark
            if left_s < inf:
                properties.MessageExpiryInterval = ceil(left_s)
            qos = min(command.qos, self._most_qos)
            sent = self._client.publish(
                command.topic, command.payload, qos, command.retain, properties
            )
            if qos:
                self._in_flight.add(sent.mid)
            self._write()

    def _write(self) -> None:
        """Send what paho has for the broker, in one piece."""
        client = self._client
        if client.want_write():
            client.loop_write()
        try:
            client.buffered.flush()
        except OSError:
            client.loop_read()  # paho finds out for itself that the connection is lost

    def _hold_filters(self) -> None:
        """Bring the session to what is wanted: first what is new, so that nothing is missed."""
        wanted = {name: self._number(name) for name in self._wanted.all}
        if wanted == self._held:
            return
        held, self._held = self._held, wanted
        self._session.save(frozenset(held) | frozenset(wanted))
        new = sorted(name for name in wanted if held.get(name) != wanted[name])
        self._subscribe([name for name in new if wanted[name] == _UNNUMBERED], None)
        for name in new:
            if wanted[name] != _UNNUMBERED:
                self._subscribe([name], wanted[name])
        gone = sorted(held.keys() - wanted.keys())
        if gone:
            self._note(self._client.unsubscribe(gone), gone)
            self._session.save(frozenset(wanted))

    def _number(self, name: str) -> int:
        """The identifier of a subscription that overlaps others, where the broker tells it."""
        if not self._names_subscriptions or name not in self._wanted.overlapping:
            return _UNNUMBERED
        return identifier_of(name)

    def _subscribe(self, names: Sequence[str], number: int | None) -> None:
        if not names:
            return
        # A retained message is sent once, not at each reconnection: it may be without a time.
        options = SubscribeOptions(
            qos=1, noLocal=True, retainHandling=SubscribeOptions.RETAIN_SEND_IF_NEW_SUB
        )
        properties = None
        if number is not None:
            properties = Properties(PacketTypes.SUBSCRIBE)  # type: ignore[no-untyped-call]
            properties.SubscriptionIdentifier = number
        asked = self._client.subscribe([(each, options) for each in names], properties=properties)
        self._note(asked, names)

    def _note(self, asked: tuple[MQTTErrorCode, int | None], filters: Sequence[str]) -> None:
        """Remember what an answer of the broker will be about."""
        if asked[1] is not None:
            self._asked[asked[1]] = filters

    def _drop(self, topic: str) -> None:
        self.dropped += 1
        log.error("command_dropped", extra={"topic": topic})

    def _on_connect(
        self,
        client: Client,
        _userdata: object,
        flags: ConnectFlags,
        reason: ReasonCode,
        properties: Properties | None,
    ) -> None:
        if reason.is_failure:
            self._reason = f"it refused us: {reason}"
            client.disconnect()
            return
        log.info("broker_connected", extra={"host": self._settings.host})
        self.connections += 1
        presence = self._settings.presence
        if presence is not None:
            self._commands.appendleft(_Command(presence.topic, presence.online, 1, retain=True))
        for listener in self._listeners:
            listener()
        self._acknowledgements = Acknowledgements(self._waker.wake)
        self._asked.clear()
        self._most_qos = getattr(properties, "MaximumQoS", 2)
        self._largest = getattr(properties, "MaximumPacketSize", 0)
        # Asked for again also where the broker remembers: it may have refused before.
        self._names_subscriptions = bool(getattr(properties, "SubscriptionIdentifierAvailable", 1))
        self._copies = MessageCopies()
        kept = self._held if flags.session_present else {}
        self._held = {name: _UNNUMBERED for name in kept if name not in self._wanted.all}
        self._hold_filters()

    def _on_disconnect(
        self,
        _client: Client,
        _userdata: object,
        _flags: DisconnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        log.info("broker_disconnected", extra={"reason": str(reason)})

    def _on_answer(
        self,
        _client: Client,
        _userdata: object,
        packet_id: int,
        reasons: Sequence[ReasonCode],
        _properties: Properties | None,
    ) -> None:
        self._copies = MessageCopies()
        filters = self._asked.pop(packet_id, ())
        refused = [str(reason) for reason in reasons if reason.is_failure]
        if refused:
            log.error("broker_refused", extra={"what": " ".join(filters), "reasons": refused})

    def _on_publish(
        self,
        _client: Client,
        _userdata: object,
        packet_id: int,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        self._in_flight.discard(packet_id)
        if reason.is_failure:
            log.error("broker_refused", extra={"what": "a command", "reasons": [str(reason)]})

    def _on_message(self, _client: Client, _userdata: object, received: MQTTMessage) -> None:
        settle = _settled
        is_ours = self._mark in getattr(received.properties, "UserProperty", ())
        if received.qos:
            unsettled = self._acknowledgements.expect(received.mid)
            settle = partial(self._acknowledgements.settle, unsettled)
        if is_ours:
            self.echoes += 1
            settle(None)
            return
        if not received.retain and self._is_copy(received):
            self.copies += 1
            settle(None)
            return
        message = Message(
            received.topic,
            bytes(received.payload),
            self._now(),
            self._settings.client_id,
            received.mid,
            received.dup,
            received.retain,
            received.qos,
        )
        self._arrived.append(Delivery(message, settle))

    def _is_copy(self, received: MQTTMessage) -> bool:
        """Whether it came already, under another of our topic filters."""
        identifiers = getattr(received.properties, "SubscriptionIdentifier", ())
        return self._copies.is_copy(received.topic, bytes(received.payload), identifiers)


def _size(command: _Command, mark: tuple[str, str]) -> int:
    """An upper bound of the PUBLISH packet: its fields, their lengths, packet id and header."""
    texts = (command.topic, *mark)
    return sum(len(text.encode()) + 2 for text in texts) + len(command.payload) + 12


def _settled(error: Exception | None) -> None:
    """QoS 0 knows no acknowledgement."""


def _ignore(_client: Client, _userdata: object, _socket: object) -> None:
    """Our thread writes at the end of each turn."""
