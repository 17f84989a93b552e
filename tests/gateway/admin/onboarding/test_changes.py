"""Mappings are tried, applied, undone by HTTP, each as a whole or not at all."""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from gateway.admin.onboarding import changes
from gateway.config.settings import SHIPPED_PROFILES
from tests.gateway.admin.onboarding.house import Api, a_house, config
from tests.kit.gateways import PREFIXES, JsonObject, mapping, publish, rows_of, update, watch

GRAPH = "https://sosa-gateway.example/graph/mappings"
VALUES = PREFIXES + "SELECT ?value { ?observation sosa:hasSimpleResult ?value }"
T = mapping("t", "lab/+", selector="$.t", unit="unit:DEG_C")


def plain(name: str) -> JsonObject:
    return mapping(name, name, selector="$.v")


async def mappings(api: Api) -> dict[str, dict[str, Any]]:
    listed = (await api.ask("GET", "/mappings"))["mappings"]
    return {each["id"]: each for each in listed}


async def test_a_try_tells_everything_and_changes_nothing(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        message = {
            "topic": "lab/north",
            "payload": '{"t":21.50}',
            "time": "2026-03-02T08:00:00+01:00",
        }
        found = await api.ask("POST", "/mappings/try", {"message": message})
        assert (found["matched"], found["observations"]) == (False, [])
        found = await api.ask("POST", "/mappings/try", {"message": message, "mapping": T})
        assert found["observations"] == [
            {
                "sensor": "urn:sensor:north",
                "property": "urn:property:t",
                "feature": "urn:room:north",
                "result": "21.50",
                "datatype": "http://www.w3.org/2001/XMLSchema#decimal",
                "unit": "http://qudt.org/vocab/unit/DEG_C",
                "phenomenonTime": None,
                "sequence": None,
                "timeSource": "GatewayClock",
                "historical": False,
                "seed": False,
                "clockSuspect": False,
            }
        ]
        assert len(found["triples"]) == 18
        assert any("2026-03-02T07:00:00Z" in each for each in found["triples"])
        assert found["violations"] == found["faults"] == found["notices"] == []
        assert "violationsNote" not in found
        await api.ask("POST", "/mappings/apply", {"add": [T]})
        assert (await api.ask("POST", "/mappings/try", {"message": message}))["matched"]
        retained = {**message, "retained": True}
        (seen,) = (await api.ask("POST", "/mappings/try", {"message": retained}))["observations"]
        assert seen["seed"]
        broken = {"topic": "lab/north", "payloadBase64": "/w=="}
        found = await api.ask("POST", "/mappings/try", {"message": broken})
        assert [each["reason"] for each in found["faults"]] == ["invalid_utf8"]
        assert rows_of(gateway, VALUES) == []
        assert not (tmp_path / "data" / "quarantine.jsonl").exists()


async def test_a_template_of_ones_own_that_violates_the_shapes(tmp_path: Path) -> None:
    given = config(tmp_path)
    mine = tmp_path / "mine.jsap"
    shipped = json.loads((SHIPPED_PROFILES / "observations.jsap").read_text(encoding="utf-8"))
    template = shipped["updates"]["OBSERVE_QUANTITY"]
    template["sparql"] = (
        "INSERT { ?observation a sosa:Observation ; sosa:hasSimpleResult ?result } WHERE {}"
    )
    updates = {"OBSERVE_QUANTITY": template}
    mine.write_text(json.dumps({"namespaces": shipped["namespaces"], "updates": updates}))
    profiles = given.jsap.model_copy(update={"profiles": (*given.jsap.profiles, mine)})
    given = given.model_copy(update={"jsap": profiles})
    async with a_house(given) as (_, api):
        body = {"message": {"topic": "lab/a", "payload": '{"t":1}'}, "mapping": T}
        found = await api.ask("POST", "/mappings/try", body)
        paths = {each["path"] for each in found["violations"]}
        assert "http://www.w3.org/ns/sosa/madeBySensor" in paths
        assert len(found["triples"]) == 2


@pytest.mark.parametrize("absent", ["pyshacl", "rdflib"])
async def test_without_pyshacl_a_trial_says_all_but_violations(
    absent: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, absent, None)
    async with a_house(config(tmp_path)) as (_, api):
        body = {"message": {"topic": "lab/a", "payload": '{"t":1}'}, "mapping": T}
        found = await api.ask("POST", "/mappings/try", body)
    assert (len(found["observations"]), len(found["triples"])) == (1, 18)
    assert found["violations"] is None
    assert "pip install 'sosa-gateway[try]'" in found["violationsNote"]
    assert found["faults"] == found["notices"] == []


async def test_applied_mappings_are_in_force_at_once_and_identical_ones_no_change(
    tmp_path: Path,
) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        answer = await api.ask("POST", "/mappings/apply", {"add": [T]})
        assert (answer["changed"], answer["change"]["id"]) == (True, "1")
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [("lab/a", b'{"t":1}')])
        await told.until(lambda: told.values() == ["1"])
        before = gateway.scheduler.engine.statistics.updates
        for edits in ({"add": [T]}, {"replace": [T]}):
            assert await api.ask("POST", "/mappings/apply", edits) == {"changed": False}
        listed = (await mappings(api))[T["id"]]  # type: ignore[index]
        assert await api.ask("POST", "/mappings/apply", {"replace": [listed]}) == {"changed": False}
        assert gateway.scheduler.engine.statistics.updates == before
        await api.ask("POST", "/mappings/apply", {"remove": [T["id"]]})
        await publish(gateway.mqtt_port, [("lab/a", b'{"t":2}')])
        assert told.values() == ["1"]


