"""Each source of alarms, at a running gateway where that is the shortest way."""

import asyncio
from pathlib import Path

import httpx

from gateway.app.alarms import limit_alarms
from gateway.app.gateway import Gateway
from gateway.config.settings import MqttSettings
from gateway.engine import Engine
from gateway.engine.delivery import FailedSpu
from gateway.engine.measures import engine_alarms
from gateway.errors import SubscriptionFailedError
from tests.kit.gateways import (
    LOOPBACK,
    WAIT_S,
    Device,
    free_port,
    mosquitto,
    running,
    settings,
    write_profile,
)


async def _until(gateway: Gateway, *kinds: str) -> list[str]:
    """What the alarms say once they are of these kinds and no others."""
    url = f"http://{LOOPBACK}:{gateway.http_port}/alarms"
    async with httpx.AsyncClient() as client, asyncio.timeout(WAIT_S):
        while True:
            found = (await client.get(url)).json()["alarms"]
            if [each["kind"] for each in found] == list(kinds):
                return [f"{each['where']}: {each['what']}" for each in found]
            await asyncio.sleep(0.02)


async def test_a_broker_that_nobody_answers_at_is_an_alarm(tmp_path: Path) -> None:
    port = free_port()
    async with running(settings(tmp_path, write_profile(tmp_path), mosquitto=port)) as gateway:
        (told,) = await _until(gateway, "broker")
        assert told == f"{LOOPBACK}:{port}: nothing listens at {LOOPBACK}:{port}"


async def test_a_login_that_the_broker_refuses_is_an_alarm(tmp_path: Path) -> None:
    with mosquitto(tmp_path, anonymous=False) as broker:
        config = settings(tmp_path, write_profile(tmp_path), mosquitto=broker.port)
        async with running(config) as gateway:
            (told,) = await _until(gateway, "broker")
            assert told == f"{LOOPBACK}:{broker.port}: it refused us: Not authorized"


async def test_profiles_that_are_wrong_are_an_alarm_until_they_are_corrected(
    tmp_path: Path,
) -> None:
    profile = write_profile(tmp_path)
    async with running(settings(tmp_path, profile)) as gateway:
        good = profile.read_text(encoding="utf-8")
        profile.write_text("{", encoding="utf-8")
        gateway.reload_profiles()
        (told,) = await _until(gateway, "profiles_refused")
        assert told.startswith(f"[jsap] profiles: {profile}")
        profile.write_text(good, encoding="utf-8")
        gateway.reload_profiles()
        await _until(gateway)


async def test_retained_messages_without_room_are_one_alarm(tmp_path: Path) -> None:
    config = settings(tmp_path, write_profile(tmp_path))
    mqtt = MqttSettings.model_validate({"port": 0, "retained_bytes": 1_000})
    config = config.model_copy(update={"mqtt": mqtt})
    async with running(config) as gateway:
        with Device(gateway.mqtt_port) as device:
            for number in range(3):
                topic, payload = f"kept/{number}", b"x" * 2_000
                device.send(topic, payload, retain=True)
            (told,) = await _until(gateway, "retained")
    assert told.endswith("retained messages have no more room: some are not kept")


async def test_a_folder_that_cannot_be_written_is_a_fault(tmp_path: Path) -> None:
    async with running(settings(tmp_path, write_profile(tmp_path))) as gateway:
        (tmp_path / "data").rename(tmp_path / "gone")
        try:
            await _until(gateway, "disk")
            async with httpx.AsyncClient() as client:
                answer = await client.get(f"http://{LOOPBACK}:{gateway.http_port}/health")
            assert (answer.status_code, answer.json()["status"]) == (503, "alarm")
        finally:
            (tmp_path / "gone").rename(tmp_path / "data")


def test_limits_that_bite_are_named_by_their_setting() -> None:
    refused = [0.0, 0.0]
    look = limit_alarms(
        {
            "[limits] a": ("many a", lambda: refused[0]),
            "[limits] b": ("many b", lambda: refused[1]),
        }
    )
    assert list(look()) == []
    refused[1] += 3
    assert [(each.where, each.what) for each in look()] == [("[limits] b", "many b")]


def test_a_subscription_that_failed_is_told_for_an_hour() -> None:
    engine, now = Engine.open(), [3599.0]
    look = engine_alarms(engine, lambda: now[0])
    error = SubscriptionFailedError("it ended its worker", "ask for less")
    engine.delivery.failed.append(FailedSpu("SELECT  ?o\n{ <urn:s> <urn:p> ?o }", error, 0.0))
    assert [each.where for each in look()] == ["SELECT ?o { <urn:s> <urn:p> ?o }"]
    now[0] += 2.0
    assert list(look()) == []
