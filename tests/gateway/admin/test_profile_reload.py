"""JSAP files that change under a running gateway: taken up whole, or refused whole."""

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.app.gateway import Gateway
from gateway.cli.command import main
from gateway.config.settings import SHIPPED_PROFILES, Config, SecuritySettings
from gateway.security.identity import Kind
from gateway.security.identity_store import IdentityStore
from gateway.security.policy import Capability, Policy
from tests.gateway.security.clients import identity
from tests.kit.gateways import (
    LOOPBACK,
    MAPPINGS,
    VALUES,
    Device,
    JsonObject,
    Program,
    mapping,
    publish,
    resubscribing,
    rows_of,
    running,
    settings,
    update,
    watch,
    write_profile,
)
from tests.kit.metrics import until_metric

TEMPERATURE = mapping("temperature", "room/+", selector="$.t", unit="unit:DEG_C")
HUMIDITY = mapping("humidity", "room/+", selector="$.h", unit="unit:PERCENT")
BOTH = b'{"t":21.5,"h":40}'
SHIPPED = SHIPPED_PROFILES / "observations.jsap"


async def until_reloaded(gateway: Gateway, outcome: str) -> None:
    """Wait until the files have been read once with this outcome."""
    await until_metric(gateway, f'profile_reloads_total{{outcome="{outcome}"}}', 1)


async def state(gateway: Gateway) -> Any:
    """What GET /profiles answers."""
    async with httpx.AsyncClient(verify=False) as client:
        return (await client.get(f"http://{LOOPBACK}:{gateway.http_port}/profiles")).json()


async def post_reload(gateway: Gateway) -> httpx.Response:
    async with httpx.AsyncClient() as client:
        return await client.post(f"http://{LOOPBACK}:{gateway.http_port}/profiles/reload")


async def test_a_changed_file_is_taken_up_by_itself(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        write_profile(tmp_path, [HUMIDITY])
        await until_reloaded(gateway, "changed")
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        assert told.values() == ["21.5", "40"]


async def test_what_is_included_is_followed_too(tmp_path: Path) -> None:
    profile = tmp_path / "main.jsap"
    included = tmp_path / "more.jsap"
    profile.write_text('{"include": ["more.jsap"]}')
    included.write_text(json.dumps({"extended": {"mappings": [TEMPERATURE]}} | NAMES))
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        included.write_text(json.dumps({"extended": {"mappings": [HUMIDITY]}} | NAMES))
        await until_reloaded(gateway, "changed")
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        assert told.values() == ["40"]


async def test_a_profile_with_a_warning_is_taken_up_as_at_a_start(tmp_path: Path) -> None:
    old = mapping("contact", "door/+", format="zigbee2mqtt", selector="contact")
    old["property"] = "https://sosa-gateway.example/property/opening"
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway:
        write_profile(tmp_path, [TEMPERATURE, old])
        await until_reloaded(gateway, "changed")
        assert (await state(gateway))["error"] == ""


NAMES: JsonObject = {"namespaces": {"unit": "http://qudt.org/vocab/unit/"}}


async def test_equal_content_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    profile = write_profile(
        tmp_path, [TEMPERATURE, HUMIDITY], queries={"ALL": "SELECT * {?s ?p 1}"}
    )
    async with running(settings(tmp_path, profile)) as gateway:
        await update(
            gateway, f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <{HUMIDITY['id']}> ?p ?o }} }}"
        )
        updates = gateway.statistics()["updates"]
        members = json.loads(profile.read_text())
        members["extended"]["mappings"].reverse()
        with caplog.at_level(logging.INFO, "gateway"):
            profile.write_text(json.dumps(dict(reversed(members.items())), indent=4))
            await until_reloaded(gateway, "unchanged")
            answer = await post_reload(gateway)
        kinds = ("updates", "queries", "mappings", "ontologies")
        assert answer.json() == {"changed": False, **{kind: [] for kind in kinds}}
        assert gateway.statistics()["updates"] == updates
        assert not caplog.records
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        assert gateway.statistics()["observations"] == 1, "what an UPDATE did to a mapping stays"


