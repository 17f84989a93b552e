"""$SYS: at SUBSCRIBE as retained messages, then every so often, for who may receive it alone."""

from dataclasses import replace
from pathlib import Path

from gateway import __version__
from gateway.config.settings import SecuritySettings
from gateway.gates.mqtt.embedded.broker import BrokerSettings, EmbeddedBroker
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import Policy
from tests.gateway.gates.mqtt.embedded.fakes import running
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient, Received
from tests.gateway.security.clients import identity
from tests.kit import gateways

SETTINGS = BrokerSettings(port=0, status_interval_s=0.05)
SELDOM = replace(SETTINGS, status_interval_s=3600.0)
TOPICS = 10
REFUSED = 0x80


async def bob(broker: EmbeddedBroker, name: str = "d", clean: bool = True) -> RawClient:
    return await RawClient.connect(broker.port, name, "bob", "b-secret", clean=clean)


async def told(client: RawClient, count: int = TOPICS) -> dict[str, Received]:
    messages = [await client.next_message() for _ in range(count)]
    return {message.topic.removeprefix("$SYS/broker/"): message for message in messages}


async def test_subscriber_is_told_what_is_now_as_retained() -> None:
    async with running(SELDOM) as broker, await bob(broker) as client:
        await (await bob(broker, "away", clean=False)).disconnect()
        await client.publish("lab/t", b"1", retain=True)
        await client.subscribe("lab/t")
        assert (await client.next_message()).payload == b"1"
        await client.subscribe("$SYS/#", 1)
        now = await told(client)
        assert all(each.retain and each.qos == 0 for each in now.values())
        assert {name: each.payload.decode() for name, each in now.items()} == {
            "version": f"sosa-gateway {__version__}",
            "uptime": "0 seconds",
            "clients/connected": "1",
            "clients/disconnected": "1",
            "clients/total": "2",
            "messages/received": "1",
            "messages/sent": "1",
            "publish/messages/dropped": "0",
            "retained messages/count": "1",
            "subscriptions/count": "2",
        }
        assert await client.ping() == []


async def test_subscriber_is_told_every_so_often() -> None:
    async with running(SETTINGS) as broker, await bob(broker) as client:
        await client.subscribe("$SYS/broker/clients/connected")
        assert [(await client.next_message()).payload for _ in range(2)] == [b"1", b"1"]
        async with await bob(broker, "other"):
            while (message := await client.next_message()).payload != b"2":
                pass
            assert (message.retain, message.topic) == (False, "$SYS/broker/clients/connected")


async def test_wildcard_at_the_first_level_and_who_is_away_get_nothing() -> None:
    async with running(SETTINGS) as broker, await bob(broker, "watch") as watch:
        for everything in ("#", "+/broker/uptime"):
            assert await watch.subscribe(everything) == 0
        async with await bob(broker, "away", clean=False) as away:
            await away.subscribe("$SYS/broker/uptime", 1)
            await away.disconnect()
        async with await bob(broker) as client:
            await client.subscribe("$SYS/broker/uptime")
            for _ in range(3):
                await client.next_message()
        assert broker.statistics.queued == 0
        assert await watch.ping() == []


async def test_status_that_is_switched_off_is_not_told() -> None:
    off = replace(SETTINGS, status_interval_s=0.0)
    async with running(off) as broker, await bob(broker) as client:
        assert await client.subscribe("$SYS/#") == 0
        assert await client.ping() == []


async def test_status_is_for_who_may_receive_it(tmp_path: Path) -> None:
    store = IdentityStore(tmp_path / "data" / "security" / "identities.sqlite")
    monitor = Policy(receive=frozenset({"$SYS/broker/uptime", "home/#"}))
    store.add(identity("monitor", monitor, Kind.DEVICE))
    store.add(identity("lamp", Policy(receive=frozenset({"#"})), Kind.DEVICE))
    config = gateways.settings(tmp_path, gateways.write_profile(tmp_path))
    security = SecuritySettings(enabled=True)
    async with gateways.running(config.model_copy(update={"security": security})) as gateway:
        port = gateway.mqtt_port
        async with (
            await RawClient.connect(port, "m", "monitor", "monitor-secret") as client,
            await RawClient.connect(port, "l", "lamp", "lamp-secret") as lamp,
        ):
            for refused in ("$SYS/#", "$SYS/broker/+", "$SYS/broker/version"):
                assert await client.subscribe(refused) == await lamp.subscribe(refused) == REFUSED
            assert await lamp.subscribe("$SYS/broker/uptime") == REFUSED
            assert await client.subscribe("$SYS/broker/uptime") == 0
            assert list(await told(client, 1)) == ["uptime"]
            assert await client.ping() == await lamp.ping() == []
