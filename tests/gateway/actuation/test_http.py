"""Actuators by HTTP and in the terminal: what is told, and what is refused."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.cli.command import main
from tests.gateway.actuation.lamps import ACTUATIONS, command, get, lamp_profile, until_ended, url
from tests.kit.gateways import MAPPINGS, Device, JsonObject, running, settings, update
from tests.kit.metrics import metrics


async def test_what_there_is_and_what_was_last(tmp_path: Path) -> None:
    profile = lamp_profile(tmp_path, values=[], minimum=0, maximum=99.5, unit="%", timeLimit=0.1)
    async with running(settings(tmp_path, profile)) as gateway:
        described = {
            "id": "urn:lamp",
            "name": "lamp",
            "property": "urn:property:state",
            "feature": "urn:room:1",
            "topic": "actuators/lamp/set",
            "commandTopic": "lamp/set",
            "sensor": "urn:sensor:1",
            "minimum": 0,
            "maximum": 99.5,
            "unit": "http://qudt.org/vocab/unit/PERCENT",
            "timeLimit": 0.1,
        }
        assert await get(gateway, "/actuators") == {"actuators": [described]}
        assert await get(gateway, "/actuators/urn:lamp") == described
        made = (await command(gateway, 21.50, wait=10)).json()
        assert (made["value"], made["status"]) == (21.5, "failed")
        assert (await get(gateway, "/actuators/lamp"))["last"] == made
        assert await get(gateway, f"/actuations/{made['id']}") == made


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b'{"value": null}', 400),
        (b'{"value": [1]}', 400),
        (b'{"value": NaN}', 400),
        (b'{"value": 1e999}', 400),
        (b'{"value": "a\\u0000b"}', 400),
        (b'{"value": 1, "wait": -1}', 400),
        (b'{"value": 1, "wait": "long"}', 400),
        (b'{"value": 1, "colour": 1}', 400),
        (b"{}", 400),
        (b"ON", 400),
        (b"[" * 100_000, 400),
    ],
)
async def test_body_that_is_no_command_is_refused(tmp_path: Path, body: bytes, status: int) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        answer = await post(gateway, body)
        assert (answer.status_code, bool(answer.json()["error_description"])) == (status, True)


async def post(gateway: Gateway, body: bytes, kind: str = "application/json") -> httpx.Response:
    async with httpx.AsyncClient(verify=False) as client:
        return await client.post(
            url(gateway, "/actuators/lamp/command"), content=body, headers={"Content-Type": kind}
        )


async def test_what_is_not_there_and_what_is_no_json(tmp_path: Path) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        assert (await post(gateway, b"ON", "text/plain")).status_code == 415
        assert (await command(gateway, 1, name="fan")).status_code == 404
        async with httpx.AsyncClient(verify=False) as client:
            for path in ("/actuators/fan", "/actuations/none", "/actuations/%20:%3C"):
                assert (await client.get(url(gateway, path))).status_code == 404


async def test_actuators_come_change_and_go_by_update(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        fan = """<urn:fan> a sosa:Actuator ; gw:name "fan" ; gw:commandTopic "fan/set" ;
          <http://www.w3.org/ns/ssn/forProperty> <urn:p> ; gw:featureOfInterest <urn:f>"""
        await update(gateway, f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ {fan} }} }}")
        assert (await get(gateway, "/actuators/fan"))["commandTopic"] == "fan/set"
        wrong = "<urn:fan> gw:commandTopic 'fan/+'"
        await update(gateway, f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ {wrong} }} }}")
        told: Any = await get(gateway, "/actuators")
        assert [each["name"] for each in told["actuators"]] == ["lamp"]
        (refused,) = [each for each in caplog.records if each.message == "actuator_refused"]
        assert vars(refused)["actuator"] == "urn:fan"
        assert vars(refused)["reason"] == "topic has several values"
        assert (await metrics(gateway))["actuators_refused"] == 1
        await update(gateway, f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <urn:fan> ?p ?o }} }}")
        assert (await metrics(gateway))["actuators_refused"] == 0


