"""Why is this quiet: which part starves, and what a person can do about it."""

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from gateway.app.gateway import Gateway
from gateway.config.settings import SHIPPED_PROFILES, Config
from tests.kit.gateways import (
    LOOPBACK,
    PREFIXES,
    WAIT_S,
    JsonObject,
    mapping,
    publish,
    running,
    settings,
    update,
    write_profile,
)

DEMO = Path(__file__).parents[4] / "gateway" / "demo"
PROPERTY = "https://sosa-gateway.example/property/"
ROOM = "https://sosa-gateway.example/demo/room/"


@asynccontextmanager
async def served(config: Config) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    async with running(config) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=WAIT_S) as client:
            yield gateway, client


async def quiet(client: httpx.AsyncClient, query: str = "", name: str = "") -> dict[str, Any]:
    body = {"query": PREFIXES + query} if query else {"name": name}
    answer = await client.post("/why/quiet", json=body)
    assert answer.status_code == 200, answer.text
    told: dict[str, Any] = answer.json()
    return told


def reasons(told: dict[str, Any]) -> str:
    return "\n".join(f"{each['what']}: {each['reason']}; {each['advice']}" for each in told["near"])


def house(folder: Path) -> Config:
    """A gateway with the demo's profile."""
    (name,) = [path for path in DEMO.glob("*.jsap") if "WARM_AND_EMPTY" in path.read_text("utf-8")]
    config = settings(folder, name)
    assert SHIPPED_PROFILES
    return config


async def test_the_demos_question_says_what_is_nearest_and_who_is_in_the_room(
    tmp_path: Path,
) -> None:
    async with served(house(tmp_path)) as (gateway, client):
        await publish(gateway.mqtt_port, [("home/kitchen/temperature", b"24.9")])
        told = await quiet(client, name="WARM_AND_EMPTY")
        assert (told["rows"], told["whole"]) == (0, True)
        starved = told["patterns"][told["first_starved"]]
        assert starved["text"] == "FILTER(?temperature > 26)"
        assert (starved["alone"], starved["joined"]) == (0, 0)
        before = told["patterns"][told["first_starved"] - 1]
        assert before["joined"] == 1
        assert "24.9 is the largest, the filter wants > 26" in reasons(told)
        assert "property:occupancy" in reasons(told)
        await publish(
            gateway.mqtt_port,
            [("home/kitchen/temperature", b"27.5"), ("home/kitchen/occupancy", b"true")],
        )
        told = await quiet(client, name="WARM_AND_EMPTY")
        starved = told["patterns"][told["first_starved"]]
        assert starved["text"].startswith("FILTER(NOT EXISTS { ")
        (held,) = (each for each in told["near"] if "NOT EXISTS" in each["reason"])
        assert held["what"] == "room:kitchen"
        assert "FILTER NOT EXISTS finds ?o = " in held["reason"]
        assert held["link"]["kind"] == "observation"
        assert "/observation/" in held["link"]["id"]
        await publish(gateway.mqtt_port, [("home/kitchen/occupancy", b"false")])
        told = await quiet(client, name="WARM_AND_EMPTY")
        assert (told["rows"], told["first_starved"]) == (1, None)
        assert told["patterns"][-1]["joined"] == 1


TEMPERATURE = mapping("temperature", "room/+", selector="$.t", unit="unit:DEG_C", expiresAfter=0.05)
HUMIDITY = mapping("humidity", "room/+", selector="$.h", unit="unit:PERCENT")

ASKED = (
    "SELECT ?place ?value {{ ?o sosa:observedProperty <urn:property:{0}> ; "
    "sosa:hasFeatureOfInterest {1} ; sosa:hasSimpleResult ?value }}"
)


@asynccontextmanager
async def rooms(
    folder: Path, mappings: Sequence[JsonObject] = (TEMPERATURE, HUMIDITY)
) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    async with served(settings(folder, write_profile(folder, mappings))) as (gateway, client):
        await publish(gateway.mqtt_port, [("room/hall", b'{"t":21,"h":40}')])
        yield gateway, client


