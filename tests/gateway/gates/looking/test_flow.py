"""What goes through the gateway: told once a second while somebody listens, and only then."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.types import Message

from gateway.admin.looking.latencies import ReadingLatencies
from gateway.app.gateway import Gateway
from gateway.gates.looking.flow import FlowGate, FlowMeter, FlowSources, Stage, _Listener, quantiles
from gateway.security.policy import EVERYTHING, Policy
from tests.gateway.gates.looking.guarded import guarded
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    mapping,
    publish,
    running,
    settings,
    write_profile,
)

TEMPERATURE = mapping("temperature", "room/+", selector="$.t")


def url(gateway: Gateway) -> str:
    return f"http://{LOOPBACK}:{gateway.http_port}"


@asynccontextmanager
async def listening(client: httpx.AsyncClient) -> AsyncIterator[AsyncIterator[dict[str, Any]]]:
    async with client.stream("GET", "/flow") as stream:
        assert stream.headers["content-type"].startswith("text/event-stream")
        yield _events(stream)


async def _events(stream: httpx.Response) -> AsyncIterator[dict[str, Any]]:
    async for line in stream.aiter_lines():
        if line.startswith("data: "):
            yield json.loads(line.removeprefix("data: "))


def _tasks(name: str) -> list[object]:
    return [task for task in asyncio.all_tasks() if task.get_name() == name]


async def until_none(name: str) -> None:
    async with asyncio.timeout(WAIT_S):
        while _tasks(name):
            await asyncio.sleep(0.01)


async def test_counts_rates_and_latency_are_told_and_nothing_works_without_listeners(
    tmp_path: Path,
) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with (
        running(settings(tmp_path, profile)) as gateway,
        httpx.AsyncClient(base_url=url(gateway), timeout=WAIT_S) as client,
    ):
        assert not _tasks("flow")
        async with listening(client) as events:
            first = await anext(events)
            assert [each["name"] for each in first["stages"]] == [
                *("messages", "observations", "updates", "notifications")
            ]
            assert first["latency_ms"] == {"p50": None, "p99": None}
            messages = [("room/a", b'{"t":%d}' % number) for number in range(10)]
            await publish(gateway.mqtt_port, [*messages, ("nobody/knows", b"1")])
            seen = [await anext(events)]
            while seen[-1]["stages"][1]["count"] < 10 or not any(
                each["latency_ms"]["p50"] for each in seen
            ):
                seen.append(await anext(events))
            last = seen[-1]
            assert last["stages"][0]["count"] == 11
            assert max(each["stages"][0]["rate"] for each in seen) > 0
            assert last["stages"][0]["rate_10s"] > 0
            assert all(stage["waiting"] >= 0 for stage in last["stages"])
            measured = [each["latency_ms"] for each in seen if each["latency_ms"]["p50"]]
            assert all(0 < each["p50"] <= each["p99"] < 1000 * WAIT_S for each in measured)
            assert (last["alarms"], last["proposals"]) == (0, 0)
            async with asyncio.timeout(WAIT_S):
                while (await anext(events))["unknown"] != 1:
                    pass  # counted again every 5 s
            assert len(_tasks("flow")) == 1
            assert last["t"] > first["t"]
        await until_none("flow")
        async with listening(client) as events:
            again = await anext(events)
            assert [each["rate_10s"] for each in again["stages"]] == [0.0] * 4
            assert again["latency_ms"]["p50"] is None


async def test_listeners_share_one_task_and_are_bounded(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path), client_connections=2)
    async with (
        running(config) as gateway,
        httpx.AsyncClient(base_url=url(gateway), timeout=WAIT_S) as client,
    ):
        async with listening(client) as one, listening(client) as other:
            assert (await anext(one)).keys() == (await anext(other)).keys()
            assert len(_tasks("flow")) == 1
            refused = await client.get("/flow")
            assert refused.status_code == 429, refused.text
        await until_none("flow")
        assert (await client.head("/flow")).status_code == 200
        assert (await client.post("/flow")).status_code == 405


async def test_streams_end_when_the_gateway_stops(tmp_path: Path) -> None:
    async with httpx.AsyncClient(timeout=WAIT_S) as client:
        async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
            request = client.build_request("GET", f"{url(gateway)}/flow")
            stream = await client.send(request, stream=True)
            events = _events(stream)
            await anext(events)
        assert len([each async for each in events]) <= 2
        await stream.aclose()
        assert not _tasks("flow")


async def test_only_operators_listen_and_a_revoked_one_no_more(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    policies = {"boss": EVERYTHING, "plain": Policy(query=None)}
    async with guarded(config, tmp_path, policies) as (_, ask):
        assert (await ask("", "HEAD", "/flow")).status_code == 401
        assert (await ask("plain", "GET", "/flow")).status_code == 403
        assert (await ask("boss", "HEAD", "/secure/flow")).status_code == 200


async def test_a_slow_reader_misses_events_and_holds_nobody_up() -> None:
    sent: list[bytes] = []
    taken, free = asyncio.Event(), asyncio.Event()

    async def send(message: Message) -> None:
        if message.get("body"):
            sent.append(message["body"])
            taken.set()
            await free.wait()

    async def receive() -> Message:
        await asyncio.Event().wait()
        raise AssertionError

    listener = _Listener(send, WAIT_S)
    running_ = asyncio.create_task(listener._write())
    listener.offer(b"1")
    await taken.wait()
    for number in range(2, 100):
        listener.offer(b"%d" % number)
    free.set()
    while sent[-1] != b"99":
        await asyncio.sleep(0)
    assert sent == [b"1", b"99"]
    listener.offer(None)
    await running_


async def test_who_takes_nothing_any_more_is_given_up() -> None:
    async def send(_: Message) -> None:
        await asyncio.Event().wait()

    listener = _Listener(send, 0.01)
    listener.offer(b"1")
    await listener._write()


def test_rates_are_of_the_last_second_and_of_the_last_ten() -> None:
    passed, now = [0], [0.0]
    meter = FlowMeter([Stage("m", lambda: passed[0], lambda: 0)], lambda: now[0])
    for _ in range(12):
        (told,) = meter.sample()
        now[0] += 1
        passed[0] += 20
    assert (told["rate"], told["rate_10s"]) == (20.0, 20.0)
    now[0] += 1
    (told,) = meter.sample()
    assert (told["rate"], told["rate_10s"]) == (10.0, pytest.approx(18.18))
    meter.forget()
    assert meter.sample()[0]["rate"] == 0.0


def test_quantiles_by_nearest_rank() -> None:
    assert quantiles([number / 1000 for number in range(1, 101)]) == {"p50": 50.0, "p99": 99.0}
    assert quantiles([0.5]) == {"p50": 500.0, "p99": 500.0}


async def test_streams_end_where_the_numbers_cannot_be_told(tmp_path: Path) -> None:
    def broken() -> int:
        raise RuntimeError("no such counter")

    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        subscribers = gateway.stages.subscribing.subscribers

        async def none() -> int:
            return 0

        sources = FlowSources([], {"alarms": broken}, none, ReadingLatencies(), lambda: 0)
        gate = FlowGate(subscribers, sources)
        async with httpx.AsyncClient(
            transport=httpx.ASGITransport(app=gate), base_url=f"http://{LOOPBACK}"
        ) as client:
            answer = await client.get("/flow")
        assert (answer.status_code, answer.content) == (200, b"")
        assert gate.listeners == 0
