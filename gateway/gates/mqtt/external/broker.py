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
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import inf
from select import select
from time import monotonic

from paho.mqtt.client import Client, ConnectFlags, DisconnectFlags, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion, MQTTErrorCode, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.gate import nobodys
from gateway.gates.mqtt.embedded.settings import Clock
from gateway.gates.mqtt.external.acknowledgements import Acknowledgements
from gateway.gates.mqtt.external.buffered_client import BufferedClient, BufferedSocket
from gateway.gates.mqtt.external.command_queue import MOST_COMMANDS, Command, CommandQueue
from gateway.gates.mqtt.external.held_filters import HeldFilters
from gateway.gates.mqtt.external.message_copies import MessageCopies
from gateway.gates.mqtt.external.session_filters import SessionFilters
from gateway.gates.mqtt.external.settings import ExternalSettings
from gateway.gates.mqtt.external.trial import unreachable
from gateway.gates.mqtt.external.waker import Waker
from gateway.ingest.inbox import Delivery, Inbox
from gateway.runtime.clocks import SYSTEM_CLOCKS

log = logging.getLogger(__name__)

_WEEK_S = 7 * 24 * 3600
_CONNECT_S = 10.0
_PAUSE_S = 1.0
_LONGEST_PAUSE_S = 30.0
_IDLE_S = 1.0
_TURN_S = 0.004
"""The rest after a turn with work: many messages then share one turn."""
_TURN_PACKETS = 1000
"""Read in one turn: a broker that sends faster than we read must not keep us from the rest."""
_SETTLED_S = 0.004
"""Settled messages are acknowledged with the next that come, or after this without any: a broker
may send 20 ahead and wait, as Mosquitto does where nobody says else."""
_FULL_S = 0.02
"""How often a full inbox is asked again."""


