"""Topics of commands: which messages become actuations, and which must not."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import cast

import pytest
from pyoxigraph import Literal

from adapters.values.message import Message
from gateway.actuation.actuator import Actuator
from gateway.actuation.actuators import Actuators
from gateway.actuation.command_topics import WINDOW, CommandTopics
from gateway.actuation.commands import Commands
from gateway.actuation.statistics import ActuationStatistics
from gateway.errors import BadRequestError, StorageError

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
ON = Message("actuators/lamp/set", b"ON", NOW, "remote", 7, qos=1)
AGAIN = replace(ON, duplicate=True)


class Asked:
    """Takes down what is asked for."""

    def __init__(self, error: Exception | None = None) -> None:
        self.values: list[str] = []
        self.iris: list[str] = []
        self.error = error

    async def request(self, actuator: Actuator, value: Literal, mark: str = "") -> str:
        if self.error is not None:
            raise self.error
        self.values.append(value.value)
        self.iris.append(f"urn:x/actuation/{mark}{len(self.iris)}")
        return self.iris[-1]


def topics(asked: Asked, prefix: str = "actuators") -> CommandTopics:
    actuators = Actuators()
    lamp = Actuator.of("urn:lamp", {"topic": "lamp/set", "name": "lamp"}, ["ON", "OFF"])
    actuators.by_name = MappingProxyType({"lamp": lamp})
    return CommandTopics(prefix, actuators, cast(Commands, asked), ActuationStatistics())


async def asked_for(messages: Sequence[Message]) -> tuple[list[str], int]:
    """The values that were asked for, and how many messages were ignored."""
    asked = Asked()
    made = topics(asked)
    for message in messages:
        await made.accept(message)
    return asked.values, made._statistics.ignored


@pytest.mark.parametrize(
    ("topic", "name"),
    [
        ("actuators/lamp/set", "lamp"),
        ("actuators/urn%3Alamp/set", "urn%3Alamp"),
        ("actuators/lamp/get", None),
        ("actuators/lamp", None),
        ("actuators//set", None),
        ("actuators/a/b/set", None),
        ("actuators/set", None),
        ("home/actuators/lamp/set", None),
    ],
)
def test_which_topics_are_those_of_commands(topic: str, name: str | None) -> None:
    assert topics(Asked()).name(topic) == name


def test_prefix_may_have_levels() -> None:
    made = topics(Asked(), "home/hall")
    assert (made.name("home/hall/lamp/set"), made.topic_filter) == ("lamp", "home/hall/+/set")


async def test_payload_is_the_value() -> None:
    assert await asked_for([ON, replace(ON, payload=b" 21.5\n", packet_id=0)]) == (
        ["ON", "21.5"],
        0,
    )


@pytest.mark.parametrize(
    "message",
    [
        replace(ON, retained=True),
        replace(ON, payload=b""),
        replace(ON, payload=b"\xff"),
        replace(ON, topic="actuators/nobody/set"),
    ],
)
async def test_message_that_is_no_command_is_ignored(message: Message) -> None:
    assert await asked_for([message]) == ([], 1)


async def test_delivery_that_comes_again_is_ignored_for_a_while() -> None:
    assert await asked_for([ON, AGAIN, AGAIN]) == (["ON"], 2)
    assert await asked_for([ON, ON]) == (["ON", "ON"], 0)
    assert await asked_for([AGAIN]) == (["ON"], 0)
    others = [replace(AGAIN, packet_id=8), replace(AGAIN, client_id="x")]
    assert await asked_for([ON, *others]) == (["ON"] * 3, 0)
    late = replace(AGAIN, received_at=NOW + WINDOW + timedelta(seconds=1))
    assert await asked_for([ON, late]) == (["ON", "ON"], 0)


async def test_delivery_that_comes_again_after_a_restart_is_ignored() -> None:
    before, after = Asked(), Asked()
    await topics(before).accept(ON)
    restarted = topics(after)
    restarted.recall([(iri, NOW) for iri in before.iris])
    await restarted.accept(AGAIN)
    assert after.values == []


async def test_what_could_not_be_stored_may_come_again() -> None:
    asked = Asked(StorageError("the disk is full"))
    made = topics(asked)
    with pytest.raises(StorageError):
        await made.accept(ON)
    asked.error = None
    await made.accept(AGAIN)
    assert asked.values == ["ON"]


async def test_value_that_cannot_be_stored_costs_the_message_only() -> None:
    made = topics(Asked(BadRequestError("no character")))
    await made.accept(ON)
    assert made._statistics.ignored == 1
