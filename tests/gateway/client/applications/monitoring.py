"""The agents of the monitoring: `python -m …applications.monitoring ROLE PROFILE [PORT]`.

A topics manager, an adapter between MQTT and the gateway, a page and a storing service. Each says
what it does, a JSON list on a line.
"""

import asyncio
import re
import sys
from collections.abc import Callable, Mapping
from decimal import Decimal
from pathlib import Path

from paho.mqtt.client import Client, MQTTMessage
from paho.mqtt.enums import CallbackAPIVersion
from pyoxigraph import Literal, NamedNode

from gateway.client import (
    Aggregator,
    AsyncConsumer,
    AsyncProducer,
    Consumer,
    Notification,
    Producer,
)
from gateway.rdf.solutions import Solution
from gateway.rdf.terms import Term
from jsap import load_profile
from tests.gateway.client.applications.chat import say


def manage(profile: Path) -> None:
    """Map the topics that the profile itself has."""
    with Producer(profile, "ADD_OBSERVATION") as manager:
        manager.update_all(load_profile(profile).extended["topics"])
    say("added")


class Adapter:
    """Numbers out of messages, by the patterns of the topics that are mapped now."""

    def __init__(self, producer: AsyncProducer) -> None:
        self._producer = producer
        self._topics: dict[str, tuple[Term, re.Pattern[str]]] = {}

    async def learn(self, topics: AsyncConsumer) -> None:
        """Follow the mappings."""
        async for notification in topics:
            for gone in notification.removed:
                self._topics.pop(value(gone["topic"]), None)
            for new in notification.added:
                pattern = re.compile(value(new["pattern"]))
                self._topics[value(new["topic"])] = new["observation"], pattern
            say("mapped", *sorted(self._topics))

    async def convert(self, messages: asyncio.Queue[MQTTMessage]) -> None:
        """An update for each message with a number."""
        while True:
            message = await messages.get()
            observation, pattern = self._topics.get(message.topic, (None, None))
            text = message.payload.decode(errors="replace")
            found = pattern.search(text) if pattern is not None else None
            if observation is None or found is None:
                say("ignored", message.topic)
            else:
                await self._producer.update(
                    {"observation": observation, "value": Decimal(found[1])}
                )


async def adapt(profile: Path, port: int) -> None:
    """Between the broker at the port and the gateway."""
    messages: asyncio.Queue[MQTTMessage] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    client = Client(CallbackAPIVersion.VERSION2, "mqtt-adapter")

    def on_message(_client: Client, _data: object, message: MQTTMessage) -> None:
        loop.call_soon_threadsafe(messages.put_nowait, message)

    def on_subscribe(*_: object) -> None:
        loop.call_soon_threadsafe(say, "ready")

    client.on_message, client.on_subscribe = on_message, on_subscribe
    producer = AsyncProducer(profile, "UPDATE_OBSERVATION_VALUE")
    async with producer, AsyncConsumer(profile, "TOPICS") as topics:
        client.connect("127.0.0.1", port)
        client.loop_start()
        client.subscribe("#", qos=1)
        adapter = Adapter(producer)
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(adapter.learn(topics))
            tasks.create_task(adapter.convert(messages))


def show(profile: Path) -> None:
    """What a page would show."""
    with Consumer(profile, "OBSERVATIONS") as observations:
        say("ready")
        for notification in observations:
            for row in notification.added:
                say("shows", value(row["label"]), value(row["value"]), value(row["unit"]))


def store(profile: Path) -> None:
    """Keep every value with its time."""

    def kept(notification: Notification) -> list[dict[str, Term | str]]:
        return [kept_row(row) for row in notification.added]

    with Aggregator(profile, "OBSERVATIONS", "STORE_OBSERVATION") as observations:
        say("ready")
        observations.run(kept)


def kept_row(row: Solution) -> dict[str, Term | str]:
    """The values of STORE_OBSERVATION."""
    return {
        "observation": row["observation"],
        "value": row["value"],
        "timestamp": value(row["timestamp"]),
    }


def value(term: Term) -> str:
    """The text of an IRI or a literal."""
    return term.value if isinstance(term, NamedNode | Literal) else str(term)


ROLES: Mapping[str, Callable[[Path], None]] = {
    "manager": manage,
    "adapter": lambda profile: asyncio.run(adapt(profile, int(sys.argv[3]))),
    "page": show,
    "storing": store,
}

if __name__ == "__main__":
    ROLES[sys.argv[1]](Path(sys.argv[2]))
