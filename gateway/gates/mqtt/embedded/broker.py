"""`EmbeddedBroker`: the gateway's own MQTT 3.1.1 broker, for an installation without another one.

Place: devices' PUBLISH → `accept` (inbox, store) → PUBACK → subscribers; commands and answers of
the gateway → `publish` → subscribers. Store before acknowledge: a device that has its PUBACK
(QoS 1) or PUBREC (QoS 2) need not keep the message. Source: MQTT 3.1.1 (OASIS, 2014).

What the broker holds (sessions, queued and retained messages) is in memory and dies with the
process; at-least-once rests on devices that repeat what was not acknowledged.
"""

import asyncio
import ipaddress
from datetime import UTC, datetime
from math import inf
from types import TracebackType
from typing import Self

from amqtt.errors import BrokerError

from adapters.values.message import Message
from gateway.errors import BadRequestError, ConfigurationError
from gateway.gates.mqtt.embedded.frames import Publish, require_topic
from gateway.gates.mqtt.embedded.hardened_broker import HardenedBroker
from gateway.gates.mqtt.embedded.session import BrokerClient
from gateway.gates.mqtt.embedded.settings import (
    Accept,
    Authenticate,
    Authorize,
    BrokerSettings,
    BrokerStatistics,
    Clock,
    Login,
    Refuse,
    Rules,
    TopicAction,
)
from gateway.runtime.strangers import quiet_libraries

__all__ = [
    "BrokerClient",
    "BrokerSettings",
    "BrokerStatistics",
    "EmbeddedBroker",
    "Login",
    "TopicAction",
]


def _now() -> datetime:
    return datetime.now(UTC)


async def _acknowledge_alone(_: Message, __: int) -> None:
    """Where nobody is to be told of payloads that are too long."""


class EmbeddedBroker:
    """Listens while the context is entered; no field is valid before.

    `accept(message)` is awaited for every PUBLISH of a client that may publish it, wills included,
    before the client is answered and before a subscriber sees it; up to `max_inflight` messages
    of one client are with `accept` at a time, started and acknowledged in order of arrival. A
    message of QoS 0 (`message.qos`) has no answer: `accept` returns for it as soon as the inbox
    has taken it. When `accept` raises, the connection closes without an answer and the client
    repeats the message later, with DUP set; such a repetition may have been stored already.
    `refuse(message, payload_bytes)` is awaited in its stead where the payload is too long,
    and no subscriber sees that.

    `authenticate(user, password, address)` and `authorize(user, topic, action)` may be None: anyone
    may connect, from this machine only (ValueError for a host that is not loopback), and everyone
    may do everything. A connection ends with its `Login`. `authorize` is called on the event loop
    and must neither wait nor raise.

    >>> async def print_it(message):
    ...     print(message.topic)
    >>> async def serve_for_ever():
    ...     async with EmbeddedBroker(BrokerSettings(port=0), print_it, None) as broker:
    ...         await broker.publish("actuators/valve", b"open", qos=1)
    """

    def __init__(
        self,
        settings: BrokerSettings,
        accept: Accept,
        authenticate: Authenticate | None,
        authorize: Authorize | None = None,
        clock: Clock = _now,
        *,
        refuse: Refuse = _acknowledge_alone,
    ) -> None:
        if authenticate is None and not _is_loopback(settings.host):
            raise ValueError(
                f"a broker without authentication may not listen on {settings.host!r}: "
                "bind it to 127.0.0.1 or give it users"
            )
        self._settings = settings
        self._rules = Rules(accept, refuse, authenticate, authorize, clock)
        self._broker: HardenedBroker
        self._telling: asyncio.Task[None]

    async def __aenter__(self) -> Self:
        quiet_libraries()
        self._broker = HardenedBroker(self._settings, self._rules)
        try:
            await self._broker.start()
        except BrokerError as error:
            cause = error.__cause__  # amqtt wraps whatever is raised
            if isinstance(cause, ConfigurationError):
                raise cause from error
            raise ConfigurationError(f"the MQTT broker does not start: {error}") from error
        self._telling = asyncio.create_task(self._broker.tell_status(), name="mqtt-status")
        return self

    async def __aexit__(
        self,
        error_type: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._telling.cancel()
        await asyncio.wait({self._telling})
        await self._broker.shutdown()

    @property
    def port(self) -> int:
        """The bound port of TCP."""
        return self._broker.ports[0]

    @property
    def web_socket_port(self) -> int | None:
        """The bound port of WebSocket; None where it is off."""
        _, *rest = self._broker.ports
        return rest[0] if rest else None

    async def publish(
        self,
        topic: str,
        payload: bytes,
        qos: int = 0,
        retain: bool = False,
        expires_s: float = inf,
    ) -> None:
        """Send to subscribers, never to `accept`; BadRequestError for a topic with wildcards.

        Returns once the message is in their queues; a full queue drops and counts it. Who comes
        for it after `expires_s`, by the steady clock, does not get it.
        """
        require_topic(topic)
        if qos not in (0, 1, 2):
            raise BadRequestError(f"QoS {qos} does not exist")
        self._broker.exchange.route(Publish(topic, payload, qos, retain, expires_s=expires_s))

    def names(self, level: str) -> bool:
        """Whether somebody has subscribed to a filter that begins with this level; in any thread.

        Without one nobody `listens` to a topic that begins with it.
        """
        return self._broker.names(level)

    def listens(self, topic: str) -> bool:
        """Whether somebody may have it who named the first level of the topic in a filter."""
        level = topic.partition("/")[0] + "/"
        return any(
            name.startswith(level)
            for each in self._broker.listeners(topic)
            for name in each.filters
        )

    def tell(self, topic: str, payload: bytes) -> bool:
        """Send with QoS 0 to who is connected; False: nobody listens."""
        if not self._broker.listeners(topic):
            return False
        self._broker.exchange.route(Publish(topic, payload, 0))
        return True

    def user_of(self, client_id: str) -> str | None:
        """The authenticated user of a client's session; None for an anonymous one."""
        return self._broker.user_of(client_id)

    def clients(self) -> list[BrokerClient]:
        """Who has a session, connected or away; linear in them."""
        return self._broker.clients()

    def backlog(self, topic: str) -> int | None:
        """How many messages wait for whoever listens to a topic; None: nobody does.

        Who named the topic's first two levels in a filter counts more than who listens to
        everything; of several, the one who has fewest.
        """
        named = "/".join(topic.split("/")[:2])
        listeners = self._broker.listeners(topic)
        own = [each for each in listeners if any(name.startswith(named) for name in each.filters)]
        return min((len(each.delivery) for each in own or listeners), default=None)

    @property
    def statistics(self) -> BrokerStatistics:
        """Counts since the start and gauges of now; linear in the sessions."""
        return self._broker.statistics


def _is_loopback(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
