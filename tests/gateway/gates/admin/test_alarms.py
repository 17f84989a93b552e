"""Alarms of a running gateway, by every way on which they are told."""

import asyncio
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.cli.command import main
from gateway.config.settings import Config
from gateway.runtime.alarms import AlarmKind
from tests.kit.gateways import (
    LOOPBACK,
    MAPPINGS,
    PREFIXES,
    WAIT_S,
    running,
    settings,
    update,
    write_profile,
)

ALARMS = "https://sosa-gateway.example/graph/alarms"
TOLD = (
    f"SELECT ?kind ?where {{ GRAPH <{ALARMS}> {{ ?a a gw:Alarm ; gw:alarmKind ?kind ;"
    " gw:where ?where ; gw:since ?since ; gw:what ?what ; gw:whatToDo ?do ; gw:isFault ?f } }"
)
BROKEN = (
    f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:m> a gw:Mapping ; gw:topicFiltr 'a' ;"
    " gw:format 'scalar' ; gw:sensor <urn:s> ; gw:observedProperty <urn:p> ;"
    " gw:featureOfInterest <urn:f> } }"
)
MENDED = BROKEN.replace("INSERT DATA {", "INSERT DATA { ").replace("topicFiltr", "topicFilter")


def _settings(folder: Path) -> Config:
    return settings(folder, write_profile(folder), kind="disk")


async def _get(gateway: Any, path: str) -> Any:
    async with httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as client:
        return (await client.get(path)).json()


async def _rows(gateway: Any) -> list[tuple[str, str]]:
    async with httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as client:
        answer = await client.post("/query", data={"query": PREFIXES + TOLD})
    rows = answer.json()["results"]["bindings"]
    return [(row["kind"]["value"].rpartition("#")[2], row["where"]["value"]) for row in rows]


async def _until(gateway: Any, expected: list[tuple[str, str]]) -> None:
    async with asyncio.timeout(WAIT_S):
        while await _rows(gateway) != expected:
            await asyncio.sleep(0.02)


async def test_an_update_that_breaks_a_mapping_is_told_on_every_way(tmp_path: Path) -> None:
    async with running(_settings(tmp_path)) as gateway:
        assert await _get(gateway, "/alarms") == {"alarms": []}
        async with httpx.AsyncClient() as client:
            url = f"http://{LOOPBACK}:{gateway.http_port}/update"
            answer = (await client.post(url, data={"update": PREFIXES + BROKEN})).json()
        (warning,) = answer["warnings"]
        assert warning["where"] == "urn:m"
        assert "did you mean gw:topicFilter?" in warning["what"]
        (alarm,) = (await _get(gateway, "/alarms"))["alarms"]
        assert (alarm["kind"], alarm["where"], alarm["fault"]) == ("broken_mapping", "urn:m", False)
        health = await _get(gateway, "/health")
        assert health["status"] == "ok"
        assert health["alarms"] == [f"urn:m: {alarm['what']}; {alarm['what_to_do']}"]
        await _until(gateway, [("BrokenMappingAlarm", "urn:m")])
        await update(gateway, f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <urn:m> ?p ?o }} }}")
        assert await _get(gateway, "/alarms") == {"alarms": []}
        await _until(gateway, [])
        await update(gateway, MENDED)
        assert await _get(gateway, "/alarms") == {"alarms": []}


async def test_an_update_that_breaks_nothing_has_no_warnings(tmp_path: Path) -> None:
    async with running(_settings(tmp_path)) as gateway, httpx.AsyncClient() as client:
        url = f"http://{LOOPBACK}:{gateway.http_port}/update"
        for text in (MENDED, "INSERT DATA { <urn:a> <urn:p> 1 }"):
            answer = await client.post(url, data={"update": PREFIXES + text})
            assert "warnings" not in answer.json()


async def test_a_rule_that_cannot_be_followed_is_one_alarm_until_it_is_gone(
    tmp_path: Path,
) -> None:
    rule = (
        f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ <urn:r> a gw:RepublishRule ; gw:on gw:Added ;"
        " gw:topicTemplate 'fan/{room}' ; gw:payloadTemplate 'ON' ;"
        " gw:sparql 'SELECT ?other { ?other <urn:hot> ?t }' } }"
    )
    async with running(_settings(tmp_path)) as gateway:
        await update(gateway, rule)
        assert await _get(gateway, "/alarms") == {"alarms": []}
        async with asyncio.timeout(WAIT_S):
            while not (found := (await _get(gateway, "/alarms"))["alarms"]):
                await update(gateway, f"INSERT DATA {{ <urn:x> <urn:hot> {len(found)} }}")
                await update(gateway, "DELETE WHERE { <urn:x> <urn:hot> ?t }")
        assert (found[0]["kind"], found[0]["what"]) == (
            "broken_rule",
            "?room is not bound in the row",
        )
        await update(gateway, f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <urn:r> ?p ?o }} }}")
        await _until(gateway, [])
        assert await _get(gateway, "/alarms") == {"alarms": []}


async def test_the_graph_says_after_a_start_what_is_wrong_then(tmp_path: Path) -> None:
    async with running(_settings(tmp_path)) as gateway:
        await update(gateway, BROKEN)
        await _until(gateway, [("BrokenMappingAlarm", "urn:m")])
        # What a gateway that was killed leaves there.
        await update(
            gateway,
            f"INSERT DATA {{ GRAPH <{ALARMS}> {{ <urn:old> a gw:Alarm ; gw:where 'long ago' ;"
            " gw:alarmKind gw:DiskAlarm ; gw:what 'x' } }",
        )
    async with running(_settings(tmp_path)) as gateway:
        await _until(gateway, [("BrokenMappingAlarm", "urn:m")])


async def test_the_command_tells_alarms_and_ends_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running(_settings(tmp_path)) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"

        def command(*words: str) -> tuple[int, str, str]:
            code = main([*words, "--url", url])
            said = capsys.readouterr()
            return code, said.out, said.err

        assert await asyncio.to_thread(command, "alarms") == (0, "no alarms: all is well\n", "")
        code, out, err = await asyncio.to_thread(command, "update", PREFIXES + BROKEN)
        assert (code, json.loads(out)["response"]["body"]["added"]) == (0, 6)
        assert err.startswith("warning: urn:m: there is no term gw:topicFiltr; did you mean")
        code, out, _ = await asyncio.to_thread(command, "alarms")
        assert code == 1
        assert out.splitlines()[0].startswith("alarm broken_mapping since 20")
        code, out, _ = await asyncio.to_thread(command, "alarms", "--json")
        assert json.loads(out)["alarms"][0]["where"] == "urn:m"


def test_every_kind_has_its_term_and_its_words() -> None:
    root = Path(__file__).parents[4]
    vocabulary = (root / "ontologies" / "gateway.ttl").read_text(encoding="utf-8")
    page = (root / "docs" / "alarms.md").read_text(encoding="utf-8")
    for kind in AlarmKind:
        name = "".join(map(str.capitalize, kind.value.split("_")))
        assert f"gw:{name}Alarm a gw:AlarmKind" in vocabulary
        assert f"| `{kind.value}` |" in page
