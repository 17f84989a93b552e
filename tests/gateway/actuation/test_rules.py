"""Republish rules: rows of a query drive commands, through the embedded broker and Mosquitto."""

import asyncio
from pathlib import Path

import pytest

from tests.kit.gateways import (
    MAPPINGS,
    OWN_SUBSCRIPTIONS,
    PREFIXES,
    VALUES,
    Device,
    JsonObject,
    behind,
    mapping,
    publish,
    resubscribing,
    rows_of,
    running,
    settings,
    until_subscribed,
    update,
    watch,
    write_profile,
)

BROKERS = ["embedded", "mosquitto"]
TEMPERATURE = mapping("temperature", "room/+", selector="$.t", unit="unit:DEG_C")
WARM = f"""{PREFIXES}
SELECT ?room {{
  ?o sosa:hasFeatureOfInterest ?node ; sosa:observedProperty <urn:property:temperature> ;
     sosa:hasSimpleResult ?t FILTER(?t > 26) BIND(STRAFTER(STR(?node), "room:") AS ?room)
}}"""
END = ("room/end", b'{"t":0}')


def rule(name: str, **members: object) -> JsonObject:
    return {
        "id": f"urn:rule:{name}",
        "query": "WARM",
        "topic": "fan/{room}/set",
        "payload": '{"state":"ON"}',
        "on": "added",
        "qos": 1,
        **members,
    }


ON = rule("on")
OFF = rule("off", on="removed", payload='{"state":"OFF"}')


def profile(folder: Path, *rules: JsonObject, mappings: tuple[JsonObject, ...] = ()) -> Path:
    return write_profile(folder, [TEMPERATURE, *mappings], rules, {"WARM": WARM})


def temperature(room: str, value: float) -> tuple[str, bytes]:
    return f"room/{room}", f'{{"t":{value}}}'.encode()


async def commands(device: Device, count: int) -> list[tuple[str, bytes]]:
    return [await asyncio.to_thread(device.receive) for _ in range(count)]


@pytest.mark.parametrize("mode", BROKERS)
async def test_rows_that_come_and_go_drive_a_command_topic(tmp_path: Path, mode: str) -> None:
    async with behind(mode, tmp_path, profile(tmp_path, ON, OFF), "room/+") as (_, port):
        with Device(port, "fan") as fan:
            await asyncio.to_thread(fan.subscribe, "fan/#")
            sent = [temperature(room, t) for t in (20, 27, 28, 20) for room in "ab"]
            await publish(port, sent)
            assert sorted(await commands(fan, 4)) == sorted(
                (f"fan/{room}/set", f'{{"state":"{state}"}}'.encode())
                for room in "ab"
                for state in ("ON", "OFF")
            )
            assert fan.waiting == 0


@pytest.mark.parametrize(
    ("on_start", "expected"), [(True, ["fan/a/set", "fan/b/set"]), (False, ["fan/b/set"])]
)
@pytest.mark.parametrize("mode", BROKERS)
async def test_a_restart_commands_nothing_unless_the_rule_says_so(
    tmp_path: Path, mode: str, on_start: bool, expected: list[str]
) -> None:
    rules = rule("on", onStart=on_start, retain=True)
    async with running(settings(tmp_path, profile(tmp_path), kind="disk")) as gateway:
        await publish(gateway.mqtt_port, [temperature("a", 30)])
    path = profile(tmp_path, rules)
    async with behind(mode, tmp_path, path, "room/+", kind="disk") as (_, port):
        with Device(port, "fan") as fan:
            await asyncio.to_thread(fan.subscribe, "fan/#")
            await publish(port, [temperature("b", 30)])
            assert [topic for topic, _ in await commands(fan, len(expected))] == expected
            assert fan.waiting == 0


async def test_the_rules_are_in_force_before_the_first_message(tmp_path: Path) -> None:
    path = profile(tmp_path, *(rule(f"{n}", topic=f"fan/{n}/{{room}}") for n in range(20)))
    async with running(settings(tmp_path, path)) as gateway:
        assert gateway.scheduler.engine.statistics.subscriptions == 20 + OWN_SUBSCRIPTIONS


@pytest.mark.parametrize("mode", BROKERS)
async def test_what_the_gateway_publishes_it_does_not_observe(tmp_path: Path, mode: str) -> None:
    """The command topic has a mapping of its own, and others publish there too."""
    path = profile(tmp_path, ON, mappings=(mapping("state", "fan/+/set", selector="$.state"),))
    async with behind(mode, tmp_path, path, "room/+") as (gateway, port):
        told = await watch(gateway, VALUES)
        with Device(port, "fan") as fan:
            await asyncio.to_thread(fan.subscribe, "fan/#")
            await publish(port, [temperature("a", 30)])
            await commands(fan, 1)
        await publish(port, [("fan/a/set", b'{"state":"by hand"}')])
        await told.until(lambda: "by hand" in told.values())
        assert told.values() == ["30", "by hand"]


HOSTILE = {
    "a/b": "a%2Fb",
    "+": "%2B",
    "#": "%23",
    "a b": "a b",
    "%2F": "%252F",
    "\u0000": "%00",
    "\n": "%0A",
    "caf\u00e9": "caf\u00e9",
}


