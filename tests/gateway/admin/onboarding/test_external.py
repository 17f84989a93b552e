"""At an external broker announcements are subscribed, and the filters that are to be collected."""

import asyncio
from pathlib import Path

from gateway.config.discovery import DiscoverySettings
from tests.gateway.admin.onboarding.devices import bridge_devices
from tests.gateway.admin.onboarding.house import Api
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    Device,
    mapping,
    mosquitto,
    publish,
    running,
    settings,
    watch,
    write_profile,
)

DEVICES = "zigbee2mqtt/bridge/devices"
VALUES = PREFIXES + "SELECT ?value { ?observation sosa:hasSimpleResult ?value }"


def announce(port: int) -> None:
    with Device(port) as device:
        device.send(DEVICES, bridge_devices("kitchen"), retain=True)
        device.send("zigbee2mqtt/kitchen", b'{"temperature":19}', retain=True)
        assert device.wait_acknowledged(2) == 2


async def test_what_a_broker_retained_is_proposed_and_seeds_the_state(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker:
        await asyncio.to_thread(announce, broker.port)
        plain = settings(tmp_path, write_profile(tmp_path), mosquitto=broker.port)
        collect = DiscoverySettings.model_validate({"collect": ["cellar/#"]})
        given = plain.model_copy(update={"discovery": collect})
        async with (
            running(given) as gateway,
            Api(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as api,
        ):
            found = await api.until(2)
            await publish(broker.port, [("cellar/pump", b"12.5"), ("attic/fan", b"1")])
            async with asyncio.timeout(20):
                while not (topics := (await api.ask("GET", "/mappings/unknown"))["topics"]):
                    await asyncio.sleep(0.02)
            assert [each["topic"] for each in topics] == ["cellar/pump"]
            told = await watch(gateway, VALUES)
            warm = next(each for each in found if each["label"].endswith("temperature"))
            await api.ask("POST", f"/mappings/proposals/{warm['id']}/confirm")
            await told.until(lambda: told.values() == ["19"])


async def test_no_families_no_subscription(tmp_path: Path) -> None:
    with mosquitto(tmp_path) as broker:
        await asyncio.to_thread(announce, broker.port)
        plain = settings(tmp_path, write_profile(tmp_path), mosquitto=broker.port)
        none = DiscoverySettings.model_validate({"families": [], "collect": ["cellar/#"]})
        async with (
            running(plain.model_copy(update={"discovery": none})) as gateway,
            Api(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as api,
        ):
            await asyncio.to_thread(broker.wait_subscribed, "cellar/#")
            await publish(broker.port, [("cellar/pump", b"12.5")])
            async with asyncio.timeout(20):
                while not (await api.ask("GET", "/mappings/unknown"))["topics"]:
                    await asyncio.sleep(0.02)
            assert await api.proposals() == []


async def test_what_is_collected_and_mapped_is_one_observation(tmp_path: Path) -> None:
    reading = mapping("t", "cellar/+", selector="$.t")
    with mosquitto(tmp_path) as broker:
        profile = write_profile(tmp_path, [reading])
        plain = settings(tmp_path, profile, mosquitto=broker.port, latest=100)
        everything = DiscoverySettings.model_validate({"collect": ["#"]})
        async with running(plain.model_copy(update={"discovery": everything})) as gateway:
            await asyncio.to_thread(broker.wait_subscribed, "#", "cellar/+")
            told = await watch(gateway, VALUES)
            payloads = [f'{{"t":{number}}}'.encode() for number in range(20)]
            await publish(broker.port, [("cellar/pump", each) for each in payloads])
            await told.until(lambda: len(told.values()) >= 20)
            assert sorted(map(int, told.values())) == list(range(20))
            assert gateway.statistics()["unmapped"] == 0
