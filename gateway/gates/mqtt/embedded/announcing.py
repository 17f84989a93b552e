"""Announcements for Home Assistant by the embedded broker.

Place on the way of the data: the publisher → `EmbeddedCarrier` → the broker's retained messages and
whoever subscribes. What the broker has retained dies with the process, so what is taken back counts
as taken only where somebody is there who hears it.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from gateway.exchange.homeassistant.board import Out
from gateway.exchange.homeassistant.topics import OFFLINE, ONLINE, Topics
from gateway.gates.mqtt.embedded.broker import EmbeddedBroker


class EmbeddedCarrier:
    """Publishes at once."""

    def __init__(self, broker: EmbeddedBroker) -> None:
        self._broker = broker

    async def send(self, message: Out) -> bool:
        """Whether it is retained, or taken back from somebody."""
        topic, payload, retain, qos = message
        is_heard = bool(payload) or self._broker.backlog(topic) is not None
        await self._broker.publish(topic, payload, qos, retain)
        return is_heard


@asynccontextmanager
async def announcing(broker: EmbeddedBroker, topics: Topics) -> AsyncIterator[EmbeddedCarrier]:
    """Say that the gateway is there, and at the end that it is not."""
    await broker.publish(topics.status, ONLINE, qos=1, retain=True)
    try:
        yield EmbeddedCarrier(broker)
    finally:
        await broker.publish(topics.status, OFFLINE, qos=1, retain=True)