async def test_a_silent_sensor_is_told_with_the_time(tmp_path: Path) -> None:
    async with rooms(tmp_path) as (gateway, client):
        stream = (
            "<urn:stream> a gw:Stream ; gw:ofSensor <urn:sensor:hall> ; "
            "gw:ofProperty <urn:property:humidity> ; gw:ofFeature <urn:room:hall> ; "
            "gw:absenceReason gw:Silence ; gw:absentSince '2026-03-02T07:22:40Z'^^xsd:dateTime"
        )
        await update(gateway, f"INSERT DATA {{ {stream} }}")
        told = await quiet(client, ASKED.format("humidity", "<urn:room:hall>"))
        (near,) = told["near"]
        assert near["what"] == "<urn:sensor:hall>"
        assert near["reason"].startswith("silent for ")
        assert near["since"] == "2026-03-02T07:22:40Z"
        assert near["link"] == {"kind": "sensor", "id": "urn:sensor:hall"}
        other = await quiet(client, ASKED.format("humidity", "<urn:room:cellar>"))
        assert "silent" not in reasons(other)


NEAR_MISSES = (
    (ASKED.format("temprature", "?place"), "write <urn:property:temperature> if you meant"),
    (ASKED.format("temperature", "<urn:room:hal>"), "write <urn:room:hall>"),
    ("SELECT * { ?o sosa:observesProperty ?p }", "write sosa:observedProperty"),
    ("SELECT * { ?o <http://old.example/observedProperty> ?p }", "write sosa:observedProperty"),
    ("SELECT * { <urn:nobody> ?p ?o }", "<urn:nobody>: nothing in the store is about it"),
    (
        "SELECT * { ?o sosa:hasSimpleResult ?v FILTER(?v < 20) }",
        "21 is the smallest, the filter wants < 20; wait until it differs by 1",
    ),
    (
        "SELECT * { ?o sosa:hasSimpleResult ?v FILTER(50 < ?v) }",
        "40 is the largest, the filter wants > 50",
    ),
    (
        "SELECT * { ?o sosa:hasSimpleResult ?v FILTER(?v = 22) }",
        "21 is the nearest, the filter wants = 22",
    ),
    (
        "SELECT * { ?o sosa:hasSimpleResult ?v FILTER(?v > 'a') }",
        "a number and a value of type string are never so",
    ),
    (
        "SELECT * { ?o sosa:hasSimpleResult ?v OPTIONAL { ?o <urn:no> ?w } FILTER(?v > ?w) }",
        "a side of it has no value in any row",
    ),
    (
        "SELECT * { ?o sosa:hasSimpleResult ?v FILTER(STRLEN(STR(?v)) = 7 || ?v IN (3)) }",
        "it is not true for ?v = ",
    ),
    (
        "SELECT * { ?o sosa:madeBySensor ?s MINUS { ?s a sosa:Sensor } }",
        "MINUS finds it for it: { ?s a sosa:Sensor }",
    ),
    (
        "SELECT * { ?o sosa:madeBySensor ?s FILTER EXISTS { ?s a <urn:Gone> } }",
        "nothing like this is in the store",
    ),
    (
        "SELECT * { ?o sosa:observedProperty <urn:property:humidity> ; "
        "sosa:hasFeatureOfInterest ?room . ?room a <urn:Room> }",
        "<urn:sensor:hall> observes <urn:property:humidity> of it, and it is not linked as",
    ),
    (
        "SELECT * { ?o sosa:observedProperty <urn:property:humidity> ; "
        "sosa:hasFeatureOfInterest <urn:room:cellar> }",
        "it observes <urn:property:humidity> of <urn:room:hall>, not of <urn:room:cellar>",
    ),
    ("SELECT ?s (COUNT(*) AS ?n) { ?s ?p ?o } GROUP BY ?s HAVING(?n > 999)", "HAVING: it"),
    ("SELECT * { ?s ?p ?o } LIMIT 0", "LIMIT 0: it leaves none"),
)


async def test_near_misses(tmp_path: Path) -> None:
    mappings = [mapping("temperature", "room/+", selector="$.t"), HUMIDITY]
    async with rooms(tmp_path, mappings) as (_, client):
        for query, words in NEAR_MISSES:
            told = await quiet(client, query)
            assert told["rows"] == 0, query
            assert words in reasons(told), query


async def test_what_the_rows_before_have_in_its_place(tmp_path: Path) -> None:
    async with rooms(tmp_path) as (gateway, client):
        await update(gateway, "INSERT DATA { <urn:room:hall> a <urn:Hall> . <urn:x> a <urn:Room> }")
        query = (
            "SELECT * { ?o sosa:observedProperty <urn:property:humidity> ; "
            "sosa:hasFeatureOfInterest ?room . ?room a <urn:Room> }"
        )
        told = await quiet(client, query)
        assert told["patterns"][-1] == {"text": "?room a <urn:Room>", "alone": 1, "joined": 0}
        assert told["first_starved"] == 2
        assert "none of the rows before it has that; they have <urn:Hall>" in reasons(told)


