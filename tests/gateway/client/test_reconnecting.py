"""Lost connections: resumed by the gateway, made anew by others, and every step stays exact."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from gateway.client import (
    AsyncClient,
    AsyncConsumer,
    AsyncProducer,
    Backoff,
    Notification,
    ProtocolError,
    RefusedError,
    Settings,
    SubscriptionEndedError,
    UnreachableError,
)
from tests.gateway.client.places import Player, Relay, broker, chatting, letters, on_ports, shipped
from tests.kit.gateways import WAIT_S

SETTINGS = Settings(timeout_s=20, backoff=Backoff(first_s=0.01, most_s=0.1))


def sent(text: str) -> dict[str, str]:
    return {"text": text, "sender": "urn:ann", "receiver": "urn:bob"}


def texts(notification: Notification) -> list[str]:
    return [str(each["text"]).strip('"') for each in notification.added]


@pytest.mark.parametrize("resume_s", [10, 0])
async def test_a_line_that_is_cut_loses_and_doubles_nothing(tmp_path: Path, resume_s: int) -> None:
    async with chatting(tmp_path, resume_s=resume_s) as (gateway, direct):
        relay = Relay(gateway.websocket_port)
        profile = on_ports(tmp_path, shipped("chat.jsap"), gateway.http_port, relay.port)
        producer = AsyncProducer(direct, "SEND", SETTINGS)
        consumer = AsyncConsumer(profile, "SENT", {"receiver": "urn:bob"}, SETTINGS)
        seen: Counter[str] = Counter()
        async with relay.running(), producer, consumer, asyncio.timeout(WAIT_S * 2):
            assert (await consumer.receive()).added == ()
            for number in range(8):
                relay.refusing = number % 4 == 3
                if number % 2:
                    relay.cut()
                await producer.update(sent(str(number)))
                relay.refusing = False
                notification = await consumer.receive()
                assert texts(notification) == [str(number)]
                assert notification.removed == ()
                assert notification.again == (number % 2 == 1 and not resume_s)
                seen.update(texts(notification))
            assert relay.lines >= 5
        assert seen == Counter(map(str, range(8)))


async def test_a_gateway_that_starts_again_is_compared_with_what_is_known(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (first, direct):
        relay = Relay(first.websocket_port)
        profile = on_ports(tmp_path, shipped("chat.jsap"), first.http_port, relay.port)
        async with relay.running(), AsyncClient(direct, SETTINGS) as client:
            await client.update("SEND", sent("old"))
            async with AsyncConsumer(
                profile, "SENT", {"receiver": "urn:bob"}, SETTINGS
            ) as consumer:
                assert texts(await consumer.receive()) == ["old"]
                relay.refusing = True
                relay.cut()
                other_folder = tmp_path / "other"
                other_folder.mkdir()
                async with (
                    chatting(other_folder) as (second, other),
                    AsyncClient(other, SETTINGS) as writer,
                ):
                    await writer.update("SEND", sent("new"))
                    relay._target = second.websocket_port
                    relay.refusing = False
                    change = await consumer.receive()
                    assert texts(change) == ["new"]
                    assert len(change.removed) == 1
                    assert change.again
                    assert len(consumer.solutions) == 1
                    relay.refusing = True


async def receive_all(
    profile: Path, count: int, settings: Settings = SETTINGS
) -> list[Notification]:
    async with asyncio.timeout(WAIT_S), AsyncConsumer(profile, "Q", settings=settings) as consumer:
        return [await consumer.receive() for _ in range(count)]


async def test_a_broker_that_cannot_resume_answers_from_the_start(tmp_path: Path) -> None:
    asked = []

    async def first(player: Player) -> None:
        asked.append(await player.request())
        await player.notify(0, "abb")
        await player.notify(1, "c", "a")
        await player.hang_up()

    async def second(player: Player) -> None:
        asked.append(await player.request())
        await player.notify(0, "bcd")
        await player.notify(1, "b")
        await player.stay()

    async with broker(tmp_path, first, second) as profile:
        told = await receive_all(profile, 4)
    assert [(letters(each.added), letters(each.removed)) for each in told] == [
        ("abb", ""),
        ("c", "a"),
        ("d", "b"),
        ("b", ""),
    ]
    assert [each.again for each in told] == [False, False, True, False]
    assert asked[1]["subscribe"]["spuid"] == "sepa://subscription/1"
    assert asked[1]["subscribe"]["sequence"] == 1
    assert asked[1]["subscribe"]["sparql"] == asked[0]["subscribe"]["sparql"]


async def test_early_changes_unknown_messages_and_gaps(tmp_path: Path) -> None:
    async def first(player: Player) -> None:
        await player.request()
        await player.say({"ping": "now", "spuid": "x"})
        await player.notify(1, "b")
        await player.notify(0, "a", time="never", removedResults=None)
        await player.notify(3, "d")
        await player.stay()

    async def second(player: Player) -> None:
        await player.request()
        await player.say({"error": "cannot_resume", "status_code": 410, "error_description": "no"})
        await player.stay()

    async def third(player: Player) -> None:
        assert "spuid" not in (await player.request())["subscribe"]
        await player.notify(0, "abcd")
        await player.stay()

    async with broker(tmp_path, first, second, third) as profile:
        told = await receive_all(profile, 3)
    assert [(each.sequence, letters(each.added)) for each in told] == [
        (0, "a"),
        (1, "b"),
        (0, "cd"),
    ]
    assert told[0].time is None


@pytest.mark.parametrize(
    ("message", "error"),
    [
        ("no json", ProtocolError),
        ("[]", ProtocolError),
        ({"notification": {"spuid": "x"}}, ProtocolError),
        ({"notification": {"spuid": "x", "sequence": 0, "addedResults": 3}}, ProtocolError),
        ({"error": "sparql_syntax", "status_code": 400}, RefusedError),
        ({"error": "server", "error_description": "x", "status_code": 500}, RefusedError),
    ],
)
async def test_what_is_no_answer_ends_the_consumer(
    tmp_path: Path, message: object, error: type[Exception]
) -> None:
    async def play(player: Player) -> None:
        await player.request()
        await player.say(message)
        await player.stay()

    async with broker(tmp_path, play) as profile:
        with pytest.raises(error):
            await receive_all(profile, 1)


async def test_tries_are_counted_and_a_first_connection_is_tried_once(tmp_path: Path) -> None:
    async def play(player: Player) -> None:
        await player.request()
        await player.notify(0, "a")
        await player.hang_up()

    async def refuse(player: Player) -> None:
        await player.hang_up()

    few = Settings(backoff=Backoff(first_s=0.01, tries=2))
    async with broker(tmp_path, play, refuse, refuse) as profile:
        with pytest.raises(SubscriptionEndedError, match=r"subscription/1 has ended: .*closed"):
            await receive_all(profile, 2, few)
    async with broker(tmp_path, refuse) as profile:
        with pytest.raises(UnreachableError, match="the connection was closed"):
            await receive_all(profile, 1, few)
