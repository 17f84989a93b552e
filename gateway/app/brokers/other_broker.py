"""The connection to another broker, put together once, when the gateway starts."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace

from adapters.sparkplug.host import SparkplugHost
from gateway.actuation.command_topics import CommandTopics
from gateway.app.brokers.mqtt import MqttContext
from gateway.app.brokers.settings import beside_of, external_settings
from gateway.app.onboarding import external_listener
from gateway.exchange.homeassistant.publisher import Carrier
from gateway.exchange.homeassistant.topics import Topics
from gateway.gates.mqtt.embedded.broker import BrokerClient
from gateway.gates.mqtt.external.announcing import ExternalCarrier
from gateway.gates.mqtt.external.broker import ExternalBroker
from gateway.gates.mqtt.external.commands import ExternalCommands
from gateway.gates.mqtt.external.measures import external_alarms, external_measures
from gateway.gates.mqtt.external.session_filters import SessionFilters
from gateway.runtime.alarms import Source
from gateway.runtime.measures import Measure

_START_IT = (
    "start Mosquitto with the configuration in [mqtt] mosquitto_dir: "
    "systemctl status sosa-gateway-mosquitto"
)


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

    def names(self, level: str) -> bool:
        """That broker knows."""
        del level
        return self.publisher.is_connected

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
                context.is_taken,
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
