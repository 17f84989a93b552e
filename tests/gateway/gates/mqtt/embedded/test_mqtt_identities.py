"""The embedded broker under the identities of the gateway: logins, topics, the end of a login."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.config.settings import SecuritySettings
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import EVERYTHING, Policy
from tests.gateway.gates.mqtt.embedded.raw_mqtt import RawClient, Will
from tests.gateway.security.clients import identity
from tests.kit.gateways import LOOPBACK, running, settings, write_profile

LAMP = Policy(publish=frozenset({"home/lamp/state"}), receive=frozenset({"home/lamp/#"}))
REFUSED, NOT_AUTHORIZED = 0x80, 5


@asynccontextmanager
async def open_gateway(folder: Path) -> AsyncIterator[tuple[Gateway, IdentityStore]]:
    store = IdentityStore(folder / "data" / "security" / "identities.sqlite")
    store.add(identity("lamp", LAMP, Kind.DEVICE))
    store.add(identity("boss", EVERYTHING, Kind.USER))
    config = settings(folder, write_profile(folder))
    security = SecuritySettings(enabled=True, device_token_s=1.0)
    async with running(config.model_copy(update={"security": security})) as gateway:
        yield gateway, store


async def token_of(gateway: Gateway, name: str) -> str:
    async with httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as client:
        answer = await client.post(
            "/oauth/token",
            data={"grant_type": "client_credentials"},
            auth=(f"{name}-id", f"{name}-secret"),
        )
    return str(answer.json()["access_token"])


async def code_of(gateway: Gateway, user: str | None, password: str | None) -> int | None:
    async with await RawClient.connect(gateway.mqtt_port, "c", user, password) as client:
        return client.code


async def test_a_login_is_a_client_with_its_secret_or_its_token(tmp_path: Path) -> None:
    async with open_gateway(tmp_path) as (gateway, _):
        token = await token_of(gateway, "lamp")
        for user, password in (
            ("lamp", "lamp-secret"),
            ("lamp-id", "lamp-secret"),
            ("lamp", token),
        ):
            assert await code_of(gateway, user, password) == 0
        assert await code_of(gateway, None, None) == NOT_AUTHORIZED
        assert await code_of(gateway, "lamp", None) == NOT_AUTHORIZED
        for user, password in (
            ("lamp", ""),
            ("lamp", "boss-secret"),
            ("boss", token),
            ("lamp", token[:-8] + "AAAAAAAA"),
            ("nobody", "lamp-secret"),
        ):
            assert await code_of(gateway, user, password) == NOT_AUTHORIZED


async def test_each_has_the_topics_of_its_policy(tmp_path: Path) -> None:
    async with (
        open_gateway(tmp_path) as (gateway, _),
        await RawClient.connect(gateway.mqtt_port, "b", "boss", "boss-secret") as boss,
        await RawClient.connect(gateway.mqtt_port, "h", "boss", "boss-secret") as hand,
        await RawClient.connect(gateway.mqtt_port, "l", "lamp-id", "lamp-secret") as lamp,
    ):
        assert await boss.subscribe("#") == 0
        await hand.publish("home/lamp/set", b"kept", retain=True)
        await hand.publish("home/door/set", b"kept", retain=True)
        assert (await boss.next_message()).payload == b"kept"
        assert (await boss.next_message()).payload == b"kept"
        for refused in ("#", "home/#", "home/+/set", "home/door/set", "$SYS/#", "+/lamp/set"):
            assert await lamp.subscribe(refused) == REFUSED
        assert await lamp.subscribe("home/lamp/+") == 0
        assert (await lamp.next_message()).topic == "home/lamp/set"
        await hand.publish("home/door/set", b"secret")
        await hand.publish("home/lamp/set", b"on")
        assert (await lamp.next_message()).payload == b"on"
        await lamp.publish("home/door/state", b"forged")
        await lamp.publish("home/lamp/state", b"is on")
        seen = await boss.messages_until(b"is on")
        assert [message.payload for message in seen] == [b"secret", b"on"]


async def test_a_will_is_published_only_where_its_client_might(tmp_path: Path) -> None:
    async with (
        open_gateway(tmp_path) as (gateway, _),
        await RawClient.connect(gateway.mqtt_port, "b", "boss", "boss-secret") as boss,
    ):
        await boss.subscribe("#")
        for topic, payload in (("home/door/state", b"forged"), ("home/lamp/state", b"gone")):
            lamp = await RawClient.connect(
                gateway.mqtt_port, "l", "lamp", "lamp-secret", will=Will(topic, payload)
            )
            await lamp.vanish()
        assert await boss.messages_until(b"gone") == []


async def test_a_connection_ends_with_its_token_and_with_its_identity(tmp_path: Path) -> None:
    async with open_gateway(tmp_path) as (gateway, store):
        token = await token_of(gateway, "lamp")
        by_secret = await RawClient.connect(gateway.mqtt_port, "s", "lamp", "lamp-secret")
        by_token = await RawClient.connect(gateway.mqtt_port, "t", "lamp", token)
        assert (by_secret.code, by_token.code) == (0, 0)
        assert await by_token.closed(10)
        assert await by_secret.ping() == []
        store.revoke("lamp")
        assert await by_secret.closed(10)
        assert await code_of(gateway, "lamp", "lamp-secret") == NOT_AUTHORIZED
        await asyncio.gather(by_secret.vanish(), by_token.vanish())


async def test_a_change_of_rights_ends_what_went_by_the_old_ones(tmp_path: Path) -> None:
    async with open_gateway(tmp_path) as (gateway, store):
        lamp = await RawClient.connect(gateway.mqtt_port, "l", "lamp", "lamp-secret")
        assert await lamp.subscribe("home/lamp/#") == 0
        store.change_policy("lamp", Policy())
        assert await lamp.closed(10)
        await lamp.vanish()
        async with await RawClient.connect(gateway.mqtt_port, "l", "lamp", "lamp-secret") as again:
            assert await again.subscribe("home/lamp/#") == REFUSED


@pytest.mark.parametrize("password", ["lamp-secret", "wrong"])
async def test_the_client_id_of_another_identity_is_not_taken_over(
    tmp_path: Path, password: str
) -> None:
    async with (
        open_gateway(tmp_path) as (gateway, _),
        await RawClient.connect(gateway.mqtt_port, "same", "boss", "boss-secret") as boss,
    ):
        async with await RawClient.connect(gateway.mqtt_port, "same", "lamp", password) as lamp:
            assert lamp.code != 0
        assert await boss.ping() == []
