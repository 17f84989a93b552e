"""Events behind a position: told once each, in order, whatever was restarted meanwhile."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import ClientConnection

from gateway.app.gateway import Gateway
from gateway.config.events import EventsSettings
from gateway.config.settings import Config
from gateway.journal.event_position import EventPosition
from tests.gateway.app.test_windows_at_the_gates import http, message, notification, socket
from tests.kit.gateways import (
    PREFIXES,
    mapping,
    publish,
    running,
    settings,
    update,
    write_profile,
)

Json = dict[str, Any]

EVERY = f"""{PREFIXES}
SELECT ?v {{ {{ ?s <urn:p> ?v }} UNION {{ ?s sosa:hasSimpleResult ?v }} }}"""


def config(folder: Path, **events: Any) -> Config:
    profile = write_profile(folder, [mapping("t", "room/+", selector="$.t")])
    kept = EventsSettings(log=True, **events)
    return settings(folder, profile, kind="disk").model_copy(update={"events": kept})


@asynccontextmanager
async def gateway(folder: Path, **events: Any) -> AsyncIterator[Gateway]:
    async with running(config(folder, **events)) as opened:
        yield opened


async def begin(client: ClientConnection, after: str | None = None) -> Json:
    """Subscribe to all events, or to those behind a position; the first notification."""
    members = {} if after is None else {"after": {"test": after}}
    body = {"sparql": EVERY, "mode": "event", **members}
    await client.send(json.dumps({"subscribe": body}))
    return await notification(client)


async def told(client: ClientConnection, count: int) -> list[tuple[str, str]]:
    """So many rows, each with the position of its event; they come in the order of positions."""
    found: list[tuple[str, str]] = []
    while len(found) < count:
        each = await notification(client)
        rows = [row["v"]["value"] for row in each["addedResults"]["results"]["bindings"]]
        places = [event["position"] for event in each["events"] for _ in range(event["rows"])]
        assert len(rows) == len(places)
        found += zip(places, rows, strict=True)
    positions = [EventPosition.parse(place) for place, _ in found]
    assert positions == sorted(positions)
    return found


async def happen(opened: Gateway, numbers: Sequence[int]) -> None:
    """Messages and requests in turn, one of each number."""
    for number in numbers:
        if number % 2:
            text = f"INSERT DATA {{ <urn:s> <urn:p> {number} }}"
            await update(opened, text)
        else:
            payload = json.dumps({"t": number}).encode()
            await publish(opened.mqtt_port, [("room/1", payload)])


async def test_after_tells_what_was_once_and_what_comes(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        first = await begin(client)
        begun = first["federation"]["positions"]["test"]
        await happen(opened, range(1, 9))
        live = await told(client, 8)
        assert [value for _, value in live] == [str(number) for number in range(1, 9)]
        for at in (None, 0, 3, 7):
            after = begun if at is None else live[at][0]
            expected = live if at is None else live[at + 1 :]
            async with socket(opened) as later:
                again = await begin(later, after)
                assert (again["sequence"], again["events"]) == (0, [])
                assert "gap" not in again["federation"]
                assert await told(later, len(expected)) == expected
        async with socket(opened) as later:
            await begin(later, live[4][0])
            await happen(opened, range(9, 13))
            assert [value for _, value in await told(later, 7)] == [
                str(number) for number in range(6, 13)
            ]


async def test_after_a_restart_nothing_is_lost_and_nothing_comes_twice(tmp_path: Path) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        await begin(client)
        await happen(opened, range(1, 5))
        live = await told(client, 4)
        last = live[1][0]
        await happen(opened, range(5, 7))
    async with gateway(tmp_path) as opened:
        await happen(opened, range(7, 9))
    async with gateway(tmp_path) as opened, socket(opened) as client:
        again = await begin(client, last)
        assert "gap" not in again["federation"]
        found = await told(client, 6)
        assert found[:2] == live[2:]
        assert [value for _, value in found] == [str(number) for number in range(3, 9)]
        await happen(opened, [9])
        assert [value for _, value in await told(client, 1)] == ["9"]


async def test_what_is_not_known_any_more_is_a_gap(tmp_path: Path) -> None:
    async with gateway(tmp_path, log_bytes=4_000) as opened, socket(opened) as client:
        first = await begin(client)
        begun = first["federation"]["positions"]["test"]
        for number in range(120):
            await update(opened, f"INSERT DATA {{ <urn:s> <urn:p> {number} }}")
        live = await told(client, 120)
        async with socket(opened) as later:
            again = await begin(later, begun)
            gap = again["federation"]["gap"]["test"]
            assert gap["from"] == begun
            since = EventPosition.parse(gap["to"])
            expected = [each for each in live if EventPosition.parse(each[0]) > since]
            assert 0 < len(expected) < 120
            assert await told(later, len(expected)) == expected


async def test_positions_of_others_and_more_replays_than_may_be_are_refused(
    tmp_path: Path,
) -> None:
    async with gateway(tmp_path) as opened, socket(opened) as client:
        body = {"sparql": EVERY, "mode": "event", "after": {"other": "1-1.1"}}
        await client.send(json.dumps({"subscribe": body}))
        refused = await message(client)
        assert refused["status_code"] == 400
        assert "other" in refused["error_description"]


async def test_without_a_log_after_is_refused_with_what_to_do(tmp_path: Path) -> None:
    plain = config(tmp_path).model_copy(update={"events": EventsSettings()})
    async with running(plain) as opened, socket(opened) as client:
        assert "federation" not in await begin(client)
        body = {"sparql": EVERY, "mode": "event", "after": {"test": "1-1.1"}}
        await client.send(json.dumps({"subscribe": body}))
        refused = await message(client)
        assert "[events] log = true" in refused["error_description"]


async def test_counts_and_answers_are_those_of_the_request(tmp_path: Path) -> None:
    """The note of the position is no change of the client's."""
    async with gateway(tmp_path) as opened, http(opened) as client:
        answer = await client.post("/update", data={"update": "INSERT DATA { <urn:s> <urn:p> 1 }"})
        assert answer.json()["response"]["body"] == {"added": 1, "removed": 0}
        text = (await client.get("/metrics")).text
        assert "sosa_gateway_event_log_bytes" in text
