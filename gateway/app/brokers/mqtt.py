"""The broker that messages come from and commands go to: our own, or the connection to another.

Put together once, when the gateway starts. Each link to a broker has a `publisher` that takes
commands at once, and `listening`, within which messages come in.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from typing import Protocol

from adapters.sparkplug.host import SparkplugHost
from gateway.actuation.command_topics import CommandTopics
from gateway.actuation.host_state import HostState, sparkplug_host_state
from gateway.admin.onboarding.onboarding import Onboarding
from gateway.app.brokers.settings import beside_of, broker_settings, external_settings
from gateway.app.onboarding import external_listener
from gateway.app.reception import Reception
from gateway.app.security import Security
from gateway.app.subscribers import Subscribing
from gateway.app.tasks import Tasks
from gateway.config.settings import Config
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
from gateway.gates.mqtt.external.announcing import ExternalCarrier
from gateway.gates.mqtt.external.broker import ExternalBroker
from gateway.gates.mqtt.external.commands import ExternalCommands
from gateway.gates.mqtt.external.measures import external_alarms, external_measures
from gateway.gates.mqtt.external.session_filters import SessionFilters
from gateway.gates.subscriptions.mqtt import MqttGate
from gateway.homeassistant.publisher import Carrier
from gateway.homeassistant.topics import Topics
from gateway.runtime.alarms import Source
from gateway.runtime.clocks import Clocks
from gateway.runtime.loop_calls import LoopCalls
from gateway.runtime.measures import Measure

_START_IT = (
    "start Mosquitto with the configuration in [mqtt] mosquitto_dir: "
    "systemctl status sosa-gateway-mosquitto"
)


@dataclass(frozen=True, slots=True)
class MqttContext:
    """What a link to a broker needs of others."""

    config: Config
    clocks: Clocks
    reception: Reception
    loop_calls: LoopCalls
    security: Security
    subscribing: Subscribing
    onboarding: Onboarding
    tasks: Tasks
    is_taken: Callable[[str], bool]
    """Whether another gate alone reads a topic."""
    announced: Topics | None = None
    """The topics at which Home Assistant is told something, where it is."""

    def host_state(self) -> HostState | None:
        """What a broker is told of us, where the configuration names us a host application."""
        host_id = self.config.sparkplug.host_id
        return sparkplug_host_state(host_id, self.clocks.now()) if host_id else None


class BrokerLink(Protocol):
    """Where messages come from; `port` is known within `listening`."""

    @property
    def publisher(self) -> EmbeddedPublisher | ExternalBroker:
        """Where commands go out."""
        ...

    @property
    def port(self) -> int:
        """Where the broker is reached."""
        ...

    def listens(self, topic: str) -> bool:
        """Whether somebody may listen to a topic; on another broker that is not known."""
        ...

    def tell(self, topic: str, payload: bytes) -> bool:
        """Publish what is nobody's command, with QoS 0; False where nobody is told."""
        ...

    def listening(self, topics: CommandTopics) -> AbstractAsyncContextManager[None]:
        """Messages come in, commands by `topics`; at the end nothing more is taken."""
        ...

    def announcing(
        self, topics: Topics, anew: Callable[[], None]
    ) -> AbstractAsyncContextManager[Carrier]:
        """The way for announcements, within `listening`; `anew` asks to have all sent again."""
        ...

    def measures(self) -> tuple[Measure, ...]:
        """What it counts."""
        ...

    def alarms(self) -> Source:
        """What is wrong with it."""
        ...

    def clients(self) -> Sequence[BrokerClient]:
        """Who is connected: devices here, or the gateway there."""
        ...


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


class OtherBroker:
    """The gateway connects to where the devices do: elsewhere, or a Mosquitto beside it."""

    def __init__(self, context: MqttContext) -> None:
        mappings = context.reception.mappings
        self._context = context
        self._beside = beside_of(context.config)
        if self._beside is not None:
            self._beside.follow_from_now()
        self._dialled = external_settings(context.config)
        self.port = context.config.mqtt.port
        self.publisher = ExternalBroker(
            replace(self._dialled, host_state=context.host_state()),
            context.reception.inbox,
            SessionFilters(context.config.gateway.data_dir / "mqtt-session.json"),
            context.clocks.now,
            context.is_taken,
        )
        self.publisher.on_connected(mappings.memory.of(SparkplugHost).doubt)
        self.publisher.set_filters(mappings.registry.topic_filters)
        mappings.on_change(self.publisher.set_filters)

    def announcing(
        self, topics: Topics, anew: Callable[[], None]
    ) -> AbstractAsyncContextManager[Carrier]:
        """Over a connection of its own."""
        return ExternalCarrier(self._dialled, topics, anew)

    def measures(self) -> tuple[Measure, ...]:
        """What the connection counts."""
        return external_measures(self.publisher)

    def alarms(self) -> Source:
        """Whether the broker is reached, and, beside us, told whom we know."""
        address, beside = f"{self._dialled.host}:{self._dialled.port}", self._beside
        if beside is None:
            return external_alarms(self.publisher, address)
        reached = external_alarms(self.publisher, address, _START_IT)
        return lambda: (*reached(), *beside.conditions())

    def listens(self, topic: str) -> bool:
        """That broker knows."""
        del topic
        return self.publisher.is_connected

    def tell(self, topic: str, payload: bytes) -> bool:
        """Publish, whoever listens."""
        return self.publisher.tell(topic, payload)

    def clients(self) -> Sequence[BrokerClient]:
        """The one connection to that broker."""
        config, mappings = self._context.config, self._context.reception.mappings
        address = f"{self._dialled.host}:{self._dialled.port}"
        filters = len(mappings.registry.topic_filters)
        is_there = self.publisher.is_connected
        return [
            BrokerClient(config.mqtt_client_id, config.mqtt.username, address, is_there, filters)
        ]

    @asynccontextmanager
    async def listening(self, topics: CommandTopics) -> AsyncIterator[None]:
        """Take what the broker sends; what it still has at the end it sends again next time."""
        context = self._context
        self.publisher.start()
        try:
            commands = ExternalCommands(
                self._dialled, topics.topic_filter, topics.accept, context.clocks.now
            )
            listener = external_listener(
                context.config,
                self._dialled,
                context.onboarding,
                context.clocks.now,
                context.announced,
            )
            async with AsyncExitStack() as stack:
                for each in (context.subscribing.over(self._dialled), commands, listener):
                    await stack.enter_async_context(each)
                if self._beside is not None:
                    await stack.enter_async_context(
                        context.tasks.task(self._beside.run, "mosquitto")
                    )
                yield
        finally:
            context.reception.inbox.close()
            await asyncio.to_thread(self.publisher.close)


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
