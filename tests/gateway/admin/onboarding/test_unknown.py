"""Topics that no mapping reads are listed with what they may be, within bounds."""

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from adapters.values.mapping import Mapping
from adapters.values.meaning import own
from adapters.values.message import Message
from adapters.values.proposal import Proposal
from gateway.admin.onboarding.unknown import KEPT_BYTES, UnknownTopics
from tests.gateway.admin.onboarding.house import Api, a_house, config
from tests.kit.gateways import PREFIXES, mapping, publish, watch

NOW = datetime(2026, 3, 2, tzinfo=UTC)
VALUES = PREFIXES + "SELECT ?value { ?observation sosa:hasSimpleResult ?value }"


async def until(api: Api, count: int) -> list[dict[str, Any]]:
    """The unknown topics, once there are so many and something is guessed of each."""
    async with asyncio.timeout(20):
        while len(found := await guessed(api)) != count:
            await asyncio.sleep(0.02)
    return found


async def guessed(api: Api) -> list[dict[str, Any]]:
    """The unknown topics; none as long as one is there of which nothing is guessed."""
    topics: list[dict[str, Any]] = (await api.ask("GET", "/mappings/unknown"))["topics"]
    return topics if all(each["guesses"] for each in topics) else []


def message(topic: str, payload: bytes = b"1", second: int = 0) -> Message:
    return Message(topic, payload, NOW + timedelta(seconds=second))


def guess(topic: str) -> Proposal:
    mapping = Mapping(f"urn:m:{topic}", topic, "scalar", "urn:s", "urn:p", "urn:f")
    return Proposal(mapping, "scalar", topic, topic, own(topic))


def test_a_topic_is_counted_and_its_last_payloads_are_kept_cut_off() -> None:
    topics = UnknownTopics(most=1000, most_bytes=2_097_152)
    asked = [topics.hear(message("a", b"x" * 600 * number, number)) for number in range(9)]
    assert [number + 1 for number, worth in enumerate(asked) if worth] == [1, 2, 4, 8]
    (seen,) = topics.list()
    assert (seen.count, seen.first_at, seen.last_at) == (9, NOW, NOW + timedelta(seconds=8))
    assert [sample.length_bytes for sample in seen.samples] == [3600, 4200, 4800]
    assert {len(sample.payload) for sample in seen.samples} == {KEPT_BYTES}


def test_the_topic_that_was_silent_longest_makes_room() -> None:
    topics = UnknownTopics(most=3, most_bytes=2_097_152)
    for name in ("a", "b", "c", "a", "d"):
        topics.hear(message(name))
    assert [each.topic for each in topics.list()] == ["d", "a", "c"]
    assert topics.forgotten == 1


def test_bytes_are_bounded_whatever_they_are_in() -> None:
    topics = UnknownTopics(most=10**6, most_bytes=100_000)
    for number in range(2000):
        topics.hear(message(f"{number}/{'t' * 1000}", b"p" * 1000))
    assert len(topics) < 25
    topics = UnknownTopics(most=10**6, most_bytes=100_000)
    for number in range(100):
        topics.hear(message(str(number)))
        topics.guess(str(number), "scalar", [guess(str(number))] * 999)
    assert len(topics) < 5
    topics.forget([each.topic for each in topics.list()])
    assert len(topics) == 0
    for number in range(100):  # what was forgotten costs nothing any more
        topics.hear(message(str(number)))
    assert len(topics) == 100


