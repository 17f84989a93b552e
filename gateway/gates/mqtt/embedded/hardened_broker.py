"""`HardenedBroker`: amqtt's broker with its connection and delivery paths replaced.

Place: behind `EmbeddedBroker`, the only user. Kept of amqtt 0.12.1: the life cycle, codecs of
what we send, sessions and their expiry, the subscription table and topic matching. Each override
names the defect it repairs; `tests/gateway/gates/mqtt/embedded/test_defects.py` probes both brokers
for every one, so that a newer amqtt shows which overrides can go.

    D1  retained messages reach clients that did not subscribe to them    subscribe, replay_retained
    D2  a CONNECT with wrong credentials takes a session away             _open, _claim
    D3  refused logins stay in the session table                          _open
    D4  keep-alive is not enforced                                        Connection._read
    D5  unacknowledged messages are lost, at a disconnect or after 5 s    DeliveryQueue
    D6  a subscriber's QoS is not the lower of publication's and its own  route
    D7  messages queued offline arrive with RETAIN set                    route
    D8  neither window nor queue limit for a subscriber                   DeliveryQueue
    D9  PUBLISH to `$...` leaves a connection that routes no more         Connection._admit
    D10 abandoned sessions stay for ever                                  BrokerSettings
    D11 no time limit for CONNECT                                         _open
"""

import asyncio
import logging
from functools import partial

from amqtt.broker import Broker
from amqtt.contexts import Action, BrokerConfig, ListenerConfig
from amqtt.session import Session

from gateway.errors import GatewayError
from gateway.gates.mqtt.embedded.connection import Connection
from gateway.gates.mqtt.embedded.entrance.connect import (
    ACCEPTED,
    IDENTIFIER_REJECTED,
    MAX_CONNECT_BYTES,
    NOT_AUTHORIZED,
    UNAVAILABLE,
    RefusedError,
    connack,
    decode_connect,
)
from gateway.gates.mqtt.embedded.entrance.listener import Listener, Peer, peer_of
from gateway.gates.mqtt.embedded.entrance.openings import Opening, Openings
from gateway.gates.mqtt.embedded.entrance.shares import Shares
from gateway.gates.mqtt.embedded.entrance.web_socket import FrameWriter, WebSocketEntrance
from gateway.gates.mqtt.embedded.exchange import MessageExchange
from gateway.gates.mqtt.embedded.frames import read_frame
from gateway.gates.mqtt.embedded.session import (
    BrokerClient,
    SessionState,
    new_state,
    renew,
    state_of,
)
from gateway.gates.mqtt.embedded.settings import (
    BrokerSettings,
    BrokerStatistics,
    Login,
    Rules,
    TopicAction,
)
from gateway.gates.mqtt.embedded.status_topics import TREE, StatusTopics
from gateway.gates.mqtt.embedded.subscribers import Subscribers
from gateway.runtime.log_lines import LogLines
from gateway.security.throttle import network_of

log = logging.getLogger(__name__)

SUBSCRIPTION_REFUSED = 0x80
MAX_FILTER_BYTES = 65_535
"""Of all topic filters of one session."""

LINE_EACH_S = 60.0


