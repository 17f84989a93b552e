"""The router of the embedded broker: who is asked first gets the message."""

from datetime import UTC, datetime

import pytest

from adapters.values.message import Message
from gateway.gates.mqtt.embedded.router import Router


class Accepting:
    """A destination of the topics that begin with `prefix`."""

    def __init__(self, prefix: str, error: Exception | None = None) -> None:
        self.accepted: list[str] = []
        self._prefix = prefix
        self._error = error

    def takes(self, topic: str) -> bool:
        return topic.startswith(self._prefix)

    async def accept(self, message: Message) -> None:
        if self._error is not None:
            raise self._error
        self.accepted.append(message.topic)


def message(topic: str) -> Message:
    return Message(topic, b"", datetime(2026, 1, 1, tzinfo=UTC))


async def test_first_destination_that_takes_the_topic_gets_the_message() -> None:
    requests, readings = Accepting("sparql/"), Accepting("")
    router = Router()
    router.route_to(requests, readings)
    for topic in ("sparql/hall/request", "hall/t"):
        await router.accept(message(topic))
    assert (requests.accepted, readings.accepted) == (["sparql/hall/request"], ["hall/t"])


async def test_what_the_destination_raises_is_raised_and_nobody_else_is_asked() -> None:
    readings = Accepting("")
    router = Router()
    router.route_to(Accepting("", ConnectionError()), readings)
    with pytest.raises(ConnectionError):
        await router.accept(message("hall/t"))
    assert readings.accepted == []


async def test_what_nobody_takes_is_accepted() -> None:
    router = Router()
    router.route_to(Accepting("a/"))
    await router.accept(message("b"))