async def test_a_guess_about_an_unknown_topic_is_confirmed(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        readings = [("cellar/pump", b'{"t":12.5,"rpm":900}'), ("hall/door", b"open")]
        await publish(gateway.mqtt_port, readings)
        found = {each["topic"]: each for each in await until(api, 2)}
        pump = found["cellar/pump"]
        assert (pump["count"], pump["family"], found["hall/door"]["family"]) == (
            *(1, "json"),
            "scalar",
        )
        assert pump["payloads"][0]["payload"] == '{"t":12.5,"rpm":900}'
        by_path = {each["mapping"]["selector"]: each for each in pump["guesses"]}
        assert set(by_path) == {"$.t", "$.rpm"}
        assert by_path["$.t"]["question"]
        assert await api.proposals() == []
        seen = await api.ask("GET", f"/mappings/proposals/{by_path['$.t']['id']}")
        assert seen["status"] == "proposed"
        body = {"mapping": {"unit": "°C", "feature": "urn:cellar"}}
        await api.ask("POST", f"/mappings/proposals/{by_path['$.t']['id']}/confirm", body)
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, readings)
        await told.until(lambda: told.values() == ["12.5"])
        left = {each["topic"]: each for each in await until(api, 2)}
        assert [each["mapping"]["selector"] for each in left["cellar/pump"]["guesses"]] == ["$.rpm"]
        (rpm,) = left["cellar/pump"]["guesses"]
        await api.ask("POST", f"/mappings/proposals/{rpm['id']}/confirm")
        assert [each["topic"] for each in await until(api, 1)] == ["hall/door"]
        kept = {(each["status"], each["device"]) for each in await api.proposals()}
        assert kept == {("confirmed", "cellar/pump")}


async def test_members_that_no_mapping_of_a_topic_reads_are_seen(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        mine = mapping("pump", "cellar/pump", selector="$.t")
        await api.ask("POST", "/mappings/apply", {"add": [mine]})
        await publish(gateway.mqtt_port, [("cellar/pump", b'{"t":12.5,"rpm":900}')] * 3)
        (pump,) = await until(api, 1)
        assert [each["mapping"]["selector"] for each in pump["guesses"]] == ["$.rpm"]


async def test_topics_that_are_read_take_no_room_from_unknown_ones(tmp_path: Path) -> None:
    async with a_house(config(tmp_path, topics=3)) as (gateway, api):
        mine = mapping("pump", "pumps/+", selector="$.t")
        await api.ask("POST", "/mappings/apply", {"add": [mine]})
        await publish(gateway.mqtt_port, [("hall/door", b"open")])
        await publish(gateway.mqtt_port, [(f"pumps/{n}", b'{"t":12.5}') for n in range(20)])
        # What is heard is looked at in order: the last one is seen when all before it were.
        await publish(gateway.mqtt_port, [("hall/light", b"off")])
        assert [each["topic"] for each in await until(api, 2)] == ["hall/light", "hall/door"]
        assert (await api.get("/mappings/unknown")).json()["forgotten"] == 0


async def test_a_generic_format_is_accepted_only_without_a_question(tmp_path: Path) -> None:
    async with a_house(config(tmp_path, auto_accept=["json", "shelly"])) as (gateway, api):
        await publish(gateway.mqtt_port, [("x/y", b'{"t":12.5}')])
        await api.until(1, status="proposed")
        assert (await api.ask("GET", "/mappings"))["mappings"] == []


async def test_thousands_of_topics_with_odd_names(tmp_path: Path) -> None:
    odd = ["a b/<c>", '"/\\', "é/☃", "x" * 5000, "{1}/{name}", "%2F/%", "'; DROP ALL; --", "\u202e"]
    async with a_house(config(tmp_path, topics=500)) as (gateway, api):
        names = [f"flood/{number}" for number in range(3000)]
        await publish(gateway.mqtt_port, [(name, b"21.5") for name in [*names, *odd]])
        found = (await api.ask("GET", "/mappings/unknown"))["topics"]
        assert len(found) == 500
        assert [each["topic"] for each in found[: len(odd)]] == odd[::-1]
        answer = await api.get("/mappings/unknown")
        assert answer.json()["forgotten"] == 3000 + len(odd) - 500
        async with asyncio.timeout(20):
            while not all(each["guesses"] for each in found[: len(odd)]):
                found = (await api.ask("GET", "/mappings/unknown"))["topics"]
                await asyncio.sleep(0.02)
        ids = [each["guesses"][0]["id"] for each in found[: len(odd)]]
        await api.ask("POST", "/mappings/proposals/confirm", {"ids": ids})
        listed = (await api.ask("GET", "/mappings"))["mappings"]
        assert {each["topic"] for each in listed} == set(odd)
        assert not [each for each in listed if "error" in each]
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [(name, b"7") for name in odd])
        await told.until(lambda: told.values() == ["7"] * len(odd))