class HardenedBroker(Broker):  # type: ignore[misc]  # amqtt is untyped
    """Needs a running event loop; `start` and `shutdown` as in amqtt."""

    def __init__(self, settings: BrokerSettings, rules: Rules) -> None:
        listeners = {"default": ListenerConfig(bind=f"{settings.host}:{settings.port}")}
        expiry_s = settings.session_expiry_s
        super().__init__(
            BrokerConfig(listeners=listeners, plugins={}, session_expiry_interval=expiry_s)
        )
        self._subscribers = Subscribers(self._subscriptions)
        self.exchange = MessageExchange(settings, self._subscribers.of, rules)
        self.shares = Shares(settings, self._sessions, self._delete_session)
        self.openings = Openings(settings.max_connections, settings.max_connecting)
        self._listeners = self._entrances(settings)
        self._endings: set[asyncio.Task[None]] = set()
        self._settings = settings
        self._authenticate_user = rules.authenticate
        self._status = StatusTopics(lambda: self.statistics)
        self._refusals = LogLines(LINE_EACH_S)
        self._lines_of_5, self._clients_of_5 = LogLines(1.0), LogLines()

    def _entrances(self, settings: BrokerSettings) -> list[Listener]:
        """By TCP, and behind it by WebSocket where that has a port."""
        tcp = Listener(settings, self.openings, self._converse, self._refused)
        if settings.web_socket_port is None:
            return [tcp]
        web_socket = WebSocketEntrance(
            settings.names, settings.connect_timeout_s, self._converse, self._refused
        )
        port = settings.web_socket_port
        return [
            tcp,
            Listener(
                settings,
                self.openings,
                web_socket.serve,
                self._refused,
                port=port,
                writer=FrameWriter,
            ),
        ]

    @property
    def ports(self) -> list[int]:
        """The bound ports: of TCP, and of WebSocket where it listens."""
        return [each.port for each in self._listeners]

    @property
    def states(self) -> list[SessionState]:
        """Every known session, connected or not."""
        return [state_of(session) for session, _ in self._sessions.values()]

    @property
    def statistics(self) -> BrokerStatistics:
        """Counts since the start and gauges of now; linear in the sessions."""
        exchange, counters, states = self.exchange, self.exchange.counters, self.states
        return BrokerStatistics(
            connections=sum(len(each.conversations) for each in self._listeners),
            clients=sum(state.connection is not None for state in states),
            sessions=len(states),
            subscriptions=sum(len(state.filters) for state in states),
            retained=len(exchange.retained),
            queued=sum(len(state.delivery) for state in states),
            received=counters.received,
            delivered=counters.delivered,
            dropped=counters.dropped,
            denied=counters.denied,
            too_large=counters.too_large,
            refused=counters.refused,
            forgotten=self.shares.forgotten,
            not_retained=exchange.retained.refused,
            failed=counters.failed,
        )

    async def tell_status(self) -> None:
        """Publish what the broker says of itself every so often, until cancelled."""
        interval_s = self._settings.status_interval_s
        while interval_s:
            await asyncio.sleep(interval_s)
            if any(each.startswith(TREE) for each in self._subscriptions):
                for message in self._status.messages():
                    self.exchange.route(message)

    def user_of(self, client_id: str) -> str | None:
        """The user of a known session."""
        session, _ = self._sessions.get(client_id, (None, None))
        return None if session is None else state_of(session).user

    def clients(self) -> list[BrokerClient]:
        """The sessions of now, with where their clients are."""
        return [
            BrokerClient(
                state.client_id,
                state.user or "",
                str(session.remote_address or "") if connection else "",
                connection is not None,
                len(state.filters),
            )
            for session, connection in self._sessions.values()
            for state in (state_of(session),)
        ]

    def names(self, level: str) -> bool:
        """Whether a filter begins with this level; in any thread."""
        return self._subscribers.names(level)

    def listeners(self, topic: str) -> list[SessionState]:
        """The sessions, connected or not, that what is published to a topic is for."""
        return [
            state for state, _ in self._subscribers.of(topic) if self._may_receive(state, topic)
        ]

    def _may_receive(self, state: SessionState, topic: str) -> bool:
        return self.exchange.allowed(state.user, topic, TopicAction.RECEIVE)

    async def shutdown(self) -> None:
        """Turn new clients away, let each connection answer what it has read, then stop."""
        self.exchange.closing = True
        for listener in self._listeners:
            listener.close()
        connections = [connection for _, connection in self._sessions.values() if connection]
        await asyncio.gather(*(connection.stop() for connection in connections))
        for listener in self._listeners:
            await listener.wait_closed()
        await super().shutdown()

    async def _start_listeners(self) -> None:
        """Listeners of our own making: port 0, IPv6 and a ready TLS context work."""
        for listener in self._listeners:
            await listener.start()

    async def _converse(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, opening: Opening
    ) -> None:
        """One connection from the first byte of MQTT to its last."""
        opened = await self._open(reader, writer, opening)
        if opened is not None:
            self.openings.leave(opening)
            await self._hold(*opened, reader, writer)

    async def _open(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, opening: Opening
    ) -> tuple[Session, str, Login | None] | None:
        """The authenticated client's session, its client id free for it, and whose share it takes.

        None: turned away.

        No session is read or changed before the credentials were accepted [D2, D3, D11].
        """
        peer = peer_of(writer, opening)
        try:
            async with asyncio.timeout(self._settings.connect_timeout_s):
                session = decode_connect(await read_frame(reader, MAX_CONNECT_BYTES))
                opening.heard()
                session.remote_address = opening.address
                login = await self._authenticated(session, writer)
            known = login is not None or self._authenticate_user is None
            owner = opening.address if login is None else login.user
            code = await self._claim(session, owner) if known else NOT_AUTHORIZED
        except RefusedError as refusal:
            writer.write(refusal.connack)
            self._say_what_is_spoken(opening.address, refusal.mqtt_5)
            self._refused(peer, str(refusal))
            return None
        except (EOFError, OSError, GatewayError) as error:
            self._refused(peer, repr(error))
            return None
        if code == ACCEPTED:
            return session, owner, login
        writer.write(connack(code))
        self._refused(peer, f"CONNACK {code}")
        return None

    def _say_what_is_spoken(self, address: str, mqtt_5: str | None) -> None:
        """Once for each client of MQTT 5, and of one address a line a second."""
        if mqtt_5 is None or not self._lines_of_5.due(address):
            return
        if self._clients_of_5.due(f"{address} {mqtt_5}"):
            log.warning(
                "broker_client_speaks_mqtt_5",
                extra={
                    "address": address,
                    "client_id": mqtt_5,
                    "hint": "set it to MQTT 3.1.1 (protocol version 4), or use a broker that "
                    'speaks MQTT 5 by [mqtt] mode = "external"',
                },
            )

    def _refused(self, peer: Peer, reason: str) -> None:
        self.exchange.counters.refused += 1
        if times := self._refusals.due(network_of(peer[0])):
            extra = {"peer": peer, "reason": reason, "times": times}
            log.info("broker_connection_refused", extra=extra)

    async def _authenticated(self, session: Session, writer: asyncio.StreamWriter) -> Login | None:
        """The login, under whose name the session goes; None where nobody is asked, or refused."""
        password, session.password = session.password, None
        if self._authenticate_user is None:
            return None
        peer = writer.get_extra_info("peername") or ("",)
        login = await self._authenticate_user(session.username, password, str(peer[0]))
        if login is not None:
            session.username = login.user
        return login

    async def _claim(self, session: Session, owner: str) -> int:
        """Free the client id: its own user may take a connection over, nobody else.

        Where its owner has its share of connections already, it is refused.
        """
        while (holder := self._connection(session.client_id)) is not None:
            if holder.state.user != session.username:
                return IDENTIFIER_REJECTED
            await holder.stop()
        return ACCEPTED if self.shares.has_connection(owner) else UNAVAILABLE

    def _connection(self, client_id: str) -> Connection | None:
        connection: Connection | None
        _, connection = self._sessions.get(client_id, (None, None))
        return connection

    async def _hold(
        self,
        incoming: Session,
        owner: str,
        login: Login | None,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Put the session into the table, answer CONNACK and serve the client to its end."""
        state = await self._resumed(incoming, owner)
        session = state.session
        connection = Connection(state, reader, writer, self.exchange, self)
        self._sessions[session.client_id] = (session, connection)
        session.transitions.connect()
        writer.write(connack(ACCEPTED, bool(session.parent)))
        unwatch = login.watch(partial(self._end, connection)) if login else None
        try:
            await connection.converse()
        finally:
            if unwatch is not None:
                unwatch()
            session.transitions.disconnect()
            # Absent sessions stand in the order in which their clients left.
            self._sessions.pop(session.client_id, None)
            self._sessions[session.client_id] = (session, None)
            if session.clean_session:
                await self._delete_session(session.client_id)
            else:
                await self.shares.thin_out(owner)

    def _end(self, connection: Connection) -> None:
        """End the connection of a login that has ended, as if the client had gone."""
        task = asyncio.create_task(connection.stop(), name="mqtt-login-ended")
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def _resumed(self, incoming: Session, owner: str) -> SessionState:
        """The stored state, or a new one: clean session, first visit, or another user's id."""
        stored, _ = self._sessions.get(incoming.client_id, (None, None))
        if stored is None or incoming.clean_session or stored.username != incoming.username:
            await self._delete_session(incoming.client_id)
            return new_state(incoming, owner, self._settings)
        renew(stored, incoming)
        state = state_of(stored)
        state.owner = owner
        return state

    async def subscribe(self, state: SessionState, topics: list[tuple[str, int]]) -> list[int]:
        """The granted QoS of each topic filter, or 0x80."""
        return [await self.add_subscription(topic, state.session) for topic in topics]

    def unsubscribe(self, state: SessionState, filters: list[str]) -> None:
        """Forget subscriptions; unknown filters are ignored."""
        for topic_filter in filters:
            if topic_filter not in state.filters:
                continue
            state.filters.discard(topic_filter)
            self._del_subscription(topic_filter, state.session)
            if not self._subscriptions[topic_filter]:
                del self._subscriptions[topic_filter]
            self._subscribers.changed(topic_filter)

    async def _del_all_subscriptions(self, session: Session) -> None:
        """Look at those of the session alone, not at every filter that there is."""
        state = state_of(session)
        self.unsubscribe(state, list(state.filters))

    def replay_retained(self, state: SessionState, topic_filter: str, qos: int) -> None:
        """Queue the retained messages that a new subscription asks for [D1], and the status."""
        matches = partial(self._matches, a_filter=topic_filter)
        self.exchange.replay(state, self.exchange.retained.matching(matches), qos)
        if topic_filter.startswith(TREE) and self._settings.status_interval_s:
            status = (each for each in self._status.messages() if matches(each.topic))
            self.exchange.replay(state, status, qos)

    async def add_subscription(self, subscription: tuple[str, int], session: Session) -> int:
        """Refuse what amqtt grants and never serves; let a repeated SUBSCRIBE replace the QoS."""
        topic_filter, _ = subscription
        state = state_of(session)
        self.unsubscribe(state, [topic_filter])
        full = (
            len(state.filters) >= self._settings.max_subscriptions
            or sum(map(len, state.filters)) + len(topic_filter) > MAX_FILTER_BYTES
        )
        if full or not topic_filter or topic_filter.startswith("$share/"):
            return SUBSCRIPTION_REFUSED
        code: int = await super().add_subscription(subscription, session)
        if code != SUBSCRIPTION_REFUSED:
            state.filters.add(topic_filter)
            self._subscribers.changed(topic_filter)
        return code

    async def _topic_filtering(self, session: Session, topic: str, action: Action) -> bool:
        """Ask `authorize`, without amqtt's task for each plugin."""
        return self.exchange.allowed(session.username, topic, TopicAction(action.value))