PREFIXES = json.loads(SHIPPED.read_text())["namespaces"]


def with_updates(folder: Path, **templates: JsonObject) -> None:
    path = write_profile(folder, [TEMPERATURE])
    members = json.loads(path.read_text()) | {"updates": templates, "namespaces": PREFIXES}
    path.write_text(json.dumps(members), encoding="utf-8")


def shipped(name: str) -> JsonObject:
    template: JsonObject = json.loads(SHIPPED.read_text())["updates"][name]
    return template


def half_written(folder: Path) -> None:
    path = folder / "test.jsap"
    path.write_text(path.read_text()[:-40])


def emptied(folder: Path) -> None:
    (folder / "test.jsap").write_text("")


def gone(folder: Path) -> None:
    (folder / "test.jsap").unlink()


def binary(folder: Path) -> None:
    (folder / "test.jsap").write_bytes(b"\xff\x00\xfe")


def missing_include(folder: Path) -> None:
    (folder / "test.jsap").write_text('{"include": ["nowhere.jsap"]}')


def bad_selector(folder: Path) -> None:
    write_profile(folder, [HUMIDITY, {**TEMPERATURE, "selector": "no path"}])


def bad_member(folder: Path) -> None:
    write_profile(folder, [HUMIDITY, {**TEMPERATURE, "selektor": "$.t"}])


def bad_query(folder: Path) -> None:
    write_profile(folder, [HUMIDITY], queries={"ALL": "SELECT * {"})


def rule_without_query(folder: Path) -> None:
    write_profile(folder, [HUMIDITY], [{**RULE, "query": "NONE"}])


def broken_template(folder: Path) -> None:
    with_updates(
        folder, OBSERVE_VALUE={**shipped("OBSERVE_VALUE"), "sparql": "INSERT { ?a } WHERE"}
    )


def template_without_binding(folder: Path) -> None:
    template = json.loads(json.dumps(shipped("OBSERVE_QUANTITY")))
    del template["forcedBindings"]["unit"]
    with_updates(folder, OBSERVE_QUANTITY=template)


def template_with_wrong_type(folder: Path) -> None:
    template = json.loads(json.dumps(shipped("RAISE_ABSENCE")))
    template["forcedBindings"]["since"] = {"type": "uri"}
    with_updates(folder, RAISE_ABSENCE=template)


def own_query_changed(folder: Path) -> None:
    write_profile(folder, [HUMIDITY], queries={"RULES": "SELECT ?rule { ?rule a ?x }"})


RULE: JsonObject = {
    "id": "urn:rule:1",
    "topic": "fan/{n}/set",
    "payload": "{n}",
    "on": "added",
}

WRONG = {
    half_written: "test.jsap",
    emptied: "test.jsap",
    gone: "test.jsap",
    binary: "test.jsap",
    missing_include: "include[0]",
    bad_selector: "test.jsap: extended.mappings[1].selector",
    bad_member: "test.jsap: extended.mappings[1].selektor",
    bad_query: "test.jsap: queries.ALL.sparql",
    rule_without_query: "test.jsap: extended.rules[0].query",
    broken_template: "test.jsap: updates.OBSERVE_VALUE.sparql",
    template_without_binding: "test.jsap: updates.OBSERVE_QUANTITY.forcedBindings.unit",
    template_with_wrong_type: "test.jsap: updates.RAISE_ABSENCE.forcedBindings.since",
    own_query_changed: "test.jsap: queries.RULES",
}