async def test_what_cannot_be_applied_changes_nothing(tmp_path: Path) -> None:
    odd = {**plain("o"), "selector": "$["}
    other = plain("x")
    async with a_house(config(tmp_path)) as (gateway, api):
        await update(
            gateway,
            f"INSERT DATA {{ GRAPH <{GRAPH}> {{ <urn:rule> a gw:RepublishRule . "
            '<urn:half> a gw:Mapping ; gw:topicFilter "h" } }',
        )
        await api.ask("POST", "/mappings/apply", {"add": [T]})
        for edits, status, words in (
            ({"add": [other, odd]}, 400, "mapping <urn:mapping:o>, selector"),
            ({"add": [{**other, "format": "morse"}]}, 400, "format"),
            ({"add": [{**other, "sensor": "no iri"}]}, 400, "add[0].sensor"),
            ({"add": [{**other, "sensor": "urn:x{2}"}]}, 400, "sensor"),
            ({"add": [{**other, "colour": 1}]}, 400, "add[0].colour"),
            ({"add": [{"id": "urn:m"}]}, 400, "add[0]"),
            ({"add": [other, {**other, "topic": "y"}]}, 400, "twice"),
            ({"add": [{**T, "topic": "else/+"}]}, 409, "already"),
            ({"replace": [other]}, 404, "urn:mapping:x"),
            ({"remove": ["urn:mapping:x"]}, 404, "urn:mapping:x"),
            ({"remove": ["urn:rule"]}, 409, "no mapping"),
            ({"remove": ["<>"]}, 400, "no IRI"),
            ({}, 400, "nothing"),
            ({"add": [other] * 501}, 400, "add"),
            ({"add": "x"}, 400, "add"),
            ([], 400, ""),
            ({"add": [{**other, "expiresAfter": 10**400}]}, 400, "add[0].expiresAfter"),
            ({"add": [{**other, "selector": "\ud800"}]}, 400, "surrogate"),
        ):
            answer = await api.post(
                "/mappings/apply",
                content=json.dumps(edits),
                headers={"Content-Type": "application/json"},
            )
            assert (answer.status_code, words in answer.text) == (status, True), (
                edits,
                answer.text,
            )
            assert set(answer.json()) >= {"error", "error_description", "status_code"}
        assert set(await mappings(api)) == {T["id"], "urn:half"}
        assert len((await api.ask("GET", "/mappings/history"))["changes"]) == 1


