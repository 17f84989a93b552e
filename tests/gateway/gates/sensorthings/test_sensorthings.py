"""The SensorThings API over HTTP and MQTT, of a gateway to which devices publish."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx

from gateway.app.gateway import Gateway
from gateway.config.settings import SecuritySettings
from gateway.exchange.sensorthings.index import QUERIES
from gateway.rdf.terms import DEFAULT_GRAPH
from gateway.security.identity import Kind
from gateway.security.policy import EVERYTHING, Capability, Policy
from tests.gateway.gates.admin.access.secured import identities
from tests.gateway.security.clients import identity
from tests.kit.gateways import (
    LOOPBACK,
    journal_records,
    mapping,
    publish,
    running,
    settings,
    update,
    write_profile,
)

STA = "/sta/v1.1"
BEGIN = 1_772_434_800


@asynccontextmanager
async def served(folder: Path, **how: Any) -> AsyncIterator[tuple[Gateway, httpx.AsyncClient]]:
    mappings = [
        mapping("temperature", "room/+", selector="$.t", time="$.at", unit="Cel"),
        mapping("door", "door/+", selector="$.d"),
    ]
    config = settings(folder, write_profile(folder, mappings), **how)
    async with running(config) as gateway:
        url = f"http://{LOOPBACK}:{gateway.http_port}"
        async with httpx.AsyncClient(base_url=url, timeout=60) as client:
            yield gateway, client


def told(room: str, *values: float, at: int = BEGIN) -> list[tuple[str, bytes]]:
    """One value a minute."""
    return [
        (f"room/{room}", json.dumps({"t": value, "at": at + 60 * n}).encode())
        for n, value in enumerate(values)
    ]


async def found(client: httpx.AsyncClient, path: str, **options: str) -> Any:
    """What a resource is; options without their dollar."""
    answer = await client.get(f"{STA}/{path}", params={f"${k}": v for k, v in options.items()})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def values(client: httpx.AsyncClient, path: str, **options: str) -> list[dict[str, Any]]:
    page: list[dict[str, Any]] = (await found(client, path, **options))["value"]
    return page


async def refused(client: httpx.AsyncClient, path: str, status: int) -> str:
    """The message of an error, as OData tells it."""
    answer = await client.get(f"{STA}/{path}")
    assert answer.status_code == status, answer.text
    message: str = answer.json()["error"]["message"]
    return message


async def test_a_reading_is_in_every_set_that_it_is_about(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        assert await values(client, "Things") == []
        await publish(gateway.mqtt_port, told("hall", 20.5, 21))
        (stream,) = await values(
            client, "Datastreams", expand="Thing,Sensor,ObservedProperty,Observations($top=1)"
        )
        assert stream["unitOfMeasurement"]["symbol"] == "°C"
        assert stream["observationType"].endswith("OM_Measurement")
        assert stream["phenomenonTime"] == "2026-03-02T07:01:00Z/2026-03-02T07:01:00Z"
        assert stream["Sensor"]["name"] == "hall"
        assert stream["ObservedProperty"]["definition"] == "urn:property:temperature"
        assert stream["Thing"]["properties"]["iri"] == "urn:room:hall"
        (latest,) = stream["Observations"]
        assert (latest["result"], latest["phenomenonTime"]) == (21, "2026-03-02T07:01:00Z")
        for link in ("@iot.selfLink", "Thing@iot.navigationLink", "Sensor@iot.navigationLink"):
            assert (await client.get(stream[link])).status_code == 200
        (again,) = (await client.get(stream["Observations@iot.navigationLink"])).json()["value"][:1]
        assert again["@iot.id"] == latest["@iot.id"]
        bare = await client.get(f"{latest['@iot.selfLink']}/result/$value")
        assert bare.text == "21"
        assert (await client.get(f"{latest['@iot.selfLink']}/result")).json() == {"result": 21}
        refs = await client.get(f"{stream['@iot.selfLink']}/Observations/$ref?$top=1")
        assert refs.json()["value"] == [{"@iot.selfLink": latest["@iot.selfLink"]}]


async def test_the_root_says_what_it_does_and_how_far_back_it_goes(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, told("hall", 20.5))
        root = (await client.get(STA)).json()
        assert [each["name"] for each in root["value"]][:2] == ["Things", "Locations"]
        for each in root["value"]:
            assert (await client.get(each["url"])).status_code == 200
        (record,) = journal_records(tmp_path)
        back = root["serverSettings"]["observations"]["reachBackTo"]
        assert back[:19] == record.ingested_at.isoformat()[:19]
        assert any(each.endswith("data-array") for each in root["serverSettings"]["conformance"])


async def test_a_collection_comes_in_pages_that_are_counted(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, [each for n in range(7) for each in told(f"r{n}", n)])
        page = await found(
            client,
            "Observations",
            top="3",
            count="true",
            orderby="result desc",
            filter="result ge 1",
        )
        seen: list[float] = []
        assert page["@iot.count"] == 6
        while True:
            seen += [each["result"] for each in page["value"]]
            if "@iot.nextLink" not in page:
                break
            page = (await client.get(page["@iot.nextLink"])).json()
        assert seen == [6, 5, 4, 3, 2, 1]
        things = await values(client, "Things", select="name", top="2", orderby="name", skip="1")
        assert things == [{"name": "r1"}, {"name": "r2"}]


async def test_nested_expansions_have_options_of_their_own(tmp_path: Path) -> None:
    async with served(tmp_path, latest=3) as (gateway, client):
        await publish(gateway.mqtt_port, [*told("hall", 1, 2, 3), *told("attic", 4, 5, 6)])
        inner = "Observations($filter=result mod 2 eq 1;$orderby=result;$count=true;$select=result)"
        things = await values(
            client, "Things", expand=f"Datastreams($select=name;$expand={inner})", orderby="name"
        )
        read = [each["Datastreams"][0] for each in things]
        assert [[o["result"] for o in each["Observations"]] for each in read] == [[5], [1, 3]]
        assert [each["Observations@iot.count"] for each in read] == [1, 2]
        (hall,) = await values(
            client, "Datastreams", filter="Thing/name eq 'hall'", expand="Observations($top=2)"
        )
        assert len(hall["Observations"]) == 2
        rest = (await client.get(hall["Observations@iot.nextLink"])).json()["value"]
        assert [each["result"] for each in rest] == [1]


async def test_what_the_store_keeps_no_longer_comes_from_the_journal(tmp_path: Path) -> None:
    async with served(tmp_path, kind="disk") as (gateway, client):
        await publish(gateway.mqtt_port, told("hall", *range(10)))
        await publish(gateway.mqtt_port, told("attic", 99))
        await publish(gateway.mqtt_port, told("hall", 42, at=BEGIN - 3600))  # it comes late
        (stream,) = await values(client, "Datastreams", filter="Thing/name eq 'hall'")
        path = f"Datastreams('{stream['@iot.id']}')/Observations"

        async def results(**options: str) -> list[float]:
            return [each["result"] for each in await values(client, path, **options)]

        assert await results() == [9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 42]
        assert await results(orderby="phenomenonTime") == [42, *range(10)]
        page, walked = await found(client, path, top="1"), []
        while page["value"]:  # the first page is the store's, and leads on into the journal
            walked.append(page["value"][0]["result"])
            if "@iot.nextLink" not in page:
                break
            page = (await client.get(page["@iot.nextLink"])).json()
        assert walked == await results()
        assert "@iot.nextLink" not in await found(client, path, top="0")
        assert "@iot.nextLink" not in await found(client, "Observations", top="0")
        assert await results(top="2", skip="1") == [8, 7]
        assert await results(orderby="result desc", top="2") == [42, 9]
        window = "phenomenonTime ge 2026-03-02T07:02:00Z and phenomenonTime lt 2026-03-02T07:05:00Z"
        assert await results(filter=window, orderby="phenomenonTime asc") == [2, 3, 4]
        assert await results(filter=f"{window} and result gt 2") == [4, 3]
        counted = await found(client, path, count="true", top="0")
        assert counted["@iot.count"] == 11
        arrays = await values(client, path, resultFormat="dataArray", top="2")
        assert [row[2] for row in arrays[0]["dataArray"]] == [9, 8]
        old = (await values(client, path, skip="10"))[0]
        assert (await client.get(old["@iot.selfLink"])).json() == old
        assert "about Observations" in await refused(
            client, f"{path}?$filter=Datastream/id eq 'x'", 400
        )


async def test_bad_requests_say_what_is_wrong_and_cost_nobody_else(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, told("hall", 20.5))
        for path, status, words in (
            ("Thing", 404, "there is no 'Thing'"),
            ("Things('x')", 404, "Things('x')"),
            ("Things('x", 400, "the path"),
            ("Things?$filter=name eq", 400, "is missing at character"),
            ("Things?$filter=name eq 'a' b", 400, "nothing more"),
            ("Things?$filter=colour eq 1", 400, "colour"),
            ("Things?$filter=name gt 5", 400, "cannot be compared"),
            ("Things?$filter=wobble(name)", 400, "no function 'wobble'"),
            ("Things?filter=true", 400, "did you mean $filter"),
            ("Things?$top=-1", 400, "$top"),
            ("Things?$select=colour", 400, "$select"),
            ("Things?$expand=Sensors", 400, "Sensors"),
            ("Things?$resultFormat=dataArray", 400, "dataArray"),
            ("Sensors?$resultFormat=GeoJSON", 400, "GeoJSON"),
            ("Things?$top=1&$top=2", 400, "stands twice"),
            ("Things?$filter=%ff", 400, "UTF-8"),
            (f"Things?$filter={'(' * 60}1 eq 1", 413, "depth"),
            (f"Things?$filter={' and '.join(['1 eq 1'] * 500)}", 413, "operators"),
            (f"Things?$filter=name eq '{'x' * 17_000}'", 413, "characters"),
            (
                "Things?$expand="
                + "Datastreams($expand=Thing($expand=" * 4
                + "Locations"
                + "))" * 4,
                413,
                "depth",
            ),
            ("/".join(["Things('x')"] + ["Datastreams"] * 9), 413, "segments"),
            ("Things?$filter=" + " mod ".join(["7.5"] * 30) + " eq 1", 413, "SPARQL"),
        ):
            assert words in await refused(client, path, status), path
        added = " add ".join(["length(name)"] * 60)
        assert "too deep" in await refused(client, f"Things?$filter={added} gt 1", 413)
        many = " or ".join(f"name eq '{n}'" for n in range(150))
        assert await values(client, "Things", filter=many) == []
        deep = "/".join(["Datastreams/Observations/Datastream/Thing"] * 2)
        await refused(client, f"Things?$filter={deep}/name eq 'x'", 413)
        assert len(await values(client, "Things")) == 1


async def test_no_request_makes_more_entities_than_it_may(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        sensors = [f"<urn:s:{n}> sosa:isHostedBy <urn:thing> ." for n in range(60)]
        streams = [
            f"<urn:st:{n}> gw:ofSensor <urn:s:{n}> ; gw:ofProperty <urn:p> ; gw:ofFeature <urn:f> ."
            for n in range(60)
        ]
        await update(gateway, f"INSERT DATA {{ {' '.join(sensors + streams)} }}")
        nested = (
            "Datastreams($expand=Thing($expand=Datastreams($expand=Thing($expand=Datastreams))))"
        )
        message = await refused(client, f"Things?$expand={nested}", 413)
        assert "entities of an answer" in message


def geo_update() -> str:
    geo = "http://www.opengis.net/ont/geosparql#"
    return (
        f"INSERT DATA {{ <urn:room:hall> <{geo}hasGeometry> <urn:g:hall> . "
        f'<urn:g:hall> <{geo}asWKT> "POINT(8.4 49.0)"^^<{geo}wktLiteral> }}'
    )


async def test_places_are_filtered_by_and_told_as_geojson(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, [*told("hall", 20.5), *told("attic", 9)])
        await update(gateway, geo_update())
        near = "geo.distance(Locations/location,geography'POINT(8.4 49.1)') lt 0.2"
        (hall,) = await values(client, "Things", filter=near, expand="Locations")
        assert hall["Locations"][0]["location"] == {"type": "Point", "coordinates": [8.4, 49]}
        box = "geography'POLYGON((8 48,9 48,9 50,8 50,8 48))'"
        (stream,) = (
            await found(
                client,
                "Datastreams",
                filter=f"st_within(Observations/FeatureOfInterest/feature,{box})",
                resultFormat="GeoJSON",
            )
        )["features"]
        assert stream["geometry"]["coordinates"] == [8.4, 49]
        answer = await client.get(f"{STA}/Locations?$resultFormat=GeoJSON")
        assert answer.headers["content-type"] == "application/geo+json"
        assert answer.json()["features"][0]["properties"]["name"] == "hall"


async def test_an_observation_is_posted_as_a_message_of_the_inbox(tmp_path: Path) -> None:
    async with served(tmp_path, kind="disk") as (gateway, client):
        made = await client.post(f"{STA}/Datastreams", json=datastream())
        assert made.status_code == 201, made.text
        address = made.headers["location"]
        assert (await client.get(address)).json()["name"] == "air"
        body = {"phenomenonTime": "2026-03-02T07:00:00Z", "result": 21.5}
        first = await client.post(f"{address}/Observations", json=body)
        assert first.status_code == 201
        told_as = (await client.get(first.headers["location"])).json()
        assert told_as["result"] == 21.5
        (record,) = journal_records(tmp_path)
        assert record.observation.lexical == "21.5"
        assert record.observation.unit == "http://qudt.org/vocab/unit/DEG_C"
        again = await client.post(f"{address}/Observations", json=body)
        assert again.headers["location"] == first.headers["location"]
        assert len(journal_records(tmp_path)) == 1
        id_ = address.partition("('")[2].partition("'")[0]
        by_topic = f"v1.1/Datastreams('{id_}')/Observations"
        await publish(gateway.mqtt_port, [(by_topic, json.dumps({**body, "result": 4}).encode())])
        assert len(journal_records(tmp_path)) == 2
        arrays = [
            {
                "Datastream": {"@iot.id": id_},
                "components": ["phenomenonTime", "result"],
                "dataArray": [["2026-03-02T08:00:00Z", 1], ["2026-03-02T09:00:00Z", None]],
            }
        ]
        several = await client.post(f"{STA}/CreateObservations", json=arrays)
        assert several.status_code == 201
        good, bad = several.json()
        assert (await client.get(good)).json()["result"] == 1
        assert bad.startswith("error: ")
        wrong = await client.post(f"{address}/Observations", json={"result": None})
        assert wrong.status_code == 400
        assert wrong.json()["error"]["message"]


def datastream() -> dict[str, object]:
    return {
        "name": "air",
        "description": "of the hall",
        "observationType": "http://www.opengis.net/def/observationType/OGC-OM/2.0/OM_Measurement",
        "unitOfMeasurement": {"name": "degree Celsius", "symbol": "°C", "definition": "x"},
        "Thing": {
            "name": "station",
            "Locations": [
                {
                    "name": "here",
                    "encodingType": "application/geo+json",
                    "location": {"type": "Point", "coordinates": [8, 49]},
                }
            ],
        },
        "Sensor": {"name": "thermometer", "encodingType": "text/html", "metadata": "m"},
        "ObservedProperty": {"name": "temperature", "definition": "urn:property:air"},
    }


async def test_what_cannot_be_posted_says_why_and_changes_nothing(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        await publish(gateway.mqtt_port, told("hall", 20.5))
        (stream,) = await values(client, "Datastreams")
        id_ = stream["@iot.id"]
        bad_unit = {**datastream(), "unitOfMeasurement": {"symbol": "furlongs"}}
        for path, body, status, words in (
            (f"Datastreams('{id_}')/Observations", {"result": 1}, 409, "its devices tell them"),
            ("Observations", {"result": 1}, 400, "Datastream is not named"),
            ("Datastreams", {"name": "x"}, 400, "Thing is missing"),
            ("Datastreams", bad_unit, 400, "no unit"),
            ("Things", {"colour": 1}, 400, "colour"),
            ("Things", [], 400, "object"),
            ("Locations", {"name": "x", "location": {"type": "Blob"}}, 400, "location"),
            ("Things('x')", {}, 400, "their set"),
            ("HistoricalLocations", {}, 400, "HistoricalLocations"),
        ):
            answer = await client.post(f"{STA}/{path}", json=body)
            assert answer.status_code == status, answer.text
            assert words in answer.json()["error"]["message"]
        assert len(await values(client, "Datastreams")) == 1
        assert len(await values(client, "Things")) == 1
        assert (await client.delete(f"{STA}/Things")).status_code == 405


READER = Policy(query=frozenset({DEFAULT_GRAPH}))
POLICIES = {
    "boss": EVERYTHING,
    "reader": READER,
    "sender": Policy(query=READER.query, publish=frozenset({"v1.1/+/Observations"})),
    "mapper": Policy(capabilities=frozenset(Capability), update=None),
}


async def test_it_is_for_who_may_query_observations_and_writes_as_rights_allow(
    tmp_path: Path,
) -> None:
    store = identities(tmp_path)
    for name, policy in POLICIES.items():
        store.add(identity(name, policy, Kind.USER))
    mappings = [mapping("temperature", "room/+", selector="$.t")]
    config = settings(tmp_path, write_profile(tmp_path, mappings))
    security = SecuritySettings(enabled=True)
    async with (
        running(config.model_copy(update={"security": security})) as gateway,
        httpx.AsyncClient(base_url=f"http://{LOOPBACK}:{gateway.http_port}") as client,
    ):
        tokens = {}
        for name in POLICIES:
            form = {"grant_type": "client_credentials"}
            auth = (f"{name}-id", f"{name}-secret")
            answer = await client.post("/oauth/token", data=form, auth=auth)
            tokens[name] = answer.json()["access_token"]
        headers = {name: {"Authorization": f"Bearer {tokens[name]}"} for name in tokens}
        body = datastream()
        for name, status in (("reader", 403), ("sender", 403), ("mapper", 403), ("boss", 201)):
            made = await client.post(f"{STA}/Datastreams", json=body, headers=headers[name])
            assert made.status_code == status, (name, made.text)
        place = f"{made.headers['location']}/Observations"
        for name, status in (("reader", 403), ("mapper", 403), ("sender", 201), ("boss", 201)):
            told = await client.post(place, json={"result": 1}, headers=headers[name])
            assert told.status_code == status, (name, told.text)
        wrong = "/Datastreams?$filter=wobble("
        for name, status in (("mapper", 403), ("reader", 200), ("boss", 200)):
            for path in ("/Datastreams", "/Things?$count=true"):
                answer = await client.get(STA + path, headers=headers[name])
                assert answer.status_code == status
            answer = await client.get(STA + wrong, headers=headers[name])
            assert answer.status_code == (403 if status == 403 else 400)
        root = (await client.get(STA, headers=headers["mapper"])).json()
        assert root["serverSettings"]["observations"]["reachBackTo"] is None
        nobody = await client.get(f"{STA}/Datastreams")
        assert (nobody.status_code, "error" in nobody.json()) == (401, True)
        # A client that knows no tokens shows one as its password.
        basic = await client.get(f"{STA}/Datastreams", auth=("reader", tokens["reader"]))
        assert basic.status_code == 200
        assert (await client.get(f"{STA}/Things", auth=("reader", "no"))).status_code == 401


async def test_the_index_follows_readings_only_while_somebody_asks(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        engine = gateway.scheduler.engine
        before = engine.statistics.subscriptions
        indexing = gateway.stages.indexing
        assert not indexing.is_kept
        await values(client, "Things")
        assert engine.statistics.subscriptions > before
        indexing.idle_s = 0.0
        async with asyncio.timeout(20):
            while indexing.is_kept or engine.statistics.subscriptions != before:
                await asyncio.sleep(0.05)
        indexing.idle_s = 600.0
        await publish(gateway.mqtt_port, told("hall", 20.5))
        assert len(await values(client, "Things")) == 1


async def test_many_who_ask_first_have_one_index(tmp_path: Path) -> None:
    async with served(tmp_path) as (gateway, client):
        before = gateway.scheduler.engine.statistics.subscriptions
        await asyncio.gather(*(values(client, "Things") for _ in range(8)))
        after = gateway.scheduler.engine.statistics.subscriptions
        assert after - before == len(QUERIES)
