"""The publisher for Home Assistant, as the configuration has it.

Put together once, when the gateway starts. Where nothing is to be published, it takes back what an
earlier life has announced, and is there for that alone.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

from gateway.app.brokers.mqtt import MqttContext
from gateway.app.control import Control
from gateway.app.stages import Stages
from gateway.app.storage import Storage
from gateway.app.tasks import Tasks
from gateway.config.settings import Config
from gateway.exchange.homeassistant.earlier import Earlier
from gateway.exchange.homeassistant.publisher import Around, Publisher
from gateway.exchange.homeassistant.settings import PublishSettings
from gateway.exchange.homeassistant.topics import Topics


def topics_of(config: Config) -> Topics | None:
    """Where Home Assistant is told something; None where it is not, and was not."""
    settings = config.homeassistant
    if not settings.publish and not Earlier(config.gateway.data_dir).is_there:
        return None
    return Topics(settings.prefix, settings.topic, config.gateway.id)


def taken_by(topics: Topics | None, *owners: Callable[[str], bool]) -> Callable[[str], bool]:
    """Whether a topic is read by another gate alone, or is one at which only we publish."""
    every = owners if topics is None else (*owners, topics.is_ours)
    return lambda topic: any(is_ours(topic) for is_ours in every)


def publisher_of(context: MqttContext, storage: Storage, control: Control) -> Publisher | None:
    """None where there are no topics."""
    config, topics = context.config, context.announced
    if topics is None:
        return None
    reception, actuating = context.reception, control.actuating
    around = Around(
        storage.scheduler,
        lambda: control.reload.profiles,
        reception.mappings,
        actuating.actuators,
        actuating.topics.topic,
        context.loop_calls,
        Earlier(config.gateway.data_dir),
    )
    publisher = Publisher(around, _settings(config), topics)
    if publisher.reads_streams:
        reception.ingest.on_records(stored=publisher.readings.stored)
    return publisher


def _settings(config: Config) -> PublishSettings:
    given = config.homeassistant
    return PublishSettings(
        given.publish,
        given.prefix,
        given.topic,
        frozenset(given.not_from),
        given.read,
        given.entities,
        given.interval_s,
    )


@asynccontextmanager
async def publishing(stages: Stages, tasks: Tasks) -> AsyncIterator[None]:
    """Tell Home Assistant what there is, as long as the context lasts; the broker is there."""
    publisher, broker = stages.homeassistant, stages.broker
    if publisher is None:
        yield
        return
    async with (
        broker.announcing(publisher.topics, publisher.anew) as carrier,
        tasks.task(publisher.virtual.run, "virtual sensors"),
    ):
        await publisher.follow()
        async with tasks.task(partial(publisher.run, carrier), "homeassistant"):
            yield
