"""What goes wrong at the other end, in numbers: nothing dies, nothing stays."""

import asyncio
import gc
import json
import random
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import ClientConnection, connect

from gateway.app.gateway import Gateway
from tests.kit.gateways import LOOPBACK, WAIT_S, running, settings, write_profile
from tests.kit.metrics import metrics, until_metric

ALL = "SELECT ?o { ?s <urn:p> ?o }"
SUBSCRIBE = json.dumps({"subscribe": {"sparql": ALL, "alias": "x"}})
SOCKETS = 1000
MESSAGES = 10_000


@pytest.fixture
async def gateway(tmp_path: Path) -> AsyncIterator[Gateway]:
    profile = write_profile(tmp_path)
    config = settings(tmp_path, profile, resume_s=1, connection_subscriptions=2 * MESSAGES)
    async with running(config) as gateway:
        yield gateway


def _url(gateway: Gateway) -> str:
    return f"ws://{LOOPBACK}:{gateway.websocket_port}/subscribe"


async def _open(gateway: Gateway) -> ClientConnection:
    return await connect(_url(gateway), compression=None, proxy=None, ping_interval=None)


async def test_sockets_dropped_without_close_leave_nothing(gateway: Gateway) -> None:
    before = await metrics(gateway)
    opening = asyncio.Semaphore(50)

    async def subscribe() -> ClientConnection:
        async with opening:
            client = await _open(gateway)
            await client.send(SUBSCRIBE)
            await asyncio.wait_for(client.recv(), WAIT_S)
            return client

    clients = await asyncio.gather(*(subscribe() for _ in range(SOCKETS)))
    assert (await metrics(gateway))["subscriptions"] == before["subscriptions"] + SOCKETS
    await gateway.scheduler.update("INSERT DATA { <urn:a> <urn:p> 1 }")
    for client in clients:
        client.transport.abort()
    await until_metric(gateway, "subscriptions", before["subscriptions"], 60)
    after = await metrics(gateway)
    for name in ("sockets", "subscriptions_away", 'spus{tier="delta"}'):
        assert after.get(name) == before.get(name)
    gc.collect()
    left = [each for each in gc.get_objects() if type(each).__name__ in {"_Socket", "Outbox"}]
    assert not left


def _malformed(rng: random.Random) -> str | bytes:
    """A request that something has happened to."""
    seeds: list[Any] = [
        {"subscribe": {"sparql": ALL, "alias": "a", "default-graph-uri": ["urn:g"]}},
        {"subscribe": {"spuid": "sepa://subscription/1", "sequence": 3, "alias": "b"}},
        {"unsubscribe": {"spuid": "sepa://subscription/1", "authorization": "Bearer x"}},
    ]
    odd: list[Any] = [
        None,
        True,
        -1,
        1.5,
        10**30,
        "",
        "\x00",
        "\ud800",
        [],
        [[]],
        {},
        {"a": {}},
        "x" * 1000,
    ]
    message = rng.choice(seeds)
    body = dict(next(iter(message.values())))
    kind = rng.choice([*message, "subscribe", "unsubscribe", "other"])
    for _ in range(rng.randint(0, 2)):
        body[rng.choice([*body, "named-graph-uri", "sparql"])] = rng.choice(odd)
    text = json.dumps({kind: rng.choice([body, body, body, *odd])})
    match rng.randrange(4):
        case 0:
            cut = rng.randrange(len(text))
            return text[:cut] + text[cut + rng.randint(1, 9) :]
        case 1:
            cut = rng.randrange(len(text))
            return text[:cut] + chr(rng.randrange(1, 0xD7FF)) + text[cut:]
        case 2:
            return rng.randbytes(rng.randrange(50))
        case _:
            return text


async def test_malformed_messages_are_answered_one_by_one(gateway: Gateway) -> None:
    before = await metrics(gateway)
    rng = random.Random(4)
    client = await _open(gateway)
    answers = asyncio.create_task(_until_alias(client, "the end"))
    for _ in range(MESSAGES):
        await client.send(_malformed(rng))
    await client.send(json.dumps({"unsubscribe": {"spuid": "none", "alias": "the end"}}))
    errors = await asyncio.wait_for(answers, 60)
    assert errors > MESSAGES / 2
    await client.close()
    await until_metric(gateway, "subscriptions", before["subscriptions"], 60)
    async with connect(_url(gateway), proxy=None) as other:
        await other.send(SUBSCRIBE)
        assert json.loads(await other.recv())["notification"]["sequence"] == 0


async def _until_alias(client: ClientConnection, alias: str) -> int:
    """How many errors there were; each message has one answer, and an error its members."""
    errors = answered = 0
    async for text in client:
        message = json.loads(text)
        answered += 1
        if "error" in message:
            errors += 1
            assert message["error_description"]
            assert isinstance(message["status_code"], int)
        else:
            assert {"notification", "unsubscribed", "resumed"} & set(message)
        if message.get("alias") == alias:
            assert answered == MESSAGES + 1
            return errors
    pytest.fail("the socket was closed")


async def test_reader_that_never_reads_slows_nobody(gateway: Gateway) -> None:
    live, stuck = await _open(gateway), await _open(gateway)
    for client in (live, stuck):
        await client.send(SUBSCRIBE)
        await client.recv()
    stuck.transport.pause_reading()
    padding = "x" * 100_000
    for number in range(200):
        await gateway.scheduler.update(f'INSERT DATA {{ <urn:a> <urn:p> "{number} {padding}" }}')
    seen = 0
    while seen < 200:
        told = json.loads(await asyncio.wait_for(live.recv(), WAIT_S))["notification"]
        seen += len(told["addedResults"]["results"]["bindings"])
    assert seen == 200
    stuck.transport.abort()
    await live.close()