class ExternalBroker:
    """Subscribes what mappings ask for, acknowledges after our commit.

    `set_filters` and `publish` may be called from any thread and do not wait. Commands beyond
    1,000 are dropped and counted; at QoS 1 and 2 they are kept over a lost connection. Messages of
    a topic that `is_taken` by another gate are acknowledged, and those of nobody.
    """

    def __init__(
        self,
        settings: ExternalSettings,
        inbox: Inbox,
        session: SessionFilters,
        now: Clock = SYSTEM_CLOCKS.now,
        is_taken: Callable[[str], bool] = nobodys,
    ) -> None:
        self.echoes = 0
        self.copies = 0
        self.connections = 0
        self._settings = settings
        self._inbox = inbox
        self._now = now
        self._mark = settings.mark
        self._is_taken = is_taken
        self._waker = Waker()
        self._closing = threading.Event()
        self._thread = threading.Thread(target=self._work, name="mqtt", daemon=True)
        self._listeners: list[Callable[[], None]] = []
        self._reason = self._fault = ""
        self._commands = CommandQueue(self._mark)
        self._filters = HeldFilters(session)
        self._copies = MessageCopies()
        self._arrived: list[Delivery] = []
        self._acknowledgements = self._fresh_acknowledgements()
        self._client = self._make_client()

    @property
    def is_connected(self) -> bool:
        """Whether the broker has accepted us and is still there."""
        return self._client.is_connected()

    @property
    def fault(self) -> str:
        """Why the last attempt to connect failed; "" before the first and while it is up."""
        return "" if self.is_connected else self._fault

    @property
    def dropped(self) -> int:
        """Commands that were not sent."""
        return self._commands.dropped

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
        self._filters.want(filters)
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
        if is_lost:
            self._commands.drop(topic)
            return
        self._commands.put(Command(topic, payload, qos, retain, monotonic() + within_s))
        self._waker.wake()

    def tell(self, topic: str, payload: bytes) -> bool:
        """Send with QoS 0 where that goes out now; False: it does not."""
        if not self.is_connected or self._commands.is_half_full:
            return False
        self.publish(topic, payload, 0, False)
        return True

    def _fresh_acknowledgements(self) -> Acknowledgements:
        return Acknowledgements(self._waker.wake, self._settings.inflight)

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
        if settings.host_state is not None:
            client.will_set(settings.host_state.topic, settings.host_state.offline, 1, retain=True)
        if settings.tls is not None:
            client.tls_set_context(settings.tls)
        client.connect_timeout = _CONNECT_S
        client.max_queued_messages_set(MOST_COMMANDS)
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
                self._fault = self._reason
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
            self._reason = unreachable(self._settings, error).description
            return False
        return True

    def _serve(self) -> None:
        """One connection, until it is lost or the gateway stops."""
        client, deadline = self._client, monotonic() + _CONNECT_S
        client.send_written()
        while client.socket() is not None:
            if self._closing.is_set() or (monotonic() > deadline and not client.is_connected()):
                if client.is_connected():
                    self._acknowledge()
                client.disconnect(self._farewell())
                client.loop_write()
                break
            if self._turn():
                self._closing.wait(_TURN_S)
        self._arrived.clear()  # the broker sends it again

    def _farewell(self) -> ReasonCode | None:
        """A good-bye after which the broker publishes our will, where we have one."""
        if self._settings.host_state is None:
            return None
        return ReasonCode(PacketTypes.DISCONNECT, "Disconnect with will message")

    def _turn(self) -> bool:
        """Wait for work and do it; False when there was none."""
        client, buffered = self._client, self._client.buffered
        acknowledgements = self._acknowledgements
        reading: list[Waker | BufferedSocket] = [self._waker]
        wait_s, is_behind = _FULL_S, False
        if self._arrived:
            acknowledgements.soon = False  # each makes room in the inbox
        else:
            reading.append(buffered)
            is_behind = buffered.has_arrived  # select knows only what the socket has
            wait_s = _SETTLED_S if acknowledgements.soon else _IDLE_S
        writing = [buffered] if buffered.unsent else []
        readable, writable, _ = select(reading, writing, [], 0.0 if is_behind else wait_s)
        if not (readable or writable or is_behind):
            acknowledgements.soon = False
        self._waker.rest()
        if buffered in readable or is_behind:
            self._read()
        self._offer()
        if client.is_connected():
            self._filters.hold(client)
            self._acknowledge()
            self._commands.send(client)
        client.send_written()
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
        self._fault = self._reason = ""
        self.connections += 1
        state = self._settings.host_state
        if state is not None:
            self._commands.put_first(Command(state.topic, state.online, 1, retain=True))
        for listener in self._listeners:
            listener()
        self._acknowledgements = self._fresh_acknowledgements()
        self._copies = MessageCopies()
        self._commands.connected(properties)
        self._filters.connected(properties, is_session_present=flags.session_present)
        self._filters.hold(client)

    def _on_disconnect(
        self,
        _client: Client,
        _userdata: object,
        _flags: DisconnectFlags,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        log.info("broker_disconnected", extra={"reason": str(reason)})
        # After a refusal it is we who went: that is no cause.
        self._fault = self._reason or f"the connection was lost: {reason}"

    def _on_answer(
        self,
        _client: Client,
        _userdata: object,
        packet_id: int,
        reasons: Sequence[ReasonCode],
        _properties: Properties | None,
    ) -> None:
        self._copies = MessageCopies()
        self._filters.answered(packet_id, reasons)

    def _on_publish(
        self,
        _client: Client,
        _userdata: object,
        packet_id: int,
        reason: ReasonCode,
        _properties: Properties | None,
    ) -> None:
        self._commands.acknowledged(packet_id, reason)

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
        if self._is_taken(received.topic):
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


def _settled(error: Exception | None) -> None:
    """QoS 0 knows no acknowledgement."""


def _ignore(_client: Client, _userdata: object, _socket: object) -> None:
    """Our thread writes at the end of each turn."""
