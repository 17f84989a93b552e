"""`HardenedBroker`: amqtt's broker with its connection and delivery paths replaced.

Place: behind `EmbeddedBroker`, the only user. Kept of amqtt 0.12.1: the life cycle, CONNECT and the
packets' codec, sessions and their expiry, the subscription table and topic matching. Each override
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

from amqtt.adapters import BufferReader, StreamWriterAdapter
from amqtt.broker import Broker, Server
from amqtt.contexts import Action, BrokerConfig, ListenerConfig
from amqtt.errors import AMQTTError, MQTTError, NoDataError
from amqtt.mqtt.connack import (
    CONNECTION_ACCEPTED,
    IDENTIFIER_REJECTED,
    NOT_AUTHORIZED,
    SERVER_UNAVAILABLE,
    ConnackPacket,
)
from amqtt.mqtt.packet import CONNECT, MQTTFixedHeader
from amqtt.mqtt.protocol.broker_handler import BrokerProtocolHandler
from amqtt.session import Session

from gateway.errors import BadRequestError, GatewayError
from gateway.gates.mqtt.embedded.connection import Connection
from gateway.gates.mqtt.embedded.exchange import MessageExchange
from gateway.gates.mqtt.embedded.frames import read_frame, require_topic
from gateway.gates.mqtt.embedded.session import SessionState, new_state, renew, state_of
from gateway.gates.mqtt.embedded.settings import (
    BrokerSettings,
    Login,
    Rules,
    TopicAction,
)

log = logging.getLogger(__name__)

SUBSCRIPTION_REFUSED = 0x80
CLOSE_TIMEOUT_S = 1.0
MAX_CONNECT_BYTES = 10 + 5 * (2 + 65_535)
"""The variable header, and the five fields of the payload at their longest."""
ROUTES_CACHED = 10_000


class HardenedBroker(Broker):  # type: ignore[misc]  # amqtt is untyped
    """Needs a running event loop; `start` and `shutdown` as in amqtt."""

    def __init__(self, settings: BrokerSettings, rules: Rules) -> None:
        listeners = {"default": ListenerConfig(bind=f"{settings.host}:{settings.port}")}
        expiry_s = settings.session_expiry_s
        super().__init__(
            BrokerConfig(listeners=listeners, plugins={}, session_expiry_interval=expiry_s)
        )
        self.exchange = MessageExchange(settings, self._subscribers, rules)
        self.conversations: set[asyncio.Task[None]] = set()
        self._endings: set[asyncio.Task[None]] = set()
        self._settings = settings
        self._authenticate_user = rules.authenticate
        self._routes: dict[str, list[tuple[SessionState, int]]] = {}

    @property
    def port(self) -> int:
        """The bound port."""
        port: int = self._servers["default"].instance.sockets[0].getsockname()[1]
        return port

    @property
    def states(self) -> list[SessionState]:
        """Every known session, connected or not."""
        return [state_of(session) for session, _ in self._sessions.values()]

    def user_of(self, client_id: str) -> str | None:
        """The user of a known session."""
        session, _ = self._sessions.get(client_id, (None, None))
        return None if session is None else state_of(session).user

    def listeners(self, topic: str) -> list[SessionState]:
        """The sessions, connected or not, that what is published to a topic is for."""
        return [state for state, _ in self._subscribers(topic) if self._may_receive(state, topic)]

    def _may_receive(self, state: SessionState, topic: str) -> bool:
        return self.exchange.allowed(state.user, topic, TopicAction.RECEIVE)

    async def shutdown(self) -> None:
        """Turn new clients away, let each connection answer what it has read, then stop."""
        self.exchange.closing = True
        for server in self._servers.values():
            server.instance.close()
        connections = [connection for _, connection in self._sessions.values() if connection]
        await asyncio.gather(*(connection.stop() for connection in connections))
        for unopened in self.conversations:
            unopened.cancel()
        await asyncio.gather(*self.conversations, return_exceptions=True)
        await super().shutdown()

    async def _start_listeners(self) -> None:
        """One listener of our own making: port 0, IPv6 and a ready TLS context work."""
        settings = self._settings
        handshake_s = settings.connect_timeout_s if settings.tls else None
        server = await asyncio.start_server(
            self._connected,
            settings.host,
            settings.port,
            ssl=settings.tls,
            ssl_handshake_timeout=handshake_s,
        )
        self._servers["default"] = Server("default", server)

    def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        full = len(self.conversations) >= self._settings.max_connections
        if self.exchange.closing or full:
            self.exchange.counters.refused += 1
            writer.transport.abort()
            return
        peer = writer.get_extra_info("peername")
        task = asyncio.create_task(self._converse(reader, writer), name=f"mqtt-client-{peer}")
        self.conversations.add(task)
        task.add_done_callback(self._conversation_ended)

    def _conversation_ended(self, task: asyncio.Task[None]) -> None:
        self.conversations.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("broker_conversation_failed", exc_info=error)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One TCP connection from its first byte to its close."""
        try:
            opened = await self._open(reader, writer)
            if opened is not None:
                await self._hold(*opened, reader, writer)
        finally:
            await _close(writer)

    async def _open(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> tuple[Session, Login | None] | None:
        """The authenticated client's session, its client id free for it; None: turned away.

        No session is read or changed before the credentials were accepted [D2, D3, D11].
        """
        try:
            async with asyncio.timeout(self._settings.connect_timeout_s):
                session = await self._read_connect(reader, writer)
                login = await self._authenticated(session, writer)
            known = login is not None or self._authenticate_user is None
            code = await self._claim(session) if known else NOT_AUTHORIZED
        except (EOFError, OSError, GatewayError, AMQTTError, MQTTError, NoDataError) as error:
            self._refused(writer, repr(error))
            return None
        if code == CONNECTION_ACCEPTED:
            return session, login
        writer.write(ConnackPacket.build(0, code).to_bytes())
        self._refused(writer, f"CONNACK {code}")
        return None

    def _refused(self, writer: asyncio.StreamWriter, reason: str) -> None:
        self.exchange.counters.refused += 1
        peer = writer.get_extra_info("peername")
        log.info("broker_connection_refused", extra={"peer": peer, "reason": reason})

    async def _read_connect(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> Session:
        """The session that a CONNECT asks for; amqtt validates and refuses bad versions."""
        frame = await read_frame(reader, MAX_CONNECT_BYTES)
        if frame.packet_type != CONNECT or frame.flags:
            raise BadRequestError("the first packet is not CONNECT [MQTT-3.1.0-1]")
        header = MQTTFixedHeader(CONNECT, 0, len(frame.body)).to_bytes()
        _, session = await BrokerProtocolHandler.init_from_connect(
            BufferReader(header + frame.body), StreamWriterAdapter(writer), self.plugins_manager
        )
        if session.will_flag:
            require_topic(session.will_topic)
            if session.will_qos > 2:
                raise BadRequestError("a will with QoS 3 [MQTT-3.1.2-14]")
        return session

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

    async def _claim(self, session: Session) -> int:
        """Free the client id: its own user may take a connection over, nobody else."""
        while (holder := self._connection(session.client_id)) is not None:
            if holder.state.user != session.username:
                return int(IDENTIFIER_REJECTED)
            await holder.stop()
        known = session.client_id in self._sessions
        if not known and len(self._sessions) >= self._settings.max_sessions:
            return int(SERVER_UNAVAILABLE)
        return int(CONNECTION_ACCEPTED)

    def _connection(self, client_id: str) -> Connection | None:
        connection: Connection | None
        _, connection = self._sessions.get(client_id, (None, None))
        return connection

    async def _hold(
        self,
        incoming: Session,
        login: Login | None,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
    ) -> None:
        """Put the session into the table, answer CONNACK and serve the client to its end."""
        state = await self._resumed(incoming)
        session = state.session
        connection = Connection(state, reader, writer, self.exchange, self)
        self._sessions[session.client_id] = (session, connection)
        session.transitions.connect()
        writer.write(ConnackPacket.build(session.parent, CONNECTION_ACCEPTED).to_bytes())
        unwatch = login.watch(partial(self._end, connection)) if login else None
        try:
            await connection.converse()
        finally:
            if unwatch is not None:
                unwatch()
            session.transitions.disconnect()
            self._sessions[session.client_id] = (session, None)
            if session.clean_session:
                await self._delete_session(session.client_id)

    def _end(self, connection: Connection) -> None:
        """End the connection of a login that has ended, as if the client had gone."""
        task = asyncio.create_task(connection.stop(), name="mqtt-login-ended")
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def _resumed(self, incoming: Session) -> SessionState:
        """The stored state, or a new one: clean session, first visit, or another user's id."""
        stored, _ = self._sessions.get(incoming.client_id, (None, None))
        if stored is None or incoming.clean_session or stored.username != incoming.username:
            await self._delete_session(incoming.client_id)
            return new_state(incoming, self._settings)
        renew(stored, incoming)
        return state_of(stored)

    async def subscribe(self, state: SessionState, topics: list[tuple[str, int]]) -> list[int]:
        """The granted QoS of each topic filter, or 0x80."""
        return [await self.add_subscription(topic, state.session) for topic in topics]

    def unsubscribe(self, state: SessionState, filters: list[str]) -> None:
        """Forget subscriptions; unknown filters are ignored."""
        for topic_filter in filters:
            self._del_subscription(topic_filter, state.session)
            if not self._subscriptions.get(topic_filter, True):
                del self._subscriptions[topic_filter]

    def replay_retained(self, state: SessionState, topic_filter: str, qos: int) -> None:
        """Queue the retained messages that a new subscription asks for [D1]."""
        matches = partial(self._matches, a_filter=topic_filter)
        self.exchange.replay_retained(state, matches, qos)

    async def add_subscription(self, subscription: tuple[str, int], session: Session) -> int:
        """Refuse what amqtt grants and never serves; let a repeated SUBSCRIBE replace the QoS."""
        topic_filter, _ = subscription
        state = state_of(session)
        self.unsubscribe(state, [topic_filter])
        full = len(state.filters) >= self._settings.max_subscriptions
        if full or not topic_filter or "\0" in topic_filter or topic_filter.startswith("$share/"):
            return SUBSCRIPTION_REFUSED
        code: int = await super().add_subscription(subscription, session)
        if code != SUBSCRIPTION_REFUSED:
            state.filters.add(topic_filter)
        self._routes.clear()
        return code

    def _del_subscription(self, a_filter: str, session: Session) -> int:
        state_of(session).filters.discard(a_filter)
        self._routes.clear()
        deleted: int = super()._del_subscription(a_filter, session)
        return deleted

    async def _topic_filtering(self, session: Session, topic: str, action: Action) -> bool:
        """Ask `authorize`, without amqtt's task for each plugin."""
        return self.exchange.allowed(session.username, topic, TopicAction(action.value))

    def _subscribers(self, topic: str) -> list[tuple[SessionState, int]]:
        """Each session once, with its highest QoS; remembered until a subscription changes."""
        routes = self._routes.get(topic)
        if routes is None:
            if len(self._routes) >= ROUTES_CACHED:
                self._routes.clear()
            routes = self._routes[topic] = self._matching(topic)
        return routes

    def _matching(self, topic: str) -> list[tuple[SessionState, int]]:
        """Linear in the topic filters."""
        found: dict[str, tuple[SessionState, int]] = {}
        for topic_filter, subscriptions in self._subscriptions.items():
            if self._matches(topic, topic_filter):
                for session, qos in subscriptions:
                    _, known = found.get(session.client_id, (None, 0))
                    found[session.client_id] = (state_of(session), max(qos, known))
        return list(found.values())


async def _close(writer: asyncio.StreamWriter) -> None:
    """Flush and close; a peer that does not read is cut off."""
    writer.close()
    try:
        async with asyncio.timeout(CLOSE_TIMEOUT_S):
            await writer.wait_closed()
    except OSError:
        writer.transport.abort()