async def test_a_change_is_undone_and_that_as_well(tmp_path: Path) -> None:
    x, y = plain("x"), plain("y")
    async with a_house(config(tmp_path)) as (_, api):
        await api.ask("POST", "/mappings/apply", {"add": [x, y]})
        edits = {"add": [T], "replace": [{**x, "topic": "z"}], "remove": [y["id"]]}
        change = (await api.ask("POST", "/mappings/apply", edits))["change"]
        there = await mappings(api)
        assert {name: each["topic"] for name, each in there.items()} == {
            "urn:mapping:t": "lab/+",
            "urn:mapping:x": "z",
        }
        undone = await api.ask("POST", "/mappings/undo", {"id": change["id"]})
        assert undone["change"]["undoes"] == change["id"]
        assert await mappings(api) == {x["id"]: x, y["id"]: y}
        assert await api.ask("POST", "/mappings/undo", {"id": change["id"]}) == {"changed": False}
        await api.ask("POST", "/mappings/undo", {"id": undone["change"]["id"]})
        assert await mappings(api) == there
        missing = await api.post("/mappings/undo", json={"id": "99"})
        assert (missing.status_code, missing.json()["error"]) == (404, "not_found")


async def test_what_somebody_changed_since_is_not_undone_but_by_force(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (gateway, api):
        await api.ask("POST", "/mappings/apply", {"add": [T]})
        replaced = {**T, "topic": "cellar/+"}
        change = (await api.ask("POST", "/mappings/apply", {"replace": [replaced]}))["change"]
        await update(
            gateway,
            f"INSERT DATA {{ GRAPH <{GRAPH}> {{ <{T['id']}> gw:expiresAfter 60 }} }}",
        )
        body = {"id": change["id"]}
        refused = await api.post("/mappings/undo", json=body)
        assert (refused.status_code, refused.json()["error"]) == (409, "conflict")
        assert str(T["id"]) in refused.text
        assert "--force" in refused.text
        await api.ask("POST", "/mappings/undo", {**body, "force": True})
        (there,) = (await mappings(api)).values()
        assert (there["topic"], "expiresAfter" in there) == ("lab/+", False)


async def test_replacing_leaves_alone_what_is_said_in_other_terms(tmp_path: Path) -> None:
    label = f'GRAPH <{GRAPH}> {{ <{T["id"]}> <urn:note> "mine" }}'
    async with a_house(config(tmp_path)) as (gateway, api):
        await api.ask("POST", "/mappings/apply", {"add": [T]})
        await update(gateway, f"INSERT DATA {{ {label} }}")
        await api.ask("POST", "/mappings/apply", {"replace": [{**T, "topic": "z/+"}]})
        assert rows_of(gateway, f"SELECT ?o {{ GRAPH <{GRAPH}> {{ ?s <urn:note> ?o }} }}") == [
            ["mine"]
        ]


async def test_the_history_is_bounded_and_survives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST_CHANGES", 3)
    given = config(tmp_path)
    async with a_house(given) as (_, api):
        for number in range(5):
            edits = {"add": [plain(str(number))]}
            await api.ask("POST", "/mappings/apply", edits)
    async with a_house(given) as (_, api):
        found = (await api.ask("GET", "/mappings/history"))["changes"]
        assert [each["id"] for each in found] == ["5", "4", "3"]
        assert [each["id"] for each in found[0]["after"]] == ["urn:mapping:4"]
        await api.ask("POST", "/mappings/undo", {"id": "4"})
        assert "urn:mapping:3" not in await mappings(api)


async def test_many_at_once_are_all_in_force(tmp_path: Path) -> None:
    async with a_house(config(tmp_path)) as (_, api):
        edits = [{"add": [plain(str(number))]} for number in range(20)]
        answers = await asyncio.gather(
            *(api.ask("POST", "/mappings/apply", each) for each in edits)
        )
        assert sorted(int(each["change"]["id"]) for each in answers) == list(range(1, 21))
        assert len(await mappings(api)) == 20