async def test_what_is_wrong_is_refused_whole_and_named(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway:
        told = await watch(gateway, VALUES)
        for wrong, place in WRONG.items():
            write_profile(tmp_path, [TEMPERATURE])
            wrong(tmp_path)
            answer = await post_reload(gateway)
            assert (answer.status_code, answer.json()["error"]) == (500, "configuration"), wrong
            assert place in answer.json()["error_description"], wrong
            assert place in caplog.records[-1].reason  # type: ignore[attr-defined]
            assert (await state(gateway))["error"]
            caplog.clear()
            await publish(gateway.mqtt_port, [("room/a", BOTH)])
        assert told.values() == ["21.5"] * len(WRONG), "the old one stays in force"
        write_profile(tmp_path, [HUMIDITY])
        await until_reloaded(gateway, "changed")
        assert (await state(gateway))["error"] == ""
        await publish(gateway.mqtt_port, [("room/a", BOTH)])
        assert told.values()[-1] == "40"


async def test_a_missing_include_is_taken_up_when_it_comes(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway:
        profile.write_text('{"include": ["later.jsap"]}')
        await until_reloaded(gateway, "refused")
        later = tmp_path / "later.jsap"
        later.write_text(json.dumps({"extended": {"mappings": [HUMIDITY]}} | NAMES))
        await until_reloaded(gateway, "changed")
        files = {str(SHIPPED), str(profile), str(later)}
        assert set((await state(gateway))["files"]) == files


async def test_other_templates_are_used_from_then_on(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile, latest=2)) as gateway:
        await publish(gateway.mqtt_port, [("room/a", b'{"t":1}')])
        template = shipped("OBSERVE_QUANTITY")
        marked = str(template["sparql"]).replace(
            "INSERT { ", "INSERT { ?observation a <urn:new> . "
        )
        with_updates(tmp_path, OBSERVE_QUANTITY={**template, "sparql": marked})
        assert (await post_reload(gateway)).json()["updates"] == ["OBSERVE_QUANTITY"]
        await publish(gateway.mqtt_port, [("room/a", b'{"t":2}')])
        new = "SELECT ?v { ?o a <urn:new> ; <http://www.w3.org/ns/sosa/hasSimpleResult> ?v }"
        assert rows_of(gateway, new) == [["2"]]


async def test_rules_follow_their_queries(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    profile = write_profile(tmp_path)
    first = {"HOT": "SELECT ?n { <urn:x> <urn:hot> ?n }"}
    second = {"WARM": "SELECT ?n { <urn:x> <urn:warm> ?n }"}
    async with running(settings(tmp_path, profile)) as gateway:
        fan = Device(gateway.mqtt_port, "fan")
        await asyncio.to_thread(fan.__enter__)
        try:
            await asyncio.to_thread(fan.subscribe, "fan/+/set")
            for queries, word in ((first, "hot"), (second, "warm")):
                (name,) = queries
                write_profile(tmp_path, rules=[{**RULE, "query": name}], queries=queries)
                async with resubscribing(gateway):
                    assert (await post_reload(gateway)).json()["changed"]
                await update(gateway, f"INSERT DATA {{ <urn:x> <urn:{word}> '{word}' }}")
                assert await asyncio.to_thread(fan.receive) == (f"fan/{word}/set", word.encode())
        finally:
            await asyncio.to_thread(fan.__exit__, None, None, None)
        assert not caplog.records


async def test_no_message_is_read_half_by_the_old_and_half_by_the_new(tmp_path: Path) -> None:
    """Two mappings and the template change together, again and again, while messages come."""
    one = [mapping(n, "room/+", selector=f"$.{n}", sensor="urn:s:one") for n in ("t", "h")]
    two = [{**each, "sensor": "urn:s:two"} for each in one]
    template = shipped("OBSERVE_QUANTITY")

    def write(mappings: list[JsonObject], word: str) -> None:
        path = write_profile(tmp_path, mappings)
        marked = str(template["sparql"]).replace(
            "INSERT { ", f"INSERT {{ ?message a <urn:{word}> . "
        )
        members = json.loads(path.read_text())
        members["namespaces"] = PREFIXES
        members["updates"] = {"OBSERVE_QUANTITY": {**template, "sparql": marked}}
        path.write_text(json.dumps(members))

    write(one, "one")
    async with running(settings(tmp_path, tmp_path / "test.jsap", latest=10_000)) as gateway:
        publishing = asyncio.create_task(publish(gateway.mqtt_port, [("room/a", BOTH)] * 600))
        for turn in range(10):
            write(*((two, "two") if turn % 2 == 0 else (one, "one")))
            assert (await post_reload(gateway)).json()["changed"]
        await publishing
        rows = rows_of(
            gateway,
            """PREFIX sosa: <http://www.w3.org/ns/sosa/> PREFIX gw: <https://sosa-gateway.example/ns#>
            SELECT ?m (GROUP_CONCAT(DISTINCT STR(?s)) AS ?by)
            (GROUP_CONCAT(DISTINCT STR(?k)) AS ?as)
            { ?o gw:message ?m ; sosa:madeBySensor ?s . ?m a ?k } GROUP BY ?m""",
        )
    assert len(rows) == 600
    assert {(by, as_) for _, by, as_ in rows} == {
        ("urn:s:one", "urn:one"),
        ("urn:s:two", "urn:two"),
    }


async def test_the_command_and_the_state(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    async with running(settings(tmp_path, profile)) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        assert await asyncio.to_thread(main, ["jsap", "reload", "--url", url]) == 0
        assert capsys.readouterr().out == "nothing has changed\n"
        write_profile(tmp_path, [HUMIDITY])
        assert await asyncio.to_thread(main, ["jsap", "reload", "--url", url]) == 0
        assert capsys.readouterr().out == (
            "mappings: urn:mapping:humidity, urn:mapping:temperature\n"
        )
        emptied(tmp_path)
        assert await asyncio.to_thread(main, ["jsap", "reload", "--url", url]) == 1
        assert "test.jsap" in capsys.readouterr().err
        async with httpx.AsyncClient() as client:
            state = (await client.get(f"{url}/profiles")).json()
        assert "test.jsap" in state["error"]


def test_sighup_reads_the_files_again(tmp_path: Path) -> None:
    profile = write_profile(tmp_path, [TEMPERATURE])
    config = tmp_path / "gateway.toml"
    config.write_text(
        f'[mqtt]\nport = 0\n[http]\nport = 0\n[websocket]\nport = 0\n[store]\nkind = "memory"\n'
        f'[jsap]\nprofiles = ["observations", "{profile}"]\n'
    )
    script = str(Path(sys.executable).with_name("sosa-gateway"))
    command = (script, "run", "--config", str(config))
    with Program(*command) as program:
        program.wait_for("serving")
        write_profile(tmp_path, [HUMIDITY])
        program.hang_up()
        program.wait_for("profiles_changed")
        assert program.terminate() == 0


def test_a_template_that_lacks_a_binding_stops_the_start(tmp_path: Path) -> None:
    template_without_binding(tmp_path)
    config = settings(tmp_path, tmp_path / "test.jsap")

    async def start(config: Config) -> None:
        async with running(config):
            raise AssertionError

    with pytest.raises(Exception, match=r"updates\.OBSERVE_QUANTITY\.forcedBindings\.unit"):
        asyncio.run(start(config))


POLICIES = {
    "mapper": Policy(capabilities=frozenset({Capability.MAPPINGS})),
    "operator": Policy(capabilities=frozenset({Capability.OPERATIONS})),
}


async def test_reloading_and_looking_need_their_capabilities(tmp_path: Path) -> None:
    store = IdentityStore(tmp_path / "data" / "security" / "identities.sqlite")
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.APPLICATION))
    config = settings(tmp_path, write_profile(tmp_path, [TEMPERATURE]))
    config = config.model_copy(update={"security": SecuritySettings(enabled=True)})
    async with running(config) as gateway:
        root = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=root) as client:
            found = []
            for name in POLICIES:
                token = await client.post(
                    "/oauth/token",
                    data={"grant_type": "client_credentials"},
                    auth=(f"{name}-id", f"{name}-secret"),
                )
                headers = {"Authorization": f"Bearer {token.json()['access_token']}"}
                for method, path in (("POST", "/profiles/reload"), ("GET", "/profiles")):
                    answer = await client.request(method, path, headers=headers)
                    found.append(answer.status_code)
            assert found == [200, 403, 403, 200]
            assert (await client.post("/profiles/reload")).status_code == 401
