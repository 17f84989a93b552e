"""SUBSCRIBE over the embedded broker: who listens, who has room, and who may use which topic.

Place on the way of the data: between the embedded broker and `MqttGate`. A message to a request
topic does not go to ingest. The broker's session says who asks: with users, CLIENT in the topics is
the user's name, and nobody else may publish to or receive from them.
"""

import asyncio
from collections.abc import Callable

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.gates.mqtt.embedded.settings import Authorize, TopicAction
from gateway.gates.subscriptions.mqtt import MqttGate, request_topic
from gateway.gates.subscriptions.subscriber import Client
from gateway.security.principal import Principal

Identify = Callable[[str | None], Principal]
"""Who a user of the broker is now; None is a client without a name. Raises an UnauthorizedError."""

_WINDOW = 20
_LOOK_AGAIN_S = 0.02


class EmbeddedExchange:
    """Sends to clients of the embedded broker.

    No more than `window` messages wait for a listener; then the outbox merges.
    """

    def __init__(self, broker: EmbeddedBroker, window: int = _WINDOW) -> None:
        self._broker = broker
        self._window = window

    async def send(self, topic: str, payload: bytes) -> bool:
        """Publish with QoS 1; False: nobody listens. Waits while a listener is behind."""
        while (waiting := self._broker.backlog(topic)) is not None:
            if waiting < self._window:
                await self._broker.publish(topic, payload, qos=1)
                return True
            await asyncio.sleep(_LOOK_AGAIN_S)
        return False


class SparqlRequests:
    """Requests to `gate`; `user_of` knows the user of a client of the broker."""

    def __init__(
        self, gate: MqttGate, user_of: Callable[[str], str | None], identify: Identify
    ) -> None:
        self._gate = gate
        self._user_of = user_of
        self._identify = identify

    def takes(self, topic: str) -> bool:
        """Whether it is the request topic of somebody."""
        return request_topic(self._gate.prefix, topic) is not None

    async def accept(self, message: Message) -> None:
        """Returns when the request is answered."""
        name = request_topic(self._gate.prefix, message.topic)
        user = self._user_of(message.client_id)
        client = Client(f"mqtt:{name}", lambda _: self._identify(user))
        await self._gate.request(message.topic, message.payload, client)


def authorize_requests(prefix: str, authorize: Authorize | None) -> Authorize:
    """Leave the topics below the prefix to the user that they name, all others to `authorize`."""

    def may(user: str | None, topic: str, action: TopicAction) -> bool:
        first, _, rest = topic.partition("/")
        if first == prefix:
            return user is not None and rest.partition("/")[0] == user
        return authorize is None or authorize(user, topic, action)

    return may
