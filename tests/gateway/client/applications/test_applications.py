"""The chat and the MQTT monitoring of SEPA's paper: agents in processes, a gateway's real gates."""

import asyncio
import json
import sys
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import pytest

from gateway.client import AsyncClient
from tests.gateway.client.places import chatting, on_ports, shipped
from tests.kit.gateways import Device, Program, running, settings, write_profile

pytestmark = pytest.mark.end_to_end

MESSAGES = 8


def agent(stack: ExitStack, application: str, *arguments: object) -> Program:
    module = f"tests.gateway.client.applications.{application}"
    command = (sys.executable, "-m", module, *map(str, arguments))
    return stack.enter_context(Program(*command))


def heard(program: Program, word: str, count: int) -> list[list[str]]:
    """So many lines with this first word."""
    lines = (program.wait_for(f'["{word}"', timeout_s=60) for _ in range(count))
    return [json.loads(line)[1:] for line in lines]


def chat(stack: ExitStack, profile: Path) -> None:
    people = ("urn:ann", "urn:bob")
    inboxes = {each: agent(stack, "chat", "receiver", profile, each) for each in people}
    removers = {each: agent(stack, "chat", "remover", profile, each) for each in people}
    for program in (*inboxes.values(), *removers.values()):
        heard(program, "ready", 1)
    for person, other in (people, people[::-1]):
        agent(stack, "chat", "sender", profile, person, other, MESSAGES)
    for person, other in (people, people[::-1]):
        texts = Counter(f"{number} from {other}" for number in range(MESSAGES))
        assert Counter(text for [text] in heard(inboxes[person], "known", MESSAGES)) == texts
        removed = [message for [message] in heard(removers[person], "removed", MESSAGES)]
        assert len(set(removed)) == MESSAGES


async def test_a_chat_of_two_leaves_nothing_behind(tmp_path: Path) -> None:
    async with chatting(tmp_path) as (_, profile):
        with ExitStack() as stack:
            await asyncio.to_thread(chat, stack, profile)
        async with AsyncClient(profile) as client:
            assert await client.query("QUERY_ALL") == []


def monitor(stack: ExitStack, profile: Path, port: int) -> None:
    page = agent(stack, "monitoring", "page", profile)
    storing = agent(stack, "monitoring", "storing", profile)
    adapter = agent(stack, "monitoring", "adapter", profile, port)
    for program in (page, storing, adapter):
        heard(program, "ready", 1)
    agent(stack, "monitoring", "manager", profile)
    while not heard(adapter, "mapped", 1)[0]:
        pass  # the first answer has none yet
    with Device(port, "node-1") as device:
        device.publish(
            [
                ("site/6lowpan/NODE1/Temperature", b"T=-3.50 C"),
                ("site/lora/soil", b"battery=3.3;moisture=41"),
                ("site/unknown", b"7"),
                ("site/lora/soil", b"moisture=lost"),
                ("site/6lowpan/NODE1/Temperature", b"T=21 C"),
            ]
        )
        assert Counter(map(tuple, heard(page, "shows", 3))) == Counter(
            [
                ("Temperature of node 1", "-3.5", "http://qudt.org/vocab/unit/DEG_C"),
                ("Soil moisture", "41", "http://qudt.org/vocab/unit/PERCENT"),
                ("Temperature of node 1", "21", "http://qudt.org/vocab/unit/DEG_C"),
            ]
        )


async def test_mqtt_sensors_are_monitored_and_kept(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        members = shipped("mqtt-monitoring.jsap")
        profile = on_ports(tmp_path, members, gateway.http_port, gateway.websocket_port)
        observation = "https://sosa-gateway.example/monitoring#site-6lowpan-node1-temperature"
        with ExitStack() as stack:
            await asyncio.to_thread(monitor, stack, profile, gateway.mqtt_port)
            async with AsyncClient(profile) as client, asyncio.timeout(30):
                while True:
                    kept = await client.query("HISTORY", {"observation": observation})
                    assert isinstance(kept, list)
                    if len(kept) == 2:
                        break
                    await asyncio.sleep(0.05)
        assert [json.loads(str(row["value"]).partition("^^")[0]) for row in kept] == ["-3.5", "21"]