async def test_the_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        with Device(gateway.mqtt_port, "lamp") as device:
            await asyncio.to_thread(device.subscribe, "lamp/set")
            place = ["--url", url(gateway, "")]
            going = asyncio.to_thread(main, ["actuate", "lamp", "true", "--wait", *place])
            task = asyncio.create_task(going)
            assert await asyncio.to_thread(device.receive) == ("lamp/set", b"ON")
            device.send("lamp/state", b"ON")
            assert await task == 0
        assert capsys.readouterr().out.endswith(" confirmed\n")
        assert await asyncio.to_thread(main, ["actuate", "lamp", "BLUE", "--wait=10", *place]) == 1
        assert 'failed: "BLUE" is not one of OFF, ON' in capsys.readouterr().out
        assert await asyncio.to_thread(main, ["actuate", "lamp", "PINK", *place]) == 1
        assert 'failed: "PINK" is not one of OFF, ON' in capsys.readouterr().out
        assert await asyncio.to_thread(main, ["actuators", *place]) == 0
        assert "OFF, ON" in capsys.readouterr().out
        assert await asyncio.to_thread(main, ["actuators", "--json", *place]) == 0
        assert json.loads(capsys.readouterr().out)["actuators"][0]["last"]["status"] == "failed"
        assert await asyncio.to_thread(main, ["actuate", "fan", "1", *place]) == 1
        assert "there is no actuator fan" in capsys.readouterr().err
    assert ACTUATIONS.endswith("/actuations")


IMPOSSIBLE: list[tuple[JsonObject, str, str, str]] = [
    ({"minimum": 0, "maximum": 99, "unit": "%"}, "100", "(0 to 99 PERCENT)", "0 to 99 PERCENT"),
    ({"minimum": 0, "step": 5}, "dim", "is no number (at least 0)", "at least 0"),
    ({"values": ["ON", "OFF"]}, "BLUE", "is not one of OFF, ON", "OFF, ON"),
    ({"trueValue": "up", "falseValue": "down"}, "left", "is neither up nor down", "up, down"),
]


@pytest.mark.parametrize("case", IMPOSSIBLE)
async def test_impossible_value_fails_at_once_and_says_what_is_possible(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    case: tuple[JsonObject, str, str, str],
) -> None:
    """By command line, HTTP and UPDATE; no one waits for the time limit."""
    takes, value, reason, listed = case
    lamp: dict[str, Any] = {"values": [], "timeLimit": 300, **takes}
    profile = lamp_profile(tmp_path, **lamp)
    async with running(settings(tmp_path, profile)) as gateway:
        place = ["--url", url(gateway, "")]
        assert await asyncio.to_thread(main, ["actuate", "lamp", value, *place]) == 1
        assert reason in capsys.readouterr().out
        answer = await command(gateway, value)
        assert (answer.status_code, answer.json()["status"]) == (200, "failed")
        assert reason in answer.json()["reason"]
        request = f"""<urn:asked> a sosa:Actuation ; sosa:madeByActuator <urn:lamp> ;
          sosa:hasSimpleResult "{value}" ; gw:status gw:Requested"""
        await update(gateway, f"INSERT DATA {{ GRAPH <{ACTUATIONS}> {{ {request} }} }}")
        failed = await until_ended(gateway, "urn:asked")
        assert (failed["status"], reason in failed["reason"]) == ("failed", True)
        assert await asyncio.to_thread(main, ["actuators", *place]) == 0
        assert listed in capsys.readouterr().out


async def test_actuator_of_a_changed_profile_is_there_without_a_restart(tmp_path: Path) -> None:
    async with running(settings(tmp_path, lamp_profile(tmp_path))) as gateway:
        lamp_profile(tmp_path, name="lantern", values=["UP", "DOWN"])
        async with httpx.AsyncClient(verify=False, timeout=30) as client:
            answer = await client.post(url(gateway, "/profiles/reload"))
            assert answer.json()["changed"], answer.text
        (told,) = (await get(gateway, "/actuators"))["actuators"]
        assert (told["name"], told["values"]) == ("lantern", ["DOWN", "UP"])
        lamp_profile(tmp_path, topic="lamp/#")
        async with httpx.AsyncClient(verify=False, timeout=30) as client:
            answer = await client.post(url(gateway, "/profiles/reload"))
        assert "is none to publish to" in answer.json()["error_description"]
        assert (await get(gateway, "/actuators/lantern"))["commandTopic"] == "lamp/set"