@pytest.mark.parametrize("mode", BROKERS)
async def test_a_value_fills_one_topic_level_and_one_json_string(tmp_path: Path, mode: str) -> None:
    """Whoever can write a value cannot choose another topic nor add a member."""
    told_by_name = rule(
        "name",
        query=None,
        sparql="SELECT ?name { ?x <urn:name> ?name }",
        topic="named/{name}/set",
        payload='{"name":"{name}","again":{name}}',
    )
    told_by_name = {key: value for key, value in told_by_name.items() if value is not None}
    async with behind(mode, tmp_path, profile(tmp_path, told_by_name), "room/+") as (gateway, port):
        with Device(port, "fan") as fan:
            await asyncio.to_thread(fan.subscribe, "#")
            for value, level in HOSTILE.items():
                text = value.replace("\n", "\\n").replace("\u0000", "\\u0000")
                await update(gateway, f'INSERT DATA {{ [] <urn:name> "{text}" }}')
                [(topic, payload)] = await commands(fan, 1)
                assert topic == f"named/{level}/set"
                assert fan.waiting == 0
                assert payload.count(b'"') == 8
            quote = '"INSERT DATA { [] <urn:name> "a\\"b" }"'
            await update(gateway, quote[1:-1])
            [(_, payload)] = await commands(fan, 1)
            assert payload == b'{"name":"a\\"b","again":"a\\"b"}'


def insert(name: str, **members: str) -> str:
    terms = {
        "sparql": f'"""{WARM}"""',
        "topicTemplate": '"fan/{room}/set"',
        "payloadTemplate": '"ON"',
        "on": "gw:Added",
        "qos": "1",
        **members,
    }
    triples = " ; ".join(f"gw:{key} {term}" for key, term in terms.items() if term)
    rule_node = f"<urn:rule:{name}> a gw:RepublishRule ; {triples}"
    return f"INSERT DATA {{ GRAPH <{MAPPINGS}> {{ {rule_node} }} }}"


def delete(name: str) -> str:
    return f"DELETE WHERE {{ GRAPH <{MAPPINGS}> {{ <urn:rule:{name}> ?p ?o }} }}"


async def test_rules_are_added_changed_and_removed_while_the_gateway_runs(tmp_path: Path) -> None:
    async with running(settings(tmp_path, profile(tmp_path))) as gateway:
        port = gateway.mqtt_port
        with Device(port, "fan") as fan:
            await asyncio.to_thread(fan.subscribe, "fan/#")
            await publish(port, [temperature("a", 30)])
            await update(gateway, insert("on"))
            await until_subscribed(gateway, OWN_SUBSCRIPTIONS + 1)
            await publish(port, [temperature("b", 30)])
            assert await commands(fan, 1) == [("fan/b/set", b"ON")]
            async with resubscribing(gateway):
                await update(
                    gateway,
                    f"""WITH <{MAPPINGS}> DELETE {{ ?r gw:payloadTemplate ?p }}
                        INSERT {{ ?r gw:payloadTemplate "WARM {{room}}" }}
                        WHERE {{ ?r gw:payloadTemplate ?p }}""",
                )
            await publish(port, [temperature("c", 30)])
            assert await commands(fan, 1) == [("fan/c/set", b"WARM c")]
            await update(gateway, delete("on"))
            await until_subscribed(gateway, OWN_SUBSCRIPTIONS)
            await publish(port, [temperature("d", 30), END])
            await update(gateway, insert("mark", topicTemplate='"fan/mark"', onStart="true"))
            assert {topic for topic, _ in await commands(fan, 4)} == {"fan/mark"}


BAD: list[dict[str, str]] = [
    {"sparql": '"SELECT"'},
    {"sparql": '"SELECT (RAND() AS ?room) {}"'},
    {"sparql": ""},
    {"sparql": "", "query": '"NONE"'},
    {"qos": "7"},
    {"qos": '"often"'},
    {"on": "gw:Sometimes"},
    {"topicTemplate": '"fan/#"'},
    {"topicTemplate": '"fan/{nobody}"'},
    {"topicTemplate": '""'},
    {"topicTemplate": '"a\\u0000b"'},
    {"topicTemplate": f'"{"x" * 70_000}"'},
    {"payloadTemplate": '"{nobody}"'},
]


@pytest.mark.parametrize("members", BAD, ids=lambda members: str(members)[:40])
@pytest.mark.parametrize("mode", BROKERS)
async def test_a_bad_rule_costs_itself(tmp_path: Path, mode: str, members: dict[str, str]) -> None:
    """The others go on, and so does everybody else's subscription."""
    async with behind(mode, tmp_path, profile(tmp_path, ON), "room/+") as (gateway, port):
        await update(gateway, insert("bad", **members))
        told = await watch(gateway, VALUES)
        with Device(port, "fan") as fan:
            await asyncio.to_thread(fan.subscribe, "fan/#")
            await publish(port, [temperature("a", 30), temperature("b", 30)])
            assert await commands(fan, 2) == [
                ("fan/a/set", b'{"state":"ON"}'),
                ("fan/b/set", b'{"state":"ON"}'),
            ]
        await told.until(lambda: told.count_added == 2)
        assert told.values() == ["30", "30"]
        assert len(rows_of(gateway, VALUES)) == 2
        assert gateway.statistics()["failed"] == 0
