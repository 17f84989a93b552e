"""The broker of the gateway itself, put together once, when it starts."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager

from gateway.actuation.command_topics import CommandTopics
from gateway.actuation.host_state import HostState
from gateway.app.brokers.mqtt import MqttContext
from gateway.app.brokers.settings import broker_settings
from gateway.exchange.homeassistant.publisher import Carrier
from gateway.exchange.homeassistant.topics import Topics
from gateway.gates.mqtt.embedded.announcing import announcing
from gateway.gates.mqtt.embedded.broker import BrokerClient, EmbeddedBroker
from gateway.gates.mqtt.embedded.gate import EmbeddedPublisher, Readings
from gateway.gates.mqtt.embedded.measures import embedded_alarms, embedded_measures
from gateway.gates.mqtt.embedded.router import Router
from gateway.gates.mqtt.embedded.subscriptions import (
    EmbeddedExchange,
    SparqlRequests,
    authorize_requests,
)
from gateway.gates.subscriptions.mqtt import MqttGate
from gateway.runtime.alarms import Source
from gateway.runtime.measures import Measure


class OwnBroker:
    """Devices connect to the gateway."""

    def __init__(self, context: MqttContext) -> None:
        self._context = context
        self._router = Router()
        subscribing = context.subscribing
        authenticate, authorize = context.security.broker_rules(context.config.mqtt.users)
        if authenticate is not None:
            authorize = authorize_requests(subscribing.prefix, authorize)
        self._readings = Readings(context.reception.inbox, context.loop_calls, context.is_taken)
        self.broker = EmbeddedBroker(
            broker_settings(context.config, context.security.context),
            self._router.accept,
            authenticate,
            authorize,
            context.clocks.now,
            refuse=self._readings.refuse,
        )
        self._gate = MqttGate(
            subscribing.subscribers, EmbeddedExchange(self.broker), subscribing.prefix
        )
        self.publisher = EmbeddedPublisher(self.broker, context.loop_calls)

    @property
    def port(self) -> int:
        """Where devices connect."""
        return self.broker.port

    def announcing(
        self, topics: Topics, anew: Callable[[], None]
    ) -> AbstractAsyncContextManager[Carrier]:
        """What it has retained goes with it, and with us: nothing is ever to be sent again."""
        del anew
        return announcing(self.broker, topics)

    def measures(self) -> tuple[Measure, ...]:
        """What the broker counts."""
        return embedded_measures(self.broker, self.publisher)

    def alarms(self) -> Source:
        """Limits of the broker that bite."""
        return embedded_alarms(self.broker, self._context.config.mqtt.connections)

    def names(self, level: str) -> bool:
        """Whether a client has subscribed to a filter that begins with it."""
        return self.broker.names(level)

    def listens(self, topic: str) -> bool:
        """Whether a client has subscribed to it."""
        return self.broker.listens(topic)

    def tell(self, topic: str, payload: bytes) -> bool:
        """Publish to who listens."""
        return self.broker.tell(topic, payload)

    def clients(self) -> Sequence[BrokerClient]:
        """The sessions of devices, those that are away too."""
        return self.broker.clients()

    @asynccontextmanager
    async def listening(self, topics: CommandTopics) -> AsyncIterator[None]:
        """Take what devices publish: SPARQL requests first, then commands, then readings."""
        context = self._context
        announced = () if context.announced is None else (context.announced,)
        self._router.route_to(
            SparqlRequests(self._gate, self.broker.user_of, context.subscribing.identify),
            topics,
            *announced,
            self._readings,
        )
        run = context.tasks.task(self.publisher.run, "publish")
        async with (
            self._gate,
            self.broker,
            run,
            _host_state_told(self.broker, context.host_state()),
        ):
            yield


@asynccontextmanager
async def _host_state_told(broker: EmbeddedBroker, state: HostState | None) -> AsyncIterator[None]:
    """Say in a retained message that we are there, and at the end that we are not."""
    if state is None:
        yield
        return
    await broker.publish(state.topic, state.online, qos=1, retain=True)
    try:
        yield
    finally:
        await broker.publish(state.topic, state.offline, qos=1, retain=True)
