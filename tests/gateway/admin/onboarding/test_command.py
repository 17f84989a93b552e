"""`sosa-gateway mapping`: each command against a running gateway, for people and as JSON."""

import asyncio
import json
import sys
from pathlib import Path

import pytest

from gateway.cli.command import main
from tests.gateway.admin.onboarding.devices import bridge_devices
from tests.gateway.admin.onboarding.house import a_house, config
from tests.kit.gateways import LOOPBACK, mapping, publish

T = mapping("t", "lab/+", selector="$.t", unit="unit:DEG_C")


async def run(url: str, *arguments: str) -> int:
    name, *rest = arguments
    return await asyncio.to_thread(main, ["mapping", name, "--url", url, *rest])


async def test_from_proposals_to_undo(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        await publish(
            gateway.mqtt_port,
            [
                ("zigbee2mqtt/bridge/devices", bridge_devices("kitchen", "plug")),
                ("cellar/pump\x1b[2J", b'{"t":1}'),
            ],
        )
        await api.until(3)
        assert await run(url, "proposals") == 0
        said = capsys.readouterr().out
        assert "kitchen temperature" in said
        assert 'zigbee2mqtt/plug/set {"state":{value}}' in said
        assert await run(url, "unknown") == 0
        said = capsys.readouterr().out
        assert "cellar/pump\\x1b[2J" in said
        assert "looks like" in said
        confirm = ("confirm", "--device", "kitchen", "--feature", "urn:room:kitchen")
        assert await run(url, *confirm, "--set", "expiresAfter=600") == 0
        assert "change 1: confirm" in capsys.readouterr().out
        listed = (await api.ask("GET", "/mappings"))["mappings"]
        assert [each["feature"] for each in listed] == ["urn:room:kitchen"] * 2
        assert [each["expiresAfter"] for each in listed] == [600, 600]
        (plug,) = await api.proposals(status="proposed")
        assert await run(url, "reject", plug["id"]) == 0
        assert "1 rejected" in capsys.readouterr().out
        assert await run(url, "proposals", "--status", "rejected", "--json") == 0
        assert [each["id"] for each in json.loads(capsys.readouterr().out)["proposals"]] == [
            plug["id"]
        ]
        assert await run(url, "apply", json.dumps({"add": [T]})) == 0
        assert await run(url, "apply", json.dumps({"add": [T]})) == 0
        assert "nothing changed" in capsys.readouterr().out
        assert await run(url, "history") == 0
        said = capsys.readouterr().out
        assert said.index("change 2: apply") < said.index("change 1: confirm")
        assert await run(url, "undo", "1") == 0
        assert "removed" in capsys.readouterr().out
        assert await run(url, "list") == 0
        assert capsys.readouterr().out.startswith("urn:mapping:t\n")


async def test_a_try_says_what_a_message_would_be(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "payload").write_bytes(b"\xff")
    (tmp_path / "mapping.json").write_text(json.dumps([T]))
    by_file = ("--mapping", f"@{tmp_path / 'mapping.json'}")
    async with a_house(config(tmp_path)) as (gateway, _):
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        assert await run(url, "try", "lab/a", '{"t":21.5}', *by_file, "--retained") == 0
        said = capsys.readouterr().out
        assert "observation: 21.5" in said
        assert "observations: 1, triples: 18" in said
        assert "seed" in said
        assert await run(url, "try", "lab/a", "1") == 1
        assert "no mapping knows this topic" in capsys.readouterr().out
        assert await run(url, "try", "lab/a", f"@{tmp_path / 'payload'}", *by_file) == 1
        assert "invalid_utf8" in capsys.readouterr().out
        assert await run(url, "try", "lab/a", '{"t":1}', *by_file, "--json") == 0
        assert json.loads(capsys.readouterr().out)["observations"][0]["result"] == "1"


async def test_a_try_without_pyshacl_says_what_to_install(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyshacl", None)
    async with a_house(config(tmp_path)) as (gateway, _):
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        given = ("try", "lab/a", '{"t":21.5}', "--mapping", json.dumps(T))
        assert await run(url, *given) == 0
        said = capsys.readouterr().out
        assert "observations: 1, triples: 18" in said
        assert "violations   not checked by the shapes: pip install 'sosa-gateway[try]'" in said
        assert await run(url, *given, "--json") == 0
        assert json.loads(capsys.readouterr().out)["violations"] is None


MISTAKES: list[tuple[tuple[str, ...], str]] = [
    (("confirm", "nothing"), "there is no proposal nothing"),
    (("confirm",), "there is nothing to decide"),
    (("confirm", "--device", "nothing"), "there is nothing to decide"),
    (("confirm", "x", "--set", "unit"), "--set MEMBER=VALUE"),
    (("undo", "7"), "there is no change 7"),
    (("apply", "{"), "this is no JSON"),
    (("apply", "{}"), "nothing to apply"),
    (("apply", "@/nowhere"), "cannot read /nowhere"),
    (("try", "a/+", "1"), "wildcard"),
    (("try", "a", "@/nowhere"), "cannot read /nowhere"),
    (("try", "a", "1", "--time", "yesterday"), "message.time"),
    (("try", "a", "1", "--mapping", "[]x"), "this is no JSON"),
    (("try", "a", "1", "--mapping", '{"topic": "a"}'), "mappings[0].format"),
]


async def test_errors_say_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    async with a_house(config(tmp_path)) as (gateway, _):
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        for arguments, words in MISTAKES:
            assert await run(url, *arguments) == 1, arguments
            assert words in capsys.readouterr().err, arguments