async def test_what_is_in_quarantine_or_was_never_heard_is_told(tmp_path: Path) -> None:
    power = mapping("power", "meter/1", selector="$.p", unit="unit:W")
    async with rooms(tmp_path, [TEMPERATURE, power]) as (gateway, client):
        told = await quiet(client, ASKED.format("power", "?place"))
        assert "it gives urn:property:power by meter/1, where nothing" in reasons(told)
        await publish(gateway.mqtt_port, [("meter/1", b"{")])
        told = await quiet(client, ASKED.format("power", "?place"))
        (near,) = (each for each in told["near"] if each["what"] == "meter/1")
        assert near["reason"].startswith("its message is in quarantine: ")
        (entry,) = (await client.get("/quarantine")).json()["entries"]
        assert near["link"] == {"kind": "quarantine", "id": entry["id"]}
        told = await quiet(client, ASKED.format("noise", "?place"))
        assert "urn:property:noise: no mapping gives it" in reasons(told)


async def test_a_broken_mapping_is_told(tmp_path: Path) -> None:
    async with rooms(tmp_path) as (gateway, client):
        graph = "https://sosa-gateway.example/graph/mappings"
        text = "<urn:m> a gw:Mapping ; gw:topicFilter 'x/1' ; gw:format 'nonsense'"
        await update(gateway, f"INSERT DATA {{ GRAPH <{graph}> {{ {text} }} }}")
        told = await quiet(client, ASKED.format("noise", "?place"))
        (near,) = (each for each in told["near"] if each["what"] == "urn:m")
        assert near["link"] == {"kind": "mapping", "id": "urn:m"}
        assert near["since"]


async def test_an_empty_store_says_so(tmp_path: Path) -> None:
    async with served(settings(tmp_path, write_profile(tmp_path))) as (_, client):
        told = await quiet(client, ASKED.format("humidity", "?place"))
        assert "nothing is observed yet; connect a device" in reasons(told)
        assert "the store: nothing is in its default graph yet" in reasons(told)


async def test_graphs_of_the_text_count_and_ask_and_construct_have_rows(tmp_path: Path) -> None:
    async with served(settings(tmp_path, write_profile(tmp_path))) as (gateway, client):
        await update(gateway, "INSERT DATA { GRAPH <urn:g> { <urn:s> <urn:p> 1 , 2 } }")
        for query, rows in (
            ("SELECT * FROM <urn:g> { ?s <urn:p> ?o }", 2),
            ("SELECT * { ?s <urn:p> ?o }", 0),
            ("SELECT * { GRAPH ?g { ?s <urn:p> ?o } }", 2),
            ("ASK { GRAPH <urn:g> { ?s ?p ?o } }", 1),
            ("CONSTRUCT { ?s ?p ?o } { GRAPH <urn:g> { ?s ?p ?o } }", 2),
            ("SELECT ?one { GRAPH <urn:g> { ?one ?p ?o } } ORDER BY ?o LIMIT 1", 1),
        ):
            assert (await quiet(client, query))["rows"] == rows, query


REFUSED: tuple[tuple[dict[str, object], int], ...] = (
    ({}, 400),
    ({"query": "SELECT * { ?s ?p ?o }", "name": "MAPPINGS"}, 400),
    ({"query": "SELECT * {"}, 400),
    ({"query": "DESCRIBE <urn:a>"}, 400),
    ({"query": "SELECT * { SERVICE <http://127.0.0.1/> { ?s ?p ?o } }"}, 400),
    ({"query": "INSERT DATA { <urn:a> <urn:b> 1 }"}, 400),
    ({"query": "SELECT * { " + "?s <urn:p> ?o . " * 21 + "}"}, 413),
    ({"query": "x" * 70_000}, 400),
    ({"name": "NOBODY"}, 404),
    ({"query": 1}, 400),
    ({"other": "x"}, 400),
)


async def test_what_cannot_be_asked_is_refused(tmp_path: Path) -> None:
    async with served(settings(tmp_path, write_profile(tmp_path))) as (_, client):
        for body, status in REFUSED:
            answer = await client.post("/why/quiet", content=json.dumps(body))
            assert (answer.status_code, answer.json()["status_code"]) == (status, status), body
