"""Two brokers under the same rules: ours, and amqtt as it comes.

alice and bob may do everything, except that `secret/...` is alice's alone.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

from amqtt.broker import Broker
from amqtt.contexts import Action, BrokerConfig, ListenerConfig
from amqtt.plugins.base import BaseAuthPlugin, BaseTopicPlugin
from amqtt.session import Session

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker, Login, TopicAction

USERS = {"alice": "a-secret", "bob": "b-secret"}
SETTINGS = BrokerSettings(port=0, connect_timeout_s=0.2)
PLUGINS: dict[str, dict[str, str]] = {
    "tests.gateway.gates.mqtt.embedded.brokers.StockUsers": {},
    "tests.gateway.gates.mqtt.embedded.brokers.StockRights": {},
}


@dataclass(frozen=True, slots=True)
class Subject:
    """A running broker and what a probe may look at from inside."""

    port: int
    sessions: Callable[[], int]


async def authenticate(user: str | None, password: str | None, _: str) -> Login | None:
    known = user is not None and USERS.get(user) == password
    return Login(user) if user is not None and known else None


def authorize(user: str | None, topic: str, _: TopicAction) -> bool:
    return user == "alice" or not topic.startswith("secret/")


async def accept_all(_: Message) -> None:
    return


class StockUsers(BaseAuthPlugin):  # type: ignore[misc]  # amqtt is untyped
    async def authenticate(self, *, session: Session) -> bool:
        return await authenticate(session.username, session.password, "") is not None


class StockRights(BaseTopicPlugin):  # type: ignore[misc]  # amqtt is untyped
    async def topic_filtering(self, *, session: Session, topic: str, action: Action) -> bool:
        return authorize(session.username, topic, TopicAction(action.value))


@asynccontextmanager
async def hardened() -> AsyncIterator[Subject]:
    async with EmbeddedBroker(SETTINGS, accept_all, authenticate, authorize) as broker:
        yield Subject(broker.port, lambda: broker.statistics.sessions)


class StockBroker(Broker):  # type: ignore[misc]  # amqtt is untyped
    """amqtt unchanged; only remembers its streams, which its shutdown leaves open."""

    def __init__(self, config: BrokerConfig) -> None:
        super().__init__(config)
        self.writers: list[asyncio.StreamWriter] = []

    async def stream_connected(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, listener_name: str
    ) -> None:
        self.writers.append(writer)
        await super().stream_connected(reader, writer, listener_name)

    async def close_streams(self) -> None:
        for writer in self.writers:
            writer.transport.abort()
        closing = (writer.wait_closed() for writer in self.writers)
        await asyncio.gather(*closing, return_exceptions=True)


@asynccontextmanager
async def stock() -> AsyncIterator[Subject]:
    listeners = {"default": ListenerConfig(bind="127.0.0.1:0")}
    broker = StockBroker(BrokerConfig(listeners=listeners, plugins=dict(PLUGINS)))
    await broker.start()
    try:
        port = broker._servers["default"].instance.sockets[0].getsockname()[1]
        yield Subject(port, lambda: len(broker.sessions))
    finally:
        await broker.shutdown()
        await broker.close_streams()


async def eventually(condition: Callable[[], bool], timeout_s: float = 30.0) -> bool:
    """Whether `condition` becomes true in time; for brokers that tell nobody."""
    try:
        async with asyncio.timeout(timeout_s):
            while not condition():
                await asyncio.sleep(0.01)
    except TimeoutError:
        return False
    return True
