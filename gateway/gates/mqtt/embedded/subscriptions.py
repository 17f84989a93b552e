"""SUBSCRIBE over the embedded broker: who listens, who has room, and who may use which topic.

Place on the way of the data: between the embedded broker and `MqttGate`. A message to a request
topic does not go to ingest. The broker's session says who asks: with users, CLIENT in the topics is
the user's name, and nobody else may publish to or receive from them.
"""

import asyncio
from collections.abc import Awaitable, Callable

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.broker import EmbeddedBroker
from gateway.gates.mqtt.embedded.settings import Accept, Authorize, TopicAction
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


def accept_requests(
    gate: MqttGate,
    user_of: Callable[[str], str | None],
    identify: Identify,
    accept: Callable[[Message], Awaitable[None]],
) -> Accept:
    """Have requests answered by the gate, and everything else accepted as it was."""

    async def accept_message(message: Message) -> None:
        name = request_topic(gate.prefix, message.topic)
        if name is None:
            await accept(message)
            return
        user = user_of(message.client_id)
        await gate.request(message.topic, message.payload, Client(f"mqtt:{name}", _as(user)))

    def _as(user: str | None) -> Callable[[str | None], Principal]:
        return lambda _: identify(user)

    return accept_message


def authorize_requests(prefix: str, authorize: Authorize | None) -> Authorize:
    """Leave the topics below the prefix to the user that they name, all others to `authorize`."""

    def may(user: str | None, topic: str, action: TopicAction) -> bool:
        first, _, rest = topic.partition("/")
        if first == prefix:
            return user is not None and rest.partition("/")[0] == user
        return authorize is None or authorize(user, topic, action)

    return may
